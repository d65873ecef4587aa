// `cordon-exec run`: ends as its command did, and leaves nothing behind.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "test/harness.h"
#include "test/plans.h"
#include "test/served_guard.h"
#include "test/subjects.h"
#include "test/world.h"

namespace cordon::test {
namespace {

OneShotSpec with(const std::string& executable) {
  OneShotSpec spec;
  spec.executable = executable;
  return spec;
}

// A file as its standard error; what it said in the end.
struct Said {
  std::string path = scratch() + "/stderr";
  UniqueFd file{open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};

  std::string text() const { return read_file(path); }
};

End run_to_end(const PlanSpec& plan, const OneShotSpec& spec) {
  return end_of_pid(start_one_shot(plan, spec).pid);
}

BOTH(ends_with_the_commands_code) {
  for (int code : {0, 1, 23, 125, 126, 127, 255}) {
    CHECK(run_to_end(shell_plan("exit " + std::to_string(code)), with(executable)) == exited(code));
  }
}

BOTH(dies_of_the_commands_signal) {
  for (int signal : {SIGTERM, SIGKILL, SIGSEGV, SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) {
    End end = run_to_end(shell_plan("kill -" + std::to_string(signal) + " $$"), with(executable));
    CHECK(end == signalled(signal));
  }
}

BOTH(leaves_no_core_of_its_own) {
  CHECK_CALL(chdir(scratch().c_str()) == 0);
  PlanSpec plan = shell_plan("kill -SEGV $$");
  plan.limits = {{4 /* core */, 0, 0}};
  CHECK(run_to_end(plan, with(executable)) == signalled(SIGSEGV));
  CHECK(names_in(scratch()).empty());
}

BOTH(says_why_nothing_was_started) {
  write_file(scratch() + "/plain", "x");
  struct {
    PlanSpec plan;
    int code;
    std::string text;
  } cases[] = {
      {program_plan({"/no/such/program"}), 127, "cordon-exec: exec: ENOENT: /no/such/program\n"},
      {program_plan({scratch() + "/plain"}), 126,
       "cordon-exec: exec: EACCES: " + scratch() + "/plain\n"},
      {program_plan({"/bin"}), 126, "cordon-exec: exec: EACCES: /bin\n"},
      {shell_plan("touch ran"), 125, "cordon-exec: working-directory: ENOENT: /gone\n"},
      {shell_plan("touch ran"), 125, "cordon-exec: identity: EPERM\n"},
  };
  cases[3].plan.cwd = "/gone";
  cases[4].plan.uid += 1;
  for (const auto& row : cases) {
    Said said;
    OneShotSpec spec = with(executable);
    spec.stdio[2] = said.file.get();
    CHECK(run_to_end(row.plan, spec) == exited(row.code));
    CHECK_EQ(said.text(), row.text);
  }
  CHECK(!exists(scratch() + "/ran"));
}

BOTH(its_command_ignores_no_signal_that_it_was_started_with) {
  ignore_signals();
  UniqueFd file(open((scratch() + "/status").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  OneShotSpec spec = with(executable);
  spec.stdio[1] = file.get();
  CHECK(run_to_end(program_plan({"/bin/cat", "/proc/self/status"}), spec) == exited(0));
  CHECK(read_file(scratch() + "/status").find("SigIgn:\t0000000000000000\n") != std::string::npos);
}

BOTH(hands_its_own_streams_to_the_command) {
  int in[2];
  int out[2];
  CHECK_CALL(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
  OneShotSpec spec = with(executable);
  spec.stdio[0] = in[0];
  spec.stdio[1] = out[1];
  OneShot run = start_one_shot(shell_plan("cat; echo end >&2"), spec);
  close(in[0]);
  close(out[1]);
  CHECK_CALL(write(in[1], "hello", 5) == 5);
  close(in[1]);
  char text[16];
  CHECK_EQ(read(out[0], text, sizeof text), 5);
  CHECK_EQ(read(out[0], text, sizeof text), 0);
  CHECK(end_of_pid(run.pid) == exited(0));
}

BOTH(is_told_of_over_a_control_socket) {
  OneShotSpec spec = with(executable);
  spec.with_control = true;
  OneShot run = start_one_shot(shell_plan("exit 4"), spec);
  const Told& told = run.control.until_closed();
  CHECK(told.started && told.ended);
  CHECK_EQ(WEXITSTATUS(told.wait_status), 4);
  CHECK(end_of_pid(run.pid) == exited(4));
}

BOTH(takes_requests_over_it) {
  OneShotSpec spec = with(executable);
  spec.with_control = true;
  OneShot run = start_one_shot(shell_plan("sleep 1000 & exec sleep 1000"), spec);
  run.control.until_started();
  run.control.ask(ControlType::kKill);
  CHECK(end_of_pid(run.pid) == signalled(SIGKILL));
  CHECK(all_gone(1000));
}

BOTH(an_owner_that_leaves_ends_it) {
  OneShotSpec spec = with(executable);
  spec.with_control = true;
  OneShot run = start_one_shot(shell_plan("setsid sleep 1000 & exec sleep 1000"), spec);
  run.control.until_started();
  run.control.close();
  CHECK(end_of_pid(run.pid, 3000) == signalled(SIGKILL));
  CHECK(all_gone(1000));
}

BOTH(its_temp_directory_is_there_and_gone_afterwards) {
  OneShotSpec spec = with(executable);
  spec.temp_parent = scratch();
  spec.temp_name = temp_name();
  PlanSpec plan = shell_plan("touch $T/file && test -d $T");
  plan.temp = scratch() + "/" + temp_name();
  plan.environment.push_back("T=" + plan.temp);
  plan.rules.clear();
  CHECK(run_to_end(plan, spec) == exited(0));
  CHECK(names_in(scratch()).empty());
}

BOTH(what_an_earlier_one_left_is_swept) {
  std::string stale = scratch() + "/" + temp_name(1);
  CHECK_CALL(mkdir(stale.c_str(), 0700) == 0);
  write_file(stale + "/file", "x");
  OneShotSpec spec = with(executable);
  spec.temp_parent = scratch();
  spec.temp_name = temp_name(2);
  PlanSpec plan = shell_plan("exit 0");
  plan.temp = scratch() + "/" + temp_name(2);
  CHECK(run_to_end(plan, spec) == exited(0));
  CHECK(names_in(scratch()).empty());
}

BOTH(a_signal_to_it_is_the_commands) {
  OneShot run = start_one_shot(
      shell_plan("trap 'touch got; exit 9' TERM; touch ready; while :; do sleep 0.02; done"),
      with(executable));
  CHECK(eventually(10000, [] { return exists(scratch() + "/ready"); }));
  CHECK_CALL(kill(run.pid, SIGTERM) == 0);
  CHECK(end_of_pid(run.pid) == exited(9));
  CHECK(exists(scratch() + "/got"));
}

BOTH(what_its_command_leaves_is_ended) {
  OneShot run = start_one_shot(
      shell_plan("setsid sleep 1000 & (sleep 1000 &) ; sh -c 'setsid sleep 1000 &' ; exit 6"),
      with(executable));
  CHECK(end_of_pid(run.pid) == exited(6));
  CHECK(all_gone(500));
}

BOTH(itself_killed_is_the_end_of_its_tree) {
  OneShot run = start_one_shot(shell_plan("setsid sleep 1000 & touch ready; exec sleep 1000"),
                               with(executable));
  CHECK(eventually(10000, [] { return exists(scratch() + "/ready"); }));
  CHECK_CALL(kill(run.pid, SIGKILL) == 0);
  CHECK(end_of_pid(run.pid) == signalled(SIGKILL));
  CHECK(all_gone(3000));
}

// Not 0, which would say that the command had succeeded.
BOTH(its_supervisor_killed_is_no_success) {
  Said said;
  OneShotSpec spec = with(executable);
  spec.with_control = true;
  spec.stdio[2] = said.file.get();
  OneShot run = start_one_shot(shell_plan("setsid sleep 1000 & exec sleep 1000"), spec);
  CHECK_CALL(kill(run.control.until_started().supervisor, SIGKILL) == 0);
  CHECK(end_of_pid(run.pid) == exited(125));
  CHECK_EQ(said.text(), "cordon-exec: the supervisor was lost; what it watched was ended\n");
  CHECK(!run.control.until_closed().ended);
  CHECK(all_gone(1000));
}

// As in `sh -c 'service & exec cordon-exec run …'`.
BOTH(children_from_before_it_was_executed_are_spared) {
  for (bool lose_supervisor : {false, true}) {
    UniqueFd plan =
        sealed_plan(encode(shell_plan("touch ready; setsid sleep 1000 & sleep 0.2; exit 3")));
    pid_t pid = fork();
    CHECK_CALL(pid >= 0);
    if (pid == 0) {
      pid_t service = fork();
      if (service == 0) {
        for (;;) pause();
      }
      write_file(scratch() + "/service.new", std::to_string(service) + "\n");
      rename((scratch() + "/service.new").c_str(), (scratch() + "/service").c_str());
      std::string number = std::to_string(fcntl(plan.get(), F_DUPFD, 3));
      execl(executable.c_str(), executable.c_str(), "run", number.c_str(), "-", nullptr);
      _exit(112);
    }
    pid_t service = pid_from(scratch() + "/service");
    CHECK(eventually(10000, [] { return exists(scratch() + "/ready"); }));
    if (lose_supervisor) {
      for (pid_t child : children_of(pid)) {
        if (child != service) kill(child, SIGKILL);
      }
    }
    CHECK(end_of_pid(pid) == exited(lose_supervisor ? 125 : 3));
    CHECK(is_alive(service));
    CHECK_CALL(kill(service, SIGKILL) == 0);
    CHECK(all_gone(1000));
    for (const char* name : {"/service", "/ready"}) unlink((scratch() + name).c_str());
  }
}

BOTH(what_is_no_call_of_its_gets_its_usage) {
  std::vector<std::vector<std::string>> calls = {{},
                                                 {"run"},
                                                 {"run", "x", "-"},
                                                 {"run", "3", "x"},
                                                 {"run", "3", "-", "/tmp"},
                                                 {"serve"},
                                                 {"serve", "x"},
                                                 {"serve", "some", "-"},
                                                 {"run", "-1", "-"},
                                                 {"run", "99999999999", "-"},
                                                 {"probe"},
                                                 {"help"},
                                                 {"--version"},
                                                 {"run", "3", "-", "a", "b", "c"}};
  for (const auto& call : calls) {
    Said said;
    pid_t pid = fork();
    CHECK_CALL(pid >= 0);
    if (pid == 0) {
      dup2(said.file.get(), STDERR_FILENO);
      std::vector<std::string> words = {executable};
      words.insert(words.end(), call.begin(), call.end());
      std::vector<char*> pointers;
      for (std::string& word : words) pointers.push_back(word.data());
      pointers.push_back(nullptr);
      execv(executable.c_str(), pointers.data());
      _exit(112);
    }
    CHECK(end_of_pid(pid) == exited(125));
    CHECK(said.text().find("usage: cordon-exec") == 0);
  }
}

BOTH(descriptors_that_are_none_are_refused) {
  Said said;
  pid_t pid = fork();
  CHECK_CALL(pid >= 0);
  if (pid == 0) {
    dup2(said.file.get(), STDERR_FILENO);
    execl(executable.c_str(), executable.c_str(), "run", "77", "-", nullptr);
    _exit(112);
  }
  CHECK(end_of_pid(pid) == exited(125));
  CHECK_EQ(said.text(), "cordon-exec: descriptors: EBADF\n");
}

BOTH(closed_streams_are_no_harm) {
  UniqueFd plan = sealed_plan(encode(shell_plan("cat; echo x; echo y >&2; touch ran")));
  pid_t pid = fork();
  CHECK_CALL(pid >= 0);
  if (pid == 0) {
    int number = fcntl(plan.get(), F_DUPFD, 10);
    for (int fd = 0; fd <= 2; ++fd) close(fd);
    execl(executable.c_str(), executable.c_str(), "run", std::to_string(number).c_str(), "-",
          nullptr);
    _exit(112);
  }
  CHECK(end_of_pid(pid) == exited(0));
  CHECK(exists(scratch() + "/ran"));
}

}  // namespace
}  // namespace cordon::test
