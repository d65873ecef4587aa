#include "linux/resolve.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cordon {
namespace {

bool has_prefix(const char* text, const char* prefix, const char** rest) {
  size_t length = strlen(prefix);
  if (strncmp(text, prefix, length) != 0) return false;
  *rest = text + length;
  return true;
}

UniqueFd open_beneath(int directory, const char* path, bool follow, int* error) {
  open_how how{};
  how.flags = static_cast<uint64_t>(O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
  how.resolve = RESOLVE_NO_MAGICLINKS;
  UniqueFd fd(
      static_cast<int>(syscall(SYS_openat2, static_cast<long>(directory), path, &how, sizeof how)));
  *error = fd.valid() ? 0 : errno;
  return fd;
}

}  // namespace

bool names_own_descriptor(const char* path, OwnDescriptor* own) {
  constexpr struct {
    const char* name;
    int number;
  } streams[] = {{"/dev/stdin", 0}, {"/dev/stdout", 1}, {"/dev/stderr", 2}};
  for (const auto& stream : streams) {
    if (strcmp(path, stream.name) == 0) {
      *own = {stream.number, ""};
      return true;
    }
  }
  const char* at = nullptr;
  uint64_t number = 0;
  bool known = has_prefix(path, "/proc/self/fd/", &at) ||
               has_prefix(path, "/proc/thread-self/fd/", &at) || has_prefix(path, "/dev/fd/", &at);
  if (!known || !take_number(&at, 10, &number) || number > INT32_MAX || (*at != '\0' && *at != '/'))
    return false;
  while (*at == '/') ++at;
  *own = {static_cast<int>(number), at};
  return true;
}

UniqueFd resolve(const Caller& caller, int directory, const char* path, bool follow,
                 bool may_be_empty, int* error) {
  OwnDescriptor own;
  if (path[0] == '\0' && may_be_empty) {
    if (directory == AT_FDCWD) return caller.directory(error);
    return caller.descriptor(directory, false, error);
  }
  if (names_own_descriptor(path, &own)) {
    if (own.rest[0] == '\0' && !follow) {
      *error = EACCES;
      return UniqueFd();
    }
    UniqueFd base = caller.descriptor(own.number, false, error);
    if (*error == EBADF) *error = ENOENT;
    if (!base.valid() || own.rest[0] == '\0') return base;
    return open_beneath(base.get(), own.rest, follow, error);
  }
  if (path[0] == '/') return open_beneath(AT_FDCWD, path, follow, error);
  UniqueFd base =
      directory == AT_FDCWD ? caller.directory(error) : caller.descriptor(directory, false, error);
  if (!base.valid()) return base;
  return open_beneath(base.get(), path, follow, error);
}

bool beneath(const char* path, const char* root) {
  size_t length = strlen(root);
  if (strncmp(path, root, length) != 0) return false;
  // Only "/" ends in a slash.
  return path[length] == '\0' || path[length] == '/' || (length > 0 && root[length - 1] == '/');
}

bool path_of(int object, char* out, size_t size) {
  ssize_t length = syscall(SYS_readlinkat, static_cast<long>(AT_FDCWD),
                           own_descriptor(object).get(), out, static_cast<long>(size - 1));
  if (length <= 0 || static_cast<size_t>(length) >= size - 1) return false;
  out[length] = '\0';
  return true;
}

Text<40> own_descriptor(int fd) {
  return Text<40>().add("/proc/self/fd/").add(static_cast<uint64_t>(fd));
}

}  // namespace cordon
