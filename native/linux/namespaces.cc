#include "linux/namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/plan.h"
#include "core/text.h"
#include "core/unique_fd.h"

namespace cordon {
namespace {

bool write_whole(const char* path, const char* text, size_t size) {
  UniqueFd file(open(path, O_WRONLY | O_CLOEXEC));
  return file.valid() && write(file.get(), text, size) == static_cast<ssize_t>(size);
}

// Whoever has no privilege outside may map nobody but itself, and groups only once it cannot drop
// any: a group may be there to keep its members out of something.
bool map_ids(uid_t uid, gid_t gid, Failure* failure) {
  auto user = Text<48>().add(uint64_t{uid}).add(" ").add(uint64_t{uid}).add(" 1");
  auto group = Text<48>().add(uint64_t{gid}).add(" ").add(uint64_t{gid}).add(" 1");
  if (write_whole("/proc/self/setgroups", "deny", 4) &&
      write_whole("/proc/self/uid_map", user.get(), user.size()) &&
      write_whole("/proc/self/gid_map", group.get(), group.size())) {
    return true;
  }
  return failure->at(Stage::kNamespaces, errno, "ids");
}

}  // namespace

bool enter_namespaces(uint32_t namespaces, Failure* failure) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  bool user = (namespaces & kNamespaceUser) != 0;
  long flags = (user ? CLONE_NEWUSER : 0) |
               ((namespaces & kNamespaceMount) != 0 ? CLONE_NEWNS : 0) |
               ((namespaces & kNamespaceIpc) != 0 ? CLONE_NEWIPC : 0);
  if (injected(Stage::kNamespaces) || syscall(SYS_unshare, flags) != 0) {
    return failure->at(Stage::kNamespaces, errno, user ? "user" : "mount");
  }
  return !user || map_ids(uid, gid, failure);
}

}  // namespace cordon
