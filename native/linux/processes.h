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

using TreeSeen = void (*)(void* context, const Descendants& tree);

// Ends every descendant of the caller but the subtrees of `spared`: stops them all until no new one
// appears, so that a fork bomb cannot outrun the kill, then kills and reaps. `seen`, when there is
// one, is told of them before they are killed. False when something is left after `patience_ms`,
// which only an uninterruptible wait in the kernel or a foreign tracer can bring about.
bool end_descendants(const pid_t* spared, size_t spared_count, int patience_ms, TreeSeen seen,
                     void* context);

// Does `look` in a child of the caller, for what may never come back: a process can wait for a
// mount that does not answer with its memory locked, and whoever reads there waits with it. False
// when it did not in time; the child is killed then. `context` is of `map_shared`.
bool look_aside(void (*look)(void* context), void* context, int patience_ms);

// Zeroed memory that a child shares; null when there is none. The caller unmaps it.
void* map_shared(size_t size);

// Command line of a process for people: arguments joined by spaces, cut at `size`; its name where
// there is none. It may never come back, see look_aside.
void read_command(pid_t pid, char* out, size_t size);

// Name of a process, without a look at its memory.
void read_name(pid_t pid, char* out, size_t size);

// Command lines of the living, for as many as fit, as far as they can be had in time.
class CommandLines {
 public:
  CommandLines(const Descendants& tree, int patience_ms);
  ~CommandLines();
  CommandLines(const CommandLines&) = delete;
  CommandLines& operator=(const CommandLines&) = delete;

  // Of the process at this place of the tree: its name where the command line could not be had.
  const char* at(size_t index);

 private:
  static constexpr size_t kMost = 256;
  static constexpr size_t kBytes = 256;
  struct Table {
    const Descendants* tree;
    char lines[kMost][kBytes];
  };
  static void read(void* table);

  const Descendants& tree_;
  Table* table_;
  char name_[kBytes] = {};
};

}  // namespace cordon
