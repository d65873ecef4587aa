// The served guard from its owner's side: what it accepts, what it ends, and that nothing survives.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "linux/group_hash.h"
#include "linux/landlock.h"
#include "linux/landlock_abi.h"
#include "linux/seccomp_table.h"
#include "linux/temp.h"
#include "test/harness.h"
#include "test/plans.h"
#include "test/served_guard.h"
#include "test/subjects.h"
#include "test/world.h"

namespace cordon::test {
namespace {

ServeSpec served(const std::string& executable) {
  ServeSpec spec;
  spec.executable = executable;
  return spec;
}

PlanSpec actor_plan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), beside_this_test("actor"));
  return program_plan(arguments);
}

// A pipe whose writing end a run has as its output.
struct Output {
  UniqueFd reader;
  UniqueFd writer;

  Output() {
    int ends[2];
    CHECK_CALL(pipe2(ends, O_CLOEXEC) == 0);
    reader.reset(ends[0]);
    writer.reset(ends[1]);
  }

  LaunchSpec as_stdout() const {
    LaunchSpec spec;
    spec.stdio[1] = writer.get();
    return spec;
  }

  // To its end: nobody else may hold it.
  std::string text() {
    writer.reset();
    std::string all;
    char part[4096];
    for (ssize_t n = 0; (n = read(reader.get(), part, sizeof part)) > 0;) {
      all.append(part, static_cast<size_t>(n));
    }
    return all;
  }
};

std::string output_of(ServedGuard* guard, const PlanSpec& plan) {
  Output output;
  Control control = guard->launch(plan, output.as_stdout());
  std::string text = output.text();
  const Told& told = control.until_closed();
  CHECK(told.ended);
  return text;
}

void expect_running(ServedGuard* guard) {
  Control control = guard->launch(shell_plan("exit 7"));
  CHECK_EQ(WEXITSTATUS(control.until_closed().wait_status), 7);
}

// Starts `actor tree` and returns the pids of its processes.
std::vector<pid_t> start_tree(Control* control) {
  control->until_started();
  std::vector<pid_t> pids;
  for (const char* name : {"main", "child", "session", "child-orphan", "session-orphan"}) {
    pids.push_back(pid_from(scratch() + "/" + name));
  }
  return pids;
}

bool all_dead(const std::vector<pid_t>& pids) {
  return std::none_of(pids.begin(), pids.end(), is_alive);
}

LaunchSpec with_temp(int serial = 1) {
  LaunchSpec spec;
  spec.temp_parent = scratch();
  spec.temp_name = temp_name(serial);
  return spec;
}

PlanSpec with_temp(PlanSpec plan, int serial = 1) {
  plan.temp = scratch() + "/" + temp_name(serial);
  return plan;
}

std::string temp_path(int serial = 1) { return scratch() + "/" + temp_name(serial); }

// --- a run

BOTH(tells_how_a_command_ends) {
  ServedGuard guard(served(executable));
  for (int code : {0, 1, 23, 125, 126, 127, 255}) {
    Control control = guard.launch(shell_plan("exit " + std::to_string(code)));
    const Told& told = control.until_closed();
    CHECK(told.started && told.exited && told.ended && !told.failed);
    CHECK(WIFEXITED(told.wait_status));
    CHECK_EQ(WEXITSTATUS(told.wait_status), code);
    CHECK_EQ(told.flags, 0u);
    CHECK_EQ(told.survivor_count, 0u);
  }
  for (int signal : {SIGTERM, SIGKILL, SIGSEGV, SIGHUP}) {
    Control control = guard.launch(shell_plan("kill -" + std::to_string(signal) + " $$"));
    const Told& told = control.until_closed();
    CHECK(WIFSIGNALED(told.wait_status));
    CHECK_EQ(WTERMSIG(told.wait_status), signal);
  }
}

BOTH(tells_what_was_enforced) {
  ServedGuard guard(served(executable));
  PlanSpec plan = shell_plan("exit 0");
  Control control = guard.launch(plan);
  const Told& told = control.until_closed();
  CHECK(told.pid > 0 && told.supervisor > 0);
  CHECK_EQ(told.abi, plan.landlock_abi);
  CHECK_EQ(told.handled_fs, handled_fs(plan.landlock_abi));
  CHECK_EQ(told.scoped, scoped(plan.landlock_abi));
  CHECK_EQ(told.capabilities, 0u);
}

BOTH(tells_that_reading_is_restricted) {
  ServedGuard guard(served(executable));
  write_file(scratch() + "/secret", "secret");
  CHECK_EQ(output_of(&guard, shell_plan("cat secret")), "secret");
  PlanSpec plan = shell_plan("cat secret || echo refused");
  plan.flags |= kFlagRestrictsReading;
  for (const char* path : {"/usr", "/bin", "/lib", "/lib64", "/etc", "/proc", "/dev"}) {
    if (exists(path)) plan.rules.push_back(rule_for(RuleKind::kReadTree, path));
  }
  CHECK_EQ(output_of(&guard, plan), "refused\n");
  Control control = guard.launch(plan);
  CHECK_EQ(control.until_closed().handled_fs, handled_fs(plan.landlock_abi, true));
}

BOTH(gives_the_command_what_the_plan_says) {
  ServedGuard guard(served(executable));
  PlanSpec plan =
      shell_plan("echo \"$0|$1|$2|$A|${HOME-none}\"; pwd; umask; ulimit -c; touch made");
  plan.arguments.insert(plan.arguments.end(), {"zero", "", "a  b"});
  plan.environment.push_back("A=x y");
  plan.umask = 027;
  plan.limits = {{RLIMIT_CORE, 1, 1}};
  CHECK_EQ(output_of(&guard, plan), "zero||a  b|x y|none\n" + scratch() + "\n0027\n0\n");
  struct stat found;
  CHECK_CALL(stat((scratch() + "/made").c_str(), &found) == 0);
  CHECK_EQ(found.st_mode & 0777u, 0640u);
}

