// refuse ERRNO NUMBER[,NUMBER…] COMMAND ARG…
//
// Runs COMMAND, in this process, where the kernel answers the system calls of these numbers with
// ERRNO: what the filter of a container does.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { kMostCalls = 32 };

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  struct sock_filter steps[2 * kMostCalls + 2];
  unsigned short count = 0;
  unsigned answer = SECCOMP_RET_ERRNO | (unsigned)atoi(argv[1]);
  steps[count++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  char* next = argv[2];
  for (int calls = 0; calls < kMostCalls && *next != '\0'; ++calls) {
    unsigned number = (unsigned)strtoul(next, &next, 10);
    if (*next == ',') ++next;
    steps[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
    steps[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
  }
  steps[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {count, steps};
  // As root it keeps what it may do, as a container's own filter does.
  if (geteuid() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 2;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("seccomp");
    return 2;
  }
  execvp(argv[3], argv + 3);
  perror(argv[3]);
  return 127;
}
