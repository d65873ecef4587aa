#include "linux/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "core/errno_name.h"
#include "core/text.h"
#include "core/unique_fd.h"
#include "linux/clock.h"
#include "linux/control.h"
#include "linux/files.h"
#include "linux/group_hash.h"
#include "linux/journal.h"
#include "linux/privilege.h"
#include "linux/processes.h"
#include "linux/request.h"
#include "linux/rights.h"
#include "linux/supervisor.h"
#include "linux/temp.h"

namespace cordon {
namespace {

constexpr size_t kMostRuns = 4096;
constexpr int kHighestSignal = 64;
// Children from before this program took their parent's place.
constexpr size_t kMostInherited = 256;
// How long supervisors may take to end their trees once the owner is gone.
constexpr int kOwnerGoneMs = 1000;
// How long what was killed may take to die: other runs wait meanwhile.
constexpr int kPatienceMs = 500;
// How often owners are looked at that may have left a supervisor that does not hear them, and after
// how many such looks it is taken for deaf.
constexpr int kOwnerCheckMs = 500;
constexpr int kDeafChecks = 3;
constexpr int kExitRefused = 125;
constexpr int kExitNotExecutable = 126;
constexpr int kExitNotFound = 127;

struct GuardedRun {
  pid_t supervisor = 0;
  bool waits = false;  // for a request
  int deaf_checks = 0;
  UniqueFd control;
  TempDirectory temp;
};

// What a report brings at most. The guard keeps so many numbers for each supervisor that waits: one
// whose report cannot be received could not be cleaned up after.
constexpr size_t kReportDescriptors = 3;
// What a refusal needs: the plan's, which comes first, and the control socket's.
constexpr size_t kRefusalDescriptors = 2;

// Numbers that are kept for what will come.
template <size_t kCount>
class Reserve {
 public:
  // False when not all are to be had.
  bool fill() {
    for (UniqueFd& each : held_) {
      // One of the places of a supervisor, which are occupied in the guard.
      if (!each.valid()) each.reset(fcntl(kFdControl, F_DUPFD_CLOEXEC, kFdFirstFree));
      if (!each.valid()) return false;
    }
    return true;
  }

  void release() {
    for (UniqueFd& each : held_) each.reset();
  }

