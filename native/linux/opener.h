// open with O_TRUNC on behalf of the run, where Landlock does not know truncation (ABI 1 and 2).
// The object is opened without truncating, judged, emptied, and the descriptor put into the caller.
#pragma once

#include <linux/seccomp.h>

#include <cstdint>

#include "linux/caller.h"

namespace cordon {

struct OpenRequest {
  int directory;
  const char* path;
  int flags;
  mode_t mode;
  bool waits;  // for the other end of a FIFO
};

// Whether the run may change the object, named by a descriptor.
using Judge = bool (*)(const void* context, int object);

// Opens, judges, empties and hands over: 0 when the caller has been answered with its descriptor,
// else -errno to answer with. ENXIO for a FIFO that nobody reads, unless the request waits.
int64_t open_on_behalf(int listener, const seccomp_notif& question, const OpenRequest& request,
                       Judge judge, const void* context);

}  // namespace cordon
