// Small texts without a heap: built up in place, and read back from what the kernel prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cordon {

// Text of at most N - 1 bytes; what does not fit is cut.
template <size_t N>
class Text {
 public:
  Text& add(const char* text) {
    while (*text != '\0' && length_ < N - 1) bytes_[length_++] = *text++;
    bytes_[length_] = '\0';
    return *this;
  }

  Text& add(uint64_t number) {
    char digits[20];
    size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0 && length_ < N - 1) bytes_[length_++] = digits[--count];
    bytes_[length_] = '\0';
    return *this;
  }

  const char* get() const { return bytes_; }
  size_t size() const { return length_; }

 private:
  char bytes_[N] = {};
  size_t length_ = 0;
};

// Reads a decimal or hexadecimal number and moves `*at` past it. False, and `*at` unmoved, where
// there is none or it is too large.
inline bool take_number(const char** at, unsigned base, uint64_t* value) {
  const char* from = *at;
  uint64_t sum = 0;
  for (;; ++*at) {
    char c = **at;
    unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                     : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                                            : 99u;
    if (digit >= base) break;
    if (sum > (UINT64_MAX - digit) / base) {
      *at = from;
      return false;
    }
    sum = sum * base + digit;
  }
  if (*at == from) return false;
  *value = sum;
  return true;
}

// A whole text that is one decimal number of at most `most`.
inline bool whole_number(const char* text, uint64_t most, uint64_t* value) {
  return take_number(&text, 10, value) && *text == '\0' && *value <= most;
}

// The rest of the line that starts with `name` in a text like /proc/PID/status, or null.
inline const char* find_line(const char* text, const char* name) {
  size_t length = strlen(name);
  while (text != nullptr && *text != '\0') {
    if (strncmp(text, name, length) == 0) return text + length;
    text = strchr(text, '\n');
    if (text != nullptr) ++text;
  }
  return nullptr;
}

}  // namespace cordon
