// What a caller's path or descriptor refers to, as a descriptor of ours that names the object and
// nothing else.
#pragma once

#include "core/text.h"
#include "core/unique_fd.h"
#include "linux/caller.h"

namespace cordon {

// Spellings of "my descriptor N" and what follows it. Only these: every other route to a magic link
// is refused by the resolution itself, because in the supervisor it would name the supervisor's.
struct OwnDescriptor {
  int number;
  const char* rest;  // without its slash; empty when the descriptor itself is meant
};

bool names_own_descriptor(const char* path, OwnDescriptor* own);

// The object of `path` as the caller would find it, following a symbolic link at the end when
// `follow`. Only the usual spellings of the caller's own descriptors are understood; any other
// route through a magic link is refused, because here it would lead to the supervisor's. Invalid
// with an errno in `*error`.
UniqueFd resolve(const Caller& caller, int directory, const char* path, bool follow,
                 bool may_be_empty, int* error);

// Where the object is, as the kernel prints it. False when it does not fit.
bool path_of(int object, char* out, size_t size);

// Whether `path` is `root` or lies beneath it; both are canonical.
bool beneath(const char* path, const char* root);

// "/proc/self/fd/N": a way to act on an object that is only named.
Text<40> own_descriptor(int fd);

}  // namespace cordon
