// What a run sees of the file system, on this kernel: as root in a mount namespace, and as an
// ordinary user in a user namespace as well.

#include "linux/view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/plan_codec.h"
#include "linux/namespaces.h"
#include "test/harness.h"
#include "test/plans.h"
#include "test/world.h"

namespace cordon::test {
namespace {

constexpr char kText[] = "as it was";

std::string at(const std::string& name) { return scratch() + "/" + name; }

void make_directory(const std::string& name) { CHECK_CALL(mkdir(at(name).c_str(), 0755) == 0); }

ViewSpec plain(ViewKind kind, const std::string& name) { return {kind, at(name)}; }

ViewSpec identified(ViewKind kind, const std::string& name) {
  RuleSpec found = rule_for(RuleKind::kTree, at(name));
  return {kind, found.path, true, found.device, found.inode};
}

// A root, a directory that is none, and in the root what can be kept and hidden.
void lay_out() {
  for (const char* name : {"root", "root/kept", "root/kept/open", "root/above", "root/above/below",
                           "root/secrets", "outside"}) {
    make_directory(name);
  }
  for (const char* name :
       {"root/file", "root/kept/file", "root/kept/open/file", "root/above/below/kept",
        "root/above/file", "root/secrets/key", "root/hidden", "outside/file"}) {
    write_file(at(name), kText);
  }
  CHECK_CALL(symlink("kept", at("root/link").c_str()) == 0);
}

std::vector<ViewSpec> usual() {
  return {{ViewKind::kReadOnly, "/"},
          identified(ViewKind::kRoot, "root"),
          plain(ViewKind::kPin, "root/above"),
          plain(ViewKind::kPin, "root/above/below"),
          plain(ViewKind::kKept, "root/kept"),
          plain(ViewKind::kKept, "root/above/below/kept"),
          identified(ViewKind::kKept, "root/link"),
          identified(ViewKind::kReopened, "root/kept/open"),
          plain(ViewKind::kHidden, "root/secrets"),
          plain(ViewKind::kHidden, "root/hidden"),
          plain(ViewKind::kHidden, "root/never/there")};
}

PlanSpec plan_of(const std::vector<ViewSpec>& views) {
  PlanSpec plan = program_plan({"/bin/true"});
  plan.namespaces = kNamespaceMount | kNamespaceIpc | (geteuid() == 0 ? 0 : kNamespaceUser);
  plan.views = views;
  return plan;
}

Failure arrange(const PlanSpec& spec, int temp = -1) {
  Bytes bytes = encode(spec);
  Plan plan{};
  size_t fault = 0;
  CHECK(decode_plan(bytes.data(), bytes.size(), &plan, &fault));
  Failure failure;
  if (!enter_namespaces(plan.namespaces, &failure)) {
    skip("user-namespaces", std::string("none: ") + strerror(failure.error));
  }
  auto view = std::make_unique<View>();
  bool arranged = view->arrange(plan, temp, &failure);
  CHECK_EQ(arranged, !failure.set);
  return failure;
}

void arrange_all(const PlanSpec& spec, int temp = -1) {
  Failure failure = arrange(spec, temp);
  if (!failure.set) return;
  fail_at(__FILE__, __LINE__,
          std::string(stage_name(failure.stage)) + " " + failure.object + ": " +
              strerror(failure.error));
}

int error_of(bool done) { return done ? 0 : errno; }
int write_error(const std::string& path) {
  int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  int error = error_of(fd >= 0);
  if (fd >= 0) close(fd);
  return error;
}
int make_error(const std::string& path) {
  return error_of(mknod(path.c_str(), S_IFREG | 0644, 0) == 0);
}
int rename_error(const std::string& from, const std::string& to) {
  return error_of(rename(from.c_str(), to.c_str()) == 0);
}

// In a child of its own, as whoever runs the tests and, where that is root, as an ordinary user.
void as_each(const std::function<void()>& body) {
  EXPECT_EXIT(0, [&] {
    lay_out();
    body();
  });
  if (geteuid() != 0) return;
  CHECK_EQ(system(("rm -rf " + scratch() + "/*").c_str()), 0);
  EXPECT_EXIT(0, [&] {
    become_ordinary_user();
    lay_out();
    body();
  });
}

void check_usual() {
  CHECK_EQ(write_error(at("outside/file")), EROFS);
  CHECK_EQ(make_error(at("outside/new")), EROFS);
  CHECK_EQ(error_of(chmod(at("outside/file").c_str(), 0600) == 0), EROFS);
  CHECK_EQ(write_error(at("root/file")), 0);
  CHECK_EQ(write_error(at("root/kept/file")), EROFS);
  CHECK_EQ(write_error(at("root/kept/open/file")), 0);
  CHECK_EQ(write_error(at("root/above/below/kept")), EROFS);
  // Names that hold what is kept, and of what is kept.
  for (const char* name : {"root/above", "root/above/below", "root/kept", "root/link",
                           "root/above/below/kept", "root/secrets", "root/hidden"}) {
    CHECK_EQ(rename_error(at(name), at("root/moved")), EBUSY);
  }
  CHECK_EQ(error_of(unlink(at("root/link").c_str()) == 0), EBUSY);
  char target[16] = {};
  CHECK_EQ(readlink(at("root/link").c_str(), target, sizeof target), 4);
  CHECK_EQ(target, "kept");
  // No name of the root crosses a mount by the pins.
  CHECK_EQ(rename_error(at("root/above/file"), at("root/moved")), 0);
  CHECK_EQ(error_of(link(at("root/moved").c_str(), at("root/above/below/second").c_str()) == 0), 0);
  // Nothing of it can be read, by nobody's right.
  struct stat found;
  CHECK_CALL(stat(at("root/hidden").c_str(), &found) == 0);
  CHECK_EQ(found.st_size, 0);
  CHECK(!exists(at("root/secrets/key")));
  CHECK_EQ(make_error(at("root/secrets/new")), EROFS);
  struct stat above;
  CHECK_CALL(stat("/", &found) == 0 && stat("/..", &above) == 0);
  CHECK(found.st_dev == above.st_dev && found.st_ino == above.st_ino);
}

void restore() {
  unlink(at("root/above/below/second").c_str());
  CHECK_CALL(rename(at("root/moved").c_str(), at("root/above/file").c_str()) == 0);
}

TEST(is_what_the_plan_says) {
  as_each([] {
    arrange_all(plan_of(usual()));
    check_usual();
    restore();
  });
  for (const char* name : {"root/kept/file", "root/above/below/kept", "root/hidden",
                           "root/secrets/key", "outside/file"}) {
    CHECK_EQ(read_file(at(name)), kText);
  }
}

TEST(is_the_same_in_whatever_order_the_plan_has_it) {
  as_each([] {
    std::vector<ViewSpec> views = usual();
    std::reverse(views.begin(), views.end());
    arrange_all(plan_of(views));
    check_usual();
    restore();
  });
}

TEST(nothing_of_it_is_seen_outside) {
  lay_out();
  std::string before = read_file("/proc/self/mountinfo");
  EXPECT_EXIT(0, [] {
    arrange_all(plan_of(usual()));
    write_file(at("root/new"), "new");
  });
  CHECK_EQ(read_file("/proc/self/mountinfo"), before);
  CHECK_EQ(read_file(at("root/new")), "new");
  CHECK_EQ(write_error(at("root/kept/file")), 0);
}

// The stage and the object of what cannot be arranged.
void expect_refusal(const ViewSpec& wrong, Stage stage, int error) {
  EXPECT_EXIT(0, [&] {
    std::vector<ViewSpec> views = {{ViewKind::kReadOnly, "/"}, identified(ViewKind::kRoot, "root")};
    views.push_back(wrong);
    Failure failure = arrange(plan_of(views));
    CHECK(failure.set);
    CHECK_EQ(stage_name(failure.stage), stage_name(stage));
    CHECK_EQ(failure.error, error);
    CHECK_EQ(failure.object, wrong.path.c_str());
  });
}

TEST(what_is_another_by_now_is_refused) {
  lay_out();
  ViewSpec other = identified(ViewKind::kRoot, "outside");
  ++other.inode;
  expect_refusal(other, Stage::kRootChanged, ESTALE);
  other = identified(ViewKind::kReopened, "root/kept/open");
  ++other.device;
  expect_refusal(other, Stage::kRootChanged, ESTALE);
  expect_refusal({ViewKind::kRoot, at("gone"), true, 1, 2}, Stage::kRootChanged, ENOENT);
  expect_refusal(plain(ViewKind::kKept, "root/gone"), Stage::kRootChanged, ENOENT);
  expect_refusal(plain(ViewKind::kPin, "root/gone"), Stage::kRootChanged, ENOENT);
}

TEST(a_link_that_was_none_is_refused) {
  lay_out();
  expect_refusal(plain(ViewKind::kKept, "root/link"), Stage::kRootChanged, ESTALE);
  expect_refusal(plain(ViewKind::kPin, "root/link"), Stage::kRootChanged, ESTALE);
  expect_refusal(plain(ViewKind::kHidden, "root/link"), Stage::kMounts, ESTALE);
  // On the way, not only at the end.
  expect_refusal(plain(ViewKind::kKept, "root/link/file"), Stage::kRootChanged, ELOOP);
  expect_refusal(plain(ViewKind::kHidden, "root/link/file"), Stage::kMounts, ELOOP);
  // The link that was found is kept; another in its place is not it.
  ViewSpec link = identified(ViewKind::kKept, "root/link");
  CHECK_CALL(symlink("kept", at("root/other").c_str()) == 0);
  CHECK_CALL(rename(at("root/other").c_str(), at("root/link").c_str()) == 0);
  expect_refusal(link, Stage::kRootChanged, ESTALE);
}

TEST(more_roots_than_can_be_held_are_refused) {
  lay_out();
  std::vector<ViewSpec> views = {{ViewKind::kReadOnly, "/"}};
  for (int i = 0; i < 256; ++i) {
    make_directory("r" + std::to_string(i));
    views.push_back(identified(ViewKind::kRoot, "r" + std::to_string(i)));
  }
  EXPECT_EXIT(0, [&] {
    arrange_all(plan_of(views));
    CHECK_EQ(make_error(at("r255/new")), 0);
    CHECK_EQ(make_error(at("new")), EROFS);
  });
  expect_refusal({ViewKind::kReadOnly, at("gone")}, Stage::kMounts, ENOENT);
  views.push_back(identified(ViewKind::kReopened, "root"));
  EXPECT_EXIT(0, [&] {
    Failure failure = arrange(plan_of(views));
    CHECK_EQ(stage_name(failure.stage), stage_name(Stage::kMounts));
    CHECK_EQ(failure.error, E2BIG);
  });
}

// Descriptors 0 to 2 of the caller are of the mounts outside.
void expect_stream(const std::string& name, int flags, int error) {
  EXPECT_EXIT(0, [&] {
    int fd = open(at(name).c_str(), flags);
    CHECK_CALL(fd >= 0 && dup2(fd, 0) == 0);
    if ((flags & O_PATH) == 0) CHECK_CALL(lseek(0, 3, SEEK_SET) == 3);
    arrange_all(plan_of(usual()));
    CHECK_EQ(write_error("/proc/self/fd/0"), error);
    if ((flags & (O_PATH | O_WRONLY)) != 0) return;
    char text[16] = {};
    CHECK_EQ(read(0, text, sizeof text), static_cast<ssize_t>(strlen(kText)) - 3);
    CHECK_EQ(text, kText + 3);
  });
}

TEST(a_stream_of_what_is_kept_or_hidden_is_not_opened_for_writing) {
  lay_out();
  for (const char* name :
       {"root/kept/file", "root/above/below/kept", "root/hidden", "root/secrets/key"}) {
    for (int flags : {O_RDONLY, O_PATH}) expect_stream(name, flags, EROFS);
    // Given to be written.
    for (int flags : {O_RDWR, O_WRONLY}) expect_stream(name, flags, 0);
  }
  for (const char* name : {"root/file", "root/kept/open/file"}) expect_stream(name, O_RDONLY, 0);
}

TEST(a_stream_without_a_name_stays_as_it_is) {
  lay_out();
  EXPECT_EXIT(0, [] {
    int fd = open(at("root/kept/file").c_str(), O_RDONLY);
    CHECK_CALL(fd >= 0 && dup2(fd, 0) == 0 && unlink(at("root/kept/file").c_str()) == 0);
    arrange_all(plan_of(usual()));
    char text[16] = {};
    CHECK_EQ(read(0, text, sizeof text), static_cast<ssize_t>(strlen(kText)));
  });
}

TEST(a_temp_directory_is_put_back_wherever_it_lies) {
  for (const char* parent : {"", "root/", "memory/"}) {
    EXPECT_EXIT(0, [&] {
      if (!exists(at("root"))) lay_out();
      if (!exists(at("memory"))) make_directory("memory");
      std::string name = std::string(parent) + "temp";
      make_directory(name);
      int temp = open(at(name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      std::vector<ViewSpec> views = usual();
      views.push_back(plain(ViewKind::kSharedMemory, "memory"));
      PlanSpec plan = plan_of(views);
      plan.temp = at(name);
      arrange_all(plan, temp);
      CHECK_EQ(make_error(at(name + "/new")), 0);
      struct stat found;
      CHECK_CALL(fstatat(temp, "new", &found, 0) == 0);
      CHECK_EQ(make_error(at("memory/own")), 0);
    });
  }
  CHECK(!exists(at("memory/own")));
}

TEST(a_temp_directory_that_is_another_is_refused) {
  lay_out();
  make_directory("temp");
  int temp = open(at("temp").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  CHECK_CALL(rename(at("temp").c_str(), at("old").c_str()) == 0);
  for (bool replaced : {false, true}) {
    if (replaced) make_directory("temp");
    EXPECT_EXIT(0, [&] {
      PlanSpec plan = plan_of(usual());
      plan.temp = at("temp");
      Failure failure = arrange(plan, temp);
      CHECK_EQ(stage_name(failure.stage), stage_name(Stage::kMounts));
      CHECK_EQ(failure.error, replaced ? ESTALE : ENOENT);
    });
  }
}

TEST(a_copy_belongs_to_the_user_and_is_as_it_was) {
  as_each([] {
    CHECK_CALL(chmod(at("outside/file").c_str(), 0644) == 0);
    write_file(at("outside/large"), std::string(65 * 1024, 'x'));
    std::vector<ViewSpec> views = usual();
    for (const char* name : {"outside/file", "outside/large", "outside/gone"})
      views.push_back(plain(ViewKind::kCopied, name));
    ino_t before = rule_for(RuleKind::kFile, at("outside/large")).inode;
    arrange_all(plan_of(views));
    CHECK_EQ(read_file(at("outside/file")), kText);
    struct stat found;
    CHECK_CALL(stat(at("outside/file").c_str(), &found) == 0);
    CHECK(found.st_uid == geteuid() && (found.st_mode & 07777) == 0644);
    CHECK_EQ(write_error(at("outside/file")), EROFS);
    CHECK_EQ(rule_for(RuleKind::kFile, at("outside/large")).inode, before);
  });
}

TEST(in_a_user_namespace_a_user_is_who_it_was_and_nobody_else) {
  lay_out();
  EXPECT_EXIT(0, [] {
    become_ordinary_user();
    uid_t uid = geteuid();
    gid_t gid = getegid();
    Failure failure;
    if (!enter_namespaces(kNamespaceUser | kNamespaceMount, &failure))
      skip("user-namespaces", std::string("none: ") + strerror(failure.error));
    CHECK(getuid() == uid && geteuid() == uid && getgid() == gid && getegid() == gid);
    CHECK_EQ(read_file("/proc/self/setgroups"), "deny\n");
    struct stat root;
    CHECK_CALL(stat("/", &root) == 0);
    CHECK(root.st_uid == 65534);
    CHECK_EQ(error_of(setresuid(0, 0, 0) == 0), EINVAL);
  });
}

TEST(namespaces_that_cannot_be_made_are_told) {
  EXPECT_EXIT(0, [] {
    refuse_call(SYS_unshare, ENOSPC);
    Failure failure;
    CHECK(!enter_namespaces(kNamespaceUser | kNamespaceMount, &failure));
    CHECK_EQ(stage_name(failure.stage), stage_name(Stage::kNamespaces));
    CHECK_EQ(failure.error, ENOSPC);
    CHECK_EQ(failure.object, "user");
  });
  lay_out();
  // Made, and not mounted in: a security module of the host.
  EXPECT_EXIT(0, [] {
    refuse_call(SYS_mount, EACCES);
    Failure failure = arrange(plan_of(usual()));
    CHECK_EQ(stage_name(failure.stage), stage_name(Stage::kMounts));
    CHECK_EQ(failure.error, EACCES);
  });
}

}  // namespace
}  // namespace cordon::test
