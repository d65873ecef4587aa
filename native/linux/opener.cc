#include "linux/opener.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "core/unique_fd.h"
#include "linux/caller.h"
#include "linux/connector.h"
#include "linux/resolve.h"

namespace cordon {
namespace {

constexpr int kRefusedPath = EACCES;
// Decided by the caller's own descriptor, not by the open file.
constexpr int kDescriptorFlags = O_CLOEXEC;

// As the caller would have opened it, but without emptying it.
UniqueFd open_untouched(const Caller& caller, const OpenRequest& request, bool waits, int* error) {
  const Place& place = request.place;
  int flags = (request.flags & ~(O_TRUNC | kDescriptorFlags)) | O_CLOEXEC | O_NOCTTY;
  if (!waits) flags |= O_NONBLOCK;
  bool creates = (flags & O_CREAT) != 0;
  OwnDescriptor own;
  if (is_own_descriptor(caller, place.path, &own) && own.rest[0] == '\0') {
    UniqueFd named = owner_of(own, caller).descriptor(own.number, false, error);
    if (!named.valid()) return named;
    UniqueFd again(
        open(own_descriptor(named.get()).get(), flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)));
    *error = again.valid() ? 0 : errno;
    return again;
  }
  UniqueFd base;
  int directory = AT_FDCWD;
  if (place.path[0] != '/') {
    base = place.directory == AT_FDCWD ? caller.directory(error)
                                       : caller.descriptor(place.directory, false, error);
    if (!base.valid()) return base;
    directory = base.get();
  }
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.mode = creates ? request.mode & 07777 : 0;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  mode_t own_mask = creates ? umask(caller.file_mask()) : 0;
  UniqueFd fd(static_cast<int>(
      syscall(SYS_openat2, static_cast<long>(directory), place.path, &how, sizeof how)));
  *error = fd.valid() ? 0 : errno;
  if (creates) umask(own_mask);
  return fd;
}

int64_t hand_over(int listener, uint64_t question, int fd, bool close_on_exec) {
  seccomp_notif_addfd handed{};
  handed.id = question;
  handed.srcfd = static_cast<uint32_t>(fd);
  handed.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
  handed.flags = SECCOMP_ADDFD_FLAG_SEND;
  if (syscall(SYS_ioctl, static_cast<long>(listener), SECCOMP_IOCTL_NOTIF_ADDFD, &handed) >= 0)
    return 0;
  if (errno != EINVAL) return -errno;
  // Before Linux 5.14 the descriptor and the answer are two steps.
  handed.flags = 0;
  long number = syscall(SYS_ioctl, static_cast<long>(listener), SECCOMP_IOCTL_NOTIF_ADDFD, &handed);
  if (number < 0) return -errno;
  send_answer(listener, question, number);
  return 0;
}

}  // namespace

int64_t open_on_behalf(int listener, const seccomp_notif& question, const OpenRequest& request,
                       bool waits, Judge judge, const void* context) {
  Caller caller(static_cast<pid_t>(question.pid));
  int error = 0;
  UniqueFd fd = open_untouched(caller, request, waits, &error);
  if (!fd.valid()) return -error;
  struct stat found;
  if (fstat(fd.get(), &found) != 0) return -errno;
  if (S_ISREG(found.st_mode)) {
    if (!judge(context, fd.get())) return -kRefusedPath;
    // Through its name: one opened only for reading may be emptied as well.
    if (found.st_size > 0 && truncate(own_descriptor(fd.get()).get(), 0) != 0) return -errno;
  }
  if ((request.flags & O_NONBLOCK) == 0 &&
      fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK) != 0) {
    return -errno;
  }
  return hand_over(listener, question.id, fd.get(), (request.flags & O_CLOEXEC) != 0);
}

}  // namespace cordon
