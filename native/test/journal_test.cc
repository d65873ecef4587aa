// What is left by a crash of guard and supervisor together: exactly that is ended.

#include "linux/journal.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "linux/processes.h"
#include "test/harness.h"
#include "test/world.h"

namespace cordon::test {
namespace {

constexpr uint64_t kTickNs = 10 * 1000 * 1000;

UniqueFd open_directory() {
  UniqueFd directory = open_journal_directory(scratch().c_str());
  CHECK_CALL(directory.valid());
  return directory;
}

void make_private() { CHECK_CALL(chmod(scratch().c_str(), 0700) == 0); }

struct Idle {
  pid_t pid;
  JournalSlot slot;  // as the command writes it
};

// A process that has done `prepare` and waits.
template <typename Prepare>
Idle start_prepared(int32_t leads_session, Prepare prepare) {
  int told[2];
  CHECK_CALL(pipe2(told, O_CLOEXEC) == 0);
  uint64_t after = boot_time_ns();
  pid_t pid = fork();
  CHECK_CALL(pid >= 0);
  if (pid == 0) {
    prepare();
    CHECK_CALL(write(told[1], "x", 1) == 1);
    for (;;) pause();
  }
  uint64_t before = boot_time_ns();
  char byte;
  CHECK_CALL(read(told[0], &byte, 1) == 1);
  for (int fd : told) close(fd);
  return {pid, {pid, leads_session, after, before, {}}};
}

// A process as a confined command is: no_new_privs, its own session, and a child that stays in it.
Idle start_idle(bool confined = true) {
  return start_prepared(1, [&] {
    setsid();
    if (confined) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  });
}

// As the plan of every confined run has it.
void limit_core() {
  rlimit limit{1, 1};
  CHECK_CALL(setrlimit(RLIMIT_CORE, &limit) == 0);
}

// A member of a session whose leader is gone: its pid. The session is `*session`.
pid_t start_leaderless(pid_t* session, JournalSlot* slot, bool confined = true,
                       bool limited = true) {
  std::string path = scratch() + "/member";
  CHECK_CALL(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  uint64_t after = boot_time_ns();
  pid_t leader = fork();
  CHECK_CALL(leader >= 0);
  if (leader == 0) {
    setsid();
    if (confined) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (limited) limit_core();
    pid_t member = fork();
    if (member == 0) {
      for (;;) pause();
    }
    write_file(path, std::to_string(member) + "\n");
    _exit(0);
  }
  *slot = {leader, 1, after, boot_time_ns(), {}};
  CHECK_CALL(waitpid(leader, nullptr, 0) == leader);
  *session = leader;
  pid_t member = pid_from(path);
  unlink(path.c_str());
  return member;
}

// Leaves a journal behind as a guard does that was killed.
void leave_journal(const std::vector<JournalSlot>& slots) {
  EXPECT_EXIT(0, [&] {
    UniqueFd directory = open_directory();
    UniqueFd journal = open_journal(directory.get());
    CHECK(journal.valid());
    for (size_t i = 0; i < slots.size(); ++i) CHECK(write_slot(journal.get(), i, slots[i]));
  });
  CHECK_EQ(names_in(scratch()).size(), size_t{1});
}

void recover() {
  UniqueFd directory = open_directory();
  recover_journals(directory.get());
}

bool ended(pid_t pid) {
  return eventually(2000, [&] { return !is_alive(pid); });
}

// Not merely about to die.
bool stays(pid_t pid) {
  poll(nullptr, 0, 50);
  return is_alive(pid);
}

void end(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

std::string journal_path() { return scratch() + "/" + names_in(scratch()).at(0); }

// Overwrites bytes of the one journal.
void change_journal(size_t at, const void* bytes, size_t size) {
  int fd = open(journal_path().c_str(), O_RDWR | O_CLOEXEC);
  CHECK_CALL(fd >= 0 &&
             pwrite(fd, bytes, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size));
  close(fd);
}

TEST(ends_what_a_dead_guard_names_and_nothing_else) {
  make_private();
  Idle named = start_idle();
  Idle other = start_idle();
  leave_journal({{}, named.slot, {}});
  recover();
  CHECK(ended(named.pid));
  CHECK(stays(other.pid));
  CHECK(names_in(scratch()).empty());
  end(named.pid);
  end(other.pid);
}

TEST(ends_every_named_run) {
  make_private();
  Idle runs[] = {start_idle(), start_idle(), start_idle()};
  leave_journal({runs[0].slot, runs[1].slot, runs[2].slot});
  recover();
  for (const Idle& run : runs) {
    CHECK(ended(run.pid));
    end(run.pid);
  }
}

TEST(a_process_that_started_at_another_time_is_spared) {
  make_private();
  Idle idle = start_idle();
  JournalSlot earlier = idle.slot;
  earlier.started_after -= 10 * kTickNs;
  earlier.started_before = idle.slot.started_after - 5 * kTickNs;
  JournalSlot later = idle.slot;
  later.started_after = idle.slot.started_before + 5 * kTickNs;
  later.started_before = later.started_after + kTickNs;
  for (const JournalSlot& slot : {earlier, later}) {
    leave_journal({slot});
    recover();
    CHECK(stays(idle.pid));
    CHECK(names_in(scratch()).empty());
  }
  end(idle.pid);
}

TEST(members_of_its_session_end_with_their_leader_gone) {
  make_private();
  pid_t session = 0;
  JournalSlot slot{};
  pid_t member = start_leaderless(&session, &slot);
  leave_journal({slot});
  recover();
  CHECK(ended(member));
  CHECK(all_gone(2000));
}

TEST(members_of_a_session_of_another_age_are_spared) {
  make_private();
  Idle leader = start_idle();
  JournalSlot slot = leader.slot;
  slot.started_after -= 100 * kTickNs;
  slot.started_before -= 100 * kTickNs;
  leave_journal({slot});
  recover();
  CHECK(stays(leader.pid));
  end(leader.pid);
}

TEST(members_that_were_never_confined_are_spared) {
  make_private();
  pid_t session = 0;
  JournalSlot slot{};
  pid_t member = start_leaderless(&session, &slot, false);
  leave_journal({slot});
  recover();
  CHECK(stays(member));
  kill(member, SIGKILL);
  CHECK(all_gone(2000));
}

TEST(a_run_that_shared_its_session_ends_alone) {
  make_private();
  pid_t session = 0;
  JournalSlot slot{};
  pid_t member = start_leaderless(&session, &slot);
  slot.leads_session = 0;
  leave_journal({slot});
  recover();
  CHECK(stays(member));
  kill(member, SIGKILL);
  CHECK(all_gone(2000));
}

// Its /proc directory belongs to root.
TEST(a_process_that_made_itself_undumpable_ends_too) {
  become_ordinary_user();
  make_private();
  auto [pid, slot] = start_prepared(0, [] { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); });
  leave_journal({slot});
  recover();
  CHECK(ended(pid));
  end(pid);
}

TEST(a_process_of_another_user_is_spared) {
  needs_root();
  make_private();
  auto [pid, slot] = start_prepared(0, [] {
    CHECK_CALL(setresgid(54321, 54321, 54321) == 0 && setresuid(54321, 54321, 54321) == 0);
  });
  leave_journal({slot});
  recover();
  CHECK(stays(pid));
  end(pid);
}

TEST(a_live_guards_journal_is_left_alone) {
  make_private();
  Idle idle = start_idle();
  UniqueFd directory = open_directory();
  UniqueFd journal = open_journal(directory.get());
  CHECK(write_slot(journal.get(), 0, idle.slot));
  EXPECT_EXIT(0, recover);
  CHECK(stays(idle.pid));
  CHECK_EQ(names_in(scratch()).size(), size_t{1});
  close_journal(directory.get(), &journal);
  CHECK(names_in(scratch()).empty());
  end(idle.pid);
}

TEST(what_a_supervisor_still_holds_is_left_alone) {
  make_private();
  Idle idle = start_idle();
  pid_t guard = fork();
  CHECK_CALL(guard >= 0);
  if (guard == 0) {
    UniqueFd directory = open_directory();
    UniqueFd journal = open_journal(directory.get());
    CHECK(write_slot(journal.get(), 0, idle.slot));
    if (fork() == 0) {
      for (;;) pause();
    }
    _exit(0);
  }
  CHECK_CALL(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  CHECK_CALL(waitpid(guard, nullptr, 0) == guard);
  recover();
  CHECK(stays(idle.pid));
  for (pid_t pid : children()) kill(pid, SIGKILL);
  CHECK(all_gone(2000));
}

// Boot times and pids begin again with each boot.
TEST(a_journal_of_another_boot_names_nobody) {
  make_private();
  Idle idle = start_idle();
  leave_journal({idle.slot});
  change_journal(2 * sizeof(uint64_t), "another-boot", 12);
  recover();
  CHECK(stays(idle.pid));
  CHECK(names_in(scratch()).empty());
  end(idle.pid);
}

// The run's session is gone and its number was given to somebody else's, whose leader is gone too.
TEST(a_session_of_another_sandbox_with_the_same_number_is_left_alone) {
  make_private();
  pid_t session = 0;
  JournalSlot slot;
  pid_t member = start_leaderless(&session, &slot, true, false);
  leave_journal({slot});
  recover();
  CHECK(stays(member));
  kill(member, SIGKILL);
  CHECK(all_gone(2000));
}

// A directory shared between containers: the numbers are the other's.
TEST(a_journal_of_another_process_namespace_names_nobody_here) {
  make_private();
  Idle idle = start_idle();
  leave_journal({idle.slot});
  uint64_t other = 1;
  change_journal(sizeof(uint64_t), &other, sizeof other);
  recover();
  CHECK(stays(idle.pid));
  CHECK_EQ(names_in(scratch()).size(), size_t{1});
  end(idle.pid);
}

TEST(anything_else_in_the_directory_is_survived) {
  make_private();
  Idle idle = start_idle();
  write_file(scratch() + "/guard-1", "");
  write_file(scratch() + "/guard-2", "short");
  write_file(scratch() + "/guard-3", std::string(4096, 'x'));
  CHECK_CALL(mkfifo((scratch() + "/guard-4").c_str(), 0600) == 0);
  CHECK_CALL(mkdir((scratch() + "/guard-5").c_str(), 0700) == 0);
  write_file(scratch() + "/outside", "intact");
  CHECK_CALL(symlink("outside", (scratch() + "/guard-6").c_str()) == 0);
  CHECK_CALL(link((scratch() + "/outside").c_str(), (scratch() + "/guard-7").c_str()) == 0);
  write_file(scratch() + "/other", "intact");
  recover();
  CHECK_EQ(read_file(scratch() + "/outside"), "intact");
  CHECK_EQ(read_file(scratch() + "/other"), "intact");
  CHECK(stays(idle.pid));
  end(idle.pid);
}

// Who can write it could have anything of this user killed.
TEST(a_directory_that_others_can_write_is_not_used) {
  for (mode_t mode : {0777, 0770, 0702}) {
    CHECK_CALL(chmod(scratch().c_str(), mode) == 0);
    CHECK(!open_journal_directory(scratch().c_str()).valid());
  }
  make_private();
  CHECK(open_journal_directory(scratch().c_str()).valid());
  CHECK(!open_journal_directory((scratch() + "/missing").c_str()).valid());
  CHECK_CALL(symlink(".", (scratch() + "/link").c_str()) == 0);
  CHECK(!open_journal_directory((scratch() + "/link").c_str()).valid());
}

TEST(a_file_of_another_user_is_not_believed) {
  needs_root();
  make_private();
  Idle idle = start_idle();
  leave_journal({idle.slot});
  CHECK_CALL(chown(journal_path().c_str(), 54321, 54321) == 0);
  recover();
  CHECK(stays(idle.pid));
  end(idle.pid);
}

TEST(a_second_journal_of_the_same_process_is_refused) {
  make_private();
  UniqueFd directory = open_directory();
  UniqueFd journal = open_journal(directory.get());
  CHECK(journal.valid());
  CHECK(!open_journal(directory.get()).valid());
  close_journal(directory.get(), &journal);
  CHECK(open_journal(directory.get()).valid());
}

TEST(a_full_disk_is_told) {
  UniqueFd full(open("/dev/full", O_RDWR | O_CLOEXEC));
  CHECK_CALL(full.valid());
  errno = 0;
  CHECK(!write_slot(full.get(), 0, JournalSlot{1, 0, 0, 0, {}}));
  CHECK_EQ(errno, ENOSPC);
}

}  // namespace
}  // namespace cordon::test
