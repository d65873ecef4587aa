#include "linux/journal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
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

constexpr uint64_t kJournalMagic = 0x314c4e4a4e445243;  // "CRDNJNL1" read as little-endian
constexpr int kOpenAttempts = 8;
// How long a process' environment may take to be read.
constexpr int kEnvironmentMs = 100;

Text<32> journal_name(pid_t pid) {
  return Text<32>().add(kJournalPrefix).add(static_cast<uint64_t>(pid));
}

// /proc counts a start in ticks of usually 10 ms: one tick of slack on each side.
bool started_within(const Process& process, const JournalSlot& slot) {
  constexpr uint64_t tick = kNsPerSecond / kTicksPerSecond;
  uint64_t start = process.start_ticks * tick;
  return start + tick >= slot.started_after && start <= slot.started_before + tick;
}

struct Standing {
  bool same_user = false;
  bool no_new_privs = false;
};

Standing standing_of(pid_t pid) {
  char status[4096];
  auto path = Text<32>().add("/proc/").add(static_cast<uint64_t>(pid)).add("/status");
  if (read_small(path.get(), status, sizeof status) <= 0) return {};
  const char* owner = find_line(status, "Uid:\t");
  const char* no_new_privs = find_line(status, "NoNewPrivs:\t");
  uint64_t uid = 0;
  bool known = owner != nullptr && take_number(&owner, 10, &uid);
  return {known && uid == getuid(), no_new_privs != nullptr && *no_new_privs == '1'};
}

struct EnvironmentLook {
  pid_t pid;
  char word[kTempNameBytes];
  bool found;
};

// Whether the process was started with a variable that holds `word`: the kernel keeps what execve
// was given.
bool reads_in_environment(pid_t pid, const char* word) {
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

bool environment_holds(pid_t pid, const char* word) {
  auto* look = static_cast<EnvironmentLook*>(map_shared(sizeof(EnvironmentLook)));
  if (look == nullptr) return false;
  look->pid = pid;
  memcpy(look->word, word, strnlen(word, sizeof look->word - 1));
  look_aside(
      [](void* context) {
        auto* own = static_cast<EnvironmentLook*>(context);
        own->found = reads_in_environment(own->pid, own->word);
      },
      look, kEnvironmentMs);
  bool found = look->found;
  munmap(look, sizeof *look);
  return found;
}

// Of those that left the session only the environment still tells whose they are: every process of
// a run was started with the name of its temp directory, which no other run ever has. A program may
// clear its own environment; one that does escapes, and the report calls this guarantee absent.
bool holds_temp_of(const Process& process, const JournalSlot& slot) {
  return environment_holds(process.pid, slot.temp);
}

// Every command gets a hard limit of one byte for its core, or what was less, and passes it on:
// hardly anything else has one.
bool has_core_limit(pid_t pid) {
  rlimit limit{};
  constexpr rlimit* kUnchanged = nullptr;
  return syscall(SYS_prlimit64, pid, RLIMIT_CORE, kUnchanged, &limit) == 0 && limit.rlim_max <= 1;
}

bool in_session_of(const Process& process, const JournalSlot& slot) {
  if (slot.leads_session == 0 || process.session != slot.pid) return false;
  Process leader;
  // While members live their session's number is not given to another process: a leader of another
  // age means another session. Once both are gone the number may pass to a session whose leader
  // ends too, and its age is lost: then the member itself must show that it is of a run.
  if (read_process(slot.pid, &leader)) return started_within(leader, slot);
  return has_core_limit(process.pid);
}

bool left_by(const Process& process, const JournalSlot& slot) {
  Standing standing = standing_of(process.pid);
  if (!standing.same_user) return false;
  if (process.pid == slot.pid) return started_within(process, slot);
  // Every process that Cordon confined carries no_new_privs for ever.
  if (!standing.no_new_privs) return false;
  return in_session_of(process, slot) || (slot.temp[0] != '\0' && holds_temp_of(process, slot));
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
    if (!read_process(static_cast<pid_t>(pid), &process) || !process.alive()) continue;
    if (left_by(process, slot) && signal_process(process, SIGKILL)) found = true;
  }
  return found;
}