BOTH(signals_are_as_a_command_expects_them) {
  // Whatever the owner ignores and blocks.
  ignore_signals();
  sigset_t some;
  sigemptyset(&some);
  sigaddset(&some, SIGTERM);
  sigprocmask(SIG_BLOCK, &some, nullptr);
  ServedGuard guard(served(executable));
  std::string text = output_of(&guard, program_plan({"/bin/cat", "/proc/self/status"}));
  for (const char* set : {"SigBlk:\t", "SigIgn:\t", "SigPnd:\t"}) {
    CHECK(text.find(std::string(set) + "0000000000000000\n") != std::string::npos);
  }
}

BOTH(a_session_of_its_own_or_the_owners) {
  ServedGuard guard(served(executable));
  PlanSpec plan = shell_plan("read stat < /proc/$$/stat; echo $stat");
  auto fields = [&] {
    Output output;
    Control control = guard.launch(plan, output.as_stdout());
    std::string text = output.text();
    int pid = 0, session = 0, group = 0;
    CHECK_EQ(sscanf(text.c_str(), "%d (sh) R %*d %d %d", &pid, &group, &session), 3);
    CHECK_EQ(pid, control.until_closed().pid);
    return std::vector<int>{pid, group, session};
  };
  std::vector<int> own = fields();
  CHECK(own[1] == own[0] && own[2] == own[0]);
  plan.flags = kFlagConfined;
  std::vector<int> shared = fields();
  CHECK_EQ(shared[1], getpgrp());
  CHECK_EQ(shared[2], getsid(0));
}

BOTH(writes_stay_in_the_writable_roots) {
  ServedGuard guard(served(executable));
  std::string outside = scratch() + "-outside";
  PlanSpec plan = shell_plan("touch inside; touch " + outside +
                             " 2>/dev/null; echo x 2>/dev/null > " + outside);
  Control control = guard.launch(plan);
  CHECK(WEXITSTATUS(control.until_closed().wait_status) != 0);
  CHECK(exists(scratch() + "/inside"));
  CHECK(!exists(outside));
}

BOTH(a_script_without_an_interpreter_goes_to_the_shell) {
  ServedGuard guard(served(executable));
  std::string script = scratch() + "/script";
  write_file(script, "exit $(($# + 40))\n");
  CHECK_CALL(chmod(script.c_str(), 0755) == 0);
  Control control = guard.launch(program_plan({script, "a", "b"}));
  CHECK_EQ(WEXITSTATUS(control.until_closed().wait_status), 42);
}

BOTH(a_command_has_three_descriptors) {
  ServeSpec spec = served(executable);
  UniqueFd file(open("/etc/passwd", O_RDONLY));
  UniqueFd directory(open("/", O_RDONLY | O_DIRECTORY));
  spec.inherit = {file.get(), directory.get(), file.get()};
  ServedGuard guard(spec);
  CHECK_EQ(output_of(&guard, actor_plan({"descriptors"})), "0\n1\n2\n");
}

BOTH(a_command_has_three_descriptors_where_close_range_is_refused) {
  for (int error : {ENOSYS, EPERM}) {
    EXPECT_EXIT(0, [&] {
      refuse_call(SYS_close_range, error);
      ServeSpec spec = served(executable);
      UniqueFd file(open("/etc/passwd", O_RDONLY));
      UniqueFd far(fcntl(file.get(), F_DUPFD, 200));
      spec.inherit = {file.get(), file.get()};
      // Below some that are open, where a search through the numbers would end.
      spec.most_descriptors = 150;
      ServedGuard guard(spec);
      CHECK_EQ(output_of(&guard, actor_plan({"descriptors"})), "0\n1\n2\n");
    });
  }
}

BOTH(a_temp_directory_is_there_and_gone_afterwards) {
  ServedGuard guard(served(executable));
  PlanSpec plan =
      with_temp(shell_plan("cd \"$T\" && mkdir -p a/b && touch a/b/c && chmod 0 a && chmod 0 ."));
  plan.environment.push_back("T=" + plan.temp);
  plan.rules.clear();
  Control control = guard.launch(plan, with_temp());
  const Told& told = control.until_closed();
  CHECK_EQ(WEXITSTATUS(told.wait_status), 0);
  CHECK_EQ(told.flags, 0u);
  CHECK(!exists(temp_path()));
}

BOTH(a_plan_comes_with_the_request_or_as_a_descriptor) {
  ServedGuard guard(served(executable));
  // The long one has no choice.
  for (size_t size : {size_t{10}, size_t{kMostInlineBytes}}) {
    PlanSpec plan = shell_plan("test ${#X} = " + std::to_string(size));
    plan.environment.push_back("X=" + std::string(size, 'x'));
    for (bool by_descriptor : {false, true}) {
      LaunchSpec spec;
      spec.plan_by_descriptor = by_descriptor;
      CHECK_EQ(guard.launch(plan, spec).until_closed().wait_status, 0);
    }
  }
  // One after the other in the same memory: nothing of the longer is left in the shorter.
  Bytes garbage(kMostInlineBytes, 0x5a);
  CHECK(guard.launch_bytes(garbage).until_closed().failed);
  CHECK_EQ(guard.launch(shell_plan("exit 0")).until_closed().wait_status, 0);
}

// --- refusals

