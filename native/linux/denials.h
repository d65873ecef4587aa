// Reports of refused effects to the owner. They inform and decide nothing: when the owner is slow
// they are counted instead.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/denial.h"

namespace cordon {

class Denials {
 public:
  // Before any worker is forked: workers report too, and nobody tells twice.
  void start(int control);

  // Reports one, unless the same operation on the same path was reported already. One without a
  // path is counted as lost.
  void report(DeniedOperation operation, DenialSource source, int error, pid_t thread,
              const char* path);

  // How many could not be told.
  uint32_t lost() const { return told_->lost; }
  void lose() { ++told_->lost; }

 private:
  // Different paths are told up to this many; a program that fails at everything floods nobody.
  static constexpr size_t kMost = 256;

  struct Told {
    std::atomic<size_t> count;
    std::atomic<uint32_t> lost;
    std::atomic<uint64_t> keys[kMost];
  };

  int control_ = -1;
  Told own_{};
  Told* told_ = &own_;
};

}  // namespace cordon
