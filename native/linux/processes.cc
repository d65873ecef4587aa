#include "linux/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/text.h"
#include "core/unique_fd.h"
#include "linux/clock.h"
#include "linux/files.h"

namespace cordon {
namespace {

// Rounds of stopping before the kill goes on regardless: only what forks faster than the table is
// read needs more than two.
constexpr int kStopRounds = 1000;
// Rounds without a newcomer after which those that were stopped and are not seen to be (in a frozen
// control group) do not hold up the kill.
constexpr int kQuietRounds = 16;

// How long one child is waited for before the others get their turn.
constexpr int kTurnMs = 50;

constexpr size_t kFirstCapacity = 1024;

// Fields of /proc/PID/stat, counted as proc(5) counts them.
constexpr size_t kParentField = 4;
constexpr size_t kSessionField = 6;
constexpr size_t kThreadsField = 20;
constexpr size_t kStartField = 22;

// /proc/thread-self/children, which says the same each time it is read, as of then.
int g_child_list = -1;

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

// What was seen in the middle of a fork when the signal came finishes it.
bool may_still_fork(const Process& process) { return process.state == 'R' || process.state == 'S'; }

// A stopped process cannot fork: when a look at the whole tree finds nobody who was not stopped
// before, it is complete.
void stop_descendants(const pid_t* spared, size_t spared_count) {
  Descendants looks[2];
  int quiet = 0;
  for (int round = 0; round < kStopRounds; ++round) {
    Descendants& now = looks[round % 2];
    const Descendants& before = looks[(round + 1) % 2];
    if (!now.read(getpid(), spared, spared_count)) return;
    bool newcomers = false;
    bool running = false;
    for (size_t i = 0; i < now.size(); ++i) {
      if (!now.at(i).alive()) continue;
      if (!lists(before, now.at(i))) newcomers = true;
      if (may_still_fork(now.at(i))) running = true;
      signal_process(now.at(i), SIGSTOP);
    }
    quiet = newcomers ? 0 : quiet + 1;
    if (quiet > 0 && (!running || quiet >= kQuietRounds)) return;
  }
}

// Children of the caller, as many as one read gives; none where the list is not open.
size_t list_children(pid_t* out, size_t most) {
  char text[4096];
  ssize_t length = g_child_list < 0 ? -1 : pread(g_child_list, text, sizeof text - 1, 0);
  if (length <= 0) return 0;
  text[length] = '\0';
  size_t count = 0;
  for (const char* at = text; count < most; ++at) {
    uint64_t pid = 0;
    // Each number is followed by a space; one that is not was cut.
    if (!take_number(&at, 10, &pid) || *at != ' ') break;
    out[count++] = static_cast<pid_t>(pid);
  }
  return count;
}

// A thread may have asked to be traced by its parent: dead, it waits to be seen, and its process
// can be reaped only after it.
void reap_traced_threads(pid_t pid) {
  auto path = Text<32>().add("/proc/").add(static_cast<uint64_t>(pid)).add("/task");
  UniqueFd tasks(open(path.get(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!tasks.valid()) return;
  Directory entries(tasks.get());
  while (const dirent64* entry = entries.next()) {
    uint64_t thread = 0;
    if (!whole_number(entry->d_name, INT32_MAX, &thread)) continue;
    if (static_cast<pid_t>(thread) == pid) continue;
    waitpid(static_cast<pid_t>(thread), nullptr, WNOHANG | __WALL);
  }
}

// Whether the child is dead and reaped; waits a turn for it.
bool reap_child(pid_t pid, int64_t until) {
  UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  int64_t left = until - monotonic_ms();
  pollfd ready{pidfd.get(), POLLIN, 0};
  if (pidfd.valid() && left > 0) poll(&ready, 1, left < kTurnMs ? static_cast<int>(left) : kTurnMs);
  if (waitpid(pid, nullptr, WNOHANG | __WALL) == pid) return true;
  reap_traced_threads(pid);
  return waitpid(pid, nullptr, WNOHANG | __WALL) == pid;
}

// Kills and reaps what the kernel's list says, without a descriptor: the number of a child that was
// not waited for passes to nobody else, and what a child leaves becomes a child in its turn.
// Returns how many there were.
size_t end_listed_children(const pid_t* spared, size_t spared_count, int64_t until) {
  pid_t children[512];
  size_t count = list_children(children, sizeof children / sizeof *children);
  size_t ended = 0;
  for (size_t i = 0; i < count; ++i) {
    if (contains(spared, spared_count, children[i])) continue;
    kill(children[i], SIGKILL);
    ++ended;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!contains(spared, spared_count, children[i])) reap_child(children[i], until);
  }
  return ended;
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
  *process = {pid,
              static_cast<pid_t>(fields[kParentField]),
              static_cast<pid_t>(fields[kSessionField]),
              state,
              fields[kThreadsField],
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
  bool whole = true;
  while (const dirent64* entry = entries.next()) {
    uint64_t pid = 0;
    Process process;
    if (!whole_number(entry->d_name, INT32_MAX, &pid)) continue;
    errno = 0;
    if (!read_process(static_cast<pid_t>(pid), &process)) {
      // Gone since, unless nothing can be opened any more.
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) whole = false;
    } else if (!append(process)) {
      whole = false;
      break;
    }
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
  return whole && !entries.failed();
}

bool signal_process(const Process& process, int signal) {
  UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pidfd.valid() && errno == ESRCH) return false;
  // Held by the descriptor, the number can no longer pass to another process: one look tells
  // whether it already had.
  Process now;
  if (!read_process(process.pid, &now) || now.start_ticks != process.start_ticks) return false;
  // Outer sandboxes that know no pidfd refuse it: then the moment since the look is all there is to
  // lose.
  if (!pidfd.valid()) return kill(process.pid, signal) == 0;
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

bool open_child_list() {
  char own[32];
  long length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self", own, sizeof own - 1);
  if (length <= 0) return false;
  own[length] = '\0';
  uint64_t pid = 0;
  if (!whole_number(own, INT32_MAX, &pid) || static_cast<pid_t>(pid) != getpid()) {
    errno = ESRCH;
    return false;
  }
  // A kernel without CONFIG_PROC_CHILDREN has none.
  g_child_list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  return true;
}

bool move_child_list(int place) {
  if (g_child_list < 0) return true;
  UniqueFd list(g_child_list);
  g_child_list = dup3(list.get(), place, O_CLOEXEC);
  return g_child_list == place;
}

bool end_descendants(const pid_t* spared, size_t spared_count, int patience_ms, TreeSeen seen,
                     void* context) {
  if (!has_children()) return true;
  stop_descendants(spared, spared_count);
  Descendants tree;
  tree.read(getpid(), spared, spared_count);
  if (seen != nullptr) seen(context, tree);
  int64_t until = monotonic_ms() + patience_ms;
  for (;;) {
    for (size_t i = 0; i < tree.size(); ++i) signal_process(tree.at(i), SIGKILL);
    bool reaped = false;
    // Only own children can be waited for, and never with -1: a spared child's status belongs to
    // its owner.
    for (size_t i = 0; i < tree.size(); ++i) {
      if (tree.at(i).parent == getpid() && reap_child(tree.at(i).pid, until)) reaped = true;
    }
    bool whole = tree.read(getpid(), spared, spared_count);
    // What /proc does not show (mounted with hidepid, or out of descriptors), the list of children
    // does.
    bool looks_done = tree.size() == 0 || !whole || !reaped;
    size_t hidden = looks_done ? end_listed_children(spared, spared_count, until) : 0;
    if (tree.size() == 0 && hidden == 0) return whole || !has_children();
    if (monotonic_ms() >= until) return false;
    if (!reaped) poll(nullptr, 0, 1);
  }
}

bool look_aside(void (*look)(void* context), void* context, int patience_ms) {
  pid_t pid = fork();
  if (pid < 0) return false;
  if (pid == 0) {
    look(context);
    _exit(0);
  }
  int64_t until = monotonic_ms() + patience_ms;
  do {
    if (reap_child(pid, until)) return true;
  } while (monotonic_ms() < until);
  kill(pid, SIGKILL);
  reap_child(pid, monotonic_ms() + kTurnMs);
  return false;
}

void* map_shared(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void read_name(pid_t pid, char* out, size_t size) {
  auto path = Text<32>().add("/proc/").add(static_cast<uint64_t>(pid)).add("/comm");
  ssize_t length = read_small(path.get(), out, size);
  if (length <= 0) {
    out[0] = '\0';
  } else if (out[length - 1] == '\n') {
    out[length - 1] = '\0';
  }
}

void read_command(pid_t pid, char* out, size_t size) {
  auto path = Text<32>().add("/proc/").add(static_cast<uint64_t>(pid)).add("/cmdline");
  ssize_t length = read_small(path.get(), out, size);
  if (length <= 0) return read_name(pid, out, size);
  if (out[length - 1] == '\n') out[length - 1] = '\0';
  for (ssize_t i = 0; i + 1 < length; ++i) {
    if (out[i] == '\0') out[i] = ' ';
  }
}

CommandLines::CommandLines(const Descendants& tree, int patience_ms)
    : tree_(tree), table_(static_cast<Table*>(map_shared(sizeof(Table)))) {
  if (table_ == nullptr || tree.size() == 0) return;
  table_->tree = &tree;
  look_aside(&CommandLines::read, table_, patience_ms);
}

CommandLines::~CommandLines() {
  if (table_ != nullptr) munmap(table_, sizeof(Table));
}

void CommandLines::read(void* table) {
  auto* own = static_cast<Table*>(table);
  for (size_t i = 0; i < own->tree->size() && i < kMost; ++i) {
    const Process& process = own->tree->at(i);
    if (process.alive()) read_command(process.pid, own->lines[i], kBytes);
  }
}

const char* CommandLines::at(size_t index) {
  if (table_ != nullptr && index < kMost && table_->lines[index][0] != '\0')
    return table_->lines[index];
  read_name(tree_.at(index).pid, name_, sizeof name_);
  return name_;
}

}  // namespace cordon
