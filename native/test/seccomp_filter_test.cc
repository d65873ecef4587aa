// The filter against its table: an interpreter runs it for every call of both architectures, with
// arguments on both sides of every condition, and must answer as the rows say when they are read by
// hand.

#include "linux/seccomp_filter.h"

#include <linux/audit.h>

#include <cstring>
#include <string>
#include <vector>

#include "linux/own_calls.h"
#include "linux/seccomp_table.h"
#include "test/filter_rows.h"
#include "test/harness.h"

namespace cordon::test {
namespace {

constexpr int kLastCall = 600;
constexpr uint32_t kEverything = kFilterFeatures;

// The words of cBPF that the assembler uses. Anything else ends the test.
uint32_t interpret(const FilterAssembler& filter, const seccomp_data& data) {
  uint32_t accumulator = 0;
  for (size_t at = 0; at < filter.size(); ++at) {
    const sock_filter& word = filter.code()[at];
    switch (word.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        CHECK(word.k % 4 == 0 && word.k + 4 <= sizeof data);
        memcpy(&accumulator, reinterpret_cast<const char*>(&data) + word.k, sizeof accumulator);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= word.k;
        break;
      case BPF_JMP | BPF_JA:
        at += word.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += accumulator == word.k ? word.jt : word.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += accumulator >= word.k ? word.jt : word.jf;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        at += (accumulator & word.k) != 0 ? word.jt : word.jf;
        break;
      case BPF_RET | BPF_K:
        return word.k;
      default:
        CHECK(!"an instruction that nobody emits");
    }
  }
  CHECK(!"fell off the end");
  return 0;
}

uint32_t expected(uint32_t features, bool x86, int number, const __u64* words) {
  const FilterRow* row = row_of(features, x86, number, words);
  if (row == nullptr) return SECCOMP_RET_ALLOW;
  switch (row->judgement) {
    case Judgement::kRefuse:
      return SECCOMP_RET_ERRNO | static_cast<uint32_t>(row->error);
    case Judgement::kPretend:
      return SECCOMP_RET_ERRNO;
    case Judgement::kBroker:
    case Judgement::kObserve:
      return SECCOMP_RET_USER_NOTIF;
  }
  return SECCOMP_RET_ALLOW;
}

// Values at and beside everything that a row compares with, also with bits that the kernel does not
// look at.
std::vector<uint64_t> interesting() {
  std::vector<uint64_t> all = {0, 1, 2, 5, 0xffffffffffffffff, 1ull << 32, 0x100000001};
  for (const FilterRow& row : kFilterRows) {
    for (uint64_t value : {uint64_t{row.value}, uint64_t{row.second}}) {
      all.push_back(value);
      all.push_back(value + 1);
      all.push_back(value | 0xabcd00000000ull);
    }
  }
  for (uint32_t request : kHarmlessIoctls) all.push_back(request);
  for (uint32_t driver : kFilesystemIoctls) all.push_back(driver << 8 | 0x40040001);
  for (uint64_t flags :
       {kOpenCreat, kOpenTrunc, kOpenTmpfile, kSetIdBits, kSocketStream | 02000000}) {
    all.push_back(flags);
  }
  return all;
}

void compare(uint32_t features, Architecture architecture, const std::vector<uint64_t>& values) {
  FilterAssembler filter;
  CHECK(assemble_filter(features, architecture, &filter));
  bool x86 = architecture == Architecture::kX8664;
  for (int number = 0; number <= kLastCall; ++number) {
    for (size_t i = 0; i < values.size(); ++i) {
      seccomp_data data{};
      data.nr = number;
      data.arch = x86 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
      // Every value meets every position, and different neighbours.
      for (size_t word = 0; word < 6; ++word)
        data.args[word] = values[(i * (word + 1) + word) % values.size()];
      CHECK_EQ(interpret(filter, data), expected(features, x86, number, data.args));
    }
  }
}

TEST(every_feature_alone_and_all_together_answer_as_the_table_says) {
  std::vector<uint64_t> values = interesting();
  for (Architecture architecture : {Architecture::kX8664, Architecture::kArm64}) {
    for (uint32_t feature = 1; feature <= kFilterObserve; feature <<= 1)
      compare(feature, architecture, values);
    compare(kEverything, architecture, values);
    compare(kEverything & ~kFilterRefuseMetadata, architecture, values);
    compare(kEverything & ~kFilterBrokerMetadata & ~kFilterBrokerSockets, architecture, values);
  }
}

TEST(other_instruction_sets_are_told_that_the_call_does_not_exist) {
  constexpr uint32_t kNoCall = SECCOMP_RET_ERRNO | ENOSYS;
  FilterAssembler filter;
  CHECK(assemble_filter(kEverything, Architecture::kX8664, &filter));
  for (int number = 0; number <= kLastCall; ++number) {
    seccomp_data data{};
    data.nr = number;
    data.arch = AUDIT_ARCH_I386;
    CHECK_EQ(interpret(filter, data), kNoCall);
    // x32 shares the architecture and marks its numbers.
    data.arch = AUDIT_ARCH_X86_64;
    data.nr = number | 0x40000000;
    CHECK_EQ(interpret(filter, data), kNoCall);
  }
}

TEST(without_features_there_is_no_filter) {
  FilterAssembler filter;
  CHECK(!assemble_filter(0, Architecture::kX8664, &filter));
  CHECK(!needs_listener(kFilterDoors | kFilterRefuseMetadata | kFilterNoUnixSockets));
  for (uint32_t feature :
       {kFilterBrokerMetadata, kFilterBrokerSockets, kFilterBrokerTruncate, kFilterObserve}) {
    CHECK(needs_listener(feature));
  }
}

TEST(a_feature_that_nobody_defined_makes_no_filter) {
  for (uint32_t unknown = kFilterFeatures + 1; unknown != 0; unknown <<= 1) {
    FilterAssembler filter;
    CHECK(!assemble_filter(unknown, kThisArchitecture, &filter));
    CHECK(!assemble_filter(kFilterDoors | unknown, kThisArchitecture, &filter));
    CHECK_EQ(filter.size(), size_t{0});
  }
}

TEST(the_supervisor_may_not_execute_mount_or_make_sockets) {
  FilterAssembler filter;
  CHECK(assemble_own_filter(&filter));
  // execve, execveat, socket, socketpair, mount, ptrace, unshare, setns, mknodat, mkdirat, linkat,
  // symlinkat of x86-64.
  for (int number : {59, 322, 41, 53, 165, 101, 272, 308, 259, 258, 265, 266}) {
    seccomp_data data{};
    data.nr = number;
    data.arch = AUDIT_ARCH_X86_64;
    CHECK_EQ(interpret(filter, data), SECCOMP_RET_ERRNO | EPERM);
  }
  for (uint64_t request : {0ull, 4ull, 7ull, 16ull, 24ull, 0x4206ull, 1ull << 32}) {
    seccomp_data trace{};
    trace.nr = 101;
    trace.arch = AUDIT_ARCH_X86_64;
    trace.args[0] = request;
    CHECK_EQ(interpret(filter, trace), SECCOMP_RET_ERRNO | EPERM);
    trace.args[0] = kPtraceDetach;
    CHECK_EQ(interpret(filter, trace), SECCOMP_RET_ALLOW);
  }
  seccomp_data read{};
  read.arch = AUDIT_ARCH_X86_64;
  CHECK_EQ(interpret(filter, read), SECCOMP_RET_ALLOW);
}

TEST(a_jump_that_does_not_fit_or_a_label_without_a_place_is_told) {
  FilterAssembler far;
  FilterAssembler::Label end = far.label();
  FilterAssembler::Label next = far.label();
  far.jump_equal(1, end, next);
  far.bind(next);
  for (int i = 0; i < 300; ++i) far.load_number();
  far.bind(end);
  far.answer(SECCOMP_RET_ALLOW);
  CHECK(!far.finish());

  FilterAssembler unbound;
  FilterAssembler::Label nowhere = unbound.label();
  unbound.go(nowhere);
  unbound.answer(SECCOMP_RET_ALLOW);
  CHECK(!unbound.finish());
}

}  // namespace
}  // namespace cordon::test
