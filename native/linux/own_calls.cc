#include "linux/own_calls.h"

#include <sys/syscall.h>

#include <cerrno>

namespace cordon {
namespace {

// By what needs them.
constexpr AllowedCall kOwnCalls[] = {
    // watching
    SYS_ppoll,
    SYS_read,
    SYS_write,
    SYS_recvfrom,
    SYS_sendto,
    SYS_close,
    SYS_wait4,
    SYS_waitid,
    SYS_exit_group,
    SYS_clock_gettime,
    SYS_getrusage,
    SYS_getpid,
    SYS_getppid,
    {SYS_ptrace, kPtraceDetach},
    SYS_rt_sigprocmask,
    // ending the tree
    SYS_kill,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    SYS_pread64,
    SYS_openat,
    SYS_getdents64,
    SYS_lseek,
    SYS_mmap,
    SYS_munmap,
    // emptying the temp directory
    SYS_fstat,
    SYS_newfstatat,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_unlinkat,
    SYS_renameat2,
    // the broker
    SYS_ioctl,
    SYS_process_vm_readv,
    SYS_openat2,
    SYS_readlinkat,
    SYS_statx,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_removexattr,
    SYS_truncate,
    SYS_umask,
    SYS_fcntl,
    469 /* file_setattr */,
    // connecting on behalf; a worker is a fork
    SYS_pidfd_getfd,
    SYS_getsockopt,
    SYS_shutdown,
    SYS_connect,
    SYS_clone,
    SYS_prctl,
#ifdef CORDON_HOSTED
// a C library's own, and its sanitizers' (test builds)
#ifdef __x86_64__
    SYS_poll,
    SYS_chmod,
    SYS_renameat,
#endif
    SYS_futex,
    SYS_gettid,
    SYS_tgkill,
    SYS_rt_sigaction,
    SYS_sigaltstack,
    SYS_mprotect,
    SYS_madvise,
#endif
};

}  // namespace

bool assemble_own_filter(FilterAssembler* out) {
  return assemble_allow_list(kOwnCalls, sizeof kOwnCalls / sizeof *kOwnCalls, kThisArchitecture,
                             out);
}

bool restrict_own_calls(Failure* failure) {
  FilterAssembler filter;
  if (!assemble_own_filter(&filter)) return failure->at(Stage::kSeccomp, E2BIG, "supervisor");
  return install_filter(filter, nullptr, failure);
}

}  // namespace cordon
