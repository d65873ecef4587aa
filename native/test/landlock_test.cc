// Rulesets of plans on the kernel at hand.

#include "linux/landlock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/plan_codec.h"
#include "linux/landlock_abi.h"
#include "test/harness.h"
#include "test/plans.h"
#include "test/world.h"

namespace cordon::test {
namespace {

const char* stage_of(const Failure& failure) {
  return failure.set ? stage_name(failure.stage) : "";
}

// A plan with its bytes; a ruleset made from it.
struct Attempt {
  Bytes bytes;
  Plan plan{};
  UniqueFd ruleset;
  Failure failure;
  bool made = false;

  explicit Attempt(const PlanSpec& spec, int temp = -1) : bytes(encode(spec)) {
    size_t fault = 0;
    CHECK(decode_plan(bytes.data(), bytes.size(), &plan, &fault));
    made = make_ruleset(plan, temp, nullptr, &ruleset, &failure);
  }
};

PlanSpec plan_with(const std::vector<RuleSpec>& rules) {
  PlanSpec plan = program_plan({"/bin/true"});
  plan.rules = rules;
  return plan;
}

void confine(const PlanSpec& spec, int temp = -1) {
  Attempt attempt(spec, temp);
  if (!attempt.made) fail_at(__FILE__, __LINE__, stage_of(attempt.failure));
  CHECK_CALL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(restrict_self(attempt.ruleset.get(), Stage::kLandlockRestrict, &attempt.failure));
}

void expect_refusal(const PlanSpec& spec, Stage stage, int error, const std::string& object) {
  Attempt attempt(spec);
  CHECK(!attempt.made);
  CHECK_EQ(stage_of(attempt.failure), stage_name(stage));
  CHECK_EQ(attempt.failure.error, error);
  CHECK_EQ(attempt.failure.object, object);
}

// 0, or the errno of an open for writing.
int write_error(const std::string& path, int more = 0) {
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC | more, 0600));
  return file.valid() ? 0 : errno;
}

int outcome(bool done) { return done ? 0 : errno; }

struct Tree {
  std::string inside = scratch() + "/inside";
  std::string outside = scratch() + "/outside";

  Tree() {
    for (const std::string& directory : {inside, outside}) {
      CHECK_CALL(mkdir(directory.c_str(), 0755) == 0);
      CHECK_CALL(mkdir((directory + "/sub").c_str(), 0755) == 0);
      write_file(directory + "/file", "intact");
    }
  }
};

TEST(a_tree_is_writable_and_nothing_else_is) {
  needs_landlock(3);
  Tree tree;
  confine(plan_with({rule_for(RuleKind::kTree, tree.inside)}));
  CHECK_EQ(write_error(tree.inside + "/new", O_CREAT), 0);
  CHECK_EQ(write_error(tree.inside + "/file", O_TRUNC), 0);
  CHECK_EQ(
      outcome(rename((tree.inside + "/file").c_str(), (tree.inside + "/sub/moved").c_str()) == 0),
      0);
  CHECK_EQ(
      outcome(link((tree.inside + "/new").c_str(), (tree.inside + "/sub/linked").c_str()) == 0), 0);
  CHECK_EQ(outcome(symlink("x", (tree.inside + "/symlink").c_str()) == 0), 0);
  CHECK_EQ(outcome(mkfifo((tree.inside + "/fifo").c_str(), 0600) == 0), 0);
  CHECK_EQ(outcome(rmdir((tree.inside + "/sub").c_str()) == 0), ENOTEMPTY);

  CHECK_EQ(write_error(tree.outside + "/new", O_CREAT), EACCES);
  CHECK_EQ(write_error(tree.outside + "/file"), EACCES);
  CHECK_EQ(outcome(truncate((tree.outside + "/file").c_str(), 0) == 0), EACCES);
  CHECK_EQ(outcome(unlink((tree.outside + "/file").c_str()) == 0), EACCES);
  CHECK_EQ(outcome(rename((tree.inside + "/new").c_str(), (tree.outside + "/new").c_str()) == 0),
           EACCES);
  CHECK_EQ(outcome(link((tree.outside + "/file").c_str(), (tree.inside + "/stolen").c_str()) == 0),
           EXDEV);
  CHECK_EQ(outcome(mkdir((tree.outside + "/directory").c_str(), 0700) == 0), EACCES);
  CHECK_EQ(read_file(tree.outside + "/file"), "intact");
}

