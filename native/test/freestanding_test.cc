// What the executable has in place of a C library, in a program of its own: see
// freestanding_check.cc.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "test/harness.h"
#include "test/world.h"

namespace cordon::test {
namespace {

// Runs it with its output in a file; how it ended and what it said.
struct Outcome {
  End end;
  std::string said;
};

Outcome run_check(std::vector<std::string> words) {
  std::string program = beside_this_test("freestanding_check");
  std::string path = scratch() + "/said";
  End end = end_of([&] {
    int out = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    for (int fd : {STDOUT_FILENO, STDERR_FILENO}) dup2(out, fd);
    words.insert(words.begin(), program);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(program.c_str(), pointers.data());
    _exit(112);
  });
  std::string said = read_file(path);
  CHECK_CALL(unlink(path.c_str()) == 0);
  return {end, said};
}

TEST(every_call_is_the_kernels) {
  Outcome outcome = run_check({"calls", scratch()});
  CHECK_EQ(outcome.said, "");
  CHECK(outcome.end == exited(0));
  CHECK(names_in(scratch()).empty());
}

TEST(every_call_as_an_ordinary_user) {
  become_ordinary_user();
  if (access(beside_this_test("freestanding_check").c_str(), X_OK) != 0) {
    skip("public-build", "a build directory that others may enter");
  }
  Outcome outcome = run_check({"calls", scratch()});
  CHECK_EQ(outcome.said, "");
  CHECK(outcome.end == exited(0));
}

TEST(arguments_arrive) {
  Outcome outcome = run_check({"words", "", "a b", std::string(100000, 'x')});
  CHECK(outcome.end == exited(0));
  CHECK_EQ(outcome.said, "\na b\n" + std::string(100000, 'x') + "\n");
}

TEST(an_overwritten_stack_is_the_end) {
  Outcome outcome = run_check({"smash"});
  CHECK(outcome.end.by_signal);
  CHECK(outcome.end.value == SIGILL || outcome.end.value == SIGTRAP);
  CHECK_EQ(outcome.said, "cordon-exec: its stack was overwritten; it ends here\n");
}

TEST(relocated_tables_are_read_only) {
  Outcome outcome = run_check({"relro"});
  CHECK(outcome.end == signalled(SIGSEGV));
}

}  // namespace
}  // namespace cordon::test
