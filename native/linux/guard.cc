#include "linux/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "core/errno_name.h"
#include "core/text.h"
#include "core/unique_fd.h"
#include "linux/control.h"
#include "linux/group_hash.h"
#include "linux/journal.h"
#include "linux/privilege.h"
#include "linux/processes.h"
#include "linux/supervisor.h"
#include "linux/temp.h"

namespace cordon {
namespace {

constexpr size_t kMostRuns = 4096;
constexpr int kHighestSignal = 64;
// How long supervisors may take to end their trees once the owner is gone.
constexpr int kOwnerGoneMs = 1000;
constexpr int kExitRefused = 125;
constexpr int kExitNotExecutable = 126;
constexpr int kExitNotFound = 127;

struct GuardedRun {
  pid_t supervisor = 0;
  UniqueFd control;
  TempDirectory temp;
};

// What a request brought; closed again unless a run takes it over.
struct Received {
  RunRequest header{};
  UniqueFd plan;
  UniqueFd control;
  UniqueFd stdio[3];
  UniqueFd temp_parent;
};

void reset_dispositions() {
  for (int signal = 1; signal <= kHighestSignal; ++signal) ::signal(signal, SIG_DFL);
}

int open_null() { return open("/dev/null", O_RDWR | O_CLOEXEC); }

// The low numbers are a supervisor's places: occupied here, so that nothing the guard opens can be
// in the way when its child moves descriptors there.
bool occupy_low_descriptors() {
  for (;;) {
    int fd = open_null();
    if (fd < 0) return false;
    if (fd >= kFdFirstClosed) {
      close(fd);
      return true;
    }
  }
}

void close_from(unsigned first) {
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
  // Before Linux 5.9, where nothing can be confined either.
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  for (rlim_t fd = first; fd < limit.rlim_cur; ++fd) close(static_cast<int>(fd));
}

// The one-shot's word to people; programs read the control socket.
void complain(const char* step, int error, const char* object) {
  Text<1024> line;
  line.add("cordon-exec: ").add(step).add(": ").add(errno_name(error));
  if (object[0] != '\0') line.add(": ").add(object);
  line.add("\n");
  static_cast<void>(write(STDERR_FILENO, line.get(), line.size()) != 0);
}

class Guard {
 public:
  explicit Guard(bool confined_only) : confined_only_(confined_only) {}

  bool start(const char* journal_directory);
  int serve(int socket);
  int run_once(const OneShotOptions& options);

 private:
  bool take_request(int socket);
  bool accept(const Received& received, const ucred& sender) const;
  void launch(Received* received, RunEnd* end);
  [[noreturn]] void become_supervisor(const GuardedRun& run, const Received& received, size_t slot,
                                      RunEnd* end);
  void refuse(const UniqueFd& control, const Failure& failure);
  GuardedRun* free_run();
  GuardedRun* run_of(pid_t supervisor);
  void take_signals(bool forward);
  void reap();
  void close_run(GuardedRun* run);
  void sweep_once(const UniqueFd& parent);
  void end_strays();
  void end_all();
  size_t supervisors(pid_t* out);
  GuardedRun* runs() { return reinterpret_cast<GuardedRun*>(storage_); }