TEST(device_nodes_cannot_be_made_in_a_tree) {
  needs_landlock(1);
  needs_root();
  std::string node = scratch() + "/node";
  CHECK_CALL(mknod(node.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0 && unlink(node.c_str()) == 0);
  confine(plan_with({rule_for(RuleKind::kTree, scratch())}));
  CHECK_EQ(outcome(mknod(node.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0), EACCES);
  CHECK_EQ(outcome(mknod(node.c_str(), S_IFBLK | 0600, makedev(7, 0)) == 0), EACCES);
  CHECK(!exists(node));
}

TEST(a_file_is_writable_and_its_directory_is_not) {
  needs_landlock(3);
  Tree tree;
  confine(plan_with({rule_for(RuleKind::kFile, tree.outside + "/file")}));
  CHECK_EQ(write_error(tree.outside + "/file", O_TRUNC), 0);
  CHECK_EQ(write_error(tree.outside + "/new", O_CREAT), EACCES);
  CHECK_EQ(outcome(unlink((tree.outside + "/file").c_str()) == 0), EACCES);
}

TEST(a_device_is_writable_and_other_devices_are_not) {
  needs_landlock(1);
  confine(plan_with({{RuleKind::kDevice, "/dev/null"}}));
  CHECK_EQ(write_error("/dev/null"), 0);
  CHECK_EQ(write_error("/dev/zero"), EACCES);
}

TEST(a_device_tree_makes_no_files_writable_by_name) {
  needs_landlock(1);
  Tree tree;
  confine(plan_with({rule_for(RuleKind::kDeviceTree, tree.inside)}));
  CHECK_EQ(write_error(tree.inside + "/file"), 0);
  CHECK_EQ(write_error(tree.inside + "/new", O_CREAT), EACCES);
  CHECK_EQ(outcome(unlink((tree.inside + "/file").c_str()) == 0), EACCES);
}

TEST(the_temp_directory_comes_by_descriptor) {
  needs_landlock(1);
  Tree tree;
  UniqueFd temp(open(tree.inside.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  PlanSpec plan = plan_with({});
  plan.temp = "/not/looked/at";
  confine(plan, temp.get());
  CHECK_EQ(write_error(tree.inside + "/new", O_CREAT), 0);
  CHECK_EQ(write_error(tree.outside + "/new", O_CREAT), EACCES);
}

// 0, or the errno of an open for reading.
int read_error(const std::string& path, int more = 0) {
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | more));
  return file.valid() ? 0 : errno;
}

PlanSpec reading_plan(const std::vector<RuleSpec>& rules) {
  PlanSpec plan = plan_with(rules);
  plan.flags |= kFlagRestrictsReading;
  return plan;
}

TEST(only_what_is_granted_can_be_read_and_that_not_written) {
  needs_landlock(1);
  Tree tree;
  CHECK_EQ(read_error(tree.outside + "/file"), 0);
  write_file(tree.inside + "/sub/deep", "x");
  confine(reading_plan({rule_for(RuleKind::kReadTree, tree.inside + "/sub"),
                        rule_for(RuleKind::kReadFile, tree.inside + "/file")}));
  CHECK_EQ(read_error(tree.inside + "/file"), 0);
  CHECK_EQ(read_error(tree.inside + "/sub", O_DIRECTORY), 0);
  CHECK_EQ(read_error(tree.inside + "/sub/deep"), 0);
  CHECK_EQ(read_error(tree.inside, O_DIRECTORY), EACCES);
  CHECK_EQ(read_error(tree.outside + "/file"), EACCES);
  CHECK_EQ(read_error(tree.outside + "/sub", O_DIRECTORY), EACCES);
  CHECK_EQ(write_error(tree.inside + "/file"), EACCES);
  CHECK_EQ(write_error(tree.inside + "/sub/new", O_CREAT), EACCES);
}

TEST(reading_is_restricted_alike_on_every_abi) {
  needs_landlock(1);
  Tree tree;
  for (int abi = 1; abi <= landlock_abi() && abi <= static_cast<int>(kNewestAbi); ++abi) {
    EXPECT_EXIT(0, [&] {
      PlanSpec plan = reading_plan({rule_for(RuleKind::kTree, tree.inside),
                                    rule_for(RuleKind::kReadTree, tree.inside),
                                    rule_for(RuleKind::kReadFile, tree.outside + "/file")});
      plan.landlock_abi = static_cast<uint32_t>(abi);
      confine(plan);
      CHECK_EQ(write_error(tree.inside + "/new", O_CREAT), 0);
      CHECK_EQ(read_error(tree.inside + "/new"), 0);
      CHECK_EQ(read_error(tree.outside + "/file"), 0);
      CHECK_EQ(read_error(tree.outside, O_DIRECTORY), EACCES);
    });
  }
}

TEST(a_tree_to_write_in_is_not_read_for_that_but_the_temp_directory_is) {
  needs_landlock(1);
  Tree tree;
  UniqueFd temp(open(tree.inside.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  PlanSpec plan = reading_plan({rule_for(RuleKind::kTree, tree.outside)});
  plan.temp = "/not/looked/at";
  confine(plan, temp.get());
  CHECK_EQ(write_error(tree.outside + "/new", O_CREAT), 0);
  CHECK_EQ(read_error(tree.outside + "/new"), EACCES);
  CHECK_EQ(write_error(tree.inside + "/new", O_CREAT), 0);
  CHECK_EQ(read_error(tree.inside + "/new"), 0);
  CHECK_EQ(read_error(tree.inside, O_DIRECTORY), 0);
}

TEST(what_is_not_granted_cannot_be_executed) {
  needs_landlock(1);
  std::string program = scratch() + "/program";
  write_file(program, "#!/bin/sh\nexit 3\n");
  CHECK_CALL(chmod(program.c_str(), 0755) == 0);
  EXPECT_EXIT(3, [&] { execl(program.c_str(), "program", nullptr); });
  UniqueFd held(open(program.c_str(), O_PATH | O_CLOEXEC));
  confine(reading_plan({rule_for(RuleKind::kReadTree, "/usr")}));
  CHECK_EQ(outcome(execl(program.c_str(), "program", nullptr) == 0), EACCES);
  char* arguments[] = {const_cast<char*>("program"), nullptr};
  char* environment[] = {nullptr};
  CHECK_EQ(
      outcome(syscall(SYS_execveat, held.get(), "", arguments, environment, AT_EMPTY_PATH) == 0),
      EACCES);
}

// A link or a move may give nothing that the old place does not: this is what keeps a run from
// reading a hidden file in a place of its own.
TEST(what_cannot_be_read_cannot_be_moved_to_where_it_could) {
  needs_landlock(2);
  Tree tree;
  std::string secret = tree.outside + "/file";
  std::string named = tree.inside + "/taken";
  confine(reading_plan(
      {rule_for(RuleKind::kTree, scratch()), rule_for(RuleKind::kReadTree, tree.inside)}));
  CHECK_EQ(outcome(link(secret.c_str(), named.c_str()) == 0), EXDEV);
  CHECK_EQ(outcome(rename(secret.c_str(), named.c_str()) == 0), EXDEV);
  CHECK_EQ(outcome(rename(tree.outside.c_str(), named.c_str()) == 0), EXDEV);
  CHECK_EQ(outcome(syscall(SYS_renameat2, AT_FDCWD, secret.c_str(), AT_FDCWD,
                           (tree.inside + "/file").c_str(), 2u) == 0),
           EXDEV);
  // In its own directory it may have another name, and stays what it is.
  std::string aside = tree.outside + "/aside";
  CHECK_EQ(outcome(rename(secret.c_str(), aside.c_str()) == 0), 0);
  CHECK_EQ(read_error(aside), EACCES);
  CHECK_EQ(outcome(link(aside.c_str(), secret.c_str()) == 0), 0);
  CHECK_EQ(read_error(secret), EACCES);
}

TEST(a_rule_for_reading_whose_object_is_gone_or_another_grants_nothing) {
  needs_landlock(1);
  Tree tree;
  std::string file = tree.outside + "/file";
  RuleSpec gone{RuleKind::kReadFile, scratch() + "/gone", true, 1, 1};
  RuleSpec other = rule_for(RuleKind::kReadFile, file);
  ++other.inode;
  RuleSpec linked = rule_for(RuleKind::kReadFile, file);
  linked.path = scratch() + "/link";
  CHECK_CALL(symlink(file.c_str(), linked.path.c_str()) == 0);
  RuleSpec kind = rule_for(RuleKind::kReadTree, file);
  confine(reading_plan({gone, other, linked, kind}));
  CHECK_EQ(read_error(file), EACCES);
}

TEST(a_root_replaced_by_a_link_is_refused) {
  needs_landlock(1);
  Tree tree;
  RuleSpec rule = rule_for(RuleKind::kTree, tree.inside);
  CHECK_CALL(rename(tree.inside.c_str(), (scratch() + "/aside").c_str()) == 0);
  CHECK_CALL(symlink(tree.outside.c_str(), tree.inside.c_str()) == 0);
  expect_refusal(plan_with({rule}), Stage::kRootChanged, ESTALE, tree.inside);
  // Also a link to the very directory that it was.
  CHECK_CALL(unlink(tree.inside.c_str()) == 0);
  CHECK_CALL(symlink("aside", tree.inside.c_str()) == 0);
  expect_refusal(plan_with({rule}), Stage::kRootChanged, ESTALE, tree.inside);
}

TEST(a_root_that_is_another_inode_is_refused) {
  needs_landlock(1);
  Tree tree;
  RuleSpec rule = rule_for(RuleKind::kTree, tree.inside);
  CHECK_CALL(rename(tree.inside.c_str(), (scratch() + "/aside").c_str()) == 0);
  CHECK_CALL(rename(tree.outside.c_str(), tree.inside.c_str()) == 0);
  expect_refusal(plan_with({rule}), Stage::kRootChanged, ESTALE, tree.inside);
}

TEST(a_root_on_another_device_is_refused) {
  needs_landlock(1);
  Tree tree;
  RuleSpec rule = rule_for(RuleKind::kTree, tree.inside);
  ++rule.device;
  expect_refusal(plan_with({rule}), Stage::kRootChanged, ESTALE, tree.inside);
}

TEST(a_missing_root_is_refused_and_a_missing_device_is_not) {
  needs_landlock(1);
  RuleSpec gone{RuleKind::kTree, scratch() + "/gone", true, 1, 1};
  expect_refusal(plan_with({gone}), Stage::kRootChanged, ENOENT, gone.path);
  CHECK(Attempt(plan_with({{RuleKind::kDevice, "/dev/no-such-device"}})).made);
}

TEST(an_object_of_another_kind_is_refused) {
  needs_landlock(1);
  Tree tree;
  std::string file = tree.inside + "/file";
  for (RuleKind kind : {RuleKind::kTree, RuleKind::kDeviceTree, RuleKind::kDevice}) {
    expect_refusal(plan_with({rule_for(kind, file)}), Stage::kRootChanged, ESTALE, file);
  }
  for (RuleKind kind : {RuleKind::kFile, RuleKind::kDevice}) {
    expect_refusal(plan_with({rule_for(kind, tree.inside)}), Stage::kRootChanged, ESTALE,
                   tree.inside);
  }
}

TEST(a_well_known_device_that_is_a_file_is_granted_to_nobody) {
  needs_landlock(1);
  Tree tree;
  std::string file = tree.outside + "/file";
  std::string link = scratch() + "/device";
  CHECK_CALL(symlink(file.c_str(), link.c_str()) == 0);
  confine(plan_with(
      {{RuleKind::kDevice, file}, {RuleKind::kDevice, link}, {RuleKind::kDevice, tree.outside}}));
  CHECK_EQ(write_error(file), EACCES);
  CHECK_EQ(write_error(tree.outside + "/new", O_CREAT), EACCES);
}

TEST(every_abi_up_to_the_kernels) {
  needs_landlock(1);
  Tree tree;
  for (int abi = 1; abi <= landlock_abi() && abi <= static_cast<int>(kNewestAbi); ++abi) {
    EXPECT_EXIT(0, [&] {
      PlanSpec plan = plan_with({rule_for(RuleKind::kTree, tree.inside),
                                 {RuleKind::kDevice, "/dev/null"},
                                 rule_for(RuleKind::kFile, tree.outside + "/file"),
                                 {RuleKind::kDeviceTree, "/dev/pts"}});
      plan.landlock_abi = static_cast<uint32_t>(abi);
      confine(plan);
      std::string other = tree.outside + "/sub";
      CHECK_EQ(write_error(tree.inside + "/new", O_CREAT), 0);
      CHECK_EQ(write_error(other + "/new", O_CREAT), EACCES);
      // What an older kernel cannot stop is not stopped in its name either.
      int moved =
          outcome(rename((tree.inside + "/new").c_str(), (tree.inside + "/sub/new").c_str()) == 0);
      CHECK_EQ(moved, abi >= 2 ? 0 : EXDEV);
    });
  }
}

TEST(a_newer_kernel_than_the_table_is_used_as_the_newest_known) {
  needs_landlock(static_cast<int>(kNewestAbi));
  PlanSpec plan = plan_with({});
  plan.landlock_abi = kNewestAbi + 1;
  CHECK(Attempt(plan).made);
}

TEST(a_plan_for_a_newer_kernel_makes_no_ruleset) {
  needs_landlock(1);
  // The last step of the table that changes what is asked of the kernel.
  constexpr uint32_t wanted = 9;
  if (landlock_abi() >= static_cast<int>(wanted))
    skip("kernel-below-landlock:9", "a kernel below Landlock ABI 9");
  PlanSpec plan = plan_with({});
  plan.landlock_abi = wanted;
  expect_refusal(plan, Stage::kLandlockCreate, EINVAL, "");
}

TEST(one_ruleset_serves_both_layers) {
  needs_landlock(1);
  Tree tree;
  Attempt attempt(plan_with({rule_for(RuleKind::kTree, tree.inside)}));
  CHECK(attempt.made);
  CHECK_CALL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(restrict_self(attempt.ruleset.get(), Stage::kLandlockRestrict, &attempt.failure));
  CHECK(restrict_self(attempt.ruleset.get(), Stage::kLandlockChild, &attempt.failure));
  CHECK_EQ(write_error(tree.inside + "/new", O_CREAT), 0);
  CHECK_EQ(write_error(tree.outside + "/new", O_CREAT), EACCES);
}

TEST(the_layer_too_many_fails_at_its_stage) {
  needs_landlock(1);
  Attempt attempt(plan_with({}));
  CHECK(attempt.made);
  CHECK_CALL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  int layers = 0;
  while (restrict_self(attempt.ruleset.get(), Stage::kLandlockChild, &attempt.failure)) ++layers;
  CHECK_EQ(layers, 16);
  CHECK_EQ(stage_of(attempt.failure), "landlock-child");
  CHECK_EQ(attempt.failure.error, E2BIG);
}

TEST(confinement_needs_no_new_privs_from_an_ordinary_user) {
  needs_landlock(1);
  become_ordinary_user();
  Attempt attempt(plan_with({}));
  CHECK(attempt.made);
  CHECK(!restrict_self(attempt.ruleset.get(), Stage::kLandlockRestrict, &attempt.failure));
  CHECK_EQ(attempt.failure.error, EPERM);
}

TEST(signals_and_abstract_sockets_stay_within_the_run) {
  needs_landlock(6);
  pid_t outside = getppid();
  CHECK_EQ(outcome(kill(outside, 0) == 0), 0);
  confine(plan_with({}));
  CHECK_EQ(outcome(kill(outside, 0) == 0), EPERM);
  EXPECT_SIGNAL(SIGTERM, [] { kill(getpid(), SIGTERM); });
}

TEST(a_thousand_rules) {
  needs_landlock(1);
  std::vector<RuleSpec> rules;
  for (int i = 0; i < 1000; ++i) {
    std::string path = scratch() + "/" + std::to_string(i);
    CHECK_CALL(mkdir(path.c_str(), 0755) == 0);
    rules.push_back(rule_for(RuleKind::kTree, path));
  }
  confine(plan_with(rules));
  CHECK_EQ(write_error(scratch() + "/999/new", O_CREAT), 0);
  CHECK_EQ(write_error(scratch() + "/new", O_CREAT), EACCES);
}

}  // namespace
}  // namespace cordon::test
