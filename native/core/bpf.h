// Assembler of seccomp filters: labels are resolved and every jump is checked, because a jump that
// does not fit its eight bits lands somewhere else without a word. Pure: instructions out, nothing
// installed.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>

namespace cordon {

// The kernel takes 4096 (BPF_MAXINSNS); a filter that needs more than this is a mistake in the
// table.
inline constexpr size_t kMostInstructions = 1024;
inline constexpr size_t kMostLabels = 1024;
inline constexpr uint32_t kFarthestJump = 255;

class FilterAssembler {
 public:
  struct Label {
    uint16_t index;
  };

  Label label() {
    if (labels_ == kMostLabels) {
      failed_ = true;
      return {0};
    }
    targets_[labels_] = kUnbound;
    return {static_cast<uint16_t>(labels_++)};
  }

  // The next instruction is where `label` jumps to.
  void bind(Label label) { targets_[label.index] = static_cast<uint16_t>(count_); }

  void load_architecture() { emit(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)); }
  void load_number() { emit(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)); }
  // The kernel reads an int argument's low half only, so that half alone is compared.
  void load_low(unsigned argument) { emit(BPF_LD | BPF_W | BPF_ABS, low_half(argument)); }
  void load_high(unsigned argument) { emit(BPF_LD | BPF_W | BPF_ABS, low_half(argument) + 4); }
  void mask(uint32_t bits) { emit(BPF_ALU | BPF_AND | BPF_K, bits); }

  void jump_equal(uint32_t value, Label yes, Label no) { jump(BPF_JEQ, value, yes, no); }
  void jump_any_bit(uint32_t bits, Label yes, Label no) { jump(BPF_JSET, bits, yes, no); }

  void jump_at_least(uint32_t value, Label yes, Label no) { jump(BPF_JGE, value, yes, no); }

  // Reaches any distance, where a conditional jump reaches kFarthestJump.
  void go(Label label) {
    if (emit(BPF_JMP | BPF_JA, 0)) yes_[count_ - 1] = label.index;
  }

  void answer(uint32_t action) { emit(BPF_RET | BPF_K, action); }

  // Resolves labels. False when something did not fit or a label was never bound.
  bool finish() {
    for (size_t at = 0; at < count_ && !failed_; ++at) {
      if (BPF_CLASS(code_[at].code) != BPF_JMP) continue;
      if (BPF_OP(code_[at].code) == BPF_JA) {
        code_[at].k = resolve(at, yes_[at], kMostInstructions);
        continue;
      }
      code_[at].jt = static_cast<uint8_t>(resolve(at, yes_[at], kFarthestJump));
      code_[at].jf = static_cast<uint8_t>(resolve(at, no_[at], kFarthestJump));
    }
    return !failed_;
  }

  const sock_filter* code() const { return code_; }
  size_t size() const { return count_; }

 private:
  static constexpr uint16_t kUnbound = 0xffff;

  static uint32_t low_half(unsigned argument) {
    // Little-endian, as every architecture served here.
    return static_cast<uint32_t>(offsetof(seccomp_data, args) + argument * sizeof(uint64_t));
  }

  bool emit(uint16_t code, uint32_t value) {
    if (count_ == kMostInstructions) {
      failed_ = true;
      return false;
    }
    code_[count_++] = {code, 0, 0, value};
    return true;
  }

  void jump(uint16_t test, uint32_t value, Label yes, Label no) {
    if (!emit(static_cast<uint16_t>(BPF_JMP | test | BPF_K), value)) return;
    yes_[count_ - 1] = yes.index;
    no_[count_ - 1] = no.index;
  }

  uint32_t resolve(size_t at, uint16_t label, size_t farthest) {
    uint16_t target = targets_[label];
    if (target == kUnbound || target <= at || target - at - 1 > farthest) {
      failed_ = true;
      return 0;
    }
    return static_cast<uint32_t>(target - at - 1);
  }

  // Before the arrays: where no filter is assembled their pages are never touched.
  size_t count_ = 0;
  size_t labels_ = 0;
  bool failed_ = false;
  sock_filter code_[kMostInstructions];
  uint16_t yes_[kMostInstructions];
  uint16_t no_[kMostInstructions];
  uint16_t targets_[kMostLabels];
};

}  // namespace cordon
