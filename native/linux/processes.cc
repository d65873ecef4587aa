#include "linux/processes.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/text.h"
#include "core/unique_fd.h"
#include "linux/files.h"

namespace cordon {
namespace {

// Rounds of stopping before the kill goes on regardless: only what forks faster than the table is read needs more than two.
constexpr int kStopRounds = 1000;

constexpr size_t kFirstCapacity = 1024;

// Fields of /proc/PID/stat, counted as proc(5) counts them.
constexpr size_t kParentField = 4;
constexpr size_t kSessionField = 6;
constexpr size_t kStartField = 22;

bool contains(const pid_t* pids, size_t count, pid_t pid) {
  for (size_t i = 0; i < count; ++i) {
    if (pids[i] == pid) return true;
  }
  return false;
}

bool same_process(const Process& a, const Process& b) {
  return a.pid == b.pid && a.start_ticks == b.start_ticks;
}

bool lists(const Descendants& tree, const Process& process) {
  for (size_t i = 0; i < tree.size(); ++i) {
    if (same_process(tree.at(i), process)) return true;
  }
  return false;
}

// A stopped process cannot fork: when a look at the whole tree finds nobody who was not stopped before, it is complete.
void stop_descendants(const pid_t* spared, size_t spared_count) {
  Descendants looks[2];
  for (int round = 0; round < kStopRounds; ++round) {
    Descendants& now = looks[round % 2];
    const Descendants& before = looks[(round + 1) % 2];
    if (!now.read(getpid(), spared, spared_count)) return;
    bool complete = true;
    for (size_t i = 0; i < now.size(); ++i) {
      if (now.at(i).state == 'Z') continue;
      if (!lists(before, now.at(i))) complete = false;
      signal_process(now.at(i), SIGSTOP);
    }
    if (complete) return;
  }
}

}  // namespace

bool read_process(pid_t pid, Process* process) {
  char text[512];
  auto path = Text<32>().add("/proc/").add(static_cast<uint64_t>(pid)).add("/stat");
  if (read_small(path.get(), text, sizeof text) <= 0) return false;
  // The name may hold spaces and parentheses: fields start after the last ')'.
  const char* at = strrchr(text, ')');
  if (at == nullptr || at[1] != ' ' || at[2] == '\0') return false;
  char state = at[2];
  at += 3;
  uint64_t fields[kStartField + 1] = {};
  for (size_t field = kParentField; field <= kStartField; ++field) {
    // Some between are negative, as a process without a terminal; none of those is wanted.
    while (*at == ' ' || *at == '-') ++at;
    if (!take_number(&at, 10, &fields[field])) return false;
  }
  *process = {pid, static_cast<pid_t>(fields[kParentField]), static_cast<pid_t>(fields[kSessionField]), state,
              fields[kStartField]};
  return true;
}

Descendants::~Descendants() {
  if (entries_ != nullptr) munmap(entries_, capacity_ * sizeof(Process));
}

bool Descendants::append(const Process& process) {
  if (count_ == capacity_) {
    size_t grown = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
    void* memory = mmap(nullptr, grown * sizeof(Process), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    if (entries_ != nullptr) {
      memcpy(memory, entries_, count_ * sizeof(Process));
      munmap(entries_, capacity_ * sizeof(Process));
    }
    entries_ = static_cast<Process*>(memory);
    capacity_ = grown;
  }
  entries_[count_++] = process;
  return true;
}

bool Descendants::read(pid_t root, const pid_t* spared, size_t spared_count) {
  count_ = 0;
  UniqueFd proc(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!proc.valid()) return false;
  Directory entries(proc.get());
  while (const dirent64* entry = entries.next()) {
    uint64_t pid = 0;
    Process process;
    if (!whole_number(entry->d_name, INT32_MAX, &pid)) continue;
    if (read_process(static_cast<pid_t>(pid), &process) && !append(process)) break;
  }

  // Moves descendants to the front, generation by generation; what stays behind is not ours.
  size_t ours = 0;
  for (size_t scanned = 0, generation = 0;; scanned = generation) {
    for (size_t i = ours; i < count_; ++i) {
      bool child = entries_[i].parent == root;
      for (size_t k = 0; k < ours && !child; ++k) child = entries_[k].pid == entries_[i].parent;
      if (!child || contains(spared, spared_count, entries_[i].pid)) continue;
      Process found = entries_[i];
      entries_[i] = entries_[ours];
      entries_[ours++] = found;
    }
    generation = ours;
    if (generation == scanned) break;
  }
  count_ = ours;
  return true;
}

bool signal_process(const Process& process, int signal) {
  UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pidfd.valid()) return false;
  // Held by the descriptor, the number can no longer pass to another process: one look tells whether it already had.
  Process now;
  if (!read_process(process.pid, &now) || now.start_ticks != process.start_ticks) return false;
  return syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0;
}

bool has_children() {
  siginfo_t anybody{};
  return waitid(P_ALL, 0, &anybody, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

void signal_descendants(int signal) {
  Descendants tree;
  if (!tree.read(getpid(), nullptr, 0)) return;
  for (size_t i = 0; i < tree.size(); ++i) signal_process(tree.at(i), signal);
}

size_t end_descendants(const pid_t* spared, size_t spared_count, SurvivorSeen seen, void* context) {
  if (!has_children()) return 0;
  stop_descendants(spared, spared_count);
  Descendants tree;
  size_t living = 0;
  tree.read(getpid(), spared, spared_count);
  for (size_t i = 0; i < tree.size(); ++i) {
    if (tree.at(i).state == 'Z') continue;
    ++living;
    if (seen != nullptr) seen(context, tree.at(i));
  }
  while (tree.size() > 0) {
    for (size_t i = 0; i < tree.size(); ++i) signal_process(tree.at(i), SIGKILL);
    // Only own children can be waited for, and never with -1: a spared child's status belongs to its owner.
    for (size_t i = 0; i < tree.size(); ++i) {
      if (tree.at(i).parent == getpid()) waitpid(tree.at(i).pid, nullptr, __WALL);
    }
    if (!tree.read(getpid(), spared, spared_count)) break;
  }
  return living;
}

void read_command(pid_t pid, char* out, size_t size) {
  auto base = Text<32>().add("/proc/").add(static_cast<uint64_t>(pid));
  ssize_t length = read_small(Text<48>().add(base.get()).add("/cmdline").get(), out, size);
  if (length <= 0) length = read_small(Text<48>().add(base.get()).add("/comm").get(), out, size);
  if (length <= 0) {
    out[0] = '\0';
    return;
  }
  if (out[length - 1] == '\n') out[length - 1] = '\0';
  for (ssize_t i = 0; i + 1 < length; ++i) {
    if (out[i] == '\0') out[i] = ' ';
  }
}

}  // namespace cordon
