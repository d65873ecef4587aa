// The supervisor of one run: confines itself, starts the command, watches it, ends its tree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/failure.h"

namespace cordon {

// Where the guard put a supervisor's descriptors; everything above is closed first of all.
enum : int {
  kFdControl = 3,  // to the owner, or /dev/null
  kFdPlan,
  kFdLife,      // end of file when the guard dies
  kFdTemp,      // the temp directory, or /dev/null
  kFdJournal,   // or /dev/null
  kFdChildren,  // the supervisor's own list of its children
  kFdDaemon,    // the command's connection to its daemon, which it finds here, or /dev/null
  kFdFirstClosed,
  // Only while it waits for a request.
  kFdServer = kFdFirstClosed,
  kFdReports,
  // Whatever else is opened comes after these.
  kFdFirstFree,
};

// How the run ended, for a guard that must mirror it (one-shot). In memory shared with the guard.
struct RunEnd {
  bool ended;  // told by the supervisor itself; false without a failure when it was lost
  int wait_status;
  Failure failure;
};

struct SupervisorSetup {
  size_t slot;  // in the journal
  bool has_control;
  bool has_temp;
  bool has_journal;
  bool has_daemon;
  bool bounding_narrowed;  // by the guard, for all runs
  bool may_be_unconfined;
  bool from_one_shot;  // forward what the guard's pid sends
  RunEnd* end;         // null when served
  // The plan where it came with the request, in memory that stays as it is; null for kFdPlan.
  const uint8_t* plan;
  size_t plan_size;
};

// A supervisor's word on its tree: it is dead, nothing was started, or something of it is left for
// the guard.
enum : int { kExitTreeEnded = 0, kExitNotStarted = 1, kExitTreeAlive = 2 };

// Does what needs no run to be known, for a supervisor that waits for one: its start is shorter by
// that. Descriptors up to the first free one are in place. What fails is tried again, and told, by
// supervise.
void prepare_to_supervise();

// Descriptors are in place. Never returns.
[[noreturn]] void supervise(const SupervisorSetup& setup);

}  // namespace cordon