BOTH(a_launch_that_fails_says_where) {
  ServedGuard guard(served(executable));
  write_file(scratch() + "/plain", "x");
  struct {
    PlanSpec plan;
    Stage stage;
    int error;
    std::string object;
  } cases[] = {
      {program_plan({"/no/such/program"}), Stage::kExec, ENOENT, "/no/such/program"},
      {program_plan({scratch() + "/plain"}), Stage::kExec, EACCES, scratch() + "/plain"},
      {program_plan({"/bin"}), Stage::kExec, EACCES, "/bin"},
      {shell_plan("touch ran"), Stage::kIdentity, EPERM, ""},
      {shell_plan("touch ran"), Stage::kPlan, EPERM, "an unconfined plan"},
      {shell_plan("touch ran"), Stage::kPlan, EINVAL, "temp directory"},
      {shell_plan("touch ran"), Stage::kWorkingDirectory, ENOENT, scratch() + "/gone"},
      {shell_plan("touch ran"), Stage::kRootChanged, ESTALE, scratch()},
      {shell_plan("touch ran"), Stage::kLandlockCreate, EOPNOTSUPP, ""},
      {shell_plan("touch ran"), Stage::kLandlockCreate, EOPNOTSUPP, ""},
      {shell_plan("touch ran"), Stage::kRootChanged, ENOENT, scratch() + "/gone"},
      {shell_plan("touch ran"), Stage::kLimits, EINVAL, ""},
      {shell_plan("touch ran"), Stage::kExec, E2BIG, "/bin/sh"},
      {shell_plan("touch ran"), Stage::kPlan, EINVAL, "filter features"},
      {shell_plan("touch ran"), Stage::kPlan, EINVAL, "filter features"},
  };
  cases[3].plan.gid += 1;
  cases[4].plan.flags = 0;
  cases[4].plan.landlock_abi = 0;
  cases[5].plan.temp = "/tmp/elsewhere";
  cases[6].plan.cwd = scratch() + "/gone";
  cases[7].plan.cwd_inode += 1;
  cases[8].plan.landlock_abi = 1000;
  cases[9].plan.landlock_abi = 0x80000007;
  cases[10].plan.rules.push_back({RuleKind::kTree, scratch() + "/gone", true, 1, 1});
  cases[11].plan.limits = {{999, 1, 1}};
  cases[12].plan.environment.push_back("X=" + std::string(8 << 20, 'x'));
  cases[13].plan.filter = kFilterFeatures + 1;
  cases[14].plan.filter = kFilterDoors | 1u << 31;
  for (const auto& row : cases) {
    Control control = guard.launch(row.plan);
    const Told& told = control.until_closed();
    CHECK(told.failed && !told.started && !told.exited && !told.ended);
    CHECK_EQ(stage_name(told.stage), stage_name(row.stage));
    CHECK_EQ(told.error, row.error);
    CHECK_EQ(told.object, row.object);
  }
  CHECK(!exists(scratch() + "/ran"));
  expect_running(&guard);
}

BOTH(a_malformed_plan_fails_with_its_offset) {
  ServedGuard guard(served(executable));
  Bytes plan = encode(shell_plan("touch ran"));
  plan[12] = 0xff;
  Control control = guard.launch_bytes(plan);
  const Told& told = control.until_closed();
  CHECK_EQ(stage_name(told.stage), "plan");
  CHECK_EQ(told.error, EINVAL);
  CHECK_EQ(told.detail, 12u);
  for (const Bytes& bytes : {Bytes{}, Bytes(7, 0), Bytes(4096, 0xff)}) {
    Control other = guard.launch_bytes(bytes);
    CHECK_EQ(stage_name(other.until_closed().stage), "plan");
  }
  CHECK(!exists(scratch() + "/ran"));
  expect_running(&guard);
}

BOTH(a_plan_that_is_no_memory_is_read_all_the_same) {
  ServedGuard guard(served(executable));
  Bytes bytes = encode(shell_plan("exit 7"));
  write_file(scratch() + "/plan", std::string(bytes.begin(), bytes.end()));
  UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  int pipe_ends[2];
  CHECK_CALL(pipe2(pipe_ends, O_CLOEXEC) == 0);
  UniqueFd file(open((scratch() + "/plan").c_str(), O_RDONLY | O_CLOEXEC));
  UniqueFd directory(open("/", O_RDONLY | O_CLOEXEC));
  struct {
    int fd;
    bool runs;
  } plans[] = {
      {file.get(), true}, {pipe_ends[0], false}, {directory.get(), false}, {null.get(), false}};
  for (const auto& plan : plans) {
    int ends[2];
    CHECK_CALL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    guard.send(
        {bytes_of(request_header()), {plan.fd, ends[1], null.get(), null.get(), null.get()}});
    close(ends[1]);
    Control control{UniqueFd(ends[0])};
    const Told& told = control.until_closed();
    CHECK_EQ(told.ended, plan.runs);
    if (!plan.runs) CHECK_EQ(stage_name(told.stage), "plan");
  }
  for (int fd : pipe_ends) close(fd);
}

BOTH(a_temp_directory_that_cannot_be_made) {
  ServedGuard guard(served(executable));
  CHECK_CALL(mkdir(temp_path().c_str(), 0700) == 0);
  write_file(temp_path() + "/foreign", "intact");
  Control control = guard.launch(with_temp(shell_plan("touch ran")), with_temp());
  const Told& told = control.until_closed();
  CHECK_EQ(stage_name(told.stage), "temp");
  CHECK_EQ(told.error, EEXIST);
  LaunchSpec other = with_temp();
  other.temp_name = "elsewhere";
  Control second = guard.launch(with_temp(shell_plan("touch ran")), other);
  CHECK_EQ(second.until_closed().error, EINVAL);
  CHECK_EQ(read_file(temp_path() + "/foreign"), "intact");
  CHECK(!exists(scratch() + "/ran"));
  expect_running(&guard);
}

// --- requests that no owner sends

// Each ends the guard, and with it what it runs.
void expect_end_of_guard(const std::string& executable,
                         const std::function<RawRequest(int null)>& request) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(shell_plan("sleep 1000 & exec sleep 1000"));
  pid_t pid = control.until_started().pid;
  UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  guard.send(request(null.get()));
  CHECK(guard.end(5000) == exited(0));
  CHECK(control.until_closed(5000).closed);
  CHECK(!is_alive(pid));
  CHECK(all_gone(3000));
}

RawRequest request_of(const RunRequest& header, int null, size_t count) {
  return {bytes_of(header), std::vector<int>(count, null)};
}

BOTH(a_malformed_header_is_the_end) {
  expect_end_of_guard(executable, [](int null) {
    RawRequest request = request_of(request_header(), null, 5);
    request.header.resize(10);
    return request;
  });
  expect_end_of_guard(executable, [](int null) {
    RawRequest request = request_of(request_header(), null, 5);
    request.header += "x";
    return request;
  });
  expect_end_of_guard(executable, [](int null) {
    RunRequest header = request_header();
    header.magic ^= 1;
    return request_of(header, null, 5);
  });
  expect_end_of_guard(executable, [](int null) {
    RunRequest header = request_header();
    header.version += 1;
    return request_of(header, null, 5);
  });
}

BOTH(a_plan_that_is_not_where_the_header_says_is_the_end) {
  RunRequest header = request_header();
  header.flags = kRequestPlanInline;
  for (size_t size : {size_t{0}, size_t{kMostInlineBytes + 1}}) {
    expect_end_of_guard(executable, [&](int null) {
      RawRequest request = request_of(header, null, 4);
      request.header += std::string(size, 'x');
      return request;
    });
  }
  expect_end_of_guard(executable, [&](int null) {
    RawRequest request = request_of(header, null, 5);
    request.header += "x";
    return request;
  });
}

