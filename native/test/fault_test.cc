// Every stage of a launch made to fail: the record says which, nothing of the command ran, nothing
// is left.

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "linux/seccomp_table.h"
#include "test/harness.h"
#include "test/plans.h"
#include "test/served_guard.h"
#include "test/subjects.h"
#include "test/world.h"

namespace cordon::test {
namespace {

constexpr int kEndWithinMs = 5000;

// Goes through every stage.
PlanSpec whole_plan() {
  PlanSpec plan = shell_plan("touch ran; setsid sleep 1000 & touch \"$T/file\"");
  plan.temp = scratch() + "/" + temp_name();
  plan.environment.push_back("T=" + plan.temp);
  plan.limits = {{RLIMIT_CORE, 1, 1}};
  plan.filter = kFilterDoors;
  plan.umask = 022;
  plan.namespaces = kNamespaceMount | (geteuid() == 0 ? 0 : kNamespaceUser);
  RuleSpec root = rule_for(RuleKind::kTree, scratch());
  plan.views = {{ViewKind::kReadOnly, "/"},
                {ViewKind::kRoot, root.path, true, root.device, root.inode}};
  return plan;
}

std::string journals() { return scratch() + "/journals"; }

ServeSpec served(int fail_at) {
  ServeSpec spec;
  spec.journal = journals();
  spec.fail_at = fail_at;
  return spec;
}

LaunchSpec with_temp() {
  LaunchSpec spec;
  spec.temp_parent = scratch();
  spec.temp_name = temp_name();
  return spec;
}

void prepare() {
  prepare_for_runs();
  CHECK_CALL(mkdir(journals().c_str(), 0700) == 0);
}

void expect_nothing_left() {
  CHECK(!exists(scratch() + "/ran"));
  CHECK(!exists(scratch() + "/" + temp_name()));
}

bool only_roots(Stage stage) { return stage == Stage::kSecurebits; }

TEST(without_a_fault_it_runs) {
  prepare();
  ServedGuard guard(served(0));
  Control control = guard.launch(whole_plan(), with_temp());
  const Told& told = control.until_closed();
  CHECK(told.ended && !told.failed);
  CHECK_EQ(told.wait_status, 0);
  CHECK_EQ(told.survivor_count, 1u);
  CHECK_EQ(told.flags, 0u);
  CHECK(exists(scratch() + "/ran"));
  CHECK(!exists(scratch() + "/" + temp_name()));
}

TEST(every_stage_of_a_served_run) {
  prepare();
  for (const StageName& row : kStageNames) {
    if (only_roots(row.stage) && geteuid() != 0) continue;
    printf("     %s\n", row.name);
    ServedGuard guard(served(static_cast<int>(row.stage)));
    for (int i = 0; i < 3; ++i) {
      Control control = guard.launch(whole_plan(), with_temp());
      const Told& told = control.until_closed(kEndWithinMs);
      CHECK(told.failed && !told.started && !told.exited && !told.ended);
      CHECK_EQ(stage_name(told.stage), row.name);
      CHECK_EQ(told.error, EIO);
      expect_nothing_left();
    }
    guard.close_socket();
    CHECK(guard.end(kEndWithinMs) == exited(0));
    CHECK(all_gone(1000));
    CHECK(names_in(journals()).empty());
  }
}

TEST(every_stage_of_a_one_shot) {
  prepare();
  for (const StageName& row : kStageNames) {
    // A one-shot keeps no journal: its own parent is there to see it end.
    if (row.stage == Stage::kJournal || (only_roots(row.stage) && geteuid() != 0)) continue;
    printf("     %s\n", row.name);
    OneShotSpec spec;
    spec.fail_at = static_cast<int>(row.stage);
    spec.with_control = true;
    spec.temp_parent = scratch();
    spec.temp_name = temp_name();
    OneShot run = start_one_shot(whole_plan(), spec);
    const Told& told = run.control.until_closed(kEndWithinMs);
    CHECK(told.failed && !told.started && !told.exited && !told.ended);
    CHECK_EQ(stage_name(told.stage), row.name);
    CHECK_EQ(told.error, EIO);
    CHECK(end_of_pid(run.pid, kEndWithinMs) == exited(row.stage == Stage::kExec ? 126 : 125));
    expect_nothing_left();
    CHECK(all_gone(1000));
  }
}

TEST(every_stage_as_an_ordinary_user) {
  become_ordinary_user();
  prepare();
  for (const StageName& row : kStageNames) {
    // There are no securebits to lock without a capability.
    if (only_roots(row.stage)) continue;
    printf("     %s\n", row.name);
    ServedGuard guard(served(static_cast<int>(row.stage)));
    Control control = guard.launch(whole_plan(), with_temp());
    const Told& told = control.until_closed(kEndWithinMs);
    CHECK_EQ(stage_name(told.stage), row.name);
    CHECK_EQ(told.error, EIO);
    expect_nothing_left();
    guard.close_socket();
    CHECK(guard.end(kEndWithinMs) == exited(0));
    CHECK(all_gone(1000));
  }
}

}  // namespace
}  // namespace cordon::test
