// A question to the broker as bytes: what the fuzzer mutates. The call's registers, and then the
// caller's memory, as far as it has any.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cordon::test {

struct QuestionHeader {
  uint32_t features;  // FilterFeature
  int32_t number;
  uint64_t words[6];
  // The caller's other threads: what is added to each byte that is read a second time.
  uint64_t change;
};

// Where the memory begins: shortly before the end of a page, so that texts lie across it.
inline constexpr uint64_t kQuestionMemory = 0x20000 - 64;

}  // namespace cordon::test
