// What a caller's path or descriptor refers to, as a descriptor of ours that names the object and
// nothing else.
#pragma once

#include "core/text.h"
#include "core/unique_fd.h"
#include "linux/caller.h"
#include "linux/decode.h"
#include "linux/mounts.h"

namespace cordon {

// Spellings of "my descriptor N" and what follows it. Only these: every other route to a magic link
// is refused by the resolution itself, because in the supervisor it would name the supervisor's.
struct OwnDescriptor {
  pid_t process;  // where it is spelled as a number, which may be anybody's; else 0
  int number;
  const char* rest;  // without its slash; empty when the descriptor itself is meant
};

bool names_own_descriptor(const char* path, OwnDescriptor* own);

// The same, and a number is the caller's own.
bool is_own_descriptor(const Caller& caller, const char* path, OwnDescriptor* own);

// Whose descriptors they are: a thread may have others than its process.
Caller owner_of(const OwnDescriptor& own, const Caller& caller);

// In place of an errno: a file system would have to be asked that may never answer.
inline constexpr int kWouldWait = -1;

// The object at `place` as the caller would find it. Only the usual spellings of the caller's own
// descriptors are understood; any other route through a magic link is refused, because here it
// would lead to the supervisor's. Invalid with an errno in `*error`. With `avoided`, nothing there
// is asked anything, and kWouldWait is the error where something would have to be; the object that
// is returned lies elsewhere. Null for who may wait. `where` is the object's path as the kernel
// prints it; "" when it does not fit.
UniqueFd resolve(const Caller& caller, const Place& place, const MountTable* avoided,
                 char (&where)[kPathBytes], int* error);

// The directory that holds, or would hold, the last name of a place's path, and that name: "" where
// the path has none.
UniqueFd resolve_parent(const Caller& caller, const Place& place, const MountTable* avoided,
                        char (&where)[kPathBytes], const char** name, int* error);

// Where the object is, as the kernel prints it. False when it does not fit.
bool path_of(int object, char* out, size_t size);

// Whether `path` is `root` or lies beneath it; both are canonical.
bool beneath(const char* path, const char* root);

// "/proc/self/fd/N": a way to act on an object that is only named.
Text<40> own_descriptor(int fd);

}  // namespace cordon
