// Reports of refused effects to the owner. They inform and decide nothing: when the owner is slow
// they are counted instead.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "core/denial.h"

namespace cordon {

class Denials {
 public:
  void start(int control) { control_ = control; }

  // Reports one, unless the same operation on the same path was reported already.
  void report(DeniedOperation operation, DenialSource source, int error, pid_t thread,
              const char* path);

  // How many could not be told.
  uint32_t lost() const { return lost_; }

 private:
  // Different paths are told up to this many; a program that fails at everything floods nobody.
  static constexpr size_t kMost = 256;

  int control_ = -1;
  size_t count_ = 0;
  uint32_t lost_ = 0;
  uint64_t told_[kMost];
};

}  // namespace cordon
