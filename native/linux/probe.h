// The throw-away confined child: tries each effect that confinement should stop, once, and prints
// what happened.
#pragma once

#include <cstdint>

namespace cordon {

struct ProbeSurroundings {
  // Outside every writable root. Holds files named victim-open, victim-truncate,
  // victim-open-truncate, victim-remove, victim-rename, victim-link, victim-mode, victim-owner,
  // victim-times, victim-xattr, victim-flags, and a listening UNIX socket named socket.
  const char* directory;
  // A process outside.
  int outside_pid;
  // An abstract socket that listens outside; "" for none.
  const char* abstract_name;
  // A directory that the run may write; null for none.
  const char* inside;
  // Where that process is an accomplice: the byte of its memory that shows whether it was written;
  // 0 otherwise.
  uint64_t accomplice_address;
};

// `cordon-exec probe DIRECTORY PID ABSTRACT-NAME INSIDE|- ADDRESS PLACE…`: each PLACE is one more
// directory with such files.
//
// Prints one line an effect, "NAME took-place" or "NAME stopped ERRNO", behind "@N " for the Nth
// place:
//   write-create write-open write-remove write-rename write-link write-directory write-fifo
//   write-symlink truncate truncate-open metadata-mode metadata-owner metadata-times metadata-xattr
//   metadata-flags
// and, once:
//   descriptors privilege write-sysctl signal abstract-connect unix-connect unix-datagram
//   set-id-create set-id-mode shared-object message-queue terminal-input terminal-push door-ring
//   door-keyring door-vsock door-mount door-swap door-module door-trace door-memory outlive
//   door-namespace
// and "orphan PID", the process left behind. Nothing is printed of an effect that cannot be
// attempted.
int probe(const ProbeSurroundings& at, char** places, int count);

// `cordon-exec accomplice`: the process outside that the probe may do something to. Prints "ready
// ADDRESS TERMINAL-NUMBER|-" and waits for the end of its input; then the effects that it saw, a
// line each, and a last line ".".
int accomplice();

}  // namespace cordon
