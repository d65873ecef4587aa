// abicap N COMMAND ARG…
//
// Runs COMMAND, in this process, as if the kernel's Landlock ABI were N: 0 is a kernel built
// without Landlock (ENOSYS), -1 one that has it switched off (EOPNOTSUPP). A kernel of an older ABI
// differs in two ways only: it answers the version query with its number, and it refuses what it
// does not know; what a ruleset does not handle is not restricted. So a filter hands the three
// system calls to a watcher, which answers for the older kernel and lets the real one do the rest.
// The watcher ends with the last process that has the filter.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

enum { kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446 };
enum { kRuleNetPort = 2, kVersionQuery = 1 };

// What each ABI was the first to know. Rights are masks of landlock_ruleset_attr's three fields.
struct abi {
  int number;
  uint64_t filesystem, network, scopes;
  size_t attribute_bytes;
  uint32_t restrict_flags;
};
static const struct abi abis[] = {
    {1, 0x1fff, 0, 0, 8, 0},    {2, 0x3fff, 0, 0, 8, 0},    {3, 0x7fff, 0, 0, 8, 0},
    {4, 0x7fff, 3, 0, 16, 0},   {5, 0xffff, 3, 0, 16, 0},   {6, 0xffff, 3, 3, 24, 0},
    {7, 0xffff, 3, 3, 24, 0x7}, {8, 0xffff, 3, 3, 24, 0xf},
};
static const struct abi* abi;
static int missing_errno;

static int read_caller(pid_t caller, uint64_t address, void* bytes, size_t count) {
  struct iovec to = {bytes, count}, from = {(void*)(uintptr_t)address, count};
  return process_vm_readv(caller, &to, 1, &from, 1, 0) == (ssize_t)count;
}

// A negative errno, a positive value, or 0: the kernel may do it.
static int64_t answer_create(const struct seccomp_notif* call) {
  uint64_t address = call->data.args[0], size = call->data.args[1];
  uint32_t flags = (uint32_t)call->data.args[2];
  if (flags == kVersionQuery && address == 0 && size == 0) return abi->number;
  if (flags != 0) return -EINVAL;
  uint8_t bytes[4096] = {0};
  if (size < 8 || size > sizeof bytes) return 0;  // the kernel's own answer
  if (!read_caller((pid_t)call->pid, address, bytes, size)) return -EFAULT;
  for (size_t i = abi->attribute_bytes; i < size; i++)
    if (bytes[i] != 0) return -E2BIG;
  uint64_t fields[3];
  memcpy(fields, bytes, sizeof fields);
  const uint64_t known[3] = {abi->filesystem, abi->network, abi->scopes};
  for (size_t i = 0; i < 3 && i * 8 < abi->attribute_bytes; i++)
    if (fields[i] & ~known[i]) return -EINVAL;
  return 0;
}

static int64_t answer(const struct seccomp_notif* call) {
  if (missing_errno != 0) return -missing_errno;
  if (call->data.nr == kCreateRuleset) return answer_create(call);
  if (call->data.nr == kAddRule)
    return (uint32_t)call->data.args[1] == kRuleNetPort && abi->network == 0 ? -EINVAL : 0;
  return (uint32_t)call->data.args[1] & ~abi->restrict_flags ? -EINVAL : 0;
}

static void watch(int listener) {
  struct pollfd ready = {listener, POLLIN, 0};
  for (;;) {
    if (poll(&ready, 1, -1) < 0 && errno != EINTR) return;
    if (!(ready.revents & POLLIN)) {
      if (ready.revents & (POLLHUP | POLLERR)) return;
      continue;
    }
    struct seccomp_notif call;
    memset(&call, 0, sizeof call);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;  // the caller is gone
    int64_t value = answer(&call);
    struct seccomp_notif_resp response = {.id = call.id};
    if (value == 0)
      response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    else if (value < 0)
      response.error = (int32_t)value;
    else
      response.val = value;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  }
}

static int die(const char* step) {
  fprintf(stderr, "abicap: %s: %s\n", step, strerror(errno));
  return 125;
}

static int install(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kCreateRuleset, 0, 1),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, kRestrictSelf, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                              SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (listener >= 0 || errno != EACCES) return listener;
  // Without a capability a filter takes no_new_privs; with it that would take away the change of
  // user that may follow.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                      &program);
}

union descriptor_message {
  char bytes[CMSG_SPACE(sizeof(int))];
  struct cmsghdr header;
};

static int send_descriptor(int to, int descriptor) {
  union descriptor_message control = {0};
  char byte = 0;
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  control.header.cmsg_len = CMSG_LEN(sizeof descriptor);
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
  return sendmsg(to, &message, 0) == 1;
}

static int receive_descriptor(int from) {
  union descriptor_message control = {0};
  char byte;
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1 || message.msg_controllen == 0) return -1;
  int descriptor;
  memcpy(&descriptor, CMSG_DATA(&control.header), sizeof descriptor);
  return descriptor;
}

static void be_watcher(int from) {
  setsid();
  int listener = receive_descriptor(from);
  if (listener < 0) _exit(1);
  // Pipes of the command must end with the command, so nothing else stays open here.
  if (dup2(listener, 0) < 0 || write(from, "", 1) != 1) _exit(1);
  syscall(SYS_close_range, 1, ~0u, 0);
  watch(0);
  _exit(0);
}

int main(int count, char** values) {
  if (count < 3) return 2;
  int number = atoi(values[1]);
  if (number == 0) missing_errno = ENOSYS;
  if (number < 0) missing_errno = EOPNOTSUPP;
  for (size_t i = 0; i < sizeof abis / sizeof *abis; i++)
    if (abis[i].number == number) abi = &abis[i];
  if (abi == NULL && missing_errno == 0) return 2;

  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return die("socketpair");
  pid_t between = fork();
  if (between < 0) return die("fork");
  if (between == 0) {
    // Twice, so that the command does not find a child it never started.
    pid_t watcher = fork();
    if (watcher == 0) be_watcher(ends[0]);
    _exit(watcher < 0);
  }
  int status;
  if (waitpid(between, &status, 0) < 0 || status != 0) return die("start the watcher");
  close(ends[0]);
  int listener = install();
  if (listener < 0) return die("seccomp");
  char ready;
  if (!send_descriptor(ends[1], listener) || read(ends[1], &ready, 1) != 1)
    return die("hand the listener over");
  close(listener);
  execvp(values[2], values + 2);
  return die(values[2]);
}
