// The system calls of <unistd.h> and its neighbours under their usual names: each is the kernel's
// call and errno, nothing more. Calls that arm64 does not have are made through their newer forms
// on both architectures.

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace {

// The kernel's signal set is eight bytes, the first of the C library's.
constexpr size_t kKernelSetBytes = 8;

constexpr long kHighestErrno = 4095;

// In the page that every start touches anyway.
[[gnu::section(".data")]] int g_errno = 0;

#if defined(__x86_64__)

long raw(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

// The child starts on its own stack, where the function and its argument wait for it.
asm(R"(
  .pushsection .text
  .type cordon_clone, @function
cordon_clone:
  endbr64
  subq $16, %rsi
  movq %rcx, 8(%rsi)
  movq %rdi, 0(%rsi)
  movl %edx, %edi
  xorl %edx, %edx
  xorl %r10d, %r10d
  xorl %r8d, %r8d
  movl $56, %eax
  syscall
  testq %rax, %rax
  jnz 1f
  xorl %ebp, %ebp
  popq %rax
  popq %rdi
  call *%rax
  movl %eax, %edi
  movl $60, %eax
  syscall
  hlt
1:
  ret
  .popsection
)");

#elif defined(__aarch64__)

long raw(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
}

asm(R"(
  .pushsection .text
  .type cordon_clone, %function
cordon_clone:
  stp x0, x3, [x1, #-16]!
  mov w0, w2
  mov x2, #0
  mov x3, #0
  mov x4, #0
  mov x8, #220
  svc #0
  cbz x0, 1f
  ret
1:
  mov x29, #0
  ldp x1, x0, [sp], #16
  blr x1
  mov x8, #93
  svc #0
  brk #0
  .popsection
)");

#endif

// The kernel's answer in the C library's manner: -1 and errno.
long answered(long result) {
  if (result < 0 && result >= -kHighestErrno) {
    g_errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}

template <typename T>
long word(T* pointer) {
  return reinterpret_cast<long>(pointer);
}
long word(long value) { return value; }
long word(unsigned long value) { return static_cast<long>(value); }
long word(int value) { return value; }
long word(unsigned value) { return static_cast<long>(value); }

template <typename... Words>
long call(long number, Words... words) {
  long all[6] = {word(words)...};
  return answered(raw(number, all[0], all[1], all[2], all[3], all[4], all[5]));
}

}  // namespace

extern "C" {

long cordon_clone(int (*function)(void*), void* stack, int flags, void* argument);

int* __errno_location() noexcept { return &g_errno; }

long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long words[6];
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  return answered(raw(number, words[0], words[1], words[2], words[3], words[4], words[5]));
}

// Declared as not returning by the header.
void _exit(int status) {
  for (;;) raw(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

// Files.

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  return static_cast<int>(call(SYS_openat, AT_FDCWD, path, flags, mode));
}

int openat(int directory, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  return static_cast<int>(call(SYS_openat, directory, path, flags, mode));
}

int close(int fd) { return static_cast<int>(call(SYS_close, fd)); }
ssize_t read(int fd, void* buffer, size_t size) { return call(SYS_read, fd, buffer, size); }
ssize_t write(int fd, const void* buffer, size_t size) { return call(SYS_write, fd, buffer, size); }
ssize_t pread(int fd, void* buffer, size_t size, off_t at) {
  return call(SYS_pread64, fd, buffer, size, at);
}
ssize_t pwrite(int fd, const void* buffer, size_t size, off_t at) {
  return call(SYS_pwrite64, fd, buffer, size, at);
}
off_t lseek(int fd, off_t offset, int whence) noexcept {
  return call(SYS_lseek, fd, offset, whence);
}
int ftruncate(int fd, off_t length) noexcept {
  return static_cast<int>(call(SYS_ftruncate, fd, length));
}
int truncate(const char* path, off_t length) noexcept {
  return static_cast<int>(call(SYS_truncate, path, length));
}
int flock(int fd, int operation) noexcept {
  return static_cast<int>(call(SYS_flock, fd, operation));
}
int fchmod(int fd, mode_t mode) noexcept { return static_cast<int>(call(SYS_fchmod, fd, mode)); }
int chdir(const char* path) noexcept { return static_cast<int>(call(SYS_chdir, path)); }
mode_t umask(mode_t mask) noexcept { return static_cast<mode_t>(call(SYS_umask, mask)); }
int dup(int fd) noexcept { return static_cast<int>(call(SYS_dup, fd)); }
int dup3(int from, int to, int flags) noexcept {
  return static_cast<int>(call(SYS_dup3, from, to, flags));
}
int pipe2(int* ends, int flags) noexcept { return static_cast<int>(call(SYS_pipe2, ends, flags)); }
ssize_t getdents64(int fd, void* buffer, size_t size) noexcept {
  return call(SYS_getdents64, fd, buffer, size);
}

int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  long argument = va_arg(list, long);
  va_end(list);
  return static_cast<int>(call(SYS_fcntl, fd, command, argument));
}

int dup2(int from, int to) noexcept {
  // dup3 refuses what dup2 allows: a descriptor onto itself.
  if (from == to) return fcntl(from, F_GETFD) < 0 ? -1 : to;
  return dup3(from, to, 0);
}

int fstat(int fd, struct stat* found) noexcept {
  return static_cast<int>(call(SYS_fstat, fd, found));
}
int stat(const char* path, struct stat* found) noexcept {
  return static_cast<int>(call(SYS_newfstatat, AT_FDCWD, path, found, 0));
}
int fstatat(int directory, const char* path, struct stat* found, int flags) noexcept {
  return static_cast<int>(call(SYS_newfstatat, directory, path, found, flags));
}
int chmod(const char* path, mode_t mode) noexcept {
  return static_cast<int>(call(SYS_fchmodat, AT_FDCWD, path, mode));
}
int mkdirat(int directory, const char* path, mode_t mode) noexcept {
  return static_cast<int>(call(SYS_mkdirat, directory, path, mode));
}
int mkdir(const char* path, mode_t mode) noexcept { return mkdirat(AT_FDCWD, path, mode); }
int mkfifo(const char* path, mode_t mode) noexcept {
  return static_cast<int>(call(SYS_mknodat, AT_FDCWD, path, mode | S_IFIFO, 0));
}
int unlinkat(int directory, const char* path, int flags) noexcept {
  return static_cast<int>(call(SYS_unlinkat, directory, path, flags));
}
int unlink(const char* path) noexcept { return unlinkat(AT_FDCWD, path, 0); }
int renameat(int from_directory, const char* from, int to_directory, const char* to) noexcept {
  return static_cast<int>(call(SYS_renameat2, from_directory, from, to_directory, to, 0));
}
int rename(const char* from, const char* to) noexcept {
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}
int link(const char* from, const char* to) noexcept {
  return static_cast<int>(call(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int symlink(const char* target, const char* path) noexcept {
  return static_cast<int>(call(SYS_symlinkat, target, AT_FDCWD, path));
}

// Memory.

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  return reinterpret_cast<void*>(call(SYS_mmap, at, size, protection, flags, fd, offset));
}
int munmap(void* at, size_t size) noexcept { return static_cast<int>(call(SYS_munmap, at, size)); }
int mprotect(void* at, size_t size, int protection) noexcept {
  return static_cast<int>(call(SYS_mprotect, at, size, protection));
}

// Processes.

pid_t getpid() noexcept { return static_cast<pid_t>(call(SYS_getpid)); }
pid_t getppid() noexcept { return static_cast<pid_t>(call(SYS_getppid)); }
uid_t getuid() noexcept { return static_cast<uid_t>(call(SYS_getuid)); }
uid_t geteuid() noexcept { return static_cast<uid_t>(call(SYS_geteuid)); }
gid_t getgid() noexcept { return static_cast<gid_t>(call(SYS_getgid)); }
gid_t getegid() noexcept { return static_cast<gid_t>(call(SYS_getegid)); }
int getgroups(int size, gid_t* groups) noexcept {
  return static_cast<int>(call(SYS_getgroups, size, groups));
}
pid_t setsid() noexcept { return static_cast<pid_t>(call(SYS_setsid)); }
pid_t fork() noexcept { return static_cast<pid_t>(call(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }

int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept {
  return static_cast<int>(answered(cordon_clone(function, stack, flags, argument)));
}

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  return static_cast<int>(call(SYS_execve, path, arguments, environment));
}

pid_t wait4(pid_t pid, int* status, int options, struct rusage* usage) noexcept {
  return static_cast<pid_t>(call(SYS_wait4, pid, status, options, usage));
}
pid_t waitpid(pid_t pid, int* status, int options) { return wait4(pid, status, options, nullptr); }
int waitid(idtype_t type, id_t id, siginfo_t* found, int options) {
  return static_cast<int>(call(SYS_waitid, static_cast<int>(type), id, found, options, 0));
}

int prctl(int option, ...) noexcept {
  va_list list;
  va_start(list, option);
  long words[4];
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  return static_cast<int>(call(SYS_prctl, option, words[0], words[1], words[2], words[3]));
}

int getrlimit(__rlimit_resource_t resource, struct rlimit* limit) noexcept {
  return static_cast<int>(call(SYS_prlimit64, 0, static_cast<int>(resource), 0, limit));
}
int setrlimit(__rlimit_resource_t resource, const struct rlimit* limit) noexcept {
  return static_cast<int>(call(SYS_prlimit64, 0, static_cast<int>(resource), limit, 0));
}
int getrusage(__rusage_who_t who, struct rusage* usage) noexcept {
  return static_cast<int>(call(SYS_getrusage, static_cast<int>(who), usage));
}
int clock_gettime(clockid_t clock, struct timespec* now) noexcept {
  return static_cast<int>(call(SYS_clock_gettime, clock, now));
}

// Signals.

int sigemptyset(sigset_t* set) noexcept {
  memset(set, 0, sizeof *set);
  return 0;
}
int sigfillset(sigset_t* set) noexcept {
  memset(set, 0xff, sizeof *set);
  return 0;
}
int sigaddset(sigset_t* set, int signal) noexcept {
  unsigned bit = static_cast<unsigned>(signal - 1);
  reinterpret_cast<unsigned char*>(set)[bit / 8] |= static_cast<unsigned char>(1u << bit % 8);
  return 0;
}
int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return static_cast<int>(call(SYS_rt_sigprocmask, how, set, old, kKernelSetBytes));
}
int signalfd(int fd, const sigset_t* set, int flags) noexcept {
  return static_cast<int>(call(SYS_signalfd4, fd, set, kKernelSetBytes, flags));
}

// Only dispositions are set here, never a function: that would need a return path from the handler.
sighandler_t signal(int number, sighandler_t handler) noexcept {
  struct {
    sighandler_t handler;
    unsigned long flags;
    void* restorer;
    unsigned long mask;
  } action{handler, 0, nullptr, 0};
  return call(SYS_rt_sigaction, number, &action, 0, kKernelSetBytes) < 0 ? SIG_ERR : handler;
}

int kill(pid_t pid, int signal) noexcept { return static_cast<int>(call(SYS_kill, pid, signal)); }
int raise(int signal) noexcept { return kill(getpid(), signal); }

int poll(struct pollfd* descriptors, nfds_t count, int timeout) {
  struct timespec wait {
    timeout / 1000, (timeout % 1000) * 1000000L
  };
  return static_cast<int>(
      call(SYS_ppoll, descriptors, count, timeout < 0 ? nullptr : &wait, 0, kKernelSetBytes));
}

// Sockets.

int socket(int domain, int type, int protocol) noexcept {
  return static_cast<int>(call(SYS_socket, domain, type, protocol));
}
int connect(int fd, const struct sockaddr* address, socklen_t length) {
  return static_cast<int>(call(SYS_connect, fd, address, length));
}
int shutdown(int fd, int how) noexcept { return static_cast<int>(call(SYS_shutdown, fd, how)); }
ssize_t recv(int fd, void* buffer, size_t size, int flags) {
  return call(SYS_recvfrom, fd, buffer, size, flags, 0, 0);
}
ssize_t send(int fd, const void* buffer, size_t size, int flags) {
  return call(SYS_sendto, fd, buffer, size, flags, 0, 0);
}
ssize_t recvmsg(int fd, struct msghdr* message, int flags) {
  return call(SYS_recvmsg, fd, message, flags);
}
ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  return call(SYS_sendmsg, fd, message, flags);
}
int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  return static_cast<int>(call(SYS_socketpair, domain, type, protocol, ends));
}
int setsockopt(int fd, int level, int name, const void* value, socklen_t length) noexcept {
  return static_cast<int>(call(SYS_setsockopt, fd, level, name, value, length));
}

}  // extern "C"
