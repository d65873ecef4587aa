// Names of the errors that the calls made here can give. Not from libc: strerrorname_np exists in
// glibc only.
#pragma once

#include <cerrno>

namespace cordon {

// Names are within the row: a pointer would have to be relocated at every start.
struct ErrnoName {
  int value;
  char name[16];
};

inline constexpr ErrnoName kErrnoNames[] = {
    {EPERM, "EPERM"},
    {ENOENT, "ENOENT"},
    {ESRCH, "ESRCH"},
    {EINTR, "EINTR"},
    {EIO, "EIO"},
    {ENXIO, "ENXIO"},
    {E2BIG, "E2BIG"},
    {ENOEXEC, "ENOEXEC"},
    {EBADF, "EBADF"},
    {ECHILD, "ECHILD"},
    {EAGAIN, "EAGAIN"},
    {ENOMEM, "ENOMEM"},
    {EACCES, "EACCES"},
    {EFAULT, "EFAULT"},
    {EBUSY, "EBUSY"},
    {EEXIST, "EEXIST"},
    {EXDEV, "EXDEV"},
    {ENODEV, "ENODEV"},
    {ENOTDIR, "ENOTDIR"},
    {EISDIR, "EISDIR"},
    {EINVAL, "EINVAL"},
    {ENFILE, "ENFILE"},
    {EMFILE, "EMFILE"},
    {ENOTTY, "ENOTTY"},
    {ETXTBSY, "ETXTBSY"},
    {EFBIG, "EFBIG"},
    {ENOSPC, "ENOSPC"},
    {ESPIPE, "ESPIPE"},
    {EROFS, "EROFS"},
    {EMLINK, "EMLINK"},
    {EPIPE, "EPIPE"},
    {ENAMETOOLONG, "ENAMETOOLONG"},
    {ENOSYS, "ENOSYS"},
    {ENOTEMPTY, "ENOTEMPTY"},
    {ELOOP, "ELOOP"},
    {ELIBBAD, "ELIBBAD"},
    {ENOTSOCK, "ENOTSOCK"},
    {EAFNOSUPPORT, "EAFNOSUPPORT"},
    {EMSGSIZE, "EMSGSIZE"},
    {EOPNOTSUPP, "EOPNOTSUPP"},
    {ENOBUFS, "ENOBUFS"},
    {ENOTCONN, "ENOTCONN"},
    {ECONNREFUSED, "ECONNREFUSED"},
    {ECONNRESET, "ECONNRESET"},
    {ETOOMANYREFS, "ETOOMANYREFS"},
    {ETIMEDOUT, "ETIMEDOUT"},
    {ESTALE, "ESTALE"},
    {EDQUOT, "EDQUOT"},
};

constexpr const char* errno_name(int value) {
  for (const ErrnoName& row : kErrnoNames) {
    if (row.value == value) return row.name;
  }
  return "EUNKNOWN";
}

}  // namespace cordon
