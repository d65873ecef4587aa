#include "linux/resolve.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace cordon {
namespace {

bool has_prefix(const char* text, const char* prefix, const char** rest) {
  size_t length = strlen(prefix);
  if (strncmp(text, prefix, length) != 0) return false;
  *rest = text + length;
  return true;
}

// Its own memory: one path is resolved at a time.
char g_where[kPathBytes];
char g_holder[kPathBytes];
char g_parent[kPathBytes];

UniqueFd open_named(int directory, const char* path, int flags, uint64_t how_resolved, int* error) {
  open_how how{};
  how.flags = static_cast<uint64_t>(O_PATH | O_CLOEXEC | flags);
  how.resolve = RESOLVE_NO_MAGICLINKS | how_resolved;
  UniqueFd fd(
      static_cast<int>(syscall(SYS_openat2, static_cast<long>(directory), path, &how, sizeof how)));
  *error = fd.valid() ? 0 : errno;
  return fd;
}

UniqueFd stop_at(int reason, int* error) {
  *error = reason;
  return UniqueFd();
}

bool lies_in(const MountTable& avoided, int object) {
  return !path_of(object, g_where, sizeof g_where) || avoided.may_wait(g_where);
}

// An object with its path; none when that shows that it is to be avoided.
UniqueFd located(UniqueFd object, const MountTable* avoided, char (&where)[kPathBytes],
                 int* error) {
  where[0] = '\0';
  if (!object.valid()) return object;
  bool known = path_of(object.get(), where, sizeof where);
  if (!known) where[0] = '\0';
  bool all_well = avoided == nullptr || avoided->empty() || (known && !avoided->may_wait(where));
  return all_well ? std::move(object) : stop_at(kWouldWait, error);
}

// The path without its last name, and that name; null where the last name is none that can be
// looked up in a directory.
const char* parent_of(const char* path, char (&parent)[kPathBytes], const char** name) {
  const char* slash = strrchr(path, '/');
  *name = slash == nullptr ? path : slash + 1;
  if ((*name)[0] == '\0' || strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0) return nullptr;
  if (slash == nullptr) return ".";
  size_t length = slash == path ? 1 : static_cast<size_t>(slash - path);
  memcpy(parent, path, length);
  parent[length] = '\0';
  return parent;
}

// What the kernel has in memory answers at once. Of a name that it has not, but whose directory it
// has, the file system of that directory is asked, which is none of the avoided ones.
UniqueFd open_at_once(int directory, const char* path, bool follow, const MountTable& avoided,
                      int* error) {
  int flags = follow ? 0 : O_NOFOLLOW;
  UniqueFd object = open_named(directory, path, flags, RESOLVE_CACHED, error);
  if (object.valid() || *error != EAGAIN) return object;
  const char* name = nullptr;
  const char* parent = parent_of(path, g_holder, &name);
  if (parent == nullptr) return stop_at(kWouldWait, error);
  UniqueFd holder = open_named(directory, parent, O_DIRECTORY, RESOLVE_CACHED, error);
  if (!holder.valid()) return stop_at(*error == EAGAIN ? kWouldWait : *error, error);
  if (lies_in(avoided, holder.get())) return stop_at(kWouldWait, error);
  object = open_named(holder.get(), name, O_NOFOLLOW, RESOLVE_NO_XDEV, error);
  if (!object.valid()) return stop_at(*error == EXDEV ? kWouldWait : *error, error);
  if (!follow) return object;
  struct stat found;
  if (fstat(object.get(), &found) != 0) return stop_at(errno, error);
  return S_ISLNK(found.st_mode) ? stop_at(kWouldWait, error) : std::move(object);
}

UniqueFd open_beneath(int directory, const char* path, bool follow, const MountTable* avoided,
                      int* error) {
  if (avoided == nullptr || avoided->empty())
    return open_named(directory, path, follow ? 0 : O_NOFOLLOW, 0, error);
  return open_at_once(directory, path, follow, *avoided, error);
}

// The caller's descriptor, or with AT_FDCWD its current directory.
UniqueFd open_callers(const Caller& caller, int number, bool usable, const MountTable* avoided,
                      int* error) {
  bool current = !usable && number == AT_FDCWD;
  // Some file systems are asked already when a descriptor of theirs is named.
  if (avoided != nullptr && avoided->revalidates()) {
    bool known = current ? caller.path_of_directory(g_where, sizeof g_where)
                         : caller.path_of_descriptor(number, g_where, sizeof g_where);
    if (known && avoided->may_wait(g_where)) return stop_at(kWouldWait, error);
  }
  return current ? caller.directory(error) : caller.descriptor(number, usable, error);
}

// `path` from a directory of the caller's, as openat does.
UniqueFd open_path(const Caller& caller, int directory, const char* path, bool follow,
                   const MountTable* avoided, int* error) {
  OwnDescriptor own;
  if (is_own_descriptor(caller, path, &own)) {
    bool itself = own.rest[0] == '\0';
    if (itself && !follow) return stop_at(EACCES, error);
    Caller owner = owner_of(own, caller);
    UniqueFd base = open_callers(owner, own.number, false, avoided, error);
    if (*error == EBADF) *error = ENOENT;
    if (!base.valid() || itself) return base;
    return open_beneath(base.get(), own.rest, follow, avoided, error);
  }
  if (path[0] == '/') return open_beneath(AT_FDCWD, path, follow, avoided, error);
  UniqueFd base = open_callers(caller, directory, false, avoided, error);
  if (!base.valid()) return base;
  return open_beneath(base.get(), path, follow, avoided, error);
}

}  // namespace

