// The seccomp filter of a run: assembled from the table, installed by the command on itself.
#pragma once

#include <cstdint>

#include "core/bpf.h"
#include "core/failure.h"

namespace cordon {

enum class Architecture : uint8_t { kX8664, kArm64 };

#if defined(__x86_64__)
inline constexpr Architecture kThisArchitecture = Architecture::kX8664;
#elif defined(__aarch64__)
inline constexpr Architecture kThisArchitecture = Architecture::kArm64;
#endif

// Assembles the filter for `features` (FilterFeature). Pure. False for a feature that nobody
// defined, which would be one that is not enforced, and when the filter does not fit, which no
// table here makes it do.
bool assemble_filter(uint32_t features, Architecture architecture, FilterAssembler* out);

// A call with whatever arguments, or only with this first one.
struct AllowedCall {
  constexpr AllowedCall(int call) : number(call) {}
  constexpr AllowedCall(int call, uint32_t argument)
      : number(call), tested(true), first(argument) {}

  int number;
  bool tested = false;
  uint32_t first = 0;
};

// Assembles a filter that allows the listed calls and refuses all others with EPERM. Pure.
bool assemble_allow_list(const AllowedCall* allowed, size_t count, Architecture architecture,
                         FilterAssembler* out);

// Whether a filter with these features asks the supervisor anything.
bool needs_listener(uint32_t features);

// Installs the filter on the calling thread. With `listener`, `*listener` is the descriptor that
// its questions come to, close-on-exec; EBUSY when an outer sandbox has the only one.
bool install_filter(const FilterAssembler& filter, int* listener, Failure* failure);

}  // namespace cordon