BOTH(other_groups_are_the_end) {
  expect_end_of_guard(executable, [](int null) {
    RunRequest header = request_header();
    header.groups ^= 1;
    return request_of(header, null, 5);
  });
}

BOTH(another_number_of_descriptors_is_the_end) {
  for (size_t count : {0, 1, 4, 6, 7, 16, 17, 100}) {
    expect_end_of_guard(executable,
                        [&](int null) { return request_of(request_header(), null, count); });
  }
  for (size_t count : {5, 7}) {
    expect_end_of_guard(
        executable, [&](int null) { return request_of(request_header(temp_name()), null, count); });
  }
}

BOTH(another_sender_is_the_end) {
  needs_root();
  ServedGuard guard(served(executable));
  EXPECT_EXIT(0, [&] {
    CHECK_CALL(setresgid(54321, 54321, 54321) == 0 && setresuid(54321, 54321, 54321) == 0);
    UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    guard.send(request_of(request_header(), null.get(), 5));
  });
  CHECK(guard.end(5000) == exited(0));
}

// As many as it has while nothing happens.
int settled_descriptors(pid_t pid) {
  int count = -1;
  CHECK(eventually(kPatienceMs, [&] {
    int before = count_of_descriptors(pid);
    poll(nullptr, 0, 200);
    count = count_of_descriptors(pid);
    return count == before;
  }));
  return count;
}

BOTH(no_descriptor_of_a_request_stays_open) {
  ServedGuard guard(served(executable));
  expect_running(&guard);
  for (int i = 0; i < 2; ++i) {
    CHECK(guard.launch(with_temp(shell_plan("exit 0")), with_temp()).until_closed().ended);
  }
  // What waits for the next run is held here too, in flight or not.
  Ready ready = guard.ready();
  int before = settled_descriptors(guard.pid());
  for (int i = 0; i < 20; ++i) expect_running(&guard);
  for (int i = 0; i < 20; ++i) {
    Control control = guard.launch(with_temp(shell_plan("touch ran")));
    CHECK(control.until_closed().failed);
  }
  for (int i = 0; i < 20; ++i) {
    Control control = guard.launch(with_temp(shell_plan("exit 0")), with_temp());
    CHECK(control.until_closed().ended);
  }
  CHECK(eventually(2000, [&] { return count_of_descriptors(guard.pid()) == before; }));
}

// One run may not be had for want of descriptors; the others go on.
BOTH(out_of_descriptors_is_the_end_of_one_run_only) {
  ServeSpec spec = served(executable);
  spec.most_descriptors = 32;
  ServedGuard guard(spec);
  Control first = guard.launch(shell_plan("exec sleep 1000"));
  first.until_started();
  std::vector<Control> runs;
  for (int i = 1; i <= 20; ++i) {
    runs.push_back(guard.launch(with_temp(shell_plan("exec sleep 1000"), i), with_temp(i)));
  }
  for (Control& run : runs) {
    while (!run.told().started && !run.told().closed) run.listen(100);
  }
  CHECK(is_alive(first.told().pid));
  for (Control& run : runs) {
    if (run.told().started) run.ask(ControlType::kKill);
    const Told& told = run.until_closed();
    // Of an ordinary user the kernel also counts the descriptors on their way.
    if (told.failed) CHECK_EQ(stage_name(told.stage), "descriptors");
  }
  expect_running(&guard);
}

// It could not clean up after a run whose report it had no room for.
BOTH(a_guard_without_descriptors_left_leaves_nothing_behind) {
  for (int most = 24; most < 40; ++most) {
    ServeSpec spec = served(executable);
    spec.most_descriptors = most;
    ServedGuard guard(spec);
    std::vector<Control> runs;
    for (int i = 1; i <= 8; ++i) {
      PlanSpec plan = with_temp(shell_plan("touch \"$T/x\"; exec sleep 1000"), i);
      plan.environment.push_back("T=" + plan.temp);
      runs.push_back(guard.launch(plan, with_temp(i)));
    }
    for (Control& run : runs) {
      while (!run.told().started && !run.told().closed) run.listen(100);
      if (run.told().started) CHECK_CALL(kill(run.told().supervisor, SIGKILL) == 0);
    }
    for (Control& run : runs) run.until_closed();
    CHECK(eventually(2000, [] { return names_in(scratch()).size() <= 1; }));
    guard.close_socket();
    CHECK(guard.end() == exited(0));
    CHECK(names_in(scratch()).empty());
  }
}

BOTH(a_run_that_cannot_be_forked_is_refused) {
  become_ordinary_user();
  // For the guard and nothing more.
  rlimit limit = room_for_processes(1);
  CHECK_CALL(setrlimit(RLIMIT_NPROC, &limit) == 0);
  ServedGuard guard(served(executable));
  for (int i = 0; i < 20; ++i) {
    Control control = guard.launch(shell_plan("touch ran"));
    const Told& told = control.until_closed();
    CHECK_EQ(stage_name(told.stage), "process");
    CHECK_EQ(told.error, EAGAIN);
  }
  CHECK(!exists(scratch() + "/ran"));
  guard.close_socket();
  CHECK(guard.end() == exited(0));
}

// --- what the owner asks for

BOTH(a_signal_reaches_the_command) {
  ServedGuard guard(served(executable));
  PlanSpec plan = shell_plan("trap 'exit 5' USR1; touch ready; while :; do sleep 0.02; done");
  Control control = guard.launch(plan);
  control.until_started();
  CHECK(eventually(10000, [] { return exists(scratch() + "/ready"); }));
  control.ask(ControlType::kSignal, SIGUSR1);
  const Told& told = control.until_closed();
  CHECK_EQ(WEXITSTATUS(told.wait_status), 5);
}

