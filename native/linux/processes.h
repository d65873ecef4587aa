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
  uint64_t start_ticks;  // since boot, in clock ticks of sysconf(_SC_CLK_TCK)
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

  // Reads the whole table. Subtrees of the pids in `spared` are left out. False when /proc cannot be read.
  bool read(pid_t root, const pid_t* spared, size_t spared_count);

  size_t size() const { return count_; }
  const Process& at(size_t index) const { return entries_[index]; }

 private:
  bool append(const Process& process);

  Process* entries_ = nullptr;
  size_t count_ = 0;
  size_t capacity_ = 0;
};

// Sends `signal` to the very process that was seen: by pidfd, and only if parent and start still agree.
bool signal_process(const Process& process, int signal);

// Whether the caller has a child, dead ones that nobody waited for included. One call, where a look at /proc takes hundreds.
bool has_children();

// Sends `signal` to every descendant of the caller.
void signal_descendants(int signal);

using SurvivorSeen = void (*)(void* context, const Process& process);

// Ends every descendant of the caller but the subtrees of `spared`: stops them all until no new one appears, so that a
// fork bomb cannot outrun the kill, then kills and reaps. `seen` is told of each one once. Returns how many there were.
size_t end_descendants(const pid_t* spared, size_t spared_count, SurvivorSeen seen, void* context);

// Command line of a process for people: arguments joined by spaces, cut at `size`; its name where there is none.
void read_command(pid_t pid, char* out, size_t size);

}  // namespace cordon
