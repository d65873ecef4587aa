// Runs each test in a process of its own: whatever a test does to itself (confinement, limits,
// death) ends with it. Afterwards nothing of it may be left running.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace cordon::test {

// How a process ends, as a test declares it.
struct End {
  bool by_signal;
  int value;

  bool operator==(const End&) const = default;
};

constexpr End exited(int code) { return {false, code}; }
constexpr End signalled(int signal) { return {true, signal}; }

std::string words(End end);

struct Registration {
  Registration(const char* name, void (*body)(), End end);
};

// Ends the test as failed; the process that runs the body may be any child of it.
[[noreturn]] void fail_at(const char* file, int line, const std::string& what);

// Ends the test as skipped. `capability` is a name of test/support/require.ts: where
// SANDBOX_REQUIRE lists it, the machine is known to have it and the skip is a failure.
[[noreturn]] void skip(const std::string& capability, const std::string& missing);

void needs_root();
void needs_landlock(int abi);

// Runs `body` in a child; its exit code is 0 when it returns.
End end_of(const std::function<void()>& body);
void expect_end(End expected, const char* file, int line, const std::function<void()>& body);

// An empty directory of the test's own, mode 0777, removed afterwards.
const std::string& scratch();

std::string text_of(const std::string& value);
std::string text_of(const char* value);
std::string text_of(bool value);
std::string text_of(long long value);
std::string text_of(unsigned long long value);
inline std::string text_of(int value) { return text_of(static_cast<long long>(value)); }
inline std::string text_of(long value) { return text_of(static_cast<long long>(value)); }
inline std::string text_of(unsigned value) {
  return text_of(static_cast<unsigned long long>(value));
}
inline std::string text_of(unsigned long value) {
  return text_of(static_cast<unsigned long long>(value));
}

// Text is compared as text, wherever it lies.
inline std::string_view comparable(const char* text) { return text; }
template <typename Value>
const Value& comparable(const Value& value) {
  return value;
}

template <typename Actual, typename Expected>
void check_equal(const Actual& actual, const Expected& expected, const char* text, const char* file,
                 int line) {
  if (comparable(actual) == comparable(expected)) return;
  fail_at(file, line,
          std::string(text) + " is " + text_of(actual) + ", expected " + text_of(expected));
}

}  // namespace cordon::test

// A test that must return, or end as declared.
#define TEST(name) TEST_ENDS(name, ::cordon::test::exited(0))
#define TEST_ENDS(name, end)                                                          \
  static void test_##name();                                                          \
  static const ::cordon::test::Registration register_##name(#name, test_##name, end); \
  static void test_##name()

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) ::cordon::test::fail_at(__FILE__, __LINE__, #condition); \
  } while (false)
// As CHECK, for calls that set errno.
#define CHECK_CALL(condition)                                                    \
  do {                                                                           \
    if (!(condition)) {                                                          \
      ::cordon::test::fail_at(__FILE__, __LINE__,                                \
                              std::string(#condition) + ": " + strerror(errno)); \
    }                                                                            \
  } while (false)
#define CHECK_EQ(actual, expected) \
  ::cordon::test::check_equal(actual, expected, #actual, __FILE__, __LINE__)
#define EXPECT_EXIT(code, ...) \
  ::cordon::test::expect_end(::cordon::test::exited(code), __FILE__, __LINE__, __VA_ARGS__)
#define EXPECT_SIGNAL(signal, ...) \
  ::cordon::test::expect_end(::cordon::test::signalled(signal), __FILE__, __LINE__, __VA_ARGS__)