 private:
  UniqueFd held_[kCount];
};

// A temp directory that was made ahead and given to the owner, for whichever run it will be. Held
// here too: what no run has taken goes with this guard.
struct ReadyDirectory {
  TempDirectory temp;
  ReadyTemp told{};
};

// Making a directory costs 50 µs on ext4, which no run's start need wait for. The owner's runs are
// nearly always beneath the same parent; one that runs a single command needs no second directory.
constexpr size_t kMostReady = 4;
constexpr uint32_t kRunsBeforeReady = 2;
constexpr int kGiveUpAttempts = 20;

// How many supervisors wait for a request. The fork and the first page faults of a supervisor are
// then no part of any launch; two, because the next request may come before the first one's
// successor is there.
constexpr size_t kWaiting = 2;
constexpr int kReplenishMs = 2;
// One that cannot even wait is no accident when it happens again and again.
constexpr int kMostBroken = 16;
constexpr int kExitForeign = 3;

// From a supervisor to the guard, when it takes a request: what must be cleaned should it die. With
// it come descriptors: control, and with a temp directory its parent and itself.
struct TakenReport {
  pid_t supervisor;
  char temp_name[kTempNameBytes];
};

// After exec only ignored signals are not at their default, and usually none is: one look spares a
// call for each. Where there is no /proc all are reset.
void reset_dispositions() {
  char status[1536];
  uint64_t ignored = ~uint64_t{0};
  const char* line = read_small("/proc/self/status", status, sizeof status) > 0
                         ? find_line(status, "SigIgn:\t")
                         : nullptr;
  if (line != nullptr && !take_number(&line, 16, &ignored)) ignored = ~uint64_t{0};
  for (int signal = 1; signal <= kHighestSignal; ++signal) {
    if ((ignored >> (signal - 1) & 1) != 0) ::signal(signal, SIG_DFL);
  }
}

int open_null() { return open("/dev/null", O_RDWR | O_CLOEXEC); }

// The low numbers are a supervisor's places: occupied here, so that nothing the guard opens can be
// in the way when its child moves descriptors there.
bool occupy_low_descriptors() {
  int null = open_null();
  int last = null;
  while (last >= 0 && last < kFdFirstFree) last = fcntl(null, F_DUPFD_CLOEXEC, 0);
  if (last < 0) return false;
  close(last);
  return true;
}

// A directory that was made ahead, unless it has been removed since.
bool take_made(UniqueFd* directory) {
  struct stat found;
  return directory->valid() && fstat(directory->get(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == geteuid() && found.st_nlink > 0;
}

// Makes the temp directory a request asks for, if it does and did not bring it.
bool make_requested_temp(Received* received, TempDirectory* temp, Failure* failure) {
  if (received->header.temp_name[0] == '\0') return true;
  temp->parent = static_cast<UniqueFd&&>(received->temp_parent);
  memcpy(temp->name, received->header.temp_name, kTempNameBytes);
  if (!take_made(&received->temp_directory)) return make_temp(temp, failure);
  temp->directory = static_cast<UniqueFd&&>(received->temp_directory);
  return true;
}

struct Move {
  int from;
  int to;
};

// Every source lies above the places (occupy_low_descriptors), so the order does not matter. Absent
// ones keep the /dev/null that holds their place.
bool move_all(const Move* moves, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (moves[i].from < 0) continue;
    bool kept = moves[i].to <= 2 || moves[i].to == kFdDaemon;
    int flags = kept ? 0 : O_CLOEXEC;
    if (dup3(moves[i].from, moves[i].to, flags) < 0) return false;
  }
  return true;
}

// False when something may be left open.
bool close_from(unsigned first) {
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return true;
  // Outer sandboxes that know no close_range refuse it.
  UniqueFd own(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own.valid()) return false;
  Directory entries(own.get());
  while (const dirent64* entry = entries.next()) {
    uint64_t fd = 0;
    if (!whole_number(entry->d_name, INT32_MAX, &fd) || fd < first) continue;
    if (static_cast<int>(fd) != own.get()) close(static_cast<int>(fd));
  }
  return !entries.failed();
}

// The one-shot's word to people; programs read the control socket.
void complain(const char* words) {
  auto line = Text<1024>().add("cordon-exec: ").add(words).add("\n");
  static_cast<void>(write(STDERR_FILENO, line.get(), line.size()) != 0);
}

void complain(const Failure& failure) {
  Text<1000> words;
  words.add(stage_name(failure.stage)).add(": ").add(errno_name(failure.error));
  if (failure.object[0] != '\0') words.add(": ").add(failure.object);
  complain(words.get());
}

class Guard {
 public:
  explicit Guard(bool confined_only) : confined_only_(confined_only) {}

  bool start(Failure* failure);
  bool start_serving(const char* journal_directory, Failure* failure);
  int serve(int socket);
  int run_once(const OneShotOptions& options);

 private:
  bool keep_waiting(int socket);
  // For one more that waits.
  bool fill_reserves();
  [[noreturn]] void await_request(int socket, pid_t guard, size_t slot);
  bool report_taken(const UniqueFd& control, const TempDirectory& temp);
  void take_reports();
  bool refuse_request(int socket);
  void launch(Received* received, RunEnd* end);
  [[noreturn]] void become_supervisor(Received* received, const UniqueFd& control,
                                      const TempDirectory& temp, size_t slot, RunEnd* end);
  void refuse(const UniqueFd& control, const Failure& failure);
  GuardedRun* free_run();
  GuardedRun* run_of(pid_t supervisor);
  void check_owners();
  void take_signals(bool forward);
  void reap();
  void close_run(GuardedRun* run);
  void note_parent(const UniqueFd& parent);
  void make_ready(int socket);
  bool has_ready();
  void give_up(ReadyDirectory* ready);
  void end_strays();
  void end_all();
  void spare_inherited();
  GuardedRun* runs() { return reinterpret_cast<GuardedRun*>(storage_); }

  bool confined_only_;
  uint64_t groups_ = 0;
  UniqueFd life_read_;
  UniqueFd life_write_;
  UniqueFd journal_directory_;
  UniqueFd journal_;
  UniqueFd signals_;
  size_t runs_used_ = 0;
  size_t live_ = 0;
  int64_t owners_checked_ms_ = 0;
  size_t inherited_count_ = 0;
  size_t waiting_ = 0;
  int broken_ = 0;
  bool foreign_ = false;
  bool replenish_ = true;
  UniqueFd reports_read_;
  UniqueFd reports_write_;
  // Where the last runs had their temp directories, how many in turn, and what waits for the next.
  UniqueFd parent_;
  dev_t parent_device_ = 0;
  ino_t parent_inode_ = 0;
  uint32_t runs_in_parent_ = 0;
  ReadyDirectory ready_[kMostReady];
  Reserve<kReportDescriptors> for_report_[kWaiting];
  Reserve<kRefusalDescriptors> for_refusal_;
  bool out_of_descriptors_ = false;
  // Constructed one by one as they are first needed: untouched pages cost neither memory nor time
  // at fork. Last, so that what is always needed lies together.
  alignas(GuardedRun) unsigned char storage_[kMostRuns * sizeof(GuardedRun)];
  pid_t inherited_[kMostInherited];
};

bool Guard::start(Failure* failure) {
  reset_dispositions();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  spare_inherited();
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return failure->at(Stage::kSubreaper, errno);
  int life[2];
  if (pipe2(life, O_CLOEXEC) != 0) return failure->at(Stage::kDescriptors, errno);
  life_read_.reset(life[0]);
  life_write_.reset(life[1]);
  signals_.reset(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.valid()) return failure->at(Stage::kSignals, errno);
  return true;
}

// What only a guard of many runs needs.
bool Guard::start_serving(const char* journal_directory, Failure* failure) {
  if (!open_child_list()) return failure->at(Stage::kSubreaper, errno, "/proc");
  int reports[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, reports) != 0) {
    return failure->at(Stage::kDescriptors, errno);
  }
  reports_read_.reset(reports[0]);
  reports_write_.reset(reports[1]);
  groups_ = group_hash();
  // Once for all runs: 80 calls that no run need make. Unconfined runs keep what the user has.
  if (confined_only_ && !narrow_bounding_set(failure)) return false;
  if (journal_directory != nullptr) {
    journal_directory_ = open_journal_directory(journal_directory);
    if (journal_directory_.valid()) {
      recover_journals(journal_directory_.get());
      journal_ = open_journal(journal_directory_.get());
    }
  }
  return true;
}

// A one-shot may have been executed by a shell that had started other things: they are not its to
// end.
void Guard::spare_inherited() {
  if (!has_children()) return;
  Descendants own;
  own.read(getpid(), nullptr, 0);
  for (size_t i = 0; i < own.size() && inherited_count_ < kMostInherited; ++i) {
    if (own.at(i).parent == getpid()) inherited_[inherited_count_++] = own.at(i).pid;
  }
}

// Whoever wakes a guard is busy with a run's start or end, and a batch process waits for a
// processor instead of taking that one's: 30 µs of a start. Runs are as they would have been.
bool g_is_batch = false;

void set_batch(bool batch) {
  sched_param none{};
  // What was started as anything else stays that.
  if (batch ? syscall(SYS_sched_getscheduler, 0L) != SCHED_OTHER : !g_is_batch) return;
  long policy = batch ? SCHED_BATCH : SCHED_OTHER;
  if (syscall(SYS_sched_setscheduler, 0L, policy, &none) == 0) g_is_batch = batch;
}

int Guard::serve(int socket) {
  int on = 1;
  if (setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) return kExitRefused;
  set_batch(true);
  while (!foreign_ && broken_ < kMostBroken) {
    // Requests are for those who wait; the guard reads one only to refuse it when nobody can.
    // Successors are forked when a run has ended or nothing happens: at a run's start they would
    // compete with it for the processor.
    if (replenish_) make_ready(socket);
    bool served = waiting_ > 0 && !replenish_ ? true : keep_waiting(socket);
    replenish_ = false;
    pollfd ready[] = {{socket, static_cast<short>(served ? 0 : POLLIN), 0},
                      {signals_.get(), POLLIN, 0},
                      {reports_read_.get(), POLLIN, 0}};
    int patience = live_ > 0 ? kOwnerCheckMs : -1;
    int events = poll(ready, 3, waiting_ < kWaiting ? kReplenishMs : patience);
    if (events < 0 && errno != EINTR) break;
    if (events == 0) replenish_ = true;
    if (live_ > 0) check_owners();
    if (ready[2].revents != 0) take_reports();
    if (ready[1].revents != 0) take_signals(false);
    if ((ready[0].revents & POLLHUP) != 0) break;
    if ((ready[0].revents & POLLIN) != 0 && !refuse_request(socket)) break;
  }
  end_all();
  return 0;
}

bool Guard::fill_reserves() {
  out_of_descriptors_ = !for_refusal_.fill() || !for_report_[waiting_].fill();
  return !out_of_descriptors_;
}

// Forks until enough wait. False when nobody does.
bool Guard::keep_waiting(int socket) {
  while (waiting_ < kWaiting && fill_reserves()) {
    GuardedRun* run = free_run();
    if (run == nullptr) break;
    pid_t guard = getpid();
    pid_t pid = fork();
    if (pid == 0) await_request(socket, guard, static_cast<size_t>(run - runs()));
    if (pid < 0) break;
    run->supervisor = pid;
    run->waits = true;
    run->deaf_checks = 0;
    ++waiting_;
  }
  return waiting_ > 0;
}

// A supervisor before its run: everything that needs no request is done, and then it waits for one.
void Guard::await_request(int socket, pid_t guard, size_t slot) {
  // While it waits it has no life of its own; with a run it must outlive the guard for as long as
  // it takes to end it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != guard) _exit(kExitRefused);
  set_batch(false);
  const Move moves[] = {{life_read_.get(), kFdLife},
                        {journal_.get(), kFdJournal},
                        {socket, kFdServer},
                        {reports_write_.get(), kFdReports}};
  if (!move_all(moves, sizeof moves / sizeof *moves)) _exit(kExitRefused);
  if (!close_from(kFdFirstFree)) _exit(kExitRefused);
  prepare_to_supervise();
  expect_request();
  Received received;
  Receipt receipt = receive_request(kFdServer, groups_, 0, &received);
  Failure failure;
  if (receipt == Receipt::kForeign) _exit(kExitForeign);
  if (receipt == Receipt::kNoRoom) {
    failure.at(Stage::kDescriptors, EMFILE);
    refuse(received.control, failure);
    _exit(kExitNotStarted);
  }
  if (receipt != Receipt::kWhole) _exit(0);
  prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
  TempDirectory temp;
  make_requested_temp(&received, &temp, &failure);
  // What the guard does not know of it cannot clean up after: then it does not begin.
  if (!report_taken(received.control, temp)) failure.at(Stage::kDescriptors, errno);
  if (failure.set) {
    refuse(received.control, failure);
    remove_temp(&temp);
    _exit(kExitNotStarted);
  }
  become_supervisor(&received, received.control, temp, slot, nullptr);
}

bool Guard::report_taken(const UniqueFd& control, const TempDirectory& temp) {
  TakenReport report{getpid(), {}};
  memcpy(report.temp_name, temp.name, sizeof report.temp_name);
  int descriptors[] = {control.get(), temp.parent.get(), temp.directory.get()};
  size_t count = temp.made() ? 3 : 1;
  return send_with_descriptors(kFdReports, &report, sizeof report, descriptors, count,
                               MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof report);
}

void Guard::take_reports() {
  while (reports_read_.valid()) {
    char first;
    if (recv(reports_read_.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) <= 0) return;
    // Whoever reports is one of those that wait.
    if (waiting_ > 0) for_report_[waiting_ - 1].release();
    TakenReport report{};
    int descriptors[kReportDescriptors] = {-1, -1, -1};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof descriptors)];
    iovec part{&report, sizeof report};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    if (recvmsg(reports_read_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) !=
        static_cast<ssize_t>(sizeof report))
      return;
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    if (rights != nullptr) {
      // There is room for more than a report has.
      size_t brought = rights->cmsg_len - CMSG_LEN(0);
      memcpy(descriptors, CMSG_DATA(rights),
             brought < sizeof descriptors ? brought : sizeof descriptors);
    }
    UniqueFd control(descriptors[0]);
    UniqueFd parent(descriptors[1]);
    UniqueFd directory(descriptors[2]);
    GuardedRun* run = run_of(report.supervisor);
    if (run == nullptr || !run->waits) continue;
    run->waits = false;
    --waiting_;
    ++live_;
    broken_ = 0;
    run->control = static_cast<UniqueFd&&>(control);
    run->temp.parent = static_cast<UniqueFd&&>(parent);
    run->temp.directory = static_cast<UniqueFd&&>(directory);
    memcpy(run->temp.name, report.temp_name, sizeof report.temp_name);
    for (ReadyDirectory& ready : ready_) {
      if (ready.temp.made() && strcmp(ready.temp.name, report.temp_name) == 0)
        ready = ReadyDirectory();
    }
    note_parent(run->temp.parent);
  }
}

