// connect on behalf of the run: a UNIX socket by path only where the run or its policy made it, everything else as the
// kernel says. The filter cannot tell the families apart, so every connect comes here and keeps its own semantics: what
// may block is done by a worker process, one slow peer never holds up another call.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#include "core/plan.h"
#include "linux/caller.h"

namespace cordon {

// A blocking connect beyond these is told EAGAIN, as the kernel does when it runs out of something.
inline constexpr size_t kMostConnecting = 128;

// The answer to a question: an errno as a negative number, else the call's value.
void send_answer(int listener, uint64_t question, int64_t result);

class Connector {
 public:
  void start(int listener, const Plan& plan);

  enum class Done : uint8_t { kAnswered, kPending };

  // Result of one call, or kPending when a worker will answer it.
  Done connect(const seccomp_notif& question, int64_t* result);

  // Answers calls whose caller has a signal waiting, so that alarms and Ctrl-C interrupt a connect as they do without
  // Cordon. Call at least every kSignalCheckMs while `busy`.
  void interrupt_signalled();

  bool busy() const { return count_ > 0; }

  // A child of the supervisor ended: true when it was a worker.
  bool reaped(pid_t pid);

  // Kills and reaps the workers.
  void end();

 private:
  struct Worker {
    pid_t pid;
    uint64_t question;
    pid_t caller;
  };

  int permitted_path(const Caller& caller, const char* path, UniqueFd* object) const;
  bool born_in_run(int object) const;
  bool permitted(const char* path, int object) const;
  Done hand_over(const seccomp_notif& question, int socket, const void* address, unsigned length, int64_t* result);

  int listener_ = -1;
  const Plan* plan_ = nullptr;
  timespec began_{};
  Worker workers_[kMostConnecting];
  size_t count_ = 0;
};

inline constexpr int kSignalCheckMs = 50;

}  // namespace cordon
