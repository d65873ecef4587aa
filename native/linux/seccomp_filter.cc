#include "linux/seccomp_filter.h"

#include <linux/audit.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux/seccomp_table.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace cordon {
namespace {

using Label = FilterAssembler::Label;

constexpr uint32_t kX32Bit = 0x40000000;

uint32_t audit_architecture(Architecture architecture) {
  return architecture == Architecture::kX8664 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
}

uint32_t refusal(int error) { return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error); }

uint32_t action_of(const FilterRow& row) {
  switch (row.judgement) {
    case Judgement::kRefuse:
      return refusal(row.error);
    case Judgement::kPretend:
      return refusal(0);
    case Judgement::kBroker:
    case Judgement::kObserve:
      return SECCOMP_RET_USER_NOTIF;
  }
  return refusal(EPERM);
}

// Falls through where `yes` is bound by the caller next; every other way leads to `no`.
void test_arguments(const FilterRow& row, FilterAssembler* out, Label no) {
  Label yes = out->label();
  unsigned second = row.argument + 1u;
  auto step = [out](auto jump) {
    Label here = out->label();
    jump(here);
    out->bind(here);
  };
  out->load_low(row.argument);
  switch (row.test) {
    case Test::kAlways:
      break;
    case Test::kEquals:
      out->jump_equal(row.value, yes, no);
      break;
    case Test::kAnyBit:
      out->jump_any_bit(row.value, yes, no);
      break;
    case Test::kPairEquals:
      step([&](Label next) { out->jump_equal(row.value, next, no); });
      out->load_low(second);
      out->jump_equal(row.second, yes, no);
      break;
    case Test::kEqualsAndSet:
      step([&](Label next) { out->jump_equal(row.value, next, no); });
      out->load_low(second);
      step([&](Label next) { out->jump_equal(0, next, yes); });
      out->load_high(second);
      out->jump_equal(0, no, yes);
      break;
    case Test::kOtherAndSet:
      step([&](Label next) { out->jump_equal(0, no, next); });
      out->load_low(second + 1);
      step([&](Label next) { out->jump_equal(0, next, yes); });
      out->load_high(second + 1);
      out->jump_equal(0, no, yes);
      break;
    case Test::kCreatesSetId:
      step([&](Label next) { out->jump_any_bit(kOpenCreat | kOpenTmpfile, next, no); });
      out->load_low(second);
      out->jump_any_bit(kSetIdBits, yes, no);
      break;
    case Test::kTruncates:
      out->jump_any_bit(kOpenTrunc, yes, no);
      break;
    case Test::kOddUnixSocket:
      step([&](Label next) { out->jump_equal(kFamilyUnix, next, no); });
      out->load_low(second);
      out->mask(kSocketTypeMask);
      step([&](Label next) { out->jump_equal(kSocketStream, no, next); });
      out->jump_equal(kSocketSeqpacket, no, yes);
      break;
    case Test::kMetadataIoctl:
      for (uint32_t harmless : kHarmlessIoctls) {
        step([&](Label next) { out->jump_equal(harmless, no, next); });
      }
      out->mask(0xff00);
      for (uint32_t driver : kFilesystemIoctls) {
        step([&](Label next) { out->jump_equal(driver << 8, yes, next); });
      }
      // An unconditional way out: equal or not.
      out->jump_equal(0, no, no);
      break;
  }
  out->bind(yes);
}

constexpr size_t kMostNumbers = 256;
// Two at most for each number: the number itself and what follows it.
constexpr size_t kMostIntervals = 2 * kMostNumbers + 1;
// Subtrees of so few intervals are reached by a conditional jump whatever they hold.
constexpr size_t kNearIntervals = 6;

int number_of(const FilterRow& row, Architecture architecture) {
  return architecture == Architecture::kX8664 ? row.x86_64 : row.arm64;
}

// Calls from `first` up to the next interval's: all answered alike, or one whose arguments are
// looked at.
struct Interval {
  uint32_t first;
  bool tested;
  uint32_t action;
};