// Nobody waits, because nobody could be forked or too many run. False when the owner is gone or no
// longer who it was.
bool Guard::refuse_request(int socket) {
  for_refusal_.release();
  Received received;
  Receipt receipt = receive_request(socket, groups_, MSG_DONTWAIT, &received);
  if (receipt == Receipt::kNothing) return true;
  if (receipt != Receipt::kWhole && receipt != Receipt::kNoRoom) return false;
  Failure failure;
  if (out_of_descriptors_) failure.at(Stage::kDescriptors, EMFILE);
  failure.at(Stage::kProcess, EAGAIN, "supervisor");
  refuse(received.control, failure);
  return true;
}

// The one run of a one-shot.
void Guard::launch(Received* received, RunEnd* end) {
  GuardedRun* run = free_run();
  run->control = static_cast<UniqueFd&&>(received->control);
  Failure failure;
  if (!make_requested_temp(received, &run->temp, &failure)) {
    end->failure = failure;
    refuse(run->control, failure);
    return close_run(run);
  }
  size_t slot = static_cast<size_t>(run - runs());
  pid_t pid = injected(Stage::kProcess) ? -1 : fork();
  if (pid == 0) become_supervisor(received, run->control, run->temp, slot, end);
  if (pid < 0) {
    failure.at(Stage::kProcess, errno, "supervisor");
    end->failure = failure;
    refuse(run->control, failure);
    return close_run(run);
  }
  run->supervisor = pid;
  ++live_;
}

