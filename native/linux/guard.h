// The guard: the long-lived, unconfined, single-threaded process above the supervisors. It parses
// nothing: a request is a fixed header and descriptors. It forks, reaps, kills what a dead
// supervisor left, and removes temp directories.
#pragma once

#include "core/record.h"

namespace cordon {

struct ServeOptions {
  int socket;
  // Directory of journals; null for none.
  const char* journal_directory;
  // Only confined plans are accepted, and the bounding set is narrowed once for all of them.
  bool confined_only;
};

// Serves runs until the other end of `socket` closes. Returns the exit code.
int serve(const ServeOptions& options);

struct OneShotOptions {
  int plan;
  int control;              // -1: nobody watches
  const char* temp_parent;  // null: no temp directory
  const char* temp_name;
};

// One run with the descriptors 0, 1, 2 of this process; mirrors its end: exits or dies as the
// command did, 125 to 127 when it did not start.
int run_once(const OneShotOptions& options);

}  // namespace cordon