void end_left_by(const JournalSlot& slot) {
  // What was killed takes a moment to die.
  for (int pass = 0; pass < kRecoveryPasses && end_some_left_by(slot); ++pass) poll(nullptr, 0, 1);
}

struct JournalHeader {
  uint64_t magic;
  uint64_t process_namespace;
  char boot[40];
};

bool read_header(JournalHeader* header) {
  *header = JournalHeader{kJournalMagic, 0, {}};
  struct stat found;
  if (read_small("/proc/sys/kernel/random/boot_id", header->boot, sizeof header->boot) <= 0)
    return false;
  if (stat("/proc/self/ns/pid", &found) != 0) return false;
  header->process_namespace = found.st_ino;
  return true;
}

bool own_file(int file) {
  struct stat found;
  return fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
         found.st_nlink == 1;
}

// A dead guard's file: what it names is ended. False when it is about another process namespace,
// whose numbers mean nothing here.
bool recover(int file, const JournalHeader& here) {
  JournalHeader written;
  // Cut short: its guard started nothing yet.
  if (read(file, &written, sizeof written) != static_cast<ssize_t>(sizeof written)) return true;
  if (written.magic != kJournalMagic) return true;
  // Nothing outlives its boot, and another one counts from the beginning again.
  if (memcmp(written.boot, here.boot, sizeof written.boot) != 0) return true;
  if (written.process_namespace != here.process_namespace) return false;
  JournalSlot slot;
  while (read(file, &slot, sizeof slot) == static_cast<ssize_t>(sizeof slot)) {
    slot.temp[sizeof slot.temp - 1] = '\0';
    if (slot.pid > 0) end_left_by(slot);
  }
  return true;
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

UniqueFd open_journal_directory(const char* path) {
  UniqueFd directory(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found;
  if (!directory.valid() || fstat(directory.get(), &found) != 0) return UniqueFd();
  if (found.st_uid != geteuid() || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) return UniqueFd();
  return directory;
}

UniqueFd open_journal(int directory) {
  JournalHeader header;
  if (!read_header(&header)) return UniqueFd();
  int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  for (int attempt = 0; attempt < kOpenAttempts; ++attempt) {
    UniqueFd file(openat(directory, journal_name(getpid()).get(), flags, 0600));
    if (!file.valid() || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return UniqueFd();
    // A dead guard had this pid, and another guard is just removing its file.
    if (!own_file(file.get())) continue;
    if (ftruncate(file.get(), 0) != 0) return UniqueFd();
    if (pwrite(file.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header))
      return UniqueFd();
    return file;
  }
  return UniqueFd();
}

bool write_slot(int journal, size_t index, const JournalSlot& slot) {
  off_t at = static_cast<off_t>(sizeof(JournalHeader) + index * sizeof slot);
  ssize_t written = pwrite(journal, &slot, sizeof slot, at);
  if (written >= 0 && written != static_cast<ssize_t>(sizeof slot)) errno = ENOSPC;
  return written == static_cast<ssize_t>(sizeof slot);
}

void recover_journals(int directory) {
  JournalHeader here;
  if (!read_header(&here)) return;
  Directory entries(directory);
  while (const dirent64* entry = entries.next()) {
    if (strncmp(entry->d_name, kJournalPrefix, sizeof kJournalPrefix - 1) != 0) continue;
    UniqueFd file(openat(directory, entry->d_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.valid() || flock(file.get(), LOCK_EX | LOCK_NB) != 0 || !own_file(file.get()))
      continue;
    if (recover(file.get(), here)) unlinkat(directory, entry->d_name, 0);
  }
}

void close_journal(int directory, UniqueFd* journal) {
  if (!journal->valid()) return;
  unlinkat(directory, journal_name(getpid()).get(), 0);
  journal->reset();
}

}  // namespace cordon