// After a launch, so that no run waits for it. A parent that was not the last one's is swept.
void Guard::note_parent(const UniqueFd& parent) {
  struct stat found;
  if (!parent.valid() || fstat(parent.get(), &found) != 0) return;
  ++runs_in_parent_;
  if (found.st_dev == parent_device_ && found.st_ino == parent_inode_) return;
  parent_device_ = found.st_dev;
  parent_inode_ = found.st_ino;
  runs_in_parent_ = 1;
  parent_.reset(fcntl(parent.get(), F_DUPFD_CLOEXEC, kFdFirstFree));
  sweep_temp(parent.get());
}

bool Guard::has_ready() {
  for (const ReadyDirectory& ready : ready_) {
    bool here = ready.temp.made() && ready.told.parent_device == parent_device_ &&
                ready.told.parent_inode == parent_inode_;
    struct stat found;
    if (here && fstat(ready.temp.directory.get(), &found) == 0 && untouched(ready.told, found))
      return true;
  }
  return false;
}

// Removed unless somebody else holds it: the owner may have taken it for a run that another guard
// serves. An owner that has just ended lets go of it in the same moment.
void Guard::give_up(ReadyDirectory* ready) {
  if (!ready->temp.made()) return;
  ready->temp.directory.reset();
  for (int attempt = 0; attempt < kGiveUpAttempts; ++attempt) {
    if (attempt > 0) poll(nullptr, 0, 1);
    if (remove_stale_temp(ready->temp.parent.get(), ready->temp.name)) return;
  }
}