// Call numbers in ascending order, each once.
class Numbers {
 public:
  bool add(int number) {
    auto wanted = static_cast<uint32_t>(number);
    size_t at = 0;
    while (at < count_ && all_[at] < wanted) ++at;
    if (at < count_ && all_[at] == wanted) return true;
    if (count_ == kMostNumbers) return false;
    for (size_t i = count_++; i > at; --i) all_[i] = all_[i - 1];
    all_[at] = wanted;
    return true;
  }

  size_t size() const { return count_; }
  uint32_t at(size_t index) const { return all_[index]; }

 private:
  uint32_t all_[kMostNumbers];
  size_t count_ = 0;
};

// All call numbers cut into intervals. The kernel compiles the filter anew at every launch and
// walks it once for every call it has, to find those that are always allowed: as a list of rows
// that was the dearest step of a launch (0.2 ms), as a search over intervals it is a third of that.
class Intervals {
 public:
  // `interval_of` says what becomes of a number; `otherwise` of all that are not listed.
  template <typename IntervalOf>
  void cut(const Numbers& numbers, uint32_t otherwise, IntervalOf interval_of) {
    append({0, false, otherwise});
    for (size_t i = 0; i < numbers.size(); ++i) {
      append(interval_of(numbers.at(i)));
      bool adjoins = i + 1 < numbers.size() && numbers.at(i + 1) == numbers.at(i) + 1;
      if (!adjoins) append({numbers.at(i) + 1, false, otherwise});
    }
  }

  size_t size() const { return size_; }
  const Interval& at(size_t index) const { return all_[index]; }

 private:
  void append(const Interval& next) {
    if (size_ > 0 && all_[size_ - 1].first == next.first) {
      all_[size_ - 1] = next;
      return;
    }
    bool alike = size_ > 0 && !next.tested && !all_[size_ - 1].tested &&
                 all_[size_ - 1].action == next.action;
    if (!alike) all_[size_++] = next;
  }

  Interval all_[kMostIntervals];
  size_t size_ = 0;
};

// The rows of a plan.
struct Selection {
  uint32_t features;
  Architecture architecture;

  bool has(const FilterRow& row, int number) const {
    return number != kNoSuchCall && number_of(row, architecture) == number &&
           (row.features & features) != 0;
  }

  bool gather(Numbers* numbers) const {
    for (const FilterRow& row : kFilterRows) {
      int number = number_of(row, architecture);
      if (has(row, number) && !numbers->add(number)) return false;
    }
    return numbers->size() > 0;
  }

  Interval interval_of(uint32_t number) const {
    for (const FilterRow& row : kFilterRows) {
      if (has(row, static_cast<int>(number)))
        return {number, row.test != Test::kAlways, action_of(row)};
    }
    return {number, false, SECCOMP_RET_ALLOW};
  }
};

// Every row of one call, in the table's order.
void judge_number(const Selection& selection, uint32_t number, FilterAssembler* out) {
  for (const FilterRow& row : kFilterRows) {
    if (!selection.has(row, static_cast<int>(number))) continue;
    Label next = out->label();
    if (row.test != Test::kAlways) test_arguments(row, out, next);
    out->answer(action_of(row));
    out->bind(next);
    if (row.test == Test::kAlways) return;
  }
  out->answer(SECCOMP_RET_ALLOW);
}

template <typename JudgeTested>
void judge_range(const Intervals& intervals, size_t first, size_t end, FilterAssembler* out,
                 JudgeTested judge_tested) {
  if (end - first == 1) {
    const Interval& interval = intervals.at(first);
    if (interval.tested) return judge_tested(interval.first);
    return out->answer(interval.action);
  }
  size_t middle = first + (end - first) / 2;
  Label upper = out->label();
  Label lower = out->label();
  if (middle - first <= kNearIntervals) {
    out->jump_at_least(intervals.at(middle).first, upper, lower);
  } else {
    Label far = out->label();
    out->jump_at_least(intervals.at(middle).first, far, lower);
    out->bind(far);
    out->go(upper);
  }
  out->bind(lower);
  judge_range(intervals, first, middle, out, judge_tested);
  out->bind(upper);
  judge_range(intervals, middle, end, out, judge_tested);
}

