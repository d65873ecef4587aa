// The process behind a notification: its memory, its directory, its descriptors. Everything read
// here may change at once; nothing read twice is believed to be the same, and only what was
// resolved to a descriptor of ours is acted on.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "core/unique_fd.h"
#include "linux/caller_memory.h"

namespace cordon {

class Caller {
 public:
  explicit Caller(pid_t thread) : thread_(thread) {}

  // Valid as long as this.
  CallerMemory memory() const;

  // Where its current directory, or what its descriptor refers to, is: for a look without touching
  // it. False when there is none.
  bool path_of_directory(char* out, size_t size) const;
  bool path_of_descriptor(int number, char* out, size_t size) const;

  // Its current directory, as a descriptor that only names it. -errno in `*error` when there is
  // none.
  UniqueFd directory(int* error) const;

  // What its descriptor refers to, in the same form. With `usable`, EBADF for a descriptor that
  // itself only names.
  UniqueFd descriptor(int number, bool usable, int* error) const;

  // 0 to 0777; what the process takes from the mode of files it makes.
  mode_t file_mask() const;

  // A number of /proc/TID/status; 0 where there is none.
  uint64_t status_field(const char* name, unsigned base) const;

  // Whether it may not be looked at: it is not dumpable, as a program that its user cannot read is,
  // or Yama forbids it.
  bool is_hidden() const;

  // Whether it is this thread, or of this process, as /proc numbers them.
  bool has_number(pid_t number) const;

  pid_t thread() const { return thread_; }

 private:
  pid_t thread_;
};

}  // namespace cordon