BOTH(a_request_in_pieces_is_one_request) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(shell_plan("exec sleep 1000"));
  control.until_started();
  ControlRequest request{static_cast<uint32_t>(ControlType::kSignal), SIGTERM};
  char bytes[sizeof request];
  memcpy(bytes, &request, sizeof request);
  for (char byte : bytes) {
    CHECK_CALL(send(control.fd(), &byte, 1, MSG_NOSIGNAL) == 1);
    poll(nullptr, 0, 5);
  }
  CHECK_EQ(WTERMSIG(control.until_closed().wait_status), SIGTERM);
}

BOTH(signals_that_are_none_are_not_sent) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(shell_plan("exec sleep 1000"));
  pid_t pid = control.until_started().pid;
  for (uint32_t signal : {0u, 65u, 0x7fffffffu, 0xffffffffu}) {
    control.ask(ControlType::kSignal, signal);
    control.ask(ControlType::kSignalTree, signal);
  }
  poll(nullptr, 0, 50);
  CHECK(is_alive(pid));
  control.ask(ControlType::kSignal, SIGKILL);
  CHECK_EQ(WTERMSIG(control.until_closed().wait_status), SIGKILL);
}

BOTH(a_signal_to_the_tree_reaches_all_of_it) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(actor_plan({"tree", scratch()}));
  std::vector<pid_t> pids = start_tree(&control);
  control.ask(ControlType::kSignalTree, SIGTERM);
  const Told& told = control.until_closed();
  CHECK_EQ(WTERMSIG(told.wait_status), SIGTERM);
  CHECK(all_dead(pids));
}

BOTH(a_kill_ends_the_tree) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(actor_plan({"tree", scratch()}));
  std::vector<pid_t> pids = start_tree(&control);
  control.ask(ControlType::kKill);
  const Told& told = control.until_closed(3000);
  CHECK_EQ(WTERMSIG(told.wait_status), SIGKILL);
  CHECK(told.ended);
  CHECK_EQ(told.survivor_count, 4u);
  CHECK(all_dead(pids));
}

BOTH(an_unknown_request_ends_the_tree) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(actor_plan({"tree", scratch()}));
  std::vector<pid_t> pids = start_tree(&control);
  control.ask(static_cast<ControlType>(77));
  control.until_closed(3000);
  CHECK(all_dead(pids));
}

BOTH(an_owner_that_leaves_ends_the_tree) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(with_temp(actor_plan({"tree", scratch()})), with_temp());
  std::vector<pid_t> pids = start_tree(&control);
  Control other = guard.launch(shell_plan("exec sleep 1000"));
  other.until_started();
  control.close();
  CHECK(eventually(2000, [&] { return all_dead(pids) && !exists(temp_path()); }));
  CHECK(is_alive(other.told().pid));
}

BOTH(stops_and_continues_are_told) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(shell_plan("kill -STOP $$; sleep 0.3; exit 3"));
  control.until_started();
  CHECK(eventually(5000, [&] { return !control.listen(10).stops.empty(); }));
  CHECK_EQ(control.told().stops[0], SIGSTOP);
  control.ask(ControlType::kSignal, SIGCONT);
  const Told& told = control.until_closed();
  CHECK_EQ(told.continues, 1);
  CHECK_EQ(WEXITSTATUS(told.wait_status), 3);
}

// --- who dies when

BOTH(what_a_command_leaves_is_ended_and_named) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(actor_plan({"orphans", scratch()}));
  const Told& told = control.until_closed();
  CHECK_EQ(WEXITSTATUS(told.wait_status), 0);
  CHECK_EQ(told.survivor_count, 4u);
  CHECK_EQ(told.survivors.size(), size_t{4});
  for (const char* name : {"child", "session", "child-orphan", "session-orphan"}) {
    pid_t pid = pid_from(scratch() + "/" + name);
    CHECK(!is_alive(pid));
    auto named = std::find_if(told.survivors.begin(), told.survivors.end(),
                              [&](const Survivor& survivor) { return survivor.pid == pid; });
    CHECK(named != told.survivors.end());
    CHECK_EQ(named->command, beside_this_test("actor") + " orphans " + scratch());
  }
}

// Nobody reads what is told meanwhile.
BOTH(more_survivors_than_can_be_told_end_all_the_same) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(actor_plan({"leave", "600", scratch(), std::string(300, 'x')}));
  pid_t last = pid_from(scratch() + "/last");
  CHECK(eventually(10000, [&] { return !is_alive(last) && children_of(guard.pid()).size() <= 3; }));
  CHECK(eventually(10000, [&] { return count_named("actor") == 0; }));
  const Told& told = control.until_closed();
  CHECK(told.ended);
  CHECK_EQ(told.survivor_count, 600u);
  CHECK(!told.survivors.empty());
}

BOTH(a_process_without_its_first_thread_is_a_survivor_too) {
  ServedGuard guard(served(executable));
  std::string actor = beside_this_test("actor");
  Control control = guard.launch(shell_plan(
      actor +
      " headless & echo $! > pid; while ! grep -q '^State:.Z' /proc/$!/status; do :; done"));
  const Told& told = control.until_closed();
  CHECK_EQ(told.survivor_count, 1u);
  CHECK(!is_alive(pid_from(scratch() + "/pid")));
}

BOTH(the_owner_gone_is_the_end_within_two_seconds) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(with_temp(actor_plan({"tree", scratch()})), with_temp());
  std::vector<pid_t> pids = start_tree(&control);
  int64_t began = now_ms();
  guard.close_socket();
  CHECK(guard.end(2000) == exited(0));
  CHECK(now_ms() - began < 2000);
  CHECK(all_dead(pids));
  CHECK(!exists(temp_path()));
  CHECK(all_gone(1000));
}

// The command, its supervisor and the owner's leaving, all stopped.
BOTH(the_owner_gone_while_a_supervisor_does_not_answer) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(with_temp(actor_plan({"tree", scratch()})), with_temp());
  std::vector<pid_t> pids = start_tree(&control);
  CHECK_CALL(kill(control.told().supervisor, SIGSTOP) == 0);
  guard.close_socket();
  CHECK(guard.end(4000) == exited(0));
  CHECK(all_dead(pids));
  CHECK(!exists(temp_path()));
  CHECK(all_gone(1000));
}

