// The throw-away confined child: tries each effect that confinement should stop, once, and prints what happened.
#pragma once

namespace cordon {

// `cordon-exec probe DIRECTORY PID ABSTRACT-NAME`: DIRECTORY lies outside every writable root and holds files named
// victim-open, victim-truncate, victim-open-truncate, victim-remove, victim-rename, victim-link, victim-mode, victim-owner,
// victim-times, victim-xattr, victim-flags, a listening UNIX socket named socket, and a directory named inside that can be
// written; PID is a process outside; ABSTRACT-NAME an abstract socket that listens outside ("" for none).
//
// Prints one line an effect, "NAME took-place" or "NAME stopped ERRNO":
//   write-create write-open write-remove write-rename write-link write-directory write-fifo write-symlink
//   truncate truncate-open signal abstract-connect unix-connect unix-datagram privilege descriptors
//   metadata-mode metadata-owner metadata-times metadata-xattr metadata-flags set-id-create set-id-mode
//   shared-object message-queue terminal-input door-ring door-keyring door-vsock outlive door-namespace
int probe(const char* directory, int outside_pid, const char* abstract_name);

}  // namespace cordon
