// The command's own steps between clone and exec. It shares the supervisor's memory until exec: no
// allocation, no lock.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "core/bpf.h"
#include "core/failure.h"
#include "core/plan.h"

namespace cordon {

struct ChildSetup {
  const Plan* plan;
  pid_t supervisor;
  int ruleset;  // -1 when unconfined
  int journal;  // -1 for none
  size_t slot;
  uint64_t started_after;         // boot time, from before the clone
  const FilterAssembler* filter;  // null for none
  // Where the number of the filter's listener goes; null when it asks nothing. The descriptor is in
  // the supervisor's own table by then, because the two share one until exec.
  int* listener;
  const char* const* arguments;
  const char* const* environment;
  // "/bin/sh", the program and its arguments: what execvp does with a script that names no
  // interpreter.
  const char* const* shell_arguments;
  Failure* failure;
};

// Starts the command and returns once it runs or failed: its pid, or -1 with `setup.failure` set.
pid_t start_child(const ChildSetup& setup);

}  // namespace cordon