BOTH(a_supervisor_killed_is_the_end_of_its_tree_only) {
  ServedGuard guard(served(executable));
  Control other = guard.launch(shell_plan("sleep 1000 & touch other; wait"));
  other.until_started();
  CHECK(eventually(10000, [] { return exists(scratch() + "/other"); }));
  Control control = guard.launch(with_temp(actor_plan({"tree", scratch()})), with_temp());
  std::vector<pid_t> pids = start_tree(&control);
  CHECK_CALL(kill(control.told().supervisor, SIGKILL) == 0);
  const Told& told = control.until_closed(3000);
  CHECK(!told.ended);
  CHECK(all_dead(pids));
  CHECK(!exists(temp_path()));
  CHECK(is_alive(other.told().pid));
  other.ask(ControlType::kKill);
  // Its `sleep` too was not touched.
  CHECK_EQ(other.until_closed().survivor_count, 1u);
  expect_running(&guard);
}

BOTH(a_hundred_supervisors_killed) {
  ServedGuard guard(served(executable));
  for (int i = 0; i < 100; ++i) {
    Control control = guard.launch(
        shell_plan("setsid sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' & exec sleep 1000"));
    CHECK_CALL(kill(control.until_started().supervisor, SIGKILL) == 0);
    control.until_closed();
  }
  guard.close_socket();
  CHECK(guard.end() == exited(0));
  CHECK(all_gone(1000));
}

BOTH(supervisors_killed_before_their_run_are_replaced) {
  ServedGuard guard(served(executable));
  Control live = guard.launch(shell_plan("exec sleep 1000"));
  pid_t supervisor = live.until_started().supervisor;
  for (int i = 0; i < 5; ++i) {
    for (pid_t pid : children_of(guard.pid())) {
      if (pid == supervisor) continue;
      CHECK_CALL(kill(pid, SIGKILL) == 0);
      // One that is just dying could still take the request with it.
      CHECK(eventually(5000, [&] { return !is_alive(pid); }));
    }
    expect_running(&guard);
  }
  CHECK(is_alive(live.told().pid));
}

// As one is whose command executes a program on a mount that does not answer.
BOTH(a_supervisor_that_does_not_hear_its_owner_leave_is_ended) {
  ServedGuard guard(served(executable));
  PlanSpec plan = with_temp(actor_plan({"tree", scratch()}));
  Control control = guard.launch(plan, with_temp());
  std::vector<pid_t> pids = start_tree(&control);
  Control other = guard.launch(shell_plan("exec sleep 1000"));
  pid_t bystander = other.until_started().pid;
  CHECK_CALL(kill(control.told().supervisor, SIGSTOP) == 0);
  // While its owner is there it is left alone.
  poll(nullptr, 0, 3000);
  CHECK(std::all_of(pids.begin(), pids.end(), is_alive));
  control.close();
  CHECK(eventually(10000, [&] { return all_dead(pids) && !exists(temp_path()); }));
  CHECK(is_alive(bystander));
  expect_running(&guard);
}

BOTH(a_guard_killed_is_the_end_of_every_tree) {
  ServedGuard guard(served(executable));
  Control control = guard.launch(actor_plan({"tree", scratch()}));
  std::vector<pid_t> pids = start_tree(&control);
  Control other = guard.launch(shell_plan("exec sleep 1000"));
  pids.push_back(other.until_started().pid);
  CHECK_CALL(kill(guard.pid(), SIGKILL) == 0);
  CHECK(guard.end() == signalled(SIGKILL));
  CHECK(control.until_closed(3000).ended);
  CHECK(other.until_closed(3000).ended);
  CHECK(all_dead(pids));
  CHECK(all_gone(1000));
}

BOTH(guard_and_supervisor_killed_leave_what_the_next_guard_ends) {
  std::string journals = scratch() + "/journals";
  CHECK_CALL(mkdir(journals.c_str(), 0700) == 0);
  ServeSpec spec = served(executable);
  spec.journal = journals;
  ServedGuard guard(spec);
  PlanSpec plan = with_temp(shell_plan(
      "sh -c 'echo $$ > member.new; mv member.new member; exec sleep 1000' & exec sleep 1000"));
  // By which a member of a session is known whose leader is gone.
  plan.limits = {{RLIMIT_CORE, 1, 1}};
  Control control = guard.launch(plan, with_temp());
  control.until_started();
  pid_t member = pid_from(scratch() + "/member");
  CHECK_EQ(names_in(journals).size(), size_t{1});
  // Neither may act on the other's end.
  for (pid_t pid : {guard.pid(), control.told().supervisor}) CHECK_CALL(kill(pid, SIGSTOP) == 0);
  for (pid_t pid : {guard.pid(), control.told().supervisor}) CHECK_CALL(kill(pid, SIGKILL) == 0);
  CHECK(guard.end() == signalled(SIGKILL));
  CHECK(is_alive(member));
  CHECK(exists(temp_path()));

  ServedGuard next(spec);
  Control later = next.launch(with_temp(shell_plan("exit 0"), 2), with_temp(2));
  CHECK(later.until_closed().ended);
  CHECK(eventually(2000, [&] { return !is_alive(member); }));
  // Swept as the next run's parent directory is the same.
  CHECK(eventually(2000, [] { return !exists(temp_path()); }));
  CHECK_EQ(names_in(journals).size(), size_t{1});
  next.close_socket();
  CHECK(next.end() == exited(0));
  CHECK(names_in(journals).empty());
  CHECK(all_gone(1000));
}

BOTH(fifty_runs_at_once) {
  ServedGuard guard(served(executable));
  std::vector<Control> runs;
  for (int i = 0; i < 50; ++i) {
    PlanSpec plan =
        with_temp(shell_plan("touch \"$T/x\"; sleep 0.1; exit " + std::to_string(i)), i);
    plan.environment.push_back("T=" + plan.temp);
    runs.push_back(guard.launch(plan, with_temp(i)));
  }
  for (int i = 0; i < 50; ++i) {
    const Told& told = runs[static_cast<size_t>(i)].until_closed();
    CHECK(told.ended);
    CHECK_EQ(WEXITSTATUS(told.wait_status), i);
    CHECK_EQ(told.flags, 0u);
  }
  // But for one that may wait for the next run.
  CHECK(names_in(scratch()).size() <= 1);
  guard.close_socket();
  CHECK(guard.end() == exited(0));
  CHECK(names_in(scratch()).empty());
}

// --- temp directories made ahead

