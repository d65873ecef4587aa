#include "binding/beneath.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace cordon {
namespace {

// openat2, by number because older headers lack it; the same on every architecture.
constexpr long kOpenat2 = 437;
// RESOLVE_NO_XDEV, NO_MAGICLINKS, NO_SYMLINKS, BENEATH.
constexpr uint64_t kResolve = 0x01 | 0x02 | 0x04 | 0x08;
constexpr int kStep = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Without openat2 a mount of the same device is not told apart.
UniqueFd step_beneath(int root, const std::string& path, int flags) {
  struct stat top;
  struct stat found;
  UniqueFd at(openat(root, ".", kStep));
  if (!at.valid() || fstat(at.get(), &top) != 0) return UniqueFd();
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = path.find('/', begin);
    bool last = end == std::string::npos;
    std::string name = path.substr(begin, last ? end : end - begin);
    if (name == "..") {
      errno = EXDEV;
      return UniqueFd();
    }
    at.reset(openat(at.get(), name.c_str(), last ? flags | O_NOFOLLOW | O_CLOEXEC : kStep));
    if (!at.valid() || fstat(at.get(), &found) != 0) return UniqueFd();
    if (found.st_dev != top.st_dev) {
      errno = EXDEV;
      return UniqueFd();
    }
    if (last) break;
    begin = end + 1;
  }
  return at;
}

}  // namespace

UniqueFd open_beneath(int root, const std::string& path, int flags) {
  std::string name = path.empty() ? "." : path;
  struct {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
  } how{static_cast<uint64_t>(flags | O_NOFOLLOW | O_CLOEXEC), 0, kResolve};
  // What is only looked at keeps its times, where it is the caller's own.
  if ((flags & O_PATH) == 0) how.flags |= O_NOATIME;
  int fd = static_cast<int>(syscall(kOpenat2, root, name.c_str(), &how, sizeof how));
  if (fd < 0 && errno == EPERM && (how.flags & O_NOATIME) != 0) {
    how.flags &= ~uint64_t{O_NOATIME};
    fd = static_cast<int>(syscall(kOpenat2, root, name.c_str(), &how, sizeof how));
  }
  // Outer sandboxes that know no openat2 refuse it.
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return step_beneath(root, name, flags);
  return UniqueFd(fd);
}

int rename_at(int from, const std::string& name, int to, const std::string& new_name,
              unsigned flags) {
  return static_cast<int>(syscall(SYS_renameat2, from, name.c_str(), to, new_name.c_str(), flags));
}

std::string unforeseen_name(const std::string& name) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return "." + name + "." + std::to_string(nanoseconds(now)) + ".cordon-quarantine";
}

std::pair<std::string, std::string> split_path(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace cordon
