// open with O_TRUNC on behalf of the run, where Landlock does not know truncation (ABI 1 and 2).
// The object is opened without truncating, judged, emptied, and the descriptor put into the caller.
#pragma once

#include <linux/seccomp.h>

#include <cstdint>

#include "linux/decode.h"

namespace cordon {

// Whether the run may change the object, named by a descriptor.
using Judge = bool (*)(const void* context, int object);

// Opens, judges, empties and hands over: 0 when the caller has been answered with its descriptor,
// else -errno to answer with. Unless it `waits` for the other end, ENXIO for a FIFO that nobody
// reads.
int64_t open_on_behalf(int listener, const seccomp_notif& question, const OpenRequest& request,
                       bool waits, Judge judge, const void* context);

}  // namespace cordon
