#include "linux/mounts.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "linux/resolve.h"

namespace cordon {
namespace {

// Words of a line of mountinfo, as proc(5) counts them from 1.
constexpr size_t kPointWord = 5;
constexpr size_t kFirstOptionalWord = 7;

// On disks and in memory. What is not listed may wait.
constexpr const char* kLocal[] = {
    "ext2",     "ext3",    "ext4",       "xfs",        "btrfs",       "bcachefs", "f2fs",
    "jfs",      "zfs",     "vfat",       "exfat",      "ntfs3",       "iso9660",  "udf",
    "squashfs", "erofs",   "overlay",    "tmpfs",      "ramfs",       "rootfs",   "devtmpfs",
    "devpts",   "proc",    "sysfs",      "cgroup",     "cgroup2",     "mqueue",   "hugetlbfs",
    "debugfs",  "tracefs", "securityfs", "selinuxfs",  "configfs",    "pstore",   "efivarfs",
    "bpf",      "nsfs",    "fusectl",    "rpc_pipefs", "binfmt_misc", "nfsd",
};

// These are asked when a name is looked up, and not when a directory is entered that is open
// already.
bool asks_for_names_only(const char* type) {
  return strcmp(type, "autofs") == 0 || strcmp(type, "fuse") == 0 || strcmp(type, "fuseblk") == 0 ||
         strncmp(type, "fuse.", 5) == 0;
}

bool is_local(const char* type) {
  for (const char* local : kLocal) {
    if (strcmp(type, local) == 0) return true;
  }
  return false;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// Spaces and the like are written as a backslash and three octal digits. Returns the length.
size_t decode(char* text, size_t size) {
  size_t out = 0;
  for (size_t at = 0; at < size; ++out) {
    bool escaped = text[at] == '\\' && size - at > 3 && is_octal(text[at + 1]) &&
                   is_octal(text[at + 2]) && is_octal(text[at + 3]);
    if (!escaped) {
      text[out] = text[at++];
      continue;
    }
    int value = (text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0');
    text[out] = static_cast<char>(value);
    at += 4;
  }
  return out;
}

}  // namespace

void MountTable::clear() {
  used_ = 0;
  whole_ = true;
  revalidates_ = false;
  word_bytes_ = 0;
  end_line();
}

void MountTable::end_line() {
  words_ = 0;
  point_bytes_ = 0;
  separator_ = 0;
  waits_ = false;
}

void MountTable::end_word() {
  ++words_;
  word_[word_bytes_ < kWordBytes ? word_bytes_ : kWordBytes - 1] = '\0';
  word_bytes_ = 0;
  if (separator_ == 0) {
    if (words_ >= kFirstOptionalWord && strcmp(word_, "-") == 0) separator_ = words_;
    return;
  }
  if (words_ != separator_ + 1 || is_local(word_)) return;
  waits_ = true;
  if (!asks_for_names_only(word_)) revalidates_ = true;
}

void MountTable::take(const char* text, size_t size) {
  for (size_t i = 0; i < size && whole_; ++i) {
    char c = text[i];
    if (c == ' ' || c == '\n') {
      end_word();
      if (c == ' ') continue;
      if (waits_) {
        used_ += decode(points_ + used_, point_bytes_);
        points_[used_++] = '\0';
      }
      end_line();
    } else if (words_ + 1 == kPointWord) {
      // Kept for now: the kind of file system follows later in the line. One byte is its NUL's.
      if (used_ + point_bytes_ + 1 >= kMostBytes) return give_up();
      points_[used_ + point_bytes_++] = c;
    } else if (word_bytes_ < kWordBytes) {
      word_[word_bytes_++] = c;
    }
  }
}

bool MountTable::may_wait(const char* path) const {
  if (!whole_) return true;
  for (size_t at = 0; at < used_; at += strlen(points_ + at) + 1) {
    if (beneath(path, points_ + at)) return true;
  }
  return false;
}

void Mounts::read() {
  table_.clear();
  if (!file_.valid()) file_.reset(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  if (!file_.valid() || lseek(file_.get(), 0, SEEK_SET) != 0) return table_.give_up();
  char text[4096];
  ssize_t length = 0;
  while ((length = ::read(file_.get(), text, sizeof text)) > 0) {
    table_.take(text, static_cast<size_t>(length));
  }
  if (length < 0) table_.give_up();
}

const MountTable& Mounts::now() {
  if (stale_) read();
  stale_ = false;
  return table_;
}

}  // namespace cordon