PlanSpec in_ready(PlanSpec plan, const Ready& ready) {
  plan.temp = scratch() + "/" + ready.told.name;
  plan.environment.push_back("T=" + plan.temp);
  return plan;
}

LaunchSpec with_ready(const Ready& ready) {
  LaunchSpec spec;
  spec.temp_parent = scratch();
  spec.temp_name = ready.told.name;
  spec.temp_directory = ready.directory.get();
  return spec;
}

// A guard that has made one.
Ready ready_of(ServedGuard* guard) {
  for (int i = 1; i <= 2; ++i) {
    CHECK(!guard->has_told(0));
    CHECK(guard->launch(with_temp(shell_plan("exit 0"), i), with_temp(i)).until_closed().ended);
  }
  return guard->ready();
}

BOTH(the_next_temp_directory_is_made_when_a_run_has_ended) {
  ServedGuard guard(served(executable));
  Ready ready = ready_of(&guard);
  struct stat found;
  CHECK_CALL(fstat(ready.directory.get(), &found) == 0);
  CHECK(untouched(ready.told, found));
  CHECK_EQ(found.st_mode & 07777, 0700u);
  CHECK(own_temp_name(ready.told.name));
  PlanSpec plan = in_ready(shell_plan("test -z \"$(ls -A \"$T\")\" && touch \"$T/x\""), ready);
  Control control = guard.launch(plan, with_ready(ready));
  CHECK(control.until_closed().ended);
  CHECK_EQ(WEXITSTATUS(control.told().wait_status), 0);
  CHECK_EQ(control.told().flags, 0u);
  CHECK(!exists(plan.temp));
  Ready next = guard.ready();
  CHECK(strcmp(next.told.name, ready.told.name) != 0);
  // One at a time waits.
  expect_running(&guard);
  CHECK(!guard.has_told(50));
}

BOTH(a_temp_directory_that_no_run_takes_goes_with_the_guard) {
  ServedGuard guard(served(executable));
  Ready ready = ready_of(&guard);
  std::string path = scratch() + "/" + ready.told.name;
  ready.directory.reset();
  CHECK(exists(path));
  guard.close_socket();
  CHECK(guard.end() == exited(0));
  CHECK(!exists(path));
}

// Taken for a run that another guard serves.
BOTH(a_temp_directory_that_somebody_holds_does_not_go_with_the_guard) {
  ServedGuard guard(served(executable));
  Ready ready = ready_of(&guard);
  guard.close_socket();
  CHECK(guard.end() == exited(0));
  ServedGuard next(served(executable));
  PlanSpec plan = in_ready(shell_plan("touch \"$T/x\""), ready);
  Control control = next.launch(plan, with_ready(ready));
  CHECK(control.until_closed().ended);
  CHECK_EQ(WEXITSTATUS(control.told().wait_status), 0);
  CHECK(!exists(plan.temp));
}

BOTH(a_temp_directory_that_is_gone_is_made_again) {
  ServedGuard guard(served(executable));
  Ready ready = ready_of(&guard);
  PlanSpec plan = in_ready(shell_plan("touch \"$T/x\""), ready);
  CHECK_CALL(rmdir(plan.temp.c_str()) == 0);
  struct stat found;
  CHECK_CALL(fstat(ready.directory.get(), &found) == 0);
  CHECK(!untouched(ready.told, found));
  Control control = guard.launch(plan, with_ready(ready));
  CHECK(control.until_closed().ended);
  CHECK_EQ(WEXITSTATUS(control.told().wait_status), 0);
  CHECK(!exists(plan.temp));
}

BOTH(a_temp_directory_of_a_killed_guard_is_swept) {
  ServedGuard guard(served(executable));
  Ready ready = ready_of(&guard);
  std::string path = scratch() + "/" + ready.told.name;
  CHECK_CALL(kill(guard.pid(), SIGKILL) == 0);
  CHECK(guard.end() == signalled(SIGKILL));
  ready.directory.reset();
  CHECK(exists(path));
  ServedGuard next(served(executable));
  CHECK(next.launch(with_temp(shell_plan("exit 0")), with_temp()).until_closed().ended);
  CHECK(eventually(2000, [&] { return !exists(path); }));
}

BOTH(a_temp_directory_that_was_touched_is_seen) {
  const std::function<void(const std::string&)> touches[] = {
      [](const std::string& path) { write_file(path + "/planted", ""); },
      [](const std::string& path) { CHECK_CALL(chmod(path.c_str(), 0755) == 0); },
      [](const std::string& path) { CHECK_CALL(rename(path.c_str(), (path + "x").c_str()) == 0); },
  };
  for (const auto& touch : touches) {
    ServedGuard guard(served(executable));
    Ready ready = ready_of(&guard);
    // Longer than the kernel's coarse clock takes to go on.
    poll(nullptr, 0, 20);
    touch(scratch() + "/" + ready.told.name);
    struct stat found;
    CHECK_CALL(fstat(ready.directory.get(), &found) == 0);
    CHECK(!untouched(ready.told, found));
    // Another waits for the next run.
    expect_running(&guard);
    CHECK(strcmp(guard.ready().told.name, ready.told.name) != 0);
  }
}

// A process that runs one command has no use for a second directory.
BOTH(one_run_makes_no_directory_ahead) {
  ServedGuard guard(served(executable));
  CHECK(guard.launch(with_temp(shell_plan("exit 0")), with_temp()).until_closed().ended);
  CHECK(!guard.has_told(50));
  CHECK(names_in(scratch()).empty());
}

// --- hostile commands

// Linux lets any process of a user lower any other's limits; confinement does not change that.
BOTH(a_supervisor_without_descriptors_still_ends_its_tree) {
  ServedGuard guard(served(executable));
  std::string actor = beside_this_test("actor");
  Control control =
      guard.launch(shell_plan(actor + " tree " + scratch() + " & setsid sleep 1000 & " +
                              "while ! [ -e go ]; do sleep 0.02; done; " + actor +
                              " lower-limits $PPID && touch lowered; exec sleep 1000"));
  std::vector<pid_t> pids = start_tree(&control);
  write_file(scratch() + "/go", "");
  CHECK(eventually(10000, [] { return exists(scratch() + "/lowered"); }));
  control.ask(ControlType::kKill);
  control.until_closed();
  CHECK(all_dead(pids));
  guard.close_socket();
  CHECK(guard.end() == exited(0));
  CHECK(all_gone(1000));
}

