// Linked without a C library, to native/exec/freestanding instead: every call it offers, against
// what the kernel does. Prints what is wrong, one line each; its exit code is 0 when nothing is.
// Run by freestanding_test.
//
//   freestanding_check calls DIRECTORY   the calls, with files in an empty directory
//   freestanding_check smash             overwrites its stack
//   freestanding_check relro             writes to a table that was relocated
//   freestanding_check words A B C       prints its arguments

#include <dirent.h>
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
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "core/text.h"

namespace {

int g_wrong = 0;

void say(const char* text) { static_cast<void>(write(STDOUT_FILENO, text, strlen(text)) < 0); }

void check(bool right, int line, const char* text) {
  if (right) return;
  ++g_wrong;
  say(cordon::Text<300>()
          .add("line ")
          .add(static_cast<uint64_t>(line))
          .add(": ")
          .add(text)
          .add("\n")
          .get());
}

#define CHECK(condition) check(condition, __LINE__, #condition)
#define CHECK_FAILS(call, error) \
  check((errno = 0, (call) == -1) && errno == (error), __LINE__, #call)

// Pointers that only a relocated executable has right.
const char* const kWords[] = {"zero", "one", "two"};

void check_start() {
  CHECK(strcmp(kWords[0], "zero") == 0 && strcmp(kWords[2], "two") == 0);
  int on_stack = 0;
  CHECK((reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) & 15) == 0);
  errno = 77;
  CHECK(errno == 77 && on_stack == 0);
}

void check_files() {
  CHECK_FAILS(open("missing", O_RDONLY | O_CLOEXEC), ENOENT);
  umask(027);
  CHECK(umask(022) == 027);
  int fd = open("file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  struct stat found;
  CHECK(fd >= 0 && fstat(fd, &found) == 0 && (found.st_mode & 07777) == 0644 &&
        S_ISREG(found.st_mode));
  CHECK_FAILS(open("file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666), EEXIST);
  CHECK(write(fd, "hello", 5) == 5 && lseek(fd, 1, SEEK_SET) == 1);
  char bytes[16] = {};
  CHECK(read(fd, bytes, sizeof bytes) == 4 && memcmp(bytes, "ello", 4) == 0);
  CHECK(pwrite(fd, "J", 1, 0) == 1 && pread(fd, bytes, 2, 0) == 2 && memcmp(bytes, "Je", 2) == 0);
  CHECK(ftruncate(fd, 3) == 0 && stat("file", &found) == 0 && found.st_size == 3);
  CHECK(truncate("file", 1) == 0 && fstat(fd, &found) == 0 && found.st_size == 1);
  CHECK(fchmod(fd, 0600) == 0 && stat("file", &found) == 0 && (found.st_mode & 07777) == 0600);
  CHECK(chmod("file", 0640) == 0 && stat("file", &found) == 0 && (found.st_mode & 07777) == 0640);
  CHECK(flock(fd, LOCK_EX | LOCK_NB) == 0);
  int other = open("file", O_RDONLY | O_CLOEXEC);
  CHECK_FAILS(flock(other, LOCK_EX | LOCK_NB), EWOULDBLOCK);
  CHECK(close(other) == 0);
  CHECK_FAILS(close(other), EBADF);
  int temporary = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0604);
  if (temporary >= 0) CHECK(fstat(temporary, &found) == 0 && (found.st_mode & 07777) == 0604);
  close(temporary);
  close(fd);

  CHECK(mkdir("directory", 0750) == 0 && stat("directory", &found) == 0 &&
        (found.st_mode & 07777) == 0750);
  int directory = open("directory", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  CHECK(mkdirat(directory, "inner", 0700) == 0);
  int inner = openat(directory, "inner/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  CHECK(inner >= 0 && close(inner) == 0);
  CHECK(renameat(directory, "inner/file", directory, "moved") == 0);
  CHECK(rename("directory/moved", "directory/again") == 0 &&
        link("directory/again", "linked") == 0);
  CHECK(symlink("linked", "symbolic") == 0 && mkfifo("fifo", 0600) == 0);
  CHECK(stat("fifo", &found) == 0 && S_ISFIFO(found.st_mode));
  CHECK(stat("symbolic", &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink == 2);
  CHECK_FAILS(unlinkat(directory, "inner", 0), EISDIR);
  CHECK(unlinkat(directory, "inner", AT_REMOVEDIR) == 0);
  alignas(dirent64) char entries[1024];
  ssize_t length = getdents64(directory, entries, sizeof entries);
  int names = 0;
  for (ssize_t at = 0; at < length; ++names)
    at += reinterpret_cast<const dirent64*>(entries + at)->d_reclen;
  CHECK(names == 3 && getdents64(directory, entries, sizeof entries) == 0);
  for (const char* name : {"symbolic", "fifo", "linked", "directory/again", "file"})
    CHECK(unlink(name) == 0);
  CHECK(unlinkat(AT_FDCWD, "directory", AT_REMOVEDIR) == 0);
  close(directory);
}

void check_descriptors() {
  int ends[2];
  CHECK(pipe2(ends, O_CLOEXEC) == 0 && fcntl(ends[0], F_GETFD) == FD_CLOEXEC);
  CHECK(dup2(ends[0], ends[0]) == ends[0] && fcntl(ends[0], F_GETFD) == FD_CLOEXEC);
  CHECK_FAILS(dup2(999, 999), EBADF);
  CHECK_FAILS(dup3(ends[0], ends[0], 0), EINVAL);
  CHECK(dup2(ends[0], 50) == 50 && fcntl(50, F_GETFD) == 0 && close(50) == 0);
  CHECK(dup3(ends[0], 51, O_CLOEXEC) == 51 && fcntl(51, F_GETFD) == FD_CLOEXEC && close(51) == 0);
  int high = fcntl(ends[0], F_DUPFD_CLOEXEC, 60);
  CHECK(high == 60 && close(high) == 0);
  int copy = dup(ends[0]);
  CHECK(copy >= 0 && close(copy) == 0);

  pollfd ready[] = {{ends[0], POLLIN, 0}, {-1, POLLIN, 7}};
  CHECK(poll(ready, 2, 0) == 0 && ready[0].revents == 0 && ready[1].revents == 0);
  timespec before;
  timespec after;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &before) == 0 && poll(nullptr, 0, 1020) == 0);
  CHECK(clock_gettime(CLOCK_MONOTONIC, &after) == 0);
  int64_t passed =
      (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
  CHECK(passed >= 1019 && passed < 5000);
  CHECK(write(ends[1], "x", 1) == 1 && poll(ready, 2, -1) == 1 && ready[0].revents == POLLIN);
  close(ends[0]);
  close(ends[1]);
}

void check_memory() {
  void* memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  memset(memory, 0xa5, 8192);
  CHECK(mprotect(memory, 4096, PROT_READ) == 0 && munmap(memory, 8192) == 0);
  errno = 0;
  CHECK(mmap(nullptr, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
        errno == EINVAL);
}

struct Shared {
  int seen;
  bool aligned;
};

int in_clone(void* argument) {
  auto* shared = static_cast<Shared*>(argument);
  alignas(16) volatile char on_stack[16] = {};
  shared->aligned = (reinterpret_cast<uintptr_t>(on_stack) & 15) == 0 &&
                    (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) & 15) == 0;
  shared->seen = 42;
  return 9;
}

void check_processes() {
  pid_t self = getpid();
  CHECK(syscall(SYS_getpid) == self && getppid() > 0);
  CHECK(getuid() == geteuid() && getgid() == getegid());
  gid_t groups[1024];
  CHECK(getgroups(1024, groups) >= 0);
  int status = 0;
  CHECK_FAILS(waitpid(-1, &status, 0), ECHILD);
  siginfo_t nobody{};
  CHECK_FAILS(waitid(P_ALL, 0, &nobody, WEXITED | WNOHANG), ECHILD);

  pid_t child = fork();
  if (child == 0) {
    bool right = getppid() == self && getpid() != self && setsid() == getpid();
    _exit(right ? 5 : 6);
  }
  siginfo_t ended{};
  CHECK(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  CHECK(ended.si_pid == child && ended.si_status == 5);
  rusage usage{};
  CHECK(wait4(child, &status, 0, &usage) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
  CHECK(getrusage(RUSAGE_CHILDREN, &usage) == 0 && usage.ru_minflt > 0);

  Shared shared{};
  constexpr size_t stack_bytes = 65536;
  void* stack =
      mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  child = clone(in_clone, static_cast<char*>(stack) + stack_bytes, CLONE_VM | CLONE_VFORK | SIGCHLD,
                &shared);
  CHECK(child > 0 && shared.seen == 42 && shared.aligned);
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 9);
  // The kernel refuses this pair: the error comes back as from any call.
  CHECK_FAILS(clone(in_clone, static_cast<char*>(stack) + stack_bytes, CLONE_SIGHAND, &shared),
              EINVAL);

  child = fork();
  if (child == 0) {
    char name[] = "/bin/sh";
    char option[] = "-c";
    char script[] = "exit $A";
    char variable[] = "A=7";
    char* arguments[] = {name, option, script, nullptr};
    char* environment[] = {variable, nullptr};
    if (execve("/no/such/program", arguments, environment) != -1 || errno != ENOENT) _exit(8);
    execve(name, arguments, environment);
    _exit(9);
  }
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);

  char name[16] = {};
  CHECK(prctl(PR_SET_NAME, "checked", 0, 0, 0) == 0 && prctl(PR_GET_NAME, name, 0, 0, 0) == 0);
  CHECK(strcmp(name, "checked") == 0);
  rlimit limit{};
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 60);
  rlimit lower{61, limit.rlim_max};
  CHECK(setrlimit(RLIMIT_NOFILE, &lower) == 0 && getrlimit(RLIMIT_NOFILE, &lower) == 0 &&
        lower.rlim_cur == 61);
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(chdir("/") == 0);
}

void check_signals() {
  for (int number = 1; number <= 64; ++number) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    uint64_t bits = 0;
    memcpy(&bits, &one, sizeof bits);
    CHECK(bits == uint64_t{1} << (number - 1));
  }
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  CHECK(sigprocmask(SIG_SETMASK, &all, nullptr) == 0 && sigprocmask(SIG_BLOCK, nullptr, &old) == 0);
  uint64_t blocked = 0;
  memcpy(&blocked, &old, sizeof blocked);
  // All but those that cannot be.
  CHECK(blocked == ~(uint64_t{1} << (SIGKILL - 1) | uint64_t{1} << (SIGSTOP - 1)));
  int fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  signalfd_siginfo received{};
  CHECK_FAILS(read(fd, &received, sizeof received), EAGAIN);
  CHECK(kill(getpid(), SIGUSR1) == 0 && read(fd, &received, sizeof received) == sizeof received);
  CHECK(received.ssi_signo == SIGUSR1 && received.ssi_pid == static_cast<uint32_t>(getpid()));
  close(fd);
  CHECK(signal(SIGTERM, SIG_IGN) != SIG_ERR && signal(SIGUSR2, SIG_DFL) != SIG_ERR);
  errno = 0;
  CHECK(signal(SIGKILL, SIG_IGN) == SIG_ERR && errno == EINVAL);
  sigset_t none;
  sigemptyset(&none);
  CHECK(sigprocmask(SIG_SETMASK, &none, nullptr) == 0);
  CHECK(raise(SIGTERM) == 0);
  pid_t child = fork();
  if (child == 0) {
    raise(SIGUSR2);
    _exit(1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
  CHECK_FAILS(kill(0x7fffffff, 0), ESRCH);
}

void check_sockets() {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  int on = 1;
  CHECK(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0);
  CHECK(send(ends[0], "abc", 3, MSG_NOSIGNAL) == 3);
  char bytes[8];
  CHECK(recv(ends[1], bytes, sizeof bytes, 0) == 3 && memcmp(bytes, "abc", 3) == 0);
  CHECK_FAILS(recv(ends[1], bytes, sizeof bytes, MSG_DONTWAIT), EAGAIN);

  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{bytes, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(rights), &ends[0], sizeof(int));
  CHECK(sendmsg(ends[0], &message, MSG_NOSIGNAL) == 1);
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int))];
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  CHECK(recvmsg(ends[1], &message, MSG_CMSG_CLOEXEC) == 1);
  cmsghdr* credentials = CMSG_FIRSTHDR(&message);
  ucred sender{};
  memcpy(&sender, CMSG_DATA(credentials), sizeof sender);
  CHECK(credentials->cmsg_type == SCM_CREDENTIALS && sender.pid == getpid() &&
        sender.uid == getuid());
  close(ends[0]);
  close(ends[1]);

  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, "/no/such/socket", sizeof "/no/such/socket");
  int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(client >= 0);
  CHECK_FAILS(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), ENOENT);
  close(client);
}