void Guard::make_ready(int socket) {
  if (runs_in_parent_ < kRunsBeforeReady || !parent_.valid() || has_ready()) return;
  for (ReadyDirectory& ready : ready_) {
    if (ready.temp.made()) continue;
    Failure failure;
    struct stat found;
    ready.temp.parent.reset(fcntl(parent_.get(), F_DUPFD_CLOEXEC, kFdFirstFree));
    // Where none can be made, the run that needs one is refused in its own words.
    if (!new_temp_name(&ready.temp.name) || !make_temp(&ready.temp, &failure)) break;
    ready.told = {parent_device_, parent_inode_, 0, 0, {}};
    memcpy(ready.told.name, ready.temp.name, sizeof ready.told.name);
    int directory = ready.temp.directory.get();
    bool told = fstat(directory, &found) == 0;
    ready.told.changed_s = found.st_ctim.tv_sec;
    ready.told.changed_ns = found.st_ctim.tv_nsec;
    told = told && send_with_descriptors(socket, &ready.told, sizeof ready.told, &directory, 1,
                                         MSG_NOSIGNAL | MSG_DONTWAIT) ==
                       static_cast<ssize_t>(sizeof ready.told);
    if (!told) remove_temp(&ready.temp);
    return;
  }
}

void Guard::become_supervisor(Received* received, const UniqueFd& control,
                              const TempDirectory& temp, size_t slot, RunEnd* end) {
  const Move moves[] = {
      {received->stdio[0].get(), 0},       {received->stdio[1].get(), 1},
      {received->stdio[2].get(), 2},       {control.get(), kFdControl},
      {received->plan.get(), kFdPlan},     {temp.directory.get(), kFdTemp},
      {received->daemon.get(), kFdDaemon},
  };
  // Of one that waited these are in place already.
  const Move lasting[] = {{life_read_.get(), kFdLife}, {journal_.get(), kFdJournal}};
  SupervisorSetup setup{slot,
                        control.valid(),
                        temp.made(),
                        journal_.valid(),
                        received->daemon.valid(),
                        confined_only_,
                        !confined_only_,
                        end != nullptr,
                        end,
                        received->inline_plan,
                        received->inline_size};
  Failure failure;
  if (injected(Stage::kDescriptors) || !move_all(moves, sizeof moves / sizeof *moves) ||
      (end != nullptr && !move_all(lasting, sizeof lasting / sizeof *lasting))) {
    failure.at(Stage::kDescriptors, errno);
    refuse(control, failure);
  } else if (!close_from(kFdFirstClosed)) {
    failure.at(Stage::kDescriptors, errno);
    send_failed(kFdControl, failure);
  }
  if (!failure.set) supervise(setup);
  if (end != nullptr) end->failure = failure;
  _exit(kExitNotStarted);
}