bool names_own_descriptor(const char* path, OwnDescriptor* own) {
  constexpr struct {
    const char* name;
    int number;
  } streams[] = {{"/dev/stdin", 0}, {"/dev/stdout", 1}, {"/dev/stderr", 2}};
  for (const auto& stream : streams) {
    if (strcmp(path, stream.name) == 0) {
      *own = {0, stream.number, ""};
      return true;
    }
  }
  const char* at = nullptr;
  uint64_t process = 0;
  uint64_t number = 0;
  bool known = has_prefix(path, "/proc/self/fd/", &at) ||
               has_prefix(path, "/proc/thread-self/fd/", &at) || has_prefix(path, "/dev/fd/", &at);
  if (!known) {
    known = has_prefix(path, "/proc/", &at) && *at != '0' && take_number(&at, 10, &process) &&
            process <= INT32_MAX && has_prefix(at, "/fd/", &at);
  }
  if (!known || !take_number(&at, 10, &number) || number > INT32_MAX || (*at != '\0' && *at != '/'))
    return false;
  while (*at == '/') ++at;
  *own = {static_cast<pid_t>(process), static_cast<int>(number), at};
  return true;
}

bool is_own_descriptor(const Caller& caller, const char* path, OwnDescriptor* own) {
  return names_own_descriptor(path, own) && (own->process == 0 || caller.has_number(own->process));
}

Caller owner_of(const OwnDescriptor& own, const Caller& caller) {
  return own.process == 0 ? caller : Caller(own.process);
}

UniqueFd resolve(const Caller& caller, const Place& place, const MountTable* avoided,
                 char (&where)[kPathBytes], int* error) {
  bool named = !place.itself && (place.path[0] != '\0' || !place.may_be_empty);
  UniqueFd object =
      named ? open_path(caller, place.directory, place.path, place.follows, avoided, error)
            : open_callers(caller, place.directory, place.itself, avoided, error);
  return located(std::move(object), avoided, where, error);
}

UniqueFd resolve_parent(const Caller& caller, const Place& place, const MountTable* avoided,
                        char (&where)[kPathBytes], const char** name, int* error) {
  const char* parent = parent_of(place.path, g_parent, name);
  if (parent == nullptr) {
    *name = "";
    return stop_at(ENOENT, error);
  }
  UniqueFd object = open_path(caller, place.directory, parent, true, avoided, error);
  return located(std::move(object), avoided, where, error);
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