// Leaves the call's number loaded. Another instruction set's calls have other numbers; killing for
// one would look like a crash.
void check_architecture(Architecture architecture, FilterAssembler* out) {
  Label ours = out->label();
  Label foreign = out->label();
  out->load_architecture();
  out->jump_equal(audit_architecture(architecture), ours, foreign);
  out->bind(foreign);
  out->answer(refusal(ENOSYS));
  out->bind(ours);
  out->load_number();
  if (architecture != Architecture::kX8664) return;
  Label x32 = out->label();
  Label plain = out->label();
  out->jump_any_bit(kX32Bit, x32, plain);
  out->bind(x32);
  out->answer(refusal(ENOSYS));
  out->bind(plain);
}

}  // namespace

bool assemble_filter(uint32_t features, Architecture architecture, FilterAssembler* out) {
  if ((features & ~kFilterFeatures) != 0) return false;
  Selection selection{features, architecture};
  Numbers numbers;
  if (!selection.gather(&numbers)) return false;
  Intervals intervals;
  intervals.cut(numbers, SECCOMP_RET_ALLOW,
                [&](uint32_t number) { return selection.interval_of(number); });
  check_architecture(architecture, out);
  judge_range(intervals, 0, intervals.size(), out,
              [&](uint32_t number) { judge_number(selection, number, out); });
  return out->finish();
}

bool assemble_allow_list(const AllowedCall* allowed, size_t count, Architecture architecture,
                         FilterAssembler* out) {
  Numbers numbers;
  for (size_t i = 0; i < count; ++i) {
    if (!numbers.add(allowed[i].number)) return false;
  }
  auto call = [&](uint32_t number) {
    const AllowedCall* at = allowed;
    while (static_cast<uint32_t>(at->number) != number) ++at;
    return *at;
  };
  Intervals intervals;
  intervals.cut(numbers, refusal(EPERM), [&](uint32_t number) {
    return Interval{number, call(number).tested, SECCOMP_RET_ALLOW};
  });
  check_architecture(architecture, out);
  judge_range(intervals, 0, intervals.size(), out, [&](uint32_t number) {
    Label yes = out->label();
    Label no = out->label();
    out->load_low(0);
    out->jump_equal(call(number).first, yes, no);
    out->bind(yes);
    out->answer(SECCOMP_RET_ALLOW);
    out->bind(no);
    out->answer(refusal(EPERM));
  });
  return out->finish();
}

bool needs_listener(uint32_t features) {
  for (const FilterRow& row : kFilterRows) {
    bool asks = row.judgement == Judgement::kBroker || row.judgement == Judgement::kObserve;
    if (asks && (row.features & features) != 0) return true;
  }
  return false;
}

bool install_filter(const FilterAssembler& filter, int* listener, Failure* failure) {
  sock_fprog program{static_cast<unsigned short>(filter.size()),
                     const_cast<sock_filter*>(filter.code())};
  unsigned long flags = listener == nullptr ? 0 : SECCOMP_FILTER_FLAG_NEW_LISTENER;
  long result = -1;
  if (!injected(Stage::kSeccomp)) {
    // A signal in the middle of an answered call would make the caller repeat what was done
    // already.
    unsigned long killable = listener == nullptr ? 0 : SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | killable, &program);
    // Before Linux 5.19.
    if (result < 0 && errno == EINVAL && killable != 0) {
      result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    }
  }
  if (result < 0) return failure->at(Stage::kSeccomp, errno);
  if (listener != nullptr) *listener = static_cast<int>(result);
  return true;
}

}  // namespace cordon