  bool confined_only_;
  uint64_t groups_ = 0;
  UniqueFd life_read_;
  UniqueFd life_write_;
  UniqueFd journal_directory_;
  UniqueFd journal_;
  UniqueFd signals_;
  // Constructed one by one as they are first needed: untouched pages cost neither memory nor time
  // at fork.
  alignas(GuardedRun) unsigned char storage_[kMostRuns * sizeof(GuardedRun)];
  size_t runs_used_ = 0;
  size_t live_ = 0;
  dev_t swept_device_ = 0;
  ino_t swept_inode_ = 0;
};

bool Guard::start(const char* journal_directory) {
  reset_dispositions();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  int life[2];
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 || pipe2(life, O_CLOEXEC) != 0) return false;
  life_read_.reset(life[0]);
  life_write_.reset(life[1]);
  signals_.reset(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  groups_ = group_hash();
  // Once for all runs: 40 calls that no run need make. Unconfined runs keep what the user has.
  if (confined_only_) narrow_bounding_set();
  if (journal_directory != nullptr) {
    journal_directory_.reset(
        open(journal_directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (journal_directory_.valid()) {
      recover_journals(journal_directory_.get());
      journal_ = open_journal(journal_directory_.get());
    }
  }
  return signals_.valid();
}

int Guard::serve(int socket) {
  int on = 1;
  if (setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) return kExitRefused;
  for (;;) {
    pollfd ready[] = {{socket, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR) break;
    if (ready[1].revents != 0) take_signals(false);
    if (ready[0].revents != 0 && !take_request(socket)) break;
  }
  end_all();
  return 0;
}

// False when the owner is gone or is not who it was.
bool Guard::take_request(int socket) {
  Received received;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(16 * sizeof(int))];
  iovec part{&received.header, sizeof received.header};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (length < 0) return errno == EAGAIN || errno == EINTR;
  if (length == 0) return false;

  ucred sender{0, static_cast<uid_t>(-1), static_cast<gid_t>(-1)};
  int descriptors[16];
  size_t count = 0;
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); item != nullptr;
       item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET) continue;
    if (item->cmsg_type == SCM_CREDENTIALS) memcpy(&sender, CMSG_DATA(item), sizeof sender);
    if (item->cmsg_type != SCM_RIGHTS) continue;
    count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(descriptors, CMSG_DATA(item), count * sizeof(int));
  }
  UniqueFd* places[] = {&received.plan,     &received.control,  &received.stdio[0],
                        &received.stdio[1], &received.stdio[2], &received.temp_parent};
  for (size_t i = 0; i < count; ++i) {
    if (i < sizeof places / sizeof *places) {
      places[i]->reset(descriptors[i]);
    } else {
      close(descriptors[i]);
    }
  }
  bool whole =
      length == sizeof received.header && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  if (!whole || count < kRequestDescriptors || !accept(received, sender)) return false;
  launch(&received, nullptr);
  return true;
}

bool Guard::accept(const Received& received, const ucred& sender) const {
  return received.header.magic == kRequestMagic && received.header.version == kRequestVersion &&
         received.header.groups == groups_ && sender.uid == getuid() && sender.gid == getgid();
}

void Guard::launch(Received* received, RunEnd* end) {
  Failure failure;
  GuardedRun* run = free_run();
  if (run == nullptr) {
    failure.at(Stage::kProcess, EAGAIN, "runs at once");
    return refuse(received->control, failure);
  }
  run->control = static_cast<UniqueFd&&>(received->control);
  received->header.temp_name[kTempNameBytes - 1] = '\0';
  if (received->header.temp_name[0] != '\0') {
    run->temp.parent = static_cast<UniqueFd&&>(received->temp_parent);
    memcpy(run->temp.name, received->header.temp_name, kTempNameBytes);
    if (!make_temp(&run->temp, &failure)) {
      if (end != nullptr) end->failure = failure;
      refuse(run->control, failure);
      run->temp = TempDirectory();
      run->control.reset();
      return;
    }
  }
  size_t slot = static_cast<size_t>(run - runs());
  pid_t pid = injected(Stage::kProcess) ? -1 : fork();
  if (pid == 0) become_supervisor(*run, *received, slot, end);
  if (pid < 0) {
    failure.at(Stage::kProcess, errno, "supervisor");
    if (end != nullptr) end->failure = failure;
    refuse(run->control, failure);
    return close_run(run);
  }
  run->supervisor = pid;
  ++live_;
  sweep_once(run->temp.parent);
}

// After a launch, so that no run waits for it; the parent is nearly always the same one.
void Guard::sweep_once(const UniqueFd& parent) {
  struct stat found;
  if (!parent.valid() || fstat(parent.get(), &found) != 0) return;
  if (found.st_dev == swept_device_ && found.st_ino == swept_inode_) return;
  swept_device_ = found.st_dev;
  swept_inode_ = found.st_ino;
  sweep_temp(parent.get());
}

// Every source is above the places it moves to (occupy_low_descriptors), so the order of moves does
// not matter.
void Guard::become_supervisor(const GuardedRun& run, const Received& received, size_t slot,
                              RunEnd* end) {
  const struct {
    int from;
    int to;
  } moves[] = {
      {received.stdio[0].get(), 0},        {received.stdio[1].get(), 1},
      {received.stdio[2].get(), 2},        {run.control.get(), kFdControl},
      {received.plan.get(), kFdPlan},      {life_read_.get(), kFdLife},
      {run.temp.directory.get(), kFdTemp}, {journal_.get(), kFdJournal},
  };
  Failure failure;
  for (const auto& move : moves) {
    // Absent ones keep the /dev/null that holds their place.
    if (move.from < 0) continue;
    int flags = move.to <= 2 ? 0 : O_CLOEXEC;
    if (injected(Stage::kDescriptors) || dup3(move.from, move.to, flags) < 0) {
      failure.at(Stage::kDescriptors, errno);
      refuse(run.control, failure);
      if (end != nullptr) end->failure = failure;
      _exit(1);
    }
  }
  close_from(kFdFirstClosed);
  supervise({slot, run.control.valid(), run.temp.made(), journal_.valid(), confined_only_,
             !confined_only_, end != nullptr, end});
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
    GuardedRun* run = run_of(pid);
    if (run == nullptr) continue;
    run->supervisor = 0;
    --live_;
    // Exit codes 0 and 1 are a supervisor's own word that its tree has ended.
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) end_strays();
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

size_t Guard::supervisors(pid_t* out) {
  size_t count = 0;
  for (size_t i = 0; i < runs_used_; ++i) {
    if (runs()[i].supervisor > 0) out[count++] = runs()[i].supervisor;
  }
  return count;
}

void Guard::end_strays() {
  static pid_t spared[kMostRuns];
  end_descendants(spared, supervisors(spared), nullptr, nullptr);
}

void Guard::end_all() {
  life_write_.reset();
  timespec began;
  clock_gettime(CLOCK_MONOTONIC, &began);
  while (live_ > 0) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t passed = (now.tv_sec - began.tv_sec) * 1000 + (now.tv_nsec - began.tv_nsec) / 1000000;
    if (passed >= kOwnerGoneMs) break;
    pollfd ready{signals_.get(), POLLIN, 0};
    poll(&ready, 1, static_cast<int>(kOwnerGoneMs - passed));
    take_signals(false);
  }
  end_descendants(nullptr, 0, nullptr, nullptr);
  for (size_t i = 0; i < runs_used_; ++i) {
    if (runs()[i].control.valid() || runs()[i].temp.made()) close_run(&runs()[i]);
  }
  if (journal_directory_.valid()) close_journal(journal_directory_.get(), &journal_);
}

