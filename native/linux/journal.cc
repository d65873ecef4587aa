#include "linux/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "core/text.h"
#include "linux/files.h"
#include "linux/processes.h"

namespace cordon {
namespace {

constexpr char kJournalPrefix[] = "guard-";
// Looks at the process table for one run: the last finds nothing, unless something forks faster
// than the table is read.
constexpr int kRecoveryPasses = 64;
constexpr uint64_t kNsPerSecond = 1000000000;
// USER_HZ, the unit of /proc on every architecture served here.
constexpr uint64_t kTicksPerSecond = 100;

Text<32> journal_name(pid_t pid) {
  return Text<32>().add(kJournalPrefix).add(static_cast<uint64_t>(pid));
}

// /proc counts a start in ticks of usually 10 ms: one tick of slack on each side.
bool started_within(const Process& process, const JournalSlot& slot) {
  constexpr uint64_t tick = kNsPerSecond / kTicksPerSecond;
  uint64_t start = process.start_ticks * tick;
  return start + tick >= slot.started_after && start <= slot.started_before + tick;
}

// Every process that Cordon confined carries no_new_privs for ever.
bool has_no_new_privs(pid_t pid) {
  char status[4096];
  auto path = Text<32>().add("/proc/").add(static_cast<uint64_t>(pid)).add("/status");
  if (read_small(path.get(), status, sizeof status) <= 0) return false;
  const char* value = find_line(status, "NoNewPrivs:\t");
  return value != nullptr && *value == '1';
}

bool same_user(pid_t pid) {
  auto path = Text<32>().add("/proc/").add(static_cast<uint64_t>(pid));
  struct stat found;
  return stat(path.get(), &found) == 0 && found.st_uid == geteuid();
}

// Whether the process was started with a variable that holds `word`: the kernel keeps what execve
// was given.
bool environment_holds(pid_t pid, const char* word) {
  auto path = Text<32>().add("/proc/").add(static_cast<uint64_t>(pid)).add("/environ");
  UniqueFd file(open(path.get(), O_RDONLY | O_CLOEXEC));
  size_t length = strlen(word);
  if (!file.valid() || length == 0) return false;
  char window[4096];
  size_t kept = 0;
  for (;;) {
    ssize_t n = read(file.get(), window + kept, sizeof window - kept);
    if (n <= 0) return false;
    size_t filled = kept + static_cast<size_t>(n);
    for (size_t at = 0; at + length <= filled; ++at) {
      if (memcmp(window + at, word, length) == 0) return true;
    }
    // The word may lie across two reads.
    kept = filled < length - 1 ? filled : length - 1;
    memmove(window, window + filled - kept, kept);
  }
}

// Of those that left the session only the environment still tells whose they are: every process of
// a run was started with the name of its temp directory, which no other run ever has. A program may
// clear its own environment; one that does escapes, and the report calls this guarantee absent.
bool holds_temp_of(const Process& process, const JournalSlot& slot) {
  return environment_holds(process.pid, slot.temp) && has_no_new_privs(process.pid);
}

bool left_by(const Process& process, const JournalSlot& slot) {
  if (process.pid == slot.pid) return started_within(process, slot);
  if (slot.temp[0] != '\0' && holds_temp_of(process, slot)) return true;
  if (slot.leads_session == 0 || process.session != slot.pid) return false;
  Process leader;
  // While members live their session's number is not given to another process: a leader of another
  // age means another session.
  if (read_process(slot.pid, &leader) && !started_within(leader, slot)) return false;
  return has_no_new_privs(process.pid);
}

// True when there was something to end: it may have forked meanwhile.
bool end_some_left_by(const JournalSlot& slot) {
  UniqueFd proc(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!proc.valid()) return false;
  bool found = false;
  Directory entries(proc.get());
  while (const dirent64* entry = entries.next()) {
    uint64_t pid = 0;
    Process process;
    if (!whole_number(entry->d_name, INT32_MAX, &pid)) continue;
    if (!read_process(static_cast<pid_t>(pid), &process)) continue;
    if (process.state == 'Z' || !same_user(process.pid) || !left_by(process, slot)) continue;
    if (signal_process(process, SIGKILL)) found = true;
  }
  return found;
}

void end_left_by(const JournalSlot& slot) {
  for (int pass = 0; pass < kRecoveryPasses && end_some_left_by(slot); ++pass) {
  }
}

}  // namespace

uint64_t boot_time_ns() {
  timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

void note_temp(JournalSlot* slot, const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash == nullptr ? path : slash + 1;
  memcpy(slot->temp, name, strnlen(name, sizeof slot->temp - 1));
}

UniqueFd open_journal(int directory) {
  UniqueFd file(openat(directory, journal_name(getpid()).get(),
                       O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid() || flock(file.get(), LOCK_EX | LOCK_NB) != 0 || ftruncate(file.get(), 0) != 0) {
    return UniqueFd();
  }
  return file;
}

bool write_slot(int journal, size_t index, const JournalSlot& slot) {
  return pwrite(journal, &slot, sizeof slot, static_cast<off_t>(index * sizeof slot)) ==
         static_cast<ssize_t>(sizeof slot);
}

void recover_journals(int directory) {
  Directory entries(directory);
  while (const dirent64* entry = entries.next()) {
    if (strncmp(entry->d_name, kJournalPrefix, sizeof kJournalPrefix - 1) != 0) continue;
    UniqueFd file(openat(directory, entry->d_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (!file.valid() || flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
    JournalSlot slot;
    while (read(file.get(), &slot, sizeof slot) == static_cast<ssize_t>(sizeof slot)) {
      slot.temp[sizeof slot.temp - 1] = '\0';
      if (slot.pid > 0) end_left_by(slot);
    }
    unlinkat(directory, entry->d_name, 0);
  }
}

void close_journal(int directory, UniqueFd* journal) {
  if (!journal->valid()) return;
  unlinkat(directory, journal_name(getpid()).get(), 0);
  journal->reset();
}

}  // namespace cordon
