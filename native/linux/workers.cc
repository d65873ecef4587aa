#include "linux/workers.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "linux/caller.h"
#include "linux/clock.h"

namespace cordon {
namespace {

// The kernel's own: the call is made again after the signal's handler, or gives EINTR, as the
// handler asked for.
constexpr int kRestart = 512;  // ERESTARTSYS

// A call on a file is not begun again for every signal that comes meanwhile: it might never end.
constexpr int64_t kFilePatienceMs = 1000;

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

Workers::Side Workers::fork_for(const seccomp_notif& question, Task task) {
  size_t alike = 0;
  for (size_t i = 0; i < count_; ++i) alike += workers_[i].task == task ? 1 : 0;
  if (count_ == kMostWorkers || (task == Task::kFile && alike == kMostFileWorkers))
    return Side::kNobody;
  pid_t supervisor = getpid();
  pid_t worker = fork();
  if (worker < 0) return Side::kNobody;
  if (worker == 0) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != supervisor) _exit(1);
    return Side::kWorker;
  }
  workers_[count_++] = {worker, question.id,    static_cast<pid_t>(question.pid),
                        task,   monotonic_ms(), false};
  return Side::kSupervisor;
}

void Workers::interrupt_signalled() {
  for (size_t i = 0; i < count_; ++i) {
    Worker& worker = workers_[i];
    if (worker.ended) continue;
    bool awaited = is_awaited(listener_, worker.question);
    bool patient = worker.task == Task::kFile && monotonic_ms() - worker.since_ms < kFilePatienceMs;
    if (awaited && (patient || !has_signal_waiting(worker.caller))) continue;
    kill(worker.pid, SIGKILL);
    worker.ended = true;
  }
}

void Workers::reaped(pid_t pid) {
  for (size_t i = 0; i < count_; ++i) {
    if (workers_[i].pid != pid) continue;
    // Told only now: what goes on after the caller was told otherwise would surprise it.
    uint64_t question = workers_[i].question;
    if (is_awaited(listener_, question))
      send_answer(listener_, question, workers_[i].ended ? -kRestart : -EIO);
    workers_[i] = workers_[--count_];
    return;
  }
}

bool Workers::has(pid_t pid) const {
  for (size_t i = 0; i < count_; ++i) {
    if (workers_[i].pid == pid) return true;
  }
  return false;
}

void Workers::end() {
  for (size_t i = 0; i < count_; ++i) kill(workers_[i].pid, SIGKILL);
}

}  // namespace cordon