void Guard::refuse(const UniqueFd& control, const Failure& failure) {
  if (control.valid()) send_failed(control.get(), failure);
}

GuardedRun* Guard::free_run() {
  for (size_t i = 0; i < runs_used_; ++i) {
    if (runs()[i].supervisor == 0) return &runs()[i];
  }
  if (runs_used_ == kMostRuns) return nullptr;
  return new (&runs()[runs_used_++]) GuardedRun();
}

GuardedRun* Guard::run_of(pid_t supervisor) {
  for (size_t i = 0; i < runs_used_; ++i) {
    if (runs()[i].supervisor == supervisor) return &runs()[i];
  }
  return nullptr;
}

// A supervisor hears its owner but for one moment: while its command executes a program, on a mount
// that does not answer perhaps. Also when somebody stopped it.
bool is_deaf(pid_t supervisor) {
  Process found;
  if (!read_process(supervisor, &found) || (found.state != 'D' && found.state != 'T')) return false;
  auto pid = static_cast<uint64_t>(supervisor);
  auto path = Text<64>().add("/proc/").add(pid).add("/task/").add(pid).add("/children");
  char children[16];
  // One without a child is only at work on files.
  return read_small(path.get(), children, sizeof children) > 0;
}

// Ends supervisors whose owner has left and that do not hear it; their trees end with them.
void Guard::check_owners() {
  int64_t now = monotonic_ms();
  if (now - owners_checked_ms_ < kOwnerCheckMs) return;
  owners_checked_ms_ = now;
  for (size_t i = 0; i < runs_used_; ++i) {
    GuardedRun& run = runs()[i];
    if (run.supervisor == 0 || run.waits || !run.control.valid()) continue;
    pollfd owner{run.control.get(), 0, 0};
    bool gone = poll(&owner, 1, 0) == 1 && (owner.revents & POLLHUP) != 0;
    run.deaf_checks = gone && is_deaf(run.supervisor) ? run.deaf_checks + 1 : 0;
    if (run.deaf_checks == kDeafChecks) kill(run.supervisor, SIGKILL);
  }
}

