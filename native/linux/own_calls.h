// The supervisor's own filter: the system calls it needs once the command runs, and no others. It
// decodes what a hostile program wrote; should that ever take it over, it can start no program,
// make no socket and mount nothing.
#pragma once

#include <cstdint>

#include "core/bpf.h"
#include "core/failure.h"
#include "linux/seccomp_filter.h"

namespace cordon {

// PTRACE_DETACH: the one request that is the supervisor's.
inline constexpr uint32_t kPtraceDetach = 17;

// Assembles the filter. Pure.
bool assemble_own_filter(FilterAssembler* out);

// Restricts the calling process. What it forks is restricted too.
bool restrict_own_calls(Failure* failure);

}  // namespace cordon
