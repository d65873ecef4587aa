// Process trees as /proc shows them: who descends from whom, and how a whole tree is ended.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace cordon {

struct Process {
  pid_t pid;
  pid_t parent;
  pid_t session;
  char state;
  uint64_t threads;
  uint64_t start_ticks;  // since boot, in clock ticks of sysconf(_SC_CLK_TCK)

  // A process whose first thread exited before the others is shown as a zombie: it runs, and forks.
  bool alive() const { return (state != 'Z' && state != 'X') || threads > 1; }
};

// Reads /proc/PID/stat. False when the process is gone or /proc cannot be read.
bool read_process(pid_t pid, Process* process);

// Processes that descend from a root, without the root itself. Memory comes straight from mmap.
class Descendants {
 public:
  Descendants() = default;
  ~Descendants();
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;

  // Reads the whole table. Subtrees of the pids in `spared` are left out. False when it could not
  // be read to its end.
  bool read(pid_t root, const pid_t* spared, size_t spared_count);

  size_t size() const { return count_; }
  const Process& at(size_t index) const { return entries_[index]; }

 private:
  bool append(const Process& process);

  Process* entries_ = nullptr;
  size_t count_ = 0;
  size_t capacity_ = 0;
};

// Sends `signal` to the very process that was seen, and to no later one with its number.
bool signal_process(const Process& process, int signal);

// Whether the caller has a child, dead ones that nobody waited for included. One call, where a look
// at /proc takes hundreds.
bool has_children();

// Opens the kernel's list of the caller's children, for when nothing more can be opened: a program
// may lower the limits of any process of its user, its supervisor's too. False with errno where
// there is no /proc, or one of another process namespace, whose numbers are somebody else's.
bool open_child_list();

// Gives the list, if there is one, the descriptor `place`. False with errno when that cannot be.
bool move_child_list(int place);

// Sends `signal` to every descendant of the caller.
void signal_descendants(int signal);

using SurvivorSeen = void (*)(void* context, const Process& process);

// Ends every descendant of the caller but the subtrees of `spared`: stops them all until no new one
// appears, so that a fork bomb cannot outrun the kill, then kills and reaps. `seen`, when there is
// one, is told of each that lived. False when something is left after `patience_ms`, which only an
// uninterruptible wait in the kernel or a foreign tracer can bring about.
bool end_descendants(const pid_t* spared, size_t spared_count, int patience_ms, SurvivorSeen seen,
                     void* context);

// Command line of a process for people: arguments joined by spaces, cut at `size`; its name where
// there is none.
void read_command(pid_t pid, char* out, size_t size);

}  // namespace cordon
