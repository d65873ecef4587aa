// Which paths may keep who touches them waiting, by the kernel's list of mounts.

#include "linux/mounts.h"

#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "test/harness.h"

namespace cordon::test {
namespace {

constexpr char kMountinfo[] =
    "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
    "23 22 0:5 / /dev rw shared:2 master:1 - devtmpfs udev rw,size=1k\n"
    "40 22 0:44 / /mnt/net rw,relatime shared:7 - nfs4 server:/export rw,vers=4.2\n"
    "41 22 0:45 / /home/u/my\\040files\\134x rw - fuse.sshfs u@host: rw\n"
    "42 22 0:46 / /- rw unbindable - fuse - rw\n";

// Much too large for a test's stack beside the sanitizers' own needs.
std::unique_ptr<MountTable> table_of(const std::string& text, size_t piece = SIZE_MAX) {
  auto table = std::make_unique<MountTable>();
  table->clear();
  for (size_t at = 0; at < text.size(); at += piece) {
    std::string part = text.substr(at, piece);
    table->take(part.data(), part.size());
    if (piece == SIZE_MAX) break;
  }
  return table;
}

std::string line(const std::string& point, const std::string& type) {
  return "9 1 0:9 / " + point + " rw - " + type + " none rw\n";
}

TEST(what_is_served_by_others_may_wait_and_what_lies_beneath_it) {
  // However the text is cut.
  for (size_t piece : {size_t{1}, size_t{7}, size_t{64}, SIZE_MAX}) {
    auto table = table_of(kMountinfo, piece);
    CHECK(!table->empty());
    for (const char* path : {"/mnt/net", "/mnt/net/a/b", "/home/u/my files\\x/file", "/-/x"})
      CHECK(table->may_wait(path));
    for (const char* path : {"/", "/mnt", "/mnt/network", "/home/u/my", "/dev/null", "pipe:[7]"})
      CHECK(!table->may_wait(path));
  }
}

TEST(without_such_mounts_nothing_waits) {
  auto table = table_of(line("/", "ext4") + line("/tmp", "tmpfs") + line("/proc", "proc"));
  CHECK(table->empty() && !table->revalidates() && !table->may_wait("/tmp/x"));
}

TEST(a_kind_that_nobody_knows_may_wait) {
  std::string longest(100, 'x');
  for (const std::string& type :
       {std::string("ext5"), std::string("ext"), longest, "ext4" + longest})
    CHECK(table_of(line("/x", type))->may_wait("/x/y"));
}

TEST(only_what_asks_whenever_a_directory_is_entered_revalidates) {
  for (const char* type : {"fuse", "fuse.sshfs", "fuseblk", "autofs"}) {
    auto table = table_of(line("/x", type));
    CHECK(!table->empty() && !table->revalidates());
  }
  for (const char* type : {"nfs", "nfs4", "cifs", "9p", "fusex"})
    CHECK(table_of(line("/x", type))->revalidates());
}

TEST(more_than_fits_means_that_everything_may_wait) {
  std::string text;
  for (int i = 0; i < 20; ++i)
    text += line("/" + std::string(2000, 'p') + std::to_string(i), "nfs");
  auto table = table_of(text);
  CHECK(!table->empty() && table->revalidates() && table->may_wait("/elsewhere"));
  // Local ones need no room.
  text.clear();
  for (int i = 0; i < 20; ++i)
    text += line("/" + std::string(2000, 'p') + std::to_string(i), "xfs");
  CHECK(table_of(text)->empty());
}

TEST(the_end_of_room_is_met_exactly) {
  for (size_t size = 32 * 1024 - 4; size < 32 * 1024 + 4; ++size) {
    auto table = table_of(line("/" + std::string(size, 'p'), "nfs"));
    CHECK(table->may_wait(("/" + std::string(size, 'p')).c_str()));
  }
}

TEST(a_new_table_forgets_the_old_one) {
  auto table = table_of(kMountinfo);
  table->clear();
  CHECK(table->empty() && !table->may_wait("/mnt/net"));
}

TEST(this_machine_is_read_once_and_again_after_a_change) {
  needs_root();
  CHECK_CALL(unshare(CLONE_NEWNS) == 0);
  CHECK_CALL(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
  auto mounts = std::make_unique<Mounts>();
  CHECK_EQ(mounts->descriptor(), -1);
  std::string place = scratch() + "/mounted";
  CHECK(!mounts->now().may_wait((place + "/x").c_str()));
  CHECK(mounts->descriptor() >= 0);
  CHECK_CALL(mkdir(place.c_str(), 0755) == 0);
  // An autofs without a daemon needs a pipe and nothing else.
  int ends[2];
  CHECK_CALL(pipe(ends) == 0);
  std::string options = "fd=" + std::to_string(ends[1]) + ",minproto=5,maxproto=5,direct";
  if (mount("none", place.c_str(), "autofs", 0, options.c_str()) != 0)
    skip("autofs", std::string("cannot mount one: ") + strerror(errno));
  pollfd changed{mounts->descriptor(), POLLPRI, 0};
  CHECK_EQ(poll(&changed, 1, 1000), 1);
  CHECK(!mounts->now().may_wait((place + "/x").c_str()));
  mounts->changed();
  CHECK(mounts->now().may_wait((place + "/x").c_str()));
  CHECK_CALL(umount2(place.c_str(), MNT_DETACH) == 0);
}

}  // namespace
}  // namespace cordon::test
