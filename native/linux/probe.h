// The throw-away confined child: tries each effect that confinement should stop, once, and prints
// what happened.
#pragma once

#include <cstdint>

namespace cordon {

struct ProbeSurroundings {
  // Outside every writable root. Holds files named victim-open, victim-truncate,
  // victim-open-truncate, victim-remove, victim-rename, victim-link, victim-mode, victim-owner,
  // victim-times, victim-xattr, victim-flags, victim-hidden, and a listening UNIX socket named
  // socket.
  const char* directory;
  // A process outside.
  int outside_pid;
  // An abstract socket that listens outside; "" for none.
  const char* abstract_name;
  // A directory that the run may write; null for none. What is to be kept in it is holder/kept and
  // holder/named, where these are there.
  const char* inside;
  // Where that process is an accomplice: the byte of its memory that shows whether it was written;
  // 0 otherwise.
  uint64_t accomplice_address;
  // The prober's own: the inode of its IPC namespace, and the device of its /dev/shm; 0 for none.
  uint64_t ipc_namespace;
  uint64_t shared_memory;
};

// `cordon-exec probe DIRECTORY PID ABSTRACT-NAME INSIDE|- ADDRESS IPC SHM PLACE…`: each PLACE is
// one more directory with such files.
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
//   hidden-read shared-directory shared-ipc protected-write protected-remove protected-rename
//   door-namespace
// and "orphan PID", the process left behind. Nothing is printed of an effect that cannot be
// attempted.
int probe(const ProbeSurroundings& at, char** places, int count);

// `cordon-exec accomplice`: the process outside that the probe may do something to. Prints "ready
// ADDRESS TERMINAL-NUMBER|-" and waits for the end of its input; then the effects that it saw, a
// line each, and a last line ".".
int accomplice();

}  // namespace cordon
