// Process trees: seen as they are, ended whole, and nobody else's touched.

#include "linux/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "linux/own_calls.h"
#include "test/harness.h"
#include "test/world.h"

namespace cordon::test {
namespace {

constexpr int kPatienceMs = 5000;

// Shared with every process of a test.
struct Shared {
  std::atomic<int> count;
  std::atomic<pid_t> pids[16];
};

Shared* shared_memory() {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK_CALL(memory != MAP_FAILED);
  return new (memory) Shared{};
}

[[noreturn]] void wait_for_ever() {
  for (;;) pause();
}

pid_t start(const std::function<void()>& body) {
  pid_t pid = fork();
  CHECK_CALL(pid >= 0);
  if (pid == 0) {
    body();
    _exit(0);
  }
  return pid;
}

// A process that does nothing and its number in `slot`.
void idle(Shared* shared, int slot) {
  shared->pids[slot] = getpid();
  ++shared->count;
  wait_for_ever();
}

void adopt_orphans() { CHECK_CALL(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0); }

// Waits until so many processes of the test are there.
void wait_for_count(Shared* shared, int count) {
  CHECK(eventually(10000, [&] { return shared->count >= count; }));
}

bool end_all(TreeSeen seen = nullptr, void* context = nullptr) {
  return end_descendants(nullptr, 0, kPatienceMs, seen, context);
}

std::vector<pid_t> descendants(const std::vector<pid_t>& spared = {}) {
  Descendants tree;
  CHECK(tree.read(getpid(), spared.data(), spared.size()));
  std::vector<pid_t> pids;
  for (size_t i = 0; i < tree.size(); ++i) pids.push_back(tree.at(i).pid);
  std::sort(pids.begin(), pids.end());
  return pids;
}

void collect(void* context, const Descendants& tree) {
  for (size_t i = 0; i < tree.size(); ++i) {
    if (tree.at(i).alive()) static_cast<std::vector<pid_t>*>(context)->push_back(tree.at(i).pid);
  }
}

// --- /proc/PID/stat

TEST(reads_what_it_is) {
  Shared* shared = shared_memory();
  pid_t child = start([&] {
    setsid();
    idle(shared, 0);
  });
  wait_for_count(shared, 1);
  Process found{};
  CHECK(eventually(5000, [&] { return read_process(child, &found) && found.state == 'S'; }));
  CHECK_EQ(found.pid, child);
  CHECK_EQ(found.parent, getpid());
  CHECK_EQ(found.session, child);
  CHECK_EQ(found.threads, uint64_t{1});
  CHECK(found.alive());
  CHECK(found.start_ticks > 0);
  CHECK(end_all());
}

TEST(names_cannot_pass_for_fields) {
  const char* names[] = {"a) R 1 (",       ")",   "((", " ) Z 1 1 1", "\n) S 1 1",
                         "a) Z 0 0 0 0 0", ") R", "",   "x y z",      ")))))))))))))))"};
  for (const char* name : names) {
    Shared* shared = shared_memory();
    pid_t child = start([&] {
      prctl(PR_SET_NAME, name, 0, 0, 0);
      idle(shared, 0);
    });
    wait_for_count(shared, 1);
    Process found{};
    CHECK(eventually(5000, [&] { return read_process(child, &found) && found.state == 'S'; }));
    CHECK_EQ(found.parent, getpid());
    CHECK_EQ(found.session, getsid(0));
    CHECK(end_all());
  }
}

TEST(a_process_that_is_gone_is_not_read) {
  pid_t child = start([] {});
  siginfo_t ended{};
  CHECK_CALL(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  Process found{};
  CHECK(read_process(child, &found));
  CHECK_EQ(found.state == 'Z', true);
  CHECK(!found.alive());
  CHECK_CALL(waitpid(child, nullptr, 0) == child);
  CHECK(!read_process(child, &found));
  CHECK(!read_process(0, &found));
}

TEST(the_first_process_of_the_machine) {
  Process found{};
  CHECK(read_process(1, &found));
  CHECK_EQ(found.parent, 0);
}

// --- who descends from whom

TEST(descendants_of_every_generation_and_nobody_else) {
  adopt_orphans();
  Shared* shared = shared_memory();
  pid_t child = start([&] {
    start([&] {
      start([&] { idle(shared, 2); });
      idle(shared, 1);
    });
    idle(shared, 0);
  });
  wait_for_count(shared, 3);
  std::vector<pid_t> expected = {shared->pids[0], shared->pids[1], shared->pids[2]};
  std::sort(expected.begin(), expected.end());
  CHECK(descendants() == expected);
  CHECK_EQ(shared->pids[0], child);
  CHECK(end_all());
  CHECK(descendants().empty());
}

TEST(orphans_and_other_sessions_are_descendants) {
  adopt_orphans();
  Shared* shared = shared_memory();
  start([&] {
    start([&] {
      setsid();
      start([&] { idle(shared, 0); });
    });
  });
  wait_for_count(shared, 1);
  CHECK(eventually(5000, [&] {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    return descendants() == std::vector<pid_t>{shared->pids[0]};
  }));
  CHECK(end_all());
}

TEST(spared_subtrees_are_left_out_and_left_alone) {
  adopt_orphans();
  Shared* shared = shared_memory();
  pid_t spared = start([&] {
    start([&] { idle(shared, 1); });
    idle(shared, 0);
  });
  start([&] { idle(shared, 2); });
  wait_for_count(shared, 3);
  CHECK(descendants({spared}) == std::vector<pid_t>{shared->pids[2]});
  CHECK(end_descendants(&spared, 1, kPatienceMs, nullptr, nullptr));
  CHECK(!is_alive(shared->pids[2]));
  Process found{};
  for (int slot : {0, 1}) {
    CHECK(read_process(shared->pids[slot], &found));
    CHECK_EQ(found.state == 'S', true);
  }
  CHECK(end_all());
}

// --- ending

TEST(nothing_to_end) {
  CHECK(!has_children());
  CHECK(end_all());
}

TEST(each_that_lived_is_told_once) {
  adopt_orphans();
  Shared* shared = shared_memory();
  pid_t dead = start([] {});
  for (int i = 0; i < 5; ++i) {
    start([&] {
      setsid();
      start([&] { idle(shared, i); });
    });
  }
  wait_for_count(shared, 5);
  siginfo_t ended{};
  CHECK_CALL(waitid(P_PID, static_cast<id_t>(dead), &ended, WEXITED | WNOWAIT) == 0);
  std::vector<pid_t> told;
  CHECK(end_all(collect, &told));
  for (int i = 0; i < 5; ++i) CHECK_EQ(std::count(told.begin(), told.end(), shared->pids[i]), 1);
  CHECK_EQ(told.size(), size_t{5});
  CHECK(!has_children());
}

TEST(what_ignores_signals_or_is_stopped_ends_too) {
  Shared* shared = shared_memory();
  start([&] {
    for (int signal = 1; signal < 65; ++signal) ::signal(signal, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    idle(shared, 0);
  });
  start([&] {
    ++shared->count;
    raise(SIGSTOP);
  });
  wait_for_count(shared, 2);
  CHECK(end_all());
  CHECK(!has_children());
}

// Uninterruptible for as long as the child runs.
TEST(a_parent_in_vfork_ends_too) {
  adopt_orphans();
  Shared* shared = shared_memory();
  start([&] {
    if (syscall(SYS_vfork) == 0) {
      ++shared->count;
      for (;;) syscall(SYS_pause);
    }
  });
  wait_for_count(shared, 1);
  CHECK(end_all());
  CHECK(!has_children());
}

TEST(processes_in_a_namespace_of_their_own_end_too) {
  adopt_orphans();
  Shared* shared = shared_memory();
  pid_t child = start([&] {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(1);
    // The first of a process namespace cannot be stopped or killed from within.
    start([&] {
      start([&] {
        ++shared->count;
        wait_for_ever();
      });
      ++shared->count;
      wait_for_ever();
    });
    wait_for_ever();
  });
  bool made = eventually(5000, [&] { return shared->count >= 2 || !is_alive(child); });
  if (!made || shared->count < 2) skip("user-namespaces", "user namespaces");
  std::vector<pid_t> told;
  CHECK(end_all(collect, &told));
  CHECK_EQ(told.size(), size_t{3});
  CHECK(!has_children());
}

// Forks without an end, each child the same.
[[noreturn]] void bomb(Shared* shared) {
  for (;;) {
    if (fork() >= 0) ++shared->count;
  }
}

TEST(a_fork_bomb_cannot_outrun_the_end) {
  become_ordinary_user();
  adopt_orphans();
  Shared* shared = shared_memory();
  rlimit limit = room_for_processes(150);
  CHECK_CALL(setrlimit(RLIMIT_NPROC, &limit) == 0);
  start([&] { bomb(shared); });
  CHECK(eventually(20000, [&] { return shared->count >= 140; }));
  CHECK(end_descendants(nullptr, 0, 30000, nullptr, nullptr));
  CHECK(!has_children());
  int after = shared->count;
  poll(nullptr, 0, 100);
  CHECK_EQ(shared->count.load(), after);
}

// Every leader exits at once and is shown as a zombie; its second thread forks on.
[[noreturn]] void headless_bomb(Shared* shared);

void* fork_on(void* argument) {
  auto* shared = static_cast<Shared*>(argument);
  for (;;) {
    pid_t pid = fork();
    if (pid == 0) headless_bomb(shared);
    if (pid > 0) ++shared->count;
  }
}

void headless_bomb(Shared* shared) {
  pthread_t thread;
  pthread_create(&thread, nullptr, fork_on, shared);
  // Without the clean-up of pthread_exit, which waits for locks.
  for (;;) syscall(SYS_exit, 0);
}

TEST(a_process_whose_first_thread_exited_is_alive) {
  Shared* shared = shared_memory();
  pid_t child = start([&] {
    pthread_t thread;
    pthread_create(
        &thread, nullptr, [](void*) -> void* { wait_for_ever(); }, nullptr);
    ++shared->count;
    for (;;) syscall(SYS_exit, 0);
  });
  Process found{};
  CHECK(eventually(5000, [&] { return read_process(child, &found) && found.state == 'Z'; }));
  CHECK_EQ(found.threads, uint64_t{2});
  CHECK(found.alive());
  std::vector<pid_t> told;
  CHECK(end_all(collect, &told));
  CHECK(told == std::vector<pid_t>{child});
  CHECK(!has_children());
}

TEST(a_fork_bomb_of_processes_without_their_first_thread) {
  become_ordinary_user();
  adopt_orphans();
  Shared* shared = shared_memory();
  rlimit limit = room_for_processes(150);
  CHECK_CALL(setrlimit(RLIMIT_NPROC, &limit) == 0);
  start([&] { headless_bomb(shared); });
  CHECK(eventually(20000, [&] { return shared->count >= 50; }));
  CHECK(end_descendants(nullptr, 0, 30000, nullptr, nullptr));
  CHECK(!has_children());
}

TEST(ends_them_when_nothing_can_be_opened) {
  adopt_orphans();
  CHECK(open_child_list());
  Shared* shared = shared_memory();
  start([&] {
    start([&] {
      start([&] { idle(shared, 2); });
      idle(shared, 1);
    });
    idle(shared, 0);
  });
  wait_for_count(shared, 3);
  rlimit none{0, 0};
  CHECK_CALL(setrlimit(RLIMIT_NOFILE, &none) == 0);
  CHECK(end_all());
  CHECK(!has_children());
}

// As a supervisor is, once its command runs.
TEST(ends_them_under_its_own_filter) {
  for (bool descriptors : {true, false}) {
    EXPECT_EXIT(0, [&] {
      adopt_orphans();
      CHECK(open_child_list());
      Shared* shared = shared_memory();
      start([&] {
        start([&] { idle(shared, 1); });
        idle(shared, 0);
      });
      wait_for_count(shared, 2);
      CHECK_CALL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
      rlimit none{0, 0};
      if (!descriptors) CHECK_CALL(setrlimit(RLIMIT_NOFILE, &none) == 0);
      Failure failure;
      CHECK(restrict_own_calls(&failure));
      std::vector<pid_t> told;
      CHECK(end_all(collect, &told));
      CHECK_EQ(told.size(), size_t{descriptors ? 2u : 0u});
      CHECK(!has_children());
    });
  }
}

// Mounted with hidepid=2, /proc does not show a process that made itself undumpable.
TEST(ends_what_proc_hides) {
  needs_root();
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("proc", "/proc", "proc", 0, "hidepid=2") != 0) {
    skip("mounts", "mounts of its own");
  }
  become_ordinary_user();
  adopt_orphans();
  CHECK(open_child_list());
  Shared* shared = shared_memory();
  start([&] {
    start([&] {
      prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
      idle(shared, 1);
    });
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    idle(shared, 0);
  });
  wait_for_count(shared, 2);
  CHECK(descendants().empty());
  CHECK(end_all());
  CHECK(!has_children());
}

// Its numbers are those of another process namespace: whoever goes by them ends somebody else.
TEST(the_proc_of_another_namespace_is_refused) {
  CHECK(open_child_list());
  End end = end_of([] {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(3);
    EXPECT_EXIT(0, [] { CHECK(!open_child_list()); });
  });
  if (end == exited(3)) skip("user-namespaces", "user namespaces");
  CHECK(end == exited(0));
}

TEST(says_so_when_it_can_see_nobody) {
  Shared* shared = shared_memory();
  start([&] { idle(shared, 0); });
  wait_for_count(shared, 1);
  EXPECT_EXIT(0, [&] {
    start([&] { idle(shared, 1); });
    wait_for_count(shared, 2);
    rlimit none{0, 0};
    CHECK_CALL(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(!end_descendants(nullptr, 0, 50, nullptr, nullptr));
  });
  kill(shared->pids[1], SIGKILL);
  CHECK(end_all());
}

TEST(ends_them_where_pidfds_are_refused) {
  for (int error : {ENOSYS, EPERM}) {
    EXPECT_EXIT(0, [&] {
      adopt_orphans();
      refuse_call(SYS_pidfd_open, error);
      Shared* shared = shared_memory();
      start([&] {
        start([&] { idle(shared, 1); });
        idle(shared, 0);
      });
      wait_for_count(shared, 2);
      CHECK(end_all());
      CHECK(!has_children());
    });
  }
}

// A zombie that a tracer outside has not taken note of cannot be waited for.
TEST(gives_up_on_what_does_not_go_away) {
  Shared* shared = shared_memory();
  pid_t ender = start([&] {
    pid_t held = start([&] { idle(shared, 0); });
    CHECK(eventually(10000, [&] { return shared->count == 2; }));
    int64_t began = now_ms();
    CHECK(!end_descendants(nullptr, 0, 300, nullptr, nullptr));
    CHECK(now_ms() - began < 5000);
    CHECK(!is_alive(held));
  });
  CHECK(eventually(10000, [&] { return shared->count == 1; }));
  CHECK_CALL(ptrace(PTRACE_SEIZE, shared->pids[0].load(), nullptr, nullptr) == 0);
  ++shared->count;
  int status = 0;
  CHECK(eventually(10000, [&] { return waitpid(ender, &status, WNOHANG) == ender; }));
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// --- signals

TEST(a_number_that_passed_to_another_process_is_spared) {
  Shared* shared = shared_memory();
  pid_t child = start([&] { idle(shared, 0); });
  wait_for_count(shared, 1);
  Process seen{};
  CHECK(read_process(child, &seen));
  Process earlier = seen;
  --earlier.start_ticks;
  CHECK(!signal_process(earlier, SIGKILL));
  CHECK(is_alive(child));
  CHECK(signal_process(seen, SIGKILL));
  CHECK_CALL(waitpid(child, nullptr, 0) == child);
  CHECK(!signal_process(seen, SIGKILL));
}

TEST(a_signal_reaches_every_descendant) {
  adopt_orphans();
  Shared* shared = shared_memory();
  start([&] {
    start([&] { idle(shared, 1); });
    idle(shared, 0);
  });
  wait_for_count(shared, 2);
  signal_descendants(SIGTERM);
  CHECK(all_gone(5000));
}

// --- names

TEST(a_command_is_told_as_people_write_it) {
  pid_t child =
      start([] { execl("/bin/sh", "sh", "-c", "kill -STOP $$", "", "100 000", nullptr); });
  std::string whole = "sh -c kill -STOP $$  100 000";
  char command[64];
  CHECK(eventually(5000, [&] {
    read_command(child, command, sizeof command);
    return std::string(command) == whole;
  }));
  char cut[8];
  read_command(child, cut, sizeof cut);
  CHECK_EQ(std::string(cut), whole.substr(0, 7));
  kill(child, SIGKILL);
  siginfo_t ended{};
  CHECK_CALL(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  read_command(child, command, sizeof command);
  CHECK_EQ(std::string(command), "sh");
  CHECK_CALL(waitpid(child, nullptr, 0) == child);
  read_command(child, command, sizeof command);
  CHECK_EQ(std::string(command), "");
}

TEST(command_lines_are_read_for_a_whole_tree) {
  start([] { execl("/bin/sh", "sh", "-c", "kill -STOP $$", "first", nullptr); });
  start([] { execl("/bin/sh", "sh", "-c", "kill -STOP $$", "second", nullptr); });
  auto told = [] {
    Descendants tree;
    CHECK(tree.read(getpid(), nullptr, 0));
    CommandLines commands(tree, kPatienceMs);
    std::vector<std::string> all;
    for (size_t i = 0; i < tree.size(); ++i) all.push_back(commands.at(i));
    std::sort(all.begin(), all.end());
    return all;
  };
  std::vector<std::string> expected = {"sh -c kill -STOP $$ first", "sh -c kill -STOP $$ second"};
  CHECK(eventually(5000, [&] { return told() == expected; }));
  CHECK(end_all());
}

TEST(where_there_is_no_time_for_command_lines_names_are_told) {
  pid_t child = start([] { wait_for_ever(); });
  Descendants tree;
  CHECK(tree.read(getpid(), nullptr, 0));
  // No child may be had to look.
  refuse_call(SYS_clone, EAGAIN);
  CommandLines commands(tree, 0);
  CHECK_EQ(tree.size(), size_t{1});
  CHECK_EQ(tree.at(0).pid, child);
  CHECK_EQ(std::string(commands.at(0)), "processes_test");
  CHECK(end_all());
}

// As a process that has its memory locked while it waits for a mount that does not answer.
TEST(what_never_comes_is_waited_for_no_longer_than_said) {
  int64_t began = now_ms();
  CHECK(!look_aside([](void*) { wait_for_ever(); }, nullptr, 100));
  CHECK(now_ms() - began >= 100 && now_ms() - began < 5000);
  CHECK(children().empty());
  auto* seen = static_cast<int*>(map_shared(sizeof(int)));
  CHECK(look_aside([](void* context) { *static_cast<int*>(context) = 7; }, seen, kPatienceMs));
  CHECK_EQ(*seen, 7);
}

}  // namespace
}  // namespace cordon::test
