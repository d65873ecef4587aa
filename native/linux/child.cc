#include "linux/child.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/plan_codec.h"
#include "linux/journal.h"
#include "linux/landlock.h"
#include "linux/seccomp_filter.h"

namespace cordon {
namespace {

constexpr size_t kStackBytes = 64 * 1024;
constexpr const char* kShell = "/bin/sh";

bool lead_session(const ChildSetup& setup) {
  if ((setup.plan->flags & kFlagNewSession) == 0) return true;
  if (injected(Stage::kSession) || setsid() < 0) return setup.failure->at(Stage::kSession, errno);
  return true;
}

// The parent is compared with a pid saved before: 1 is a legitimate parent in a container.
bool die_with_supervisor(const ChildSetup& setup) {
  if (injected(Stage::kParentDeath) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
    return setup.failure->at(Stage::kParentDeath, errno);
  }
  if (getppid() != setup.supervisor) return setup.failure->at(Stage::kParentDeath, ESRCH);
  return true;
}

// By the command itself, so that there is no moment in which it runs and nobody could find it, and
// a full disk is told before anything of it ran.
bool note_in_journal(const ChildSetup& setup) {
  if (setup.journal < 0) return true;
  bool leads_session = (setup.plan->flags & kFlagNewSession) != 0;
  JournalSlot slot{getpid(), leads_session ? 1 : 0, setup.started_after, boot_time_ns(), {}};
  note_temp(&slot, setup.plan->temp);
  if (injected(Stage::kJournal) || !write_slot(setup.journal, setup.slot, slot)) {
    return setup.failure->at(Stage::kJournal, errno);
  }
  return true;
}

// Dispositions are already default: the guard reset them once for all runs.
bool unblock_signals(const ChildSetup& setup) {
  sigset_t none;
  sigemptyset(&none);
  if (injected(Stage::kSignals) || sigprocmask(SIG_SETMASK, &none, nullptr) != 0) {
    return setup.failure->at(Stage::kSignals, errno);
  }
  return true;
}

bool apply_limits(const ChildSetup& setup) {
  PlanReader limits = read_list(setup.plan->limits);
  for (uint32_t i = 0; i < setup.plan->limits.count; ++i) {
    PlanLimit wanted = limits.limit();
    rlimit current;
    if (injected(Stage::kLimits) || getrlimit(wanted.resource, &current) != 0) {
      return setup.failure->at(Stage::kLimits, errno, "", wanted.resource);
    }
    // A limit may only come down: raising a hard limit needs a capability that is gone.
    rlimit lowered = {wanted.soft < current.rlim_max ? wanted.soft : current.rlim_max,
                      wanted.hard < current.rlim_max ? wanted.hard : current.rlim_max};
    if (setrlimit(wanted.resource, &lowered) != 0) {
      return setup.failure->at(Stage::kLimits, errno, "", wanted.resource);
    }
  }
  return true;
}

bool restrict_child(const ChildSetup& setup) {
  if (setup.ruleset < 0) return true;
  return restrict_self(setup.ruleset, Stage::kLandlockChild, setup.failure);
}

bool filter_child(const ChildSetup& setup) {
  if (setup.filter == nullptr) return true;
  return install_filter(*setup.filter, setup.listener, setup.failure);
}

bool execute(const ChildSetup& setup) {
  const char* program = setup.plan->program;
  if (injected(Stage::kExec)) return setup.failure->at(Stage::kExec, errno, program);
  execve(program, const_cast<char* const*>(setup.arguments),
         const_cast<char* const*>(setup.environment));
  if (errno != ENOEXEC) return setup.failure->at(Stage::kExec, errno, program);
  execve(kShell, const_cast<char* const*>(setup.shell_arguments),
         const_cast<char* const*>(setup.environment));
  return setup.failure->at(Stage::kExec, ENOEXEC, program);
}

int become(void* argument) {
  const ChildSetup& setup = *static_cast<const ChildSetup*>(argument);
  // The failed step wrote its own record into the shared memory.
  static_cast<void>(lead_session(setup) && die_with_supervisor(setup) && note_in_journal(setup) &&
                    unblock_signals(setup) && apply_limits(setup) && restrict_child(setup) &&
                    filter_child(setup) && execute(setup));
  _exit(127);
}

}  // namespace

pid_t start_child(const ChildSetup& setup) {
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (injected(Stage::kProcess) || stack == MAP_FAILED) {
    setup.failure->at(Stage::kProcess, errno);
    return -1;
  }
  // Memory is shared until exec, so the copy of the page tables is spared and a failure needs no
  // pipe. So is the table of descriptors: the listener needs no hand-over, and exec gives the
  // command a table of its own.
  pid_t pid =
      clone(become, static_cast<char*>(stack) + kStackBytes,
            CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, const_cast<ChildSetup*>(&setup));
  if (pid < 0) {
    setup.failure->at(Stage::kProcess, errno);
    return -1;
  }
  munmap(stack, kStackBytes);
  if (!setup.failure->set) return pid;
  waitpid(pid, nullptr, 0);
  return -1;
}

}  // namespace cordon