BOTH(a_supervisor_under_its_own_filter_cleans_up_the_same) {
  ServedGuard guard(served(executable));
  std::string actor = beside_this_test("actor");
  PlanSpec plan = with_temp(shell_plan(
      "cd $T; i=0; while [ $i -lt 60 ]; do mkdir d; chmod 500 .; cd d; i=$((i + 1)); done; cd " +
      scratch() + "; touch file && chmod 600 file && exec " + actor + " tree " + scratch()));
  plan.environment.push_back("T=" + plan.temp);
  plan.filter = kFilterDoors | kFilterTerminals | kFilterSetId | kFilterBrokerMetadata;
  Control control = guard.launch(plan, with_temp());
  std::vector<pid_t> pids = start_tree(&control);
  control.ask(ControlType::kKill);
  const Told& told = control.until_closed();
  CHECK(told.ended);
  CHECK_EQ(told.flags, 0u);
  CHECK_EQ(told.survivor_count, 4u);
  CHECK(all_dead(pids));
  CHECK(!exists(temp_path()));
  struct stat found;
  CHECK_CALL(stat((scratch() + "/file").c_str(), &found) == 0);
  CHECK_EQ(found.st_mode & 0777u, 0600u);
}

BOTH(a_command_cannot_look_into_what_watches_it) {
  ServedGuard guard(served(executable));
  std::string own = std::to_string(guard.pid());
  std::string script;
  // The supervisor, the guard, and this process as any other of the user's.
  for (const std::string& pid : {std::string("$PPID"), own, std::to_string(getpid())}) {
    std::string process = "/proc/" + pid;
    script += "cat " + process + "/environ >/dev/null 2>&1 && exit 1; ";
    script += "cat " + process + "/maps 2>/dev/null | grep -q . && exit 2; ";
    for (const char* link : {"fd/0", "cwd", "root", "exe"}) {
      script += "readlink " + process + "/" + link + " >/dev/null && exit 3; ";
    }
  }
  script += "readlink /proc/$$/fd/0 >/dev/null || exit 4; exit 0";
  PlanSpec plan = shell_plan(script);
  Control control = guard.launch(plan);
  CHECK_EQ(WEXITSTATUS(control.until_closed().wait_status), 0);

  // Which is confinement's doing.
  ServeSpec any = served(executable);
  any.kind = "any";
  ServedGuard unconfining(any);
  plan.flags = 0;
  plan.landlock_abi = 0;
  Control unconfined = unconfining.launch(plan);
  CHECK_EQ(WEXITSTATUS(unconfined.until_closed().wait_status), 1);
}

BOTH(a_command_cannot_signal_what_watches_it) {
  needs_landlock(6);
  ServedGuard guard(served(executable));
  Control control = guard.launch(
      shell_plan("kill -KILL $PPID && exit 1; kill -0 " + std::to_string(guard.pid()) +
                 " && exit 2; kill -STOP " + std::to_string(getpid()) + " && exit 3; exit 0"));
  CHECK_EQ(WEXITSTATUS(control.until_closed().wait_status), 0);
}

void expect_bomb_ended(const std::string& executable, const char* kind) {
  become_ordinary_user();
  ServedGuard guard(served(executable));
  PlanSpec plan = actor_plan({"bomb", kind});
  rlimit limit = room_for_processes(150);
  plan.limits = {{RLIMIT_NPROC, limit.rlim_cur, limit.rlim_max}};
  Control control = guard.launch(plan);
  control.until_started();
  poll(nullptr, 0, 300);
  control.ask(ControlType::kKill);
  const Told& told = control.until_closed(40000);
  CHECK(told.ended);
  CHECK_EQ(told.flags, 0u);
  CHECK(told.survivor_count > 10);
  guard.close_socket();
  CHECK(guard.end() == exited(0));
  CHECK(all_gone(1000));
}

BOTH(a_fork_bomb_is_ended) { expect_bomb_ended(executable, "same"); }
BOTH(a_fork_bomb_of_sessions_is_ended) { expect_bomb_ended(executable, "own"); }

BOTH(an_ordinary_user_runs_the_same) {
  become_ordinary_user();
  ServedGuard guard(served(executable));
  Control control = guard.launch(with_temp(actor_plan({"orphans", scratch()})), with_temp());
  const Told& told = control.until_closed();
  CHECK(told.ended);
  CHECK_EQ(told.survivor_count, 4u);
  CHECK(!exists(temp_path()));
  CHECK_CALL(
      kill(guard.launch(shell_plan("exec sleep 1000")).until_started().supervisor, SIGKILL) == 0);
  guard.close_socket();
  CHECK(guard.end() == exited(0));
  CHECK(all_gone(1000));
}

// --- capabilities

BOTH(a_run_of_root_has_what_its_plan_keeps_and_no_more) {
  needs_root();
  for (const char* kind : {"confined", "any"}) {
    ServeSpec spec = served(executable);
    spec.kind = kind;
    ServedGuard guard(spec);
    for (uint64_t keep : {uint64_t{0}, uint64_t{0xb}, ~uint64_t{0}}) {
      PlanSpec plan = program_plan({"/bin/grep", "^Cap", "/proc/self/status"});
      plan.keep_capabilities = keep;
      std::string mask = keep == 0 ? "0000000000000000" : "000000000000000b";
      std::string expected;
      for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
        expected += std::string(set) + ":\t" + mask + "\n";
      }
      CHECK_EQ(output_of(&guard, plan), expected);
    }
  }
}

BOTH(an_unconfined_run_keeps_what_the_user_has) {
  ServeSpec spec = served(executable);
  spec.kind = "any";
  ServedGuard guard(spec);
  PlanSpec plan = shell_plan("touch " + scratch() + "-outside");
  plan.flags = 0;
  plan.landlock_abi = 0;
  plan.rules.clear();
  Control control = guard.launch(plan);
  const Told& told = control.until_closed();
  CHECK_EQ(told.abi, 0u);
  CHECK_EQ(told.handled_fs, 0u);
  CHECK_CALL(unlink((scratch() + "-outside").c_str()) == 0);
}

}  // namespace
}  // namespace cordon::test