void Guard::take_signals(bool forward) {
  signalfd_siginfo received;
  bool child_changed = false;
  while (read(signals_.get(), &received, sizeof received) ==
         static_cast<ssize_t>(sizeof received)) {
    if (received.ssi_signo == SIGCHLD) {
      child_changed = true;
    } else if (forward && runs_used_ > 0 && runs()[0].supervisor > 0) {
      // The terminal tells the whole group itself; only what was sent to this process alone needs
      // passing on.
      bool from_terminal = received.ssi_code == SI_KERNEL;
      if (!from_terminal) kill(runs()[0].supervisor, static_cast<int>(received.ssi_signo));
    }
  }
  if (child_changed) reap();
}

void Guard::reap() {
  for (;;) {
    int status = 0;
    pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
    if (pid <= 0) return;
    // It may have taken a request and ended since the last look: its report came before its end.
    take_reports();
    GuardedRun* run = run_of(pid);
    if (run == nullptr) continue;
    run->supervisor = 0;
    if (run->waits) {
      run->waits = false;
      --waiting_;
      if (WIFEXITED(status) && WEXITSTATUS(status) == kExitForeign) foreign_ = true;
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ++broken_;
      continue;
    }
    --live_;
    replenish_ = true;
    bool ended = WIFEXITED(status) &&
                 (WEXITSTATUS(status) == kExitTreeEnded || WEXITSTATUS(status) == kExitNotStarted);
    if (!ended) end_strays();
    close_run(run);
  }
}

void Guard::close_run(GuardedRun* run) {
  remove_temp(&run->temp);
  run->temp = TempDirectory();
  if (journal_.valid())
    write_slot(journal_.get(), static_cast<size_t>(run - runs()), JournalSlot{});
  // Last: the end of file on this socket tells the owner that everything is over and clean.
  run->control.reset();
}

// Whatever is no supervisor's and was not here before.
void Guard::end_strays() {
  static pid_t spared[kMostRuns + kMostInherited];
  size_t count = 0;
  for (size_t i = 0; i < runs_used_; ++i) {
    if (runs()[i].supervisor > 0) spared[count++] = runs()[i].supervisor;
  }
  memcpy(spared + count, inherited_, inherited_count_ * sizeof *inherited_);
  end_descendants(spared, count + inherited_count_, kPatienceMs, nullptr, nullptr);
}

void Guard::end_all() {
  take_reports();
  life_write_.reset();
  int64_t until = monotonic_ms() + kOwnerGoneMs;
  while (live_ > 0) {
    int64_t left = until - monotonic_ms();
    if (left <= 0) break;
    pollfd ready{signals_.get(), POLLIN, 0};
    poll(&ready, 1, static_cast<int>(left));
    take_signals(false);
  }
  // Where nothing was here before, everything that is left is a run's.
  if (live_ > 0 || inherited_count_ == 0) {
    end_descendants(inherited_, inherited_count_, kPatienceMs, nullptr, nullptr);
  }
  take_reports();
  for (size_t i = 0; i < runs_used_; ++i) {
    if (runs()[i].control.valid() || runs()[i].temp.made()) close_run(&runs()[i]);
  }
  for_refusal_.release();
  for (auto& each : for_report_) each.release();
  for (ReadyDirectory& ready : ready_) give_up(&ready);
  if (journal_directory_.valid()) close_journal(journal_directory_.get(), &journal_);
}

