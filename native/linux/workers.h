// Processes that answer one question each, because the answer may take its time: one slow peer
// never holds up another call.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace cordon {

// Beyond these a call is told EAGAIN, as by a kernel that runs out of something.
inline constexpr size_t kMostWorkers = 128;
// Of those, for files: a file system that never answers leaves some for connecting.
inline constexpr size_t kMostFileWorkers = 96;

// How often callers are looked at for signals.
inline constexpr int kSignalCheckMs = 50;

// The answer to a question: an errno as a negative number, else the call's value.
void send_answer(int listener, uint64_t question, int64_t result);

// False once it is answered, or its caller is dead.
bool is_awaited(int listener, uint64_t question);

class Workers {
 public:
  void start(int listener) { listener_ = listener; }

  enum class Side : uint8_t { kWorker, kSupervisor, kNobody };

  // What a worker does: it may be interrupted at once, or, like most file systems, rather not.
  enum class Task : uint8_t { kConnect, kFile };

  // Forks a worker for a question. The worker answers it and exits; with kNobody there could be
  // none. What it needs of the caller's memory and sockets must be there already: it has a copy of
  // everything, but is nobody's ancestor, which Yama asks of who looks at a process.
  Side fork_for(const seccomp_notif& question, Task task);

  // Ends the workers of calls whose caller has a signal waiting, so that alarms and Ctrl-C
  // interrupt them as they do without Cordon, and those that nobody waits for. Call at least every
  // kSignalCheckMs while `busy`.
  void interrupt_signalled();

  bool busy() const { return count_ > 0; }

  // A child of the supervisor ended; it may have been a worker.
  void reaped(pid_t pid);

  bool has(pid_t pid) const;

  // Kills them. One that waits in the kernel without an end is not waited for.
  void end();

 private:
  struct Worker {
    pid_t pid;
    uint64_t question;
    pid_t caller;
    Task task;
    int64_t since_ms;
    bool ended;  // by us; not dead yet
  };

  int listener_ = -1;
  size_t count_ = 0;
  Worker workers_[kMostWorkers];
};

}  // namespace cordon
