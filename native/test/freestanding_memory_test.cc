// The memory and text functions of the executable against this machine's C library's.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "test/harness.h"

#define memcpy own_memcpy
#define memmove own_memmove
#define memset own_memset
#define memcmp own_memcmp
#define bcmp own_bcmp
#define memchr own_memchr
#define strlen own_strlen
#define strnlen own_strnlen
#define strncmp own_strncmp
#define strcmp own_strcmp
#define strchr own_strchr
#define strrchr own_strrchr
#include "exec/freestanding/memory.cc"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef bcmp
#undef memchr
#undef strlen
#undef strnlen
#undef strncmp
#undef strcmp
#undef strchr
#undef strrchr

namespace cordon::test {
namespace {

int sign(int value) { return value < 0 ? -1 : value > 0 ? 1 : 0; }

std::vector<unsigned char> numbered(size_t size) {
  std::vector<unsigned char> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(i * 37 + 11);
  return bytes;
}

TEST(memcpy_of_every_small_size_and_offset) {
  std::vector<unsigned char> from = numbered(200);
  for (size_t size = 0; size < 80; ++size) {
    for (size_t offset = 0; offset < 9; ++offset) {
      std::vector<unsigned char> own(100, 0xee);
      std::vector<unsigned char> expected = own;
      CHECK(own_memcpy(own.data() + offset, from.data() + 3, size) == own.data() + offset);
      memcpy(expected.data() + offset, from.data() + 3, size);
      CHECK(own == expected);
    }
  }
}

TEST(memmove_within_itself_both_ways) {
  for (size_t size = 0; size < 40; ++size) {
    for (size_t from = 0; from < 20; ++from) {
      for (size_t to = 0; to < 20; ++to) {
        std::vector<unsigned char> own = numbered(64);
        std::vector<unsigned char> expected = own;
        CHECK(own_memmove(own.data() + to, own.data() + from, size) == own.data() + to);
        memmove(expected.data() + to, expected.data() + from, size);
        CHECK(own == expected);
      }
    }
  }
}

TEST(memset_takes_the_low_byte) {
  for (int value : {0, 1, 0x7f, 0x80, 0xff, 0x123, -1}) {
    std::vector<unsigned char> own(32, 0xee);
    std::vector<unsigned char> expected = own;
    CHECK(own_memset(own.data() + 1, value, 30) == own.data() + 1);
    memset(expected.data() + 1, value, 30);
    CHECK(own == expected);
  }
}

TEST(comparisons_are_of_unsigned_bytes) {
  const std::string texts[] = {
      "", "a", "b", "ab", "abc", "abd", "\x7f", "\x80", "\xff", "a\xff", std::string("a\0b", 3)};
  for (const std::string& a : texts) {
    for (const std::string& b : texts) {
      CHECK_EQ(sign(own_strcmp(a.c_str(), b.c_str())), sign(strcmp(a.c_str(), b.c_str())));
      for (size_t most = 0; most < 5; ++most) {
        CHECK_EQ(sign(own_strncmp(a.c_str(), b.c_str(), most)),
                 sign(strncmp(a.c_str(), b.c_str(), most)));
      }
      size_t both = std::min(a.size(), b.size());
      CHECK_EQ(sign(own_memcmp(a.data(), b.data(), both)), sign(memcmp(a.data(), b.data(), both)));
      CHECK_EQ(own_bcmp(a.data(), b.data(), both) == 0, memcmp(a.data(), b.data(), both) == 0);
    }
  }
}

TEST(searches_find_the_same_place) {
  const std::string texts[] = {"", "a", "abcabc", "x)y)z", "\xff\x80", std::string("a\0a", 3)};
  for (const std::string& text : texts) {
    for (int value : std::initializer_list<int>{0, 'a', 'c', ')', 'z', 0x80, 0xff, -1,
                                                static_cast<int>('a') + 256}) {
      CHECK(own_strchr(text.c_str(), value) == strchr(text.c_str(), value));
      CHECK(own_strrchr(text.c_str(), value) == strrchr(text.c_str(), value));
      for (size_t size = 0; size <= text.size(); ++size) {
        CHECK(own_memchr(text.data(), value, size) == memchr(text.data(), value, size));
      }
    }
  }
}

TEST(lengths_stop_at_the_first_nul_or_at_the_most) {
  const std::string texts[] = {"", "a", "abcdef", std::string("ab\0cd", 5)};
  for (const std::string& text : texts) {
    CHECK_EQ(own_strlen(text.c_str()), strlen(text.c_str()));
    for (size_t most = 0; most <= text.size(); ++most) {
      CHECK_EQ(own_strnlen(text.c_str(), most), strnlen(text.c_str(), most));
    }
  }
  // No byte past the most is looked at.
  char unterminated[4] = {'a', 'b', 'c', 'd'};
  CHECK_EQ(own_strnlen(unterminated, sizeof unterminated), sizeof unterminated);
}

}  // namespace
}  // namespace cordon::test
