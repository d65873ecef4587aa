#include "test/plans.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "linux/landlock.h"
#include "test/harness.h"

namespace cordon::test {

RuleSpec rule_for(RuleKind kind, const std::string& path) {
  struct stat found;
  CHECK_CALL(lstat(path.c_str(), &found) == 0);
  return {kind, path, true, found.st_dev, found.st_ino};
}

PlanSpec program_plan(const std::vector<std::string>& arguments) {
  PlanSpec plan;
  int abi = landlock_abi();
  struct stat found;
  CHECK_CALL(stat(scratch().c_str(), &found) == 0);
  plan.uid = geteuid();
  plan.gid = getegid();
  plan.landlock_abi = abi > 0 ? static_cast<uint32_t>(abi) : 0;
  plan.cwd = scratch();
  plan.cwd_device = found.st_dev;
  plan.cwd_inode = found.st_ino;
  plan.program = arguments[0];
  plan.arguments = arguments;
  plan.environment = {"PATH=/usr/bin:/bin"};
  plan.rules = {rule_for(RuleKind::kTree, scratch()), {RuleKind::kDevice, "/dev/null"}};
  return plan;
}

PlanSpec shell_plan(const std::string& script) {
  PlanSpec plan = program_plan({"/bin/sh", "-c", script});
  plan.arguments[0] = "sh";
  return plan;
}

void ignore_signals() {
  for (int number = 1; number <= SIGRTMAX; ++number) {
    if (number != SIGCHLD) signal(number, SIG_IGN);
  }
}

}  // namespace cordon::test
