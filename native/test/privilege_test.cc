// What is left of root's powers after drop_privileges, as the kernel says it.

#include "linux/privilege.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/text.h"
#include "test/harness.h"
#include "test/world.h"

namespace cordon::test {
namespace {

constexpr uint64_t kChown = 1ull << CAP_CHOWN;
constexpr uint64_t kSetPcap = 1ull << CAP_SETPCAP;
constexpr uint64_t kNetRaw = 1ull << CAP_NET_RAW;

struct Sets {
  uint64_t inheritable = 0;
  uint64_t permitted = 0;
  uint64_t effective = 0;
  uint64_t bounding = 0;
  uint64_t ambient = 0;
  bool no_new_privs = false;
};

uint64_t set_in(const std::string& status, const char* name) {
  const char* at = find_line(status.c_str(), name);
  uint64_t set = 0;
  CHECK(at != nullptr && take_number(&at, 16, &set));
  return set;
}

Sets sets_in(const std::string& status) {
  return {set_in(status, "CapInh:\t"), set_in(status, "CapPrm:\t"),
          set_in(status, "CapEff:\t"), set_in(status, "CapBnd:\t"),
          set_in(status, "CapAmb:\t"), set_in(status, "NoNewPrivs:\t") == 1};
}

Sets own_sets() { return sets_in(read_file("/proc/self/status")); }

void expect_sets(const Sets& sets, uint64_t kept, uint64_t bounding) {
  CHECK_EQ(sets.inheritable, kept);
  CHECK_EQ(sets.permitted, kept);
  CHECK_EQ(sets.effective, kept);
  CHECK_EQ(sets.ambient, kept);
  CHECK_EQ(sets.bounding, bounding);
  CHECK(sets.no_new_privs);
}

void write_sets(uint64_t effective, uint64_t permitted, uint64_t inheritable) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct words[2] = {
      {static_cast<uint32_t>(effective), static_cast<uint32_t>(permitted),
       static_cast<uint32_t>(inheritable)},
      {static_cast<uint32_t>(effective >> 32), static_cast<uint32_t>(permitted >> 32),
       static_cast<uint32_t>(inheritable >> 32)}};
  CHECK_CALL(syscall(SYS_capset, &header, words) == 0);
}

uint64_t drop(uint64_t keep) {
  Failure failure;
  uint64_t effective = ~0ull;
  if (!narrow_bounding_set(&failure) || !drop_privileges(keep, &effective, &failure)) {
    fail_at(__FILE__, __LINE__,
            std::string(stage_name(failure.stage)) + ": " + strerror(failure.error) + " " +
                failure.object);
  }
  return effective;
}

// What /bin/cat of the status of its own says, so after an exec.
Sets sets_after_exec() {
  std::string out = scratch() + "/status";
  EXPECT_EXIT(0, [&] {
    int fd = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK_CALL(fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    execl("/bin/cat", "cat", "/proc/self/status", nullptr);
  });
  return sets_in(read_file(out));
}

void silence() {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd : {STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
}

TEST(root_has_nothing_left) {
  needs_root();
  CHECK_EQ(drop(0), 0u);
  expect_sets(own_sets(), 0, 0);
  expect_sets(sets_after_exec(), 0, 0);
}

TEST(securebits_are_locked) {
  needs_root();
  drop(0);
  int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
  CHECK_EQ(bits, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                     SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED);
  CHECK(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) != 0);
  CHECK(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0);
}

TEST(what_is_kept_survives_exec_and_is_no_more_than_that) {
  needs_root();
  CHECK_EQ(drop(kKeepable), kKeepable);
  expect_sets(own_sets(), kKeepable, kKeepable);
  expect_sets(sets_after_exec(), kKeepable, kKeepable);
  CHECK(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0) != 0);
}

TEST(one_of_the_keepable_alone) {
  needs_root();
  CHECK_EQ(drop(kChown), kChown);
  expect_sets(own_sets(), kChown, kChown);
  expect_sets(sets_after_exec(), kChown, kChown);
}

TEST(nothing_but_the_keepable_can_be_kept) {
  needs_root();
  CHECK_EQ(drop(~0ull), kKeepable);
  expect_sets(own_sets(), kKeepable, kKeepable);
}

TEST(kept_capabilities_do_what_they_are_kept_for) {
  needs_root();
  std::string path = scratch() + "/foreign";
  write_file(path, "intact");
  CHECK_CALL(chown(path.c_str(), 54321, 54321) == 0 && chmod(path.c_str(), 0400) == 0);
  EXPECT_EXIT(0, [&] {
    drop(0);
    CHECK(open(path.c_str(), O_WRONLY | O_CLOEXEC) < 0 && errno == EACCES);
    CHECK(chown(path.c_str(), 0, 0) != 0);
  });
  EXPECT_EXIT(0, [&] {
    drop(kKeepable);
    CHECK_CALL(open(path.c_str(), O_WRONLY | O_CLOEXEC) >= 0);
    CHECK_CALL(chown(path.c_str(), 0, 0) == 0);
    CHECK(chroot("/") != 0);
  });
}

// Also where the guard could not do it for all runs.
TEST(the_bounding_set_is_the_guards_to_narrow) {
  needs_root();
  Failure failure;
  CHECK(narrow_bounding_set(&failure));
  Sets sets = own_sets();
  CHECK_EQ(sets.bounding, kKeepable);
  // The guard itself keeps what it has.
  CHECK((sets.effective & kSetPcap) != 0);
}

TEST(a_bounding_set_that_stays_is_a_failure) {
  needs_root();
  refuse_call(SYS_prctl, EPERM, PR_CAPBSET_DROP);
  Failure failure;
  CHECK(!narrow_bounding_set(&failure));
  CHECK_EQ(stage_name(failure.stage), "capabilities");
  CHECK_EQ(failure.error, EPERM);
}

TEST(without_setpcap_nothing_is_kept) {
  needs_root();
  uint64_t all = own_sets().permitted;
  write_sets(all & ~kSetPcap, all & ~kSetPcap, 0);
  CHECK_EQ(drop(kKeepable), 0u);
  for (const Sets& sets : {own_sets(), sets_after_exec()}) {
    CHECK_EQ(sets.effective | sets.permitted | sets.inheritable | sets.ambient, 0u);
  }
}

std::string copy_of_cat() {
  std::string copy = scratch() + "/cat";
  CHECK(end_of([&] { execl("/bin/cp", "cp", "/bin/cat", copy.c_str(), nullptr); }) == exited(0));
  return copy;
}

// A file that only root may read.
std::string make_secret() {
  std::string secret = scratch() + "/secret";
  write_file(secret, "x");
  CHECK_CALL(chmod(secret.c_str(), 0600) == 0);
  return secret;
}

// Goes on as `cat`, as an ordinary user.
void read_secret(const std::string& cat, const std::string& secret, bool confined) {
  become_ordinary_user();
  if (confined) drop(0);
  silence();
  execl(cat.c_str(), "cat", secret.c_str(), nullptr);
}

TEST(a_set_uid_program_gains_nothing) {
  needs_root();
  std::string copy = copy_of_cat();
  CHECK_CALL(chmod(copy.c_str(), 04755) == 0);
  std::string secret = make_secret();
  if (end_of([&] { read_secret(copy, secret, false); }) != exited(0)) {
    skip("set-id-programs", "a temp directory without nosuid");
  }
  EXPECT_EXIT(1, [&] { read_secret(copy, secret, true); });
}

TEST(a_program_with_file_capabilities_gains_nothing) {
  needs_root();
  std::string copy = copy_of_cat();
  vfs_cap_data capability{};
  capability.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
  capability.data[0].permitted = 1u << CAP_DAC_OVERRIDE;
  if (setxattr(copy.c_str(), "security.capability", &capability, XATTR_CAPS_SZ_2, 0) != 0) {
    skip("file-capabilities", "file capabilities in /tmp");
  }
  std::string secret = make_secret();
  CHECK(end_of([&] { read_secret(copy, secret, false); }) == exited(0));
  EXPECT_EXIT(1, [&] { read_secret(copy, secret, true); });
}

TEST(an_ordinary_user_has_nothing_and_gets_no_new_privs) {
  become_ordinary_user();
  uint64_t bounding = own_sets().bounding;
  CHECK_EQ(drop(kKeepable), 0u);
  expect_sets(own_sets(), 0, bounding);
  expect_sets(sets_after_exec(), 0, bounding);
}

TEST(an_ordinary_user_with_ambient_capabilities_loses_them) {
  needs_root();
  CHECK_CALL(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0);
  become_ordinary_user();
  write_sets(kNetRaw, kNetRaw, kNetRaw);
  CHECK_CALL(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0) == 0);
  CHECK_EQ(sets_after_exec().effective, kNetRaw);
  CHECK_EQ(drop(kKeepable), 0u);
  Sets after = sets_after_exec();
  CHECK_EQ(after.effective | after.permitted | after.inheritable | after.ambient, 0u);
}

TEST(a_second_drop_inside_the_first_changes_nothing) {
  needs_root();
  CHECK_EQ(drop(kKeepable), kKeepable);
  // A nested run: locked already, and without CAP_SETPCAP nothing can be made ambient again.
  CHECK_EQ(drop(kKeepable), 0u);
  Sets after = sets_after_exec();
  CHECK_EQ(after.effective | after.permitted | after.inheritable | after.ambient, 0u);
}

}  // namespace
}  // namespace cordon::test
