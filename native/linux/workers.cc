#include "linux/workers.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/caller.h"

namespace cordon {
namespace {

// The kernel's own: the call is made again after the signal's handler, or gives EINTR, as the
// handler asked for.
constexpr int kRestart = 512;  // ERESTARTSYS

// A signal that is pending, not blocked and not ignored would have interrupted the call.
bool has_signal_waiting(pid_t thread) {
  Caller caller(thread);
  uint64_t pending = caller.status_field("SigPnd:", 16) | caller.status_field("ShdPnd:", 16);
  if (pending == 0) return false;
  uint64_t held = caller.status_field("SigBlk:", 16) | caller.status_field("SigIgn:", 16);
  return (pending & ~held) != 0;
}

}  // namespace

void send_answer(int listener, uint64_t question, int64_t result) {
  seccomp_notif_resp answer{};
  answer.id = question;
  answer.error = static_cast<int32_t>(result < 0 ? result : 0);
  answer.val = result < 0 ? 0 : result;
  // Refused when the caller has died meanwhile: nobody waits for it.
  static_cast<void>(
      syscall(SYS_ioctl, static_cast<long>(listener), SECCOMP_IOCTL_NOTIF_SEND, &answer));
}

bool is_awaited(int listener, uint64_t question) {
  return syscall(SYS_ioctl, static_cast<long>(listener), SECCOMP_IOCTL_NOTIF_ID_VALID, &question) ==
         0;
}

Workers::Side Workers::fork_for(const seccomp_notif& question) {
  if (count_ == kMostWorkers) return Side::kNobody;
  pid_t supervisor = getpid();
  pid_t worker = fork();
  if (worker < 0) return Side::kNobody;
  if (worker == 0) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != supervisor) _exit(1);
    return Side::kWorker;
  }
  workers_[count_++] = {worker, question.id, static_cast<pid_t>(question.pid)};
  return Side::kSupervisor;
}

void Workers::interrupt_signalled() {
  for (size_t i = 0; i < count_;) {
    const Worker worker = workers_[i];
    bool awaited = is_awaited(listener_, worker.question);
    if (awaited && !has_signal_waiting(worker.caller)) {
      ++i;
      continue;
    }
    // Ended first: what goes on after the caller was told otherwise would surprise it, and callers
    // that ask again, or that somebody killed, would use up all workers.
    kill(worker.pid, SIGKILL);
    waitpid(worker.pid, nullptr, 0);
    if (awaited) send_answer(listener_, worker.question, -kRestart);
    workers_[i] = workers_[--count_];
  }
}

void Workers::reaped(pid_t pid) {
  for (size_t i = 0; i < count_; ++i) {
    if (workers_[i].pid != pid) continue;
    workers_[i] = workers_[--count_];
    return;
  }
}

void Workers::end() {
  for (size_t i = 0; i < count_; ++i) {
    kill(workers_[i].pid, SIGKILL);
    waitpid(workers_[i].pid, nullptr, 0);
  }
  count_ = 0;
}

}  // namespace cordon
