#include "linux/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "core/plan_codec.h"
#include "linux/broker.h"
#include "linux/child.h"
#include "linux/clock.h"
#include "linux/control.h"
#include "linux/journal.h"
#include "linux/landlock.h"
#include "linux/landlock_abi.h"
#include "linux/namespaces.h"
#include "linux/own_calls.h"
#include "linux/privilege.h"
#include "linux/processes.h"
#include "linux/seccomp_filter.h"
#include "linux/seccomp_table.h"
#include "linux/temp.h"
#include "linux/view.h"

namespace cordon {
namespace {

// More are counted and killed all the same; only their names are left out of the report, as are
// those for which the owner makes no room.
constexpr uint32_t kMostSurvivorsNamed = 256;
// How long their command lines may take, all together.
constexpr int kNamesMs = 1000;
constexpr int kHighestSignal = 64;
// A forwarded signal and the terminal's own copy of it arrive together; an older copy belongs to an
// earlier key press.
constexpr int64_t kTerminalCopyMs = 1000;
// How long what was killed may take to die before the owner is told all the same.
constexpr int kPatienceMs = 5000;

// Bytes of the plan. A sealed memfd cannot change under a mapping; anything else is read, so that
// it cannot either.
bool load_plan(const uint8_t** data, size_t* size, Failure* failure) {
  struct stat found;
  if (fstat(kFdPlan, &found) != 0) return failure->at(Stage::kPlan, errno);
  size_t length = static_cast<size_t>(found.st_size);
  int seals = fcntl(kFdPlan, F_GET_SEALS);
  bool sealed =
      seals >= 0 && (seals & (F_SEAL_WRITE | F_SEAL_SHRINK)) == (F_SEAL_WRITE | F_SEAL_SHRINK);
  if (length == 0) return failure->at(Stage::kPlan, EINVAL, "empty plan");
  void* memory =
      sealed ? mmap(nullptr, length, PROT_READ, MAP_PRIVATE | MAP_POPULATE, kFdPlan, 0)
             : mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return failure->at(Stage::kPlan, errno);
  if (!sealed && pread(kFdPlan, memory, length, 0) != static_cast<ssize_t>(length)) {
    return failure->at(Stage::kPlan, EIO, "short plan");
  }
  *data = static_cast<const uint8_t*>(memory);
  *size = length;
  return true;
}

// As much as a run's start uses of the stack.
constexpr size_t kStackAhead = 56 * 1024;
constexpr size_t kPageBytes = 4096;

// A page that is first touched in a start costs it 2 µs.
[[gnu::noinline]] void touch_stack() {
  volatile char ahead[kStackAhead];
  for (size_t i = 0; i < sizeof ahead; i += kPageBytes) ahead[i] = 0;
}

bool g_reaps = false;

// Finds and inherits whatever its descendants leave.
bool become_reaper(Failure* failure) {
  if (g_reaps) return true;
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    return failure->at(Stage::kSubreaper, errno);
  }
  if (!open_child_list() || !move_child_list(kFdChildren)) {
    return failure->at(Stage::kSubreaper, errno, "/proc");
  }
  g_reaps = true;
  return true;
}

class Supervisor {
 public:
  explicit Supervisor(const SupervisorSetup& setup) : setup_(setup) {}

  [[noreturn]] void run();

 private:
  bool prepare();
  bool assemble();
  bool read_plan();
  bool check_identity();
  bool enter_directory();
  bool set_umask();
  bool arrange_view();
  bool confine();
  bool gather_arguments();
  void report_start();
  [[noreturn]] void watch();
  void take_signals();
  void stop_group();
  void take_children();
  static bool let_go(pid_t pid, int signal);
  void take_requests();
  void obey(ControlType type, int signal, bool from_terminal);
  void deliver(int signal, bool from_terminal);
  [[noreturn]] void finish();
  [[noreturn]] void fail();
  static void tell_survivors(void* self, const Descendants& tree);