// The end of a one-shot, as a shell would see the command's own.
int mirror(const RunEnd& end) {
  if (!end.ended && !end.failure.set) {
    complain("the supervisor was lost; what it watched was ended");
    return kExitRefused;
  }
  if (!end.ended) {
    complain(end.failure);
    if (end.failure.stage != Stage::kExec) return kExitRefused;
    return end.failure.error == ENOENT ? kExitNotFound : kExitNotExecutable;
  }
  if (WIFEXITED(end.wait_status)) return WEXITSTATUS(end.wait_status);
  int signal = WTERMSIG(end.wait_status);
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::signal(signal, SIG_DFL);
  raise(signal);
  return 128 + signal;
}

int Guard::run_once(const OneShotOptions& options) {
  auto* end = static_cast<RunEnd*>(
      mmap(nullptr, sizeof(RunEnd), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (end == MAP_FAILED) return kExitRefused;
  Received received;
  received.plan.reset(options.plan);
  received.control.reset(options.control);
  for (int fd = 0; fd <= 2; ++fd)
    received.stdio[fd].reset(fcntl(fd, F_DUPFD_CLOEXEC, kFdFirstFree));
  if (options.temp_parent != nullptr) {
    received.temp_parent.reset(open(options.temp_parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (received.temp_parent.valid()) sweep_temp(received.temp_parent.get());
    size_t length = strnlen(options.temp_name, kTempNameBytes - 1);
    memcpy(received.header.temp_name, options.temp_name, length);
  }
  launch(&received, end);
  // While the supervisor prepares; where this fails its own attempt does too, and says so.
  open_child_list();
  received = Received();
  while (live_ > 0) {
    pollfd ready{signals_.get(), POLLIN, 0};
    if (poll(&ready, 1, options.control < 0 ? -1 : kOwnerCheckMs) < 0 && errno != EINTR) break;
    take_signals(true);
    if (options.control >= 0) check_owners();
  }
  end_all();
  return mirror(*end);
}

// Static: its table of runs is large and mostly untouched.
Guard* make_guard(bool confined_only) {
  alignas(Guard) static unsigned char memory[sizeof(Guard)];
  return new (memory) Guard(confined_only);
}

}  // namespace

int serve(const ServeOptions& options) {
  // The owner's pipes must not stay open for as long as this process lives.
  UniqueFd null(open_null());
  UniqueFd socket(fcntl(options.socket, F_DUPFD_CLOEXEC, kFdFirstFree));
  if (!null.valid() || !socket.valid()) return kExitRefused;
  for (int fd = 0; fd <= 2; ++fd) dup2(null.get(), fd);
  dup3(socket.get(), kFdControl, O_CLOEXEC);
  if (!close_from(kFdControl + 1)) return kExitRefused;
  socket.release();
  null.release();
  socket.reset(fcntl(kFdControl, F_DUPFD_CLOEXEC, kFdFirstFree));
  close(kFdControl);
  Guard* guard = make_guard(options.confined_only);
  Failure failure;
  if (!socket.valid() || !occupy_low_descriptors() || !guard->start(&failure) ||
      !guard->start_serving(options.journal_directory, &failure)) {
    return kExitRefused;
  }
  return guard->serve(socket.get());
}

int run_once(const OneShotOptions& options) {
  OneShotOptions moved = options;
  moved.plan = fcntl(options.plan, F_DUPFD_CLOEXEC, kFdFirstFree);
  moved.control = options.control < 0 ? -1 : fcntl(options.control, F_DUPFD_CLOEXEC, kFdFirstFree);
  Failure failure;
  if (moved.plan < 0 || (options.control >= 0 && moved.control < 0)) {
    failure.at(Stage::kDescriptors, errno);
    complain(failure);
    return kExitRefused;
  }
  for (int fd = kFdControl; fd < kFdFirstFree; ++fd) close(fd);
  Guard* guard = make_guard(false);
  if (!occupy_low_descriptors()) failure.at(Stage::kDescriptors, errno, "/dev/null");
  if (failure.set || !guard->start(&failure)) {
    complain(failure);
    return kExitRefused;
  }
  return guard->run_once(moved);
}

}  // namespace cordon
