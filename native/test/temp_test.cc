// Private temp directories: made private, removed whole, and nothing but them.

#include "linux/temp.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "test/harness.h"
#include "test/served_guard.h"
#include "test/world.h"

namespace cordon::test {
namespace {

UniqueFd open_directory(const std::string& path) {
  UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  CHECK_CALL(directory.valid());
  return directory;
}

TempDirectory temp_in(const std::string& parent, const std::string& name) {
  TempDirectory temp;
  temp.parent = open_directory(parent);
  CHECK(name.size() < sizeof temp.name);
  memcpy(temp.name, name.data(), name.size());
  return temp;
}

TempDirectory made(const std::string& parent, const std::string& name) {
  TempDirectory temp = temp_in(parent, name);
  Failure failure;
  if (!make_temp(&temp, &failure)) fail_at(__FILE__, __LINE__, strerror(failure.error));
  return temp;
}

void make_directory(const std::string& path, mode_t mode = 0755) {
  CHECK_CALL(mkdir(path.c_str(), 0700) == 0 && chmod(path.c_str(), mode) == 0);
}

mode_t mode_of(const std::string& path) {
  struct stat found;
  CHECK_CALL(lstat(path.c_str(), &found) == 0);
  return found.st_mode & 07777;
}

// A chain of directories `d/d/d…` and a file at its end, made on descriptors: no path is that long.
void make_chain(int directory, int levels) {
  int at = dup(directory);
  for (int i = 0; i < levels; ++i) {
    CHECK_CALL(mkdirat(at, "d", 0700) == 0);
    int next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_CALL(next >= 0);
    close(at);
    at = next;
  }
  int file = openat(at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  CHECK_CALL(file >= 0);
  close(file);
  close(at);
}

// --- names

TEST(only_names_with_their_check_digits_are_its_own) {
  // As test/unit/platform has it.
  for (int serial : {0, 1, 7, 123456}) CHECK(own_temp_name(temp_name(serial).c_str()));
  std::string own = temp_name();
  for (size_t at = strlen(kTempPrefix); at < own.size(); ++at) {
    std::string other = own;
    other[at] = other[at] == 'b' ? 'c' : 'b';
    CHECK(!own_temp_name(other.c_str()));
  }
  for (const char* name : {"", "cordon-", "cordon-test", "cordon-playground", "cordon-a1b2c3",
                           "cordon-playgroundplaygr", "Cordon-0123456789abcdef",
                           "cordon_0123456789abcdef", "xcordon-0123456789abcdef"}) {
    if (own_temp_name(name)) fail_at(__FILE__, __LINE__, name);
  }
  CHECK(!own_temp_name((own + "a").c_str()));
  CHECK(!own_temp_name(own.substr(0, own.size() - 1).c_str()));
}

TEST(no_name_leaves_its_directory) {
  CHECK(valid_temp_name(temp_name().c_str()));
  for (const char* name : {"", "cordon-", "cordon-..", "cordon-a/b", "cordon-a.b", "../cordon-a",
                           "cordon-A", "cordon-\xff", "other-abc"}) {
    if (valid_temp_name(name)) fail_at(__FILE__, __LINE__, name);
  }
  char unterminated[kTempNameBytes];
  memset(unterminated, 'a', sizeof unterminated);
  memcpy(unterminated, kTempPrefix, strlen(kTempPrefix));
  CHECK(!valid_temp_name(unterminated));
}

// --- making

TEST(is_made_private_and_locked) {
  TempDirectory temp = made(scratch(), temp_name());
  std::string path = scratch() + "/" + temp_name();
  CHECK_EQ(mode_of(path), 0700u);
  UniqueFd other = open_directory(path);
  CHECK(flock(other.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK);
  CHECK(remove_temp(&temp));
  CHECK(!exists(path));
  CHECK(!temp.made());
}

TEST(a_name_of_another_kind_is_refused) {
  TempDirectory temp = temp_in(scratch(), "../cordon-0123456789abc");
  Failure failure;
  CHECK(!make_temp(&temp, &failure));
  CHECK_EQ(stage_name(failure.stage), "temp");
  CHECK_EQ(failure.error, EINVAL);
  CHECK(names_in(scratch()).empty());
}

TEST(what_is_there_already_is_not_taken) {
  std::string path = scratch() + "/" + temp_name();
  make_directory(path);
  write_file(path + "/foreign", "intact");
  TempDirectory temp = temp_in(scratch(), temp_name());
  Failure failure;
  CHECK(!make_temp(&temp, &failure));
  CHECK_EQ(failure.error, EEXIST);
  CHECK_EQ(std::string(failure.object), temp_name());
  CHECK_EQ(read_file(path + "/foreign"), "intact");
}

TEST(a_parent_that_cannot_hold_it) {
  become_ordinary_user();
  make_directory(scratch() + "/closed", 0555);
  TempDirectory temp = temp_in(scratch() + "/closed", temp_name());
  Failure failure;
  CHECK(!make_temp(&temp, &failure));
  CHECK_EQ(failure.error, EACCES);
}

TEST(nothing_stays_when_it_cannot_be_opened) {
  TempDirectory temp = temp_in(scratch(), temp_name());
  rlimit limit{static_cast<rlim_t>(temp.parent.get() + 1), 1024};
  CHECK_CALL(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  Failure failure;
  CHECK(!make_temp(&temp, &failure));
  CHECK_EQ(failure.error, EMFILE);
  CHECK(!exists(scratch() + "/" + temp_name()));
}

TEST(sweeps_by_others_are_no_harm) {
  std::vector<pid_t> sweepers;
  for (int i = 0; i < 3; ++i) {
    pid_t pid = fork();
    CHECK_CALL(pid >= 0);
    if (pid == 0) {
      UniqueFd parent = open_directory(scratch());
      for (;;) sweep_temp(parent.get());
    }
    sweepers.push_back(pid);
  }
  for (int i = 0; i < 500; ++i) {
    std::string name = temp_name(i);
    TempDirectory temp = made(scratch(), name);
    if (i % 8 == 0) usleep(100);
    CHECK(exists(scratch() + "/" + name));
    CHECK(remove_temp(&temp));
    CHECK(!exists(scratch() + "/" + name));
  }
  for (pid_t pid : sweepers) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

// --- removal

TEST(every_kind_of_entry) {
  TempDirectory temp = made(scratch(), temp_name());
  std::string path = scratch() + "/" + temp_name();
  write_file(path + "/file", "x");
  write_file(path + "/.hidden", "x");
  make_directory(path + "/directory");
  write_file(path + "/directory/file", "x");
  make_directory(path + "/empty");
  CHECK_CALL(symlink("/", (path + "/link").c_str()) == 0);
  CHECK_CALL(symlink("nowhere", (path + "/dangling").c_str()) == 0);
  CHECK_CALL(mkfifo((path + "/fifo").c_str(), 0600) == 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", path.c_str());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  CHECK_CALL(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK(remove_temp(&temp));
  CHECK(!exists(path));
}

TEST(no_link_is_followed) {
  std::string outside = scratch() + "/outside";
  make_directory(outside);
  write_file(outside + "/file", "intact");
  make_directory(outside + "/closed", 0);
  TempDirectory temp = made(scratch(), temp_name());
  std::string path = scratch() + "/" + temp_name();
  CHECK_CALL(symlink(outside.c_str(), (path + "/to-directory").c_str()) == 0);
  CHECK_CALL(symlink((outside + "/file").c_str(), (path + "/to-file").c_str()) == 0);
  CHECK_CALL(symlink((outside + "/closed").c_str(), (path + "/to-closed").c_str()) == 0);
  CHECK_CALL(link((outside + "/file").c_str(), (path + "/second-name").c_str()) == 0);
  CHECK(remove_temp(&temp));
  CHECK(!exists(path));
  CHECK_EQ(read_file(outside + "/file"), "intact");
  CHECK_EQ(mode_of(outside + "/closed"), 0u);
}

TEST(directories_without_permissions) {
  become_ordinary_user();
  TempDirectory temp = made(scratch(), temp_name());
  std::string path = scratch() + "/" + temp_name();
  for (mode_t mode : {0000, 0100, 0200, 0300, 0400, 0500, 0600}) {
    std::string directory = path + "/" + std::to_string(mode);
    make_directory(directory);
    write_file(directory + "/file", "x");
    make_directory(directory + "/inner");
    write_file(directory + "/inner/file", "x");
    CHECK_CALL(chmod((directory + "/inner").c_str(), mode) == 0 &&
               chmod(directory.c_str(), mode) == 0);
  }
  CHECK_CALL(chmod(path.c_str(), 0) == 0);
  CHECK(remove_temp(&temp));
  CHECK(!exists(path));
}

TEST(deeper_than_any_stack_or_descriptor_table) {
  TempDirectory temp = made(scratch(), temp_name());
  make_chain(temp.directory.get(), 3000);
  make_directory(scratch() + "/" + temp_name() + "/beside");
  rlimit descriptors{24, 1024};
  CHECK_CALL(setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  rlimit stack{512 * 1024, 512 * 1024};
  CHECK_CALL(setrlimit(RLIMIT_STACK, &stack) == 0);
  CHECK(remove_temp(&temp));
  CHECK(!exists(scratch() + "/" + temp_name()));
}

TEST(deep_directories_without_permissions) {
  become_ordinary_user();
  TempDirectory temp = made(scratch(), temp_name());
  make_chain(temp.directory.get(), 120);
  int at = dup(temp.directory.get());
  std::vector<int> held;
  for (int next = at; next >= 0; next = openat(next, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    held.push_back(next);
  }
  CHECK_EQ(held.size(), size_t{121});
  for (size_t i = 1; i < held.size(); ++i) fchmod(held[i], i % 2 == 0 ? 0 : 0500);
  for (int fd : held) close(fd);
  CHECK(remove_temp(&temp));
  CHECK(!exists(scratch() + "/" + temp_name()));
}

// A run that knows how its directory will be emptied takes the names first.
TEST(names_of_the_emptying_itself_are_taken) {
  TempDirectory temp = made(scratch(), temp_name());
  std::string path = scratch() + "/" + temp_name();
  make_chain(temp.directory.get(), 700);
  for (int i = 0; i < 200; ++i) {
    std::string taken = path + "/.cordon-deep-" + std::to_string(i);
    if (i % 3 == 0) {
      write_file(taken, "x");
      continue;
    }
    make_directory(taken);
    if (i % 3 == 1) write_file(taken + "/file", "x");
  }
  CHECK(remove_temp(&temp));
  CHECK(!exists(path));
}

TEST(many_long_names) {
  TempDirectory temp = made(scratch(), temp_name());
  std::string path = scratch() + "/" + temp_name();
  make_directory(path + "/sub");
  for (int i = 0; i < 3000; ++i) {
    std::string digits = std::to_string(i);
    std::string name = std::string(255 - digits.size(), 'n') + digits;
    std::string where = (i % 2 == 0 ? path : path + "/sub") + "/" + name;
    if (i % 5 == 0) {
      make_directory(where);
    } else {
      CHECK_CALL(close(open(where.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) == 0);
    }
  }
  CHECK(remove_temp(&temp));
  CHECK(!exists(path));
}

TEST(a_run_may_have_moved_or_removed_it) {
  TempDirectory temp = made(scratch(), temp_name());
  CHECK_CALL(rmdir((scratch() + "/" + temp_name()).c_str()) == 0);
  CHECK(remove_temp(&temp));

  TempDirectory moved = made(scratch(), temp_name(2));
  std::string path = scratch() + "/" + temp_name(2);
  CHECK_CALL(rename(path.c_str(), (scratch() + "/moved").c_str()) == 0);
  make_directory(path);
  write_file(path + "/foreign", "intact");
  CHECK(!remove_temp(&moved));
  CHECK_EQ(read_file(path + "/foreign"), "intact");
}

TEST(a_link_in_its_place_is_left_alone) {
  make_directory(scratch() + "/outside");
  write_file(scratch() + "/outside/file", "intact");
  TempDirectory temp = made(scratch(), temp_name());
  std::string path = scratch() + "/" + temp_name();
  CHECK_CALL(rename(path.c_str(), (scratch() + "/moved").c_str()) == 0);
  CHECK_CALL(symlink("outside", path.c_str()) == 0);
  CHECK(!remove_temp(&temp));
  CHECK_EQ(read_file(scratch() + "/outside/file"), "intact");
}

TEST(mounts_are_not_crossed) {
  needs_root();
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    skip("mounts", "mounts of its own");
  }
  std::string outside = scratch() + "/outside";
  make_directory(outside);
  make_directory(outside + "/sub");
  write_file(outside + "/file", "intact");
  TempDirectory temp = made(scratch(), temp_name());
  std::string path = scratch() + "/" + temp_name();
  // A bind mount has the same device.
  for (const char* name : {"/bound", "/memory", "/plain"}) make_directory(path + name);
  write_file(path + "/plain/file", "x");
  CHECK_CALL(mount(outside.c_str(), (path + "/bound").c_str(), nullptr, MS_BIND, nullptr) == 0);
  CHECK_CALL(mount("none", (path + "/memory").c_str(), "tmpfs", 0, nullptr) == 0);
  write_file(path + "/memory/file", "intact");
  CHECK(!empty_directory(temp.directory.get()));
  CHECK(!exists(path + "/plain"));
  CHECK_EQ(read_file(outside + "/file"), "intact");
  CHECK(exists(outside + "/sub"));
  CHECK_EQ(read_file(path + "/memory/file"), "intact");
  CHECK_CALL(umount((path + "/bound").c_str()) == 0 && umount((path + "/memory").c_str()) == 0);
  CHECK(remove_temp(&temp));
}

TEST(removal_where_openat2_is_refused) {
  for (int error : {ENOSYS, EPERM}) {
    EXPECT_EXIT(0, [&] {
      refuse_call(SYS_openat2, error);
      TempDirectory temp = made(scratch(), temp_name());
      make_chain(temp.directory.get(), 100);
      CHECK(remove_temp(&temp));
    });
  }
  CHECK(names_in(scratch()).empty());
}

TEST(what_cannot_be_removed_is_said_and_the_rest_is_gone) {
  needs_root();
  TempDirectory temp = made(scratch(), temp_name());
  std::string path = scratch() + "/" + temp_name();
  make_directory(path + "/directory");
  write_file(path + "/directory/pinned", "x");
  write_file(path + "/directory/other", "x");
  write_file(path + "/file", "x");
  UniqueFd pinned(open((path + "/directory/pinned").c_str(), O_RDONLY | O_CLOEXEC));
  int flags = FS_IMMUTABLE_FL;
  if (ioctl(pinned.get(), FS_IOC_SETFLAGS, &flags) != 0)
    skip("immutable-files", "immutable files in /tmp");
  bool removed = remove_temp(&temp);
  flags = 0;
  CHECK_CALL(ioctl(pinned.get(), FS_IOC_SETFLAGS, &flags) == 0);
  CHECK(!removed);
  CHECK(names_in(path) == std::vector<std::string>{"directory"});
  CHECK(names_in(path + "/directory") == std::vector<std::string>{"pinned"});
}

// --- sweeping

TEST(sweeps_what_is_dead_and_nothing_else) {
  TempDirectory live = made(scratch(), temp_name(1));
  std::string dead = scratch() + "/" + temp_name(2);
  make_directory(dead, 0700);
  write_file(dead + "/file", "x");
  std::string closed = scratch() + "/" + temp_name(3);
  make_directory(closed, 0);
  for (const char* foreign : {"cordon-test", "cordon-playground", "cordon-", "other"}) {
    make_directory(scratch() + "/" + foreign);
    write_file(scratch() + "/" + foreign + "/file", "intact");
  }
  write_file(scratch() + "/" + temp_name(4), "a file with such a name");
  CHECK_CALL(symlink("other", (scratch() + "/" + temp_name(5)).c_str()) == 0);
  UniqueFd parent = open_directory(scratch());
  sweep_temp(parent.get());
  std::vector<std::string> left = {temp_name(1),        temp_name(4),  temp_name(5), "cordon-",
                                   "cordon-playground", "cordon-test", "other"};
  std::sort(left.begin(), left.end());
  CHECK(names_in(scratch()) == left);
  CHECK_EQ(read_file(scratch() + "/other/file"), "intact");
  CHECK_EQ(read_file(scratch() + "/cordon-playground/file"), "intact");
  CHECK(remove_temp(&live));
}

TEST(sweeps_what_was_closed_by_its_run) {
  become_ordinary_user();
  TempDirectory live = made(scratch(), temp_name(1));
  CHECK_CALL(fchmod(live.directory.get(), 0) == 0);
  make_directory(scratch() + "/" + temp_name(2), 0);
  UniqueFd parent = open_directory(scratch());
  sweep_temp(parent.get());
  CHECK(names_in(scratch()) == std::vector<std::string>{temp_name(1)});
  CHECK_EQ(mode_of(scratch() + "/" + temp_name(1)), 0u);
  CHECK(remove_temp(&live));
}

TEST(sweeps_nothing_of_another_user) {
  needs_root();
  std::string path = scratch() + "/" + temp_name();
  make_directory(path, 0700);
  write_file(path + "/file", "intact");
  CHECK_CALL(chown(path.c_str(), 54322, 54322) == 0);
  UniqueFd parent = open_directory(scratch());
  sweep_temp(parent.get());
  CHECK_EQ(read_file(path + "/file"), "intact");
}

TEST(sweeping_leaks_no_descriptor) {
  for (int i = 0; i < 20; ++i) make_directory(scratch() + "/" + temp_name(i), 0700);
  UniqueFd parent = open_directory(scratch());
  int before = count_of_descriptors(getpid());
  sweep_temp(parent.get());
  CHECK(names_in(scratch()).empty());
  CHECK_EQ(count_of_descriptors(getpid()), before);
}

}  // namespace
}  // namespace cordon::test