int check_calls(const char* directory) {
  check_start();
  CHECK(chdir(directory) == 0);
  check_files();
  check_descriptors();
  check_memory();
  check_processes();
  check_signals();
  check_sockets();
  return g_wrong == 0 ? 0 : 1;
}

// Not seen through by the compiler.
[[gnu::noinline]] void overwrite(volatile char* first, size_t size) {
  for (size_t i = 0; i < size; ++i) first[i] = 'x';
}

[[gnu::noinline]] int smash(size_t size) {
  volatile char buffer[16];
  overwrite(buffer, size);
  return buffer[0];
}

}  // namespace

int main(int argc, char** argv) {
  const char* verb = argc > 1 ? argv[1] : "";
  if (strcmp(verb, "calls") == 0 && argc == 3) return check_calls(argv[2]);
  if (strcmp(verb, "smash") == 0) return smash(static_cast<size_t>(argc) + 60);
  if (strcmp(verb, "relro") == 0) {
    overwrite(
        reinterpret_cast<volatile char*>(const_cast<char*>(reinterpret_cast<const char*>(kWords))),
        1);
    return 0;
  }
  if (strcmp(verb, "words") != 0) return 2;
  for (int i = 2; i < argc; ++i) {
    say(argv[i]);
    say("\n");
  }
  return argv[argc] == nullptr ? 0 : 1;
}