// The end of a one-shot, as a shell would see the command's own.
int mirror(const RunEnd& end) {
  if (!end.ended && !end.failure.set) {
    complain("supervisor", ESRCH, "it ended before the run did; the run was killed");
    return kExitRefused;
  }
  if (!end.started) {
    const Failure& failure = end.failure;
    complain(stage_name(failure.stage), failure.error, failure.object);
    if (failure.stage != Stage::kExec) return kExitRefused;
    return failure.error == ENOENT ? kExitNotFound : kExitNotExecutable;
  }
  if (WIFEXITED(end.wait_status)) return WEXITSTATUS(end.wait_status);
  int signal = WTERMSIG(end.wait_status);
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
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
    received.stdio[fd].reset(fcntl(fd, F_DUPFD_CLOEXEC, kFdFirstClosed));
  if (options.temp_parent != nullptr) {
    received.temp_parent.reset(open(options.temp_parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (received.temp_parent.valid()) sweep_temp(received.temp_parent.get());
    size_t length = strnlen(options.temp_name, kTempNameBytes - 1);
    memcpy(received.header.temp_name, options.temp_name, length);
  }
  launch(&received, end);
  received = Received();
  while (live_ > 0) {
    pollfd ready{signals_.get(), POLLIN, 0};
    if (poll(&ready, 1, -1) < 0 && errno != EINTR) break;
    take_signals(true);
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
  UniqueFd socket(fcntl(options.socket, F_DUPFD_CLOEXEC, kFdFirstClosed));
  if (!null.valid() || !socket.valid()) return kExitRefused;
  for (int fd = 0; fd <= 2; ++fd) dup2(null.get(), fd);
  dup3(socket.get(), kFdControl, O_CLOEXEC);
  close_from(kFdControl + 1);
  socket.release();
  null.release();
  socket.reset(fcntl(kFdControl, F_DUPFD_CLOEXEC, kFdFirstClosed));
  close(kFdControl);
  Guard* guard = make_guard(options.confined_only);
  if (!socket.valid() || !occupy_low_descriptors() || !guard->start(options.journal_directory)) {
    return kExitRefused;
  }
  return guard->serve(socket.get());
}

int run_once(const OneShotOptions& options) {
  OneShotOptions moved = options;
  moved.plan = fcntl(options.plan, F_DUPFD_CLOEXEC, kFdFirstClosed);
  moved.control =
      options.control < 0 ? -1 : fcntl(options.control, F_DUPFD_CLOEXEC, kFdFirstClosed);
  if (moved.plan < 0 || (options.control >= 0 && moved.control < 0)) {
    complain("descriptors", errno, "");
    return kExitRefused;
  }
  for (int fd = kFdControl; fd < kFdFirstClosed; ++fd) close(fd);
  Guard* guard = make_guard(false);
  if (!occupy_low_descriptors() || !guard->start(options.journal_directory)) {
    complain("descriptors", errno, "");
    return kExitRefused;
  }
  return guard->run_once(moved);
}

}  // namespace cordon
