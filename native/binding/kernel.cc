// What this kernel has, as it says itself; what it does is for the probe to find out.

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "binding/exports.h"
#include "core/errno_name.h"
#include "linux/landlock.h"

namespace cordon {
namespace {

bool has_seccomp_filter() {
  unsigned action = SECCOMP_RET_ERRNO;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// EBADF for the descriptor that is none, unless a filter, or a kernel before 5.6, answers first.
bool copies_descriptors() { return syscall(SYS_pidfd_getfd, -1L, 0L, 0L) != 0 && errno == EBADF; }

}  // namespace

Napi::Value kernel(const Napi::CallbackInfo& info) {
  Napi::Object facts = Napi::Object::New(info.Env());
  int abi = landlock_abi();
  facts.Set("landlockAbi", abi > 0 ? abi : 0);
  if (abi <= 0) facts.Set("landlockError", errno_name(abi == 0 ? ENOSYS : -abi));
  facts.Set("seccomp", has_seccomp_filter());
  facts.Set("descriptorCopies", copies_descriptors());
  return facts;
}

}  // namespace cordon