  SupervisorSetup setup_;
  Plan plan_{};
  Failure failure_;
  UniqueFd ruleset_;
  UniqueFd signals_;
  StartedFacts facts_{};
  const char** arguments_ = nullptr;
  const char** environment_ = nullptr;
  const char** shell_arguments_ = nullptr;
  pid_t child_ = -1;
  bool exited_ = false;
  bool ended_early_ = false;
  int wait_status_ = 0;
  rusage usage_{};
  uint32_t survivors_ = 0;
  int64_t terminal_copies_[kHighestSignal + 1] = {};
  unsigned char pending_[sizeof(ControlRequest)] = {};
  size_t pending_bytes_ = 0;
  // Last, because they are large and mostly untouched.
  FilterAssembler filter_;
  View view_;
  Broker broker_;
};

bool Supervisor::read_plan() {
  const uint8_t* data = setup_.plan;
  size_t size = setup_.plan_size;
  if (injected(Stage::kPlan)) return failure_.at(Stage::kPlan, errno);
  if (data == nullptr && !load_plan(&data, &size, &failure_)) return false;
  size_t fault = 0;
  if (!decode_plan(data, size, &plan_, &fault)) {
    return failure_.at(Stage::kPlan, EINVAL, "malformed plan", static_cast<uint32_t>(fault));
  }
  if (!plan_.confined() && !setup_.may_be_unconfined) {
    return failure_.at(Stage::kPlan, EPERM, "an unconfined plan");
  }
  if ((plan_.temp[0] != '\0') != setup_.has_temp) {
    return failure_.at(Stage::kPlan, EINVAL, "temp directory");
  }
  return true;
}

bool Supervisor::check_identity() {
  if (injected(Stage::kIdentity)) return failure_.at(Stage::kIdentity, errno);
  if (geteuid() != plan_.uid || getegid() != plan_.gid || getuid() != plan_.uid ||
      getgid() != plan_.gid) {
    return failure_.at(Stage::kIdentity, EPERM);
  }
  return true;
}

bool Supervisor::enter_directory() {
  if (injected(Stage::kWorkingDirectory) || chdir(plan_.cwd) != 0) {
    return failure_.at(Stage::kWorkingDirectory, errno, plan_.cwd);
  }
  struct stat found;
  if (stat(".", &found) != 0) return failure_.at(Stage::kWorkingDirectory, errno, plan_.cwd);
  if (found.st_dev != plan_.cwd_device || found.st_ino != plan_.cwd_inode) {
    return failure_.at(Stage::kRootChanged, ESTALE, plan_.cwd);
  }
  return true;
}

bool Supervisor::set_umask() {
  if (injected(Stage::kUmask)) return failure_.at(Stage::kUmask, errno);
  if (plan_.umask != kInheritUmask) umask(plan_.umask);
  return true;
}

// A directory that was entered before is one of the mounts outside, where everything can still be
// written: it is entered again.
bool Supervisor::arrange_view() {
  if (plan_.namespaces == 0) return true;
  return enter_namespaces(plan_.namespaces, &failure_) &&
         view_.arrange(plan_, setup_.has_temp ? kFdTemp : -1, &failure_) && enter_directory();
}

// The supervisor becomes the sandbox and the command inherits it: what works on the command's
// behalf can do no more than the command itself.
bool Supervisor::confine() {
  if (!plan_.confined()) return true;
  int abi = landlock_abi();
  if (abi < 0 || static_cast<uint32_t>(abi) < plan_.landlock_abi) {
    return failure_.at(Stage::kLandlockCreate, abi < 0 ? -abi : EOPNOTSUPP);
  }
  // A new user namespace gives whoever enters it everything there.
  bool anew = (plan_.namespaces & kNamespaceUser) != 0;
  if ((anew || !setup_.bounding_narrowed) && !narrow_bounding_set(&failure_)) return false;
  if (!drop_privileges(plan_.keep_capabilities, &facts_.capabilities, &failure_)) return false;
  if (!make_ruleset(plan_, setup_.has_temp ? kFdTemp : -1, view_.temporary(), &ruleset_, &failure_))
    return false;
  if (!restrict_self(ruleset_.get(), Stage::kLandlockRestrict, &failure_)) return false;
  facts_.abi = plan_.landlock_abi;
  facts_.layers = 2;
  facts_.handled_fs = handled_fs(plan_.landlock_abi, plan_.restricts_reading());
  facts_.scoped = scoped(plan_.landlock_abi);
  facts_.no_new_privs = true;
  return true;
}

bool Supervisor::gather_arguments() {
  size_t arguments = plan_.arguments.count;
  size_t environment = plan_.environment.count;
  // Each list ends in a null; the shell's has two more in front.
  size_t pointers = (arguments + 1) + (environment + 1) + (arguments + 3);
  void* memory = mmap(nullptr, pointers * sizeof(char*), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return failure_.at(Stage::kPlan, errno);
  arguments_ = static_cast<const char**>(memory);
  environment_ = arguments_ + arguments + 1;
  shell_arguments_ = environment_ + environment + 1;
  list_pointers(plan_.arguments, arguments_);
  list_pointers(plan_.environment, environment_);
  shell_arguments_[0] = "/bin/sh";
  shell_arguments_[1] = plan_.program;
  for (size_t i = 1; i < arguments; ++i) shell_arguments_[i + 1] = arguments_[i];
  return true;
}

bool Supervisor::prepare() {
  if (injected(Stage::kSubreaper)) return failure_.at(Stage::kSubreaper, errno);
  return become_reaper(&failure_) && read_plan() && check_identity() && enter_directory() &&
         arrange_view() && set_umask() && confine() && assemble() && gather_arguments();
}

bool Supervisor::assemble() {
  // A plan that asks for more than is known here would run with less than it says.
  if ((plan_.filter & ~kFilterFeatures) != 0) {
    return failure_.at(Stage::kPlan, EINVAL, "filter features", plan_.filter & ~kFilterFeatures);
  }
  if (plan_.filter == 0 || assemble_filter(plan_.filter, kThisArchitecture, &filter_)) return true;
  return failure_.at(Stage::kSeccomp, E2BIG);
}

void Supervisor::report_start() {
  facts_.pid = child_;
  facts_.supervisor = getpid();
  send_started(kFdControl, facts_);
}

void Supervisor::run() {
  sigset_t all;
  sigfillset(&all);
  signals_.reset(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.valid()) {
    failure_.at(Stage::kSignals, errno);
    fail();
  }
  if (!prepare()) fail();
  int listener = -1;
  bool asks = needs_listener(plan_.filter);
  broker_.begin();
  child_ = start_child({&plan_, getpid(), ruleset_.valid() ? ruleset_.get() : -1,
                        setup_.has_journal ? kFdJournal : -1, setup_.slot, boot_time_ns(),
                        plan_.filter != 0 ? &filter_ : nullptr, asks ? &listener : nullptr,
                        arguments_, environment_, shell_arguments_, &failure_});
  if (child_ < 0) fail();
  if (asks) broker_.start(listener, plan_, view_.temporary(), setup_.has_control ? kFdControl : -1);
  // The pipes belong to the command now: held here they would never report their end.
  for (int fd = 0; fd <= 2; ++fd) close(fd);
  if (setup_.has_daemon) close(kFdDaemon);
  // The command runs already, so this costs it nothing.
  if (plan_.filter != 0 && !restrict_own_calls(&failure_)) {
    end_descendants(nullptr, 0, kPatienceMs, nullptr, nullptr);
    fail();
  }
  report_start();
  // Nothing is made ready any more; at the end of the run somebody would wait for these.
  ruleset_.reset();
  close(kFdPlan);
  watch();
}

void Supervisor::watch() {
  // poll passes over a negative descriptor; /dev/null would always be ready.
  int control = setup_.has_control ? kFdControl : -1;
  for (;;) {
    pollfd ready[] = {{signals_.get(), POLLIN, 0},
                      {control, POLLIN, 0},
                      {kFdLife, POLLIN, 0},
                      {broker_.listener(), POLLIN, 0},
                      {broker_.mounts(), POLLPRI, 0}};
    if (poll(ready, 5, broker_.patience_ms()) < 0 && errno != EINTR) finish();
    // Signals first: the terminal's own copy must be known before a forwarded one is judged.
    if (ready[0].revents != 0) take_signals();
    if (exited_) finish();
    if (ready[2].revents != 0) finish();
    if (ready[1].revents != 0) take_requests();
    if (ended_early_) finish();
    if (ready[4].revents != 0) broker_.mounts_changed();
    if (ready[3].revents != 0) broker_.answer((ready[3].revents & POLLIN) != 0);
    broker_.check_waiting();
  }
}

void Supervisor::take_signals() {
  signalfd_siginfo received;
  bool child_changed = false;
  while (read(signals_.get(), &received, sizeof received) ==
         static_cast<ssize_t>(sizeof received)) {
    int signal = static_cast<int>(received.ssi_signo);
    if (signal == SIGCHLD) {
      child_changed = true;
    } else if (setup_.from_one_shot && static_cast<pid_t>(received.ssi_pid) == getppid()) {
      deliver(signal, false);
    } else if (signal > 0 && signal <= kHighestSignal) {
      terminal_copies_[signal] = monotonic_ms();
    }
  }
  if (child_changed) take_children();
}

// All of the command's process group at once, while that number is certainly the command's: a fork
// bomb leaves the processor to nobody who looks for its members one by one.
void Supervisor::stop_group() {
  if ((plan_.flags & kFlagNewSession) != 0) kill(-child_, SIGSTOP);
}

// Who asks to be traced by its parent (PTRACE_TRACEME), and has the supervisor for one, stops at
// every signal and at exec until a debugger lets it go on; there is none. It is stopped in another
// way when this fails. A trap is the one of exec.
bool Supervisor::let_go(pid_t pid, int signal) {
  long passed = signal == SIGTRAP ? 0 : signal;
  return syscall(SYS_ptrace, static_cast<long>(kPtraceDetach), static_cast<long>(pid), 0L,
                 passed) == 0;
}

void Supervisor::take_children() {
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT);
  // Of one that it traces the kernel tells stops here too.
  bool dead =
      ended.si_code == CLD_EXITED || ended.si_code == CLD_KILLED || ended.si_code == CLD_DUMPED;
  if (!exited_ && dead && ended.si_pid == child_) stop_group();
  for (;;) {
    int status = 0;
    rusage usage{};
    pid_t pid = wait4(-1, &status, WNOHANG | WUNTRACED | WCONTINUED | __WALL, &usage);
    if (pid <= 0) return;
    if (WIFSTOPPED(status) && let_go(pid, WSTOPSIG(status))) continue;
    if (pid != child_) {
      if (WIFEXITED(status) || WIFSIGNALED(status)) broker_.reaped(pid);
      continue;
    }
    if (WIFSTOPPED(status)) {
      send_stopped(kFdControl, WSTOPSIG(status));
    } else if (WIFCONTINUED(status)) {
      send_continued(kFdControl);
    } else {
      exited_ = true;
      wait_status_ = status;
      usage_ = usage;
    }
  }
}

void Supervisor::take_requests() {
  for (;;) {
    ssize_t n =
        recv(kFdControl, pending_ + pending_bytes_, sizeof pending_ - pending_bytes_, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n <= 0) {
      ended_early_ = true;
      return;
    }
    pending_bytes_ += static_cast<size_t>(n);
    if (pending_bytes_ < sizeof pending_) continue;
    ControlRequest request;
    memcpy(&request, pending_, sizeof request);
    pending_bytes_ = 0;
    int signal = static_cast<int>(request.signal & ~kSignalFromTerminal);
    obey(static_cast<ControlType>(request.type), signal,
         (request.signal & kSignalFromTerminal) != 0);
    if (ended_early_) return;
  }
}

void Supervisor::obey(ControlType type, int signal, bool from_terminal) {
  switch (type) {
    case ControlType::kSignal:
      deliver(signal, from_terminal);
      return;
    case ControlType::kSignalTree:
      if (signal > 0 && signal <= kHighestSignal) signal_descendants(signal);
      return;
    case ControlType::kKill:
      break;
  }
  // Also for a request nobody defined: an owner that cannot be understood cannot be obeyed.
  ended_early_ = true;
}

void Supervisor::deliver(int signal, bool from_terminal) {
  if (signal <= 0 || signal > kHighestSignal || exited_) return;
  bool shares_group = (plan_.flags & kFlagNewSession) == 0;
  if (from_terminal && shares_group && terminal_copies_[signal] != 0) {
    bool recent = monotonic_ms() - terminal_copies_[signal] <= kTerminalCopyMs;
    terminal_copies_[signal] = 0;
    if (recent) return;
  }
  kill(child_, signal);
}

void Supervisor::tell_survivors(void* self, const Descendants& tree) {
  auto* supervisor = static_cast<Supervisor*>(self);
  CommandLines commands(tree, kNamesMs);
  for (size_t i = 0; i < tree.size(); ++i) {
    const Process& process = tree.at(i);
    // The command itself, killed because its owner left or asked: not something it left behind.
    if (!process.alive() || process.pid == supervisor->child_) continue;
    // A worker was killed a moment ago; one that does not die is told like whatever else lives on.
    if (supervisor->broker_.has_worker(process.pid) && process.state != 'D') continue;
    if (++supervisor->survivors_ > kMostSurvivorsNamed) continue;
    try_survivor(kFdControl, process.pid, commands.at(i));
  }
}

void Supervisor::finish() {
  broker_.end();
  // It may have ended by itself in the same moment: then its own status is the one to tell.
  if (!exited_) take_children();
  if (!exited_) stop_group();
  bool alone = exited_ && !has_children();
  // Until the tree is dead nothing waits for an owner that does not read.
  bool told = exited_ && !alone && try_exited(kFdControl, wait_status_, usage_);
  bool dead = end_descendants(nullptr, 0, kPatienceMs, &Supervisor::tell_survivors, this);
  if (!exited_) {
    wait_status_ = SIGKILL;
    getrusage(RUSAGE_CHILDREN, &usage_);
  }
  if (!alone && !told) send_exited(kFdControl, wait_status_, usage_);
  bool emptied = !setup_.has_temp || empty_directory(kFdTemp);
  uint32_t flags = (emptied ? 0 : kEndedTempNotEmpty) | (dead ? 0 : kEndedTreeAlive);
  if (alone) {
    send_exited_and_ended(kFdControl, wait_status_, usage_, flags, broker_.denials_lost());
  } else {
    send_ended(kFdControl, survivors_, flags, broker_.denials_lost());
  }
  if (setup_.end != nullptr) {
    setup_.end->wait_status = wait_status_;
    setup_.end->ended = true;
  }
  _exit(dead ? kExitTreeEnded : kExitTreeAlive);
}

void Supervisor::fail() {
  send_failed(kFdControl, failure_);
  if (setup_.end != nullptr) setup_.end->failure = failure_;
  _exit(kExitNotStarted);
}

}  // namespace

void prepare_to_supervise() {
  Failure failure;
  become_reaper(&failure);
  touch_stack();
}

void supervise(const SupervisorSetup& setup) {
  // Static: it is large and mostly untouched, where a stack of that size is touched page by page.
  alignas(Supervisor) static unsigned char memory[sizeof(Supervisor)];
  auto* supervisor = new (memory) Supervisor(setup);
  supervisor->run();
}

}  // namespace cordon
