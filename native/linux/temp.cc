#include "linux/temp.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/text.h"
#include "linux/files.h"

namespace cordon {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// openat2, by number because older headers lack it; the same on every architecture.
constexpr long kOpenat2 = 437;
constexpr uint64_t kNoMountCrossed =
    0x01;  // RESOLVE_NO_XDEV: bind mounts too, which have the same device

// One descriptor and one buffer a level. What lies deeper is moved to the top and removed from
// there.
constexpr int kMaxDepth = 32;
// Each pass that changes something leaves less; enough for a tree of a million levels.
constexpr int kRemovalPasses = 1 << 15;

constexpr int kMakeAttempts = 100;
constexpr int kAttemptMs = 1;

// Of a name of Cordon's own making, after the prefix. FNV-1a of the random part gives the check
// digits.
constexpr size_t kRandomCharacters = 10;
constexpr size_t kCheckCharacters = 6;
constexpr uint32_t kFnvBasis = 2166136261;
constexpr uint32_t kFnvPrime = 16777619;
constexpr size_t kPrefixCharacters = sizeof kTempPrefix - 1;
constexpr size_t kUniqueCharacters = kRandomCharacters + kCheckCharacters;
static_assert(kPrefixCharacters + kUniqueCharacters < kTempNameBytes);

char digit_of(uint32_t value) {
  uint32_t digit = value % 36;
  return static_cast<char>(digit < 26 ? 'a' + digit : '0' + (digit - 26));
}

void check_digits(const char* random, char* out) {
  uint32_t hash = kFnvBasis;
  for (size_t i = 0; i < kRandomCharacters; ++i) {
    hash = (hash ^ static_cast<unsigned char>(random[i])) * kFnvPrime;
  }
  for (size_t i = 0; i < kCheckCharacters; ++i, hash /= 36) out[i] = digit_of(hash);
}

int open_below(int parent, const char* name, int flags) {
  struct {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
  } how{static_cast<uint64_t>(flags), 0, kNoMountCrossed};
  int fd = static_cast<int>(syscall(kOpenat2, parent, name, &how, sizeof how));
  // Outer sandboxes that know no openat2 refuse it: then only mounts of other devices are told
  // apart.
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return openat(parent, name, flags);
  return fd;
}

// A directory without permissions is opened up first, through a descriptor so that no link is
// followed.
int open_for_removal(int parent, const char* name) {
  int fd = open_below(parent, name, kDirectoryFlags);
  if (fd >= 0 || errno != EACCES) return fd;
  UniqueFd handle(open_below(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!handle.valid()) return -1;
  auto path = Text<40>().add("/proc/self/fd/").add(static_cast<uint64_t>(handle.get()));
  if (chmod(path.get(), 0700) != 0) return -1;
  return open_below(parent, name, kDirectoryFlags);
}

// A directory without write permission refuses the removal of its entries, and to be moved.
void allow_removal(int directory) { fchmod(directory, 0700); }

// Removal of one tree: recursion of bounded depth, repeated as long as it gets on.
class Removal {
 public:
  Removal(int root, dev_t device) : root_(root), device_(device) {}

  // Whether the pass changed anything.
  bool pass() {
    changed_ = false;
    remove_entries(root_, 0);
    return changed_;
  }

 private:
  void remove_entries(int directory, int depth) {
    Directory entries(directory);
    while (const dirent64* entry = entries.next()) {
      if (unlinkat(directory, entry->d_name, 0) == 0) {
        changed_ = true;
      } else if (errno == EISDIR || errno == EPERM) {
        remove_subdirectory(directory, entry->d_name, depth);
      }
    }
  }

  void remove_subdirectory(int directory, const char* name, int depth) {
    if (removed(directory, name)) return;
    UniqueFd child(open_for_removal(directory, name));
    struct stat found;
    bool full = !child.valid() && (errno == EMFILE || errno == ENFILE);
    if (!child.valid() && !full) return;
    if (child.valid() && (fstat(child.get(), &found) != 0 || found.st_dev != device_)) return;
    if (child.valid()) allow_removal(child.get());
    if (depth >= kMaxDepth || full) {
      if (depth > 0) move_up(directory, name);
      return;
    }
    remove_entries(child.get(), depth + 1);
    removed(directory, name);
  }

  bool removed(int directory, const char* name) {
    if (unlinkat(directory, name, AT_REMOVEDIR) != 0) return false;
    changed_ = true;
    return true;
  }

  // The run may have made such names itself: they are passed over, each only once.
  void move_up(int directory, const char* name) {
    for (;;) {
      auto moved = Text<40>().add(".cordon-deep-").add(moved_++);
      if (renameat(directory, name, root_, moved.get()) == 0) {
        changed_ = true;
        return;
      }
      if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) return;
    }
  }

  int root_;
  dev_t device_;
  uint64_t moved_ = 0;
  bool changed_ = false;
};

bool is_empty(int directory) {
  Directory entries(directory);
  return entries.next() == nullptr && !entries.failed();
}

// 0 when the directory that was just made is locked, else the errno that stopped it; ENOENT when it
// is gone again.
int lock_made(TempDirectory* temp) {
  UniqueFd made(openat(temp->parent.get(), temp->name, kDirectoryFlags));
  if (!made.valid() || flock(made.get(), LOCK_EX | LOCK_NB) != 0) return errno;
  struct stat found;
  if (fstat(made.get(), &found) != 0) return errno;
  if (found.st_nlink == 0) return ENOENT;
  // Where the parent is everybody's and not sticky, somebody may have put another in its place.
  if (found.st_uid != geteuid() || (found.st_mode & 0777) != 0700) return EPERM;
  temp->directory = static_cast<UniqueFd&&>(made);
  return 0;
}

// A directory that an earlier run of this user left and nobody holds.
bool open_stale(int parent, const char* name, TempDirectory* stale) {
  if (!own_temp_name(name)) return false;
  UniqueFd handle(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found;
  if (!handle.valid() || fstat(handle.get(), &found) != 0 || found.st_uid != geteuid())
    return false;
  stale->directory.reset(open_for_removal(parent, name));
  if (!stale->made()) return false;
  if (flock(stale->directory.get(), LOCK_EX | LOCK_NB) != 0) {
    // A live run's, which may have closed it on purpose.
    if ((found.st_mode & 0700) != 0700) fchmod(stale->directory.get(), found.st_mode & 07777);
    return false;
  }
  // Removed by another sweep while this one waited: the name may belong to a live run by now.
  struct stat locked;
  if (fstat(stale->directory.get(), &locked) != 0 || locked.st_nlink == 0) return false;
  stale->parent.reset(fcntl(parent, F_DUPFD_CLOEXEC, 0));
  memcpy(stale->name, name, strlen(name));
  return stale->parent.valid();
}

}  // namespace

bool valid_temp_name(const char* name) {
  size_t prefix = sizeof kTempPrefix - 1;
  size_t length = strnlen(name, kTempNameBytes);
  if (length <= prefix || length >= kTempNameBytes) return false;
  if (strncmp(name, kTempPrefix, prefix) != 0) return false;
  for (const char* at = name + prefix; *at != '\0'; ++at) {
    bool plain = (*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9');
    if (!plain) return false;
  }
  return true;
}

bool own_temp_name(const char* name) {
  if (!valid_temp_name(name) || strlen(name) != kPrefixCharacters + kUniqueCharacters) return false;
  char check[kCheckCharacters];
  check_digits(name + kPrefixCharacters, check);
  return memcmp(name + kPrefixCharacters + kRandomCharacters, check, sizeof check) == 0;
}

bool new_temp_name(char (*name)[kTempNameBytes]) {
  unsigned char random[kRandomCharacters];
  if (syscall(SYS_getrandom, random, sizeof random, 0) != static_cast<long>(sizeof random))
    return false;
  memset(*name, 0, sizeof *name);
  memcpy(*name, kTempPrefix, kPrefixCharacters);
  char* unique = *name + kPrefixCharacters;
  for (size_t i = 0; i < kRandomCharacters; ++i) unique[i] = digit_of(random[i]);
  check_digits(unique, unique + kRandomCharacters);
  return true;
}

bool make_temp(TempDirectory* temp, Failure* failure) {
  if (!valid_temp_name(temp->name)) return failure->at(Stage::kTemp, EINVAL, temp->name);
  if (injected(Stage::kTemp)) return failure->at(Stage::kTemp, errno, temp->name);
  // Another guard's sweep may hold or remove the directory in the moment before it is locked: then
  // it is made again.
  for (int attempt = 0; attempt < kMakeAttempts; ++attempt) {
    if (attempt > 0) poll(nullptr, 0, kAttemptMs);
    if (mkdirat(temp->parent.get(), temp->name, 0700) != 0) {
      if (errno == EEXIST && attempt > 0) continue;
      return failure->at(Stage::kTemp, errno, temp->name);
    }
    int error = lock_made(temp);
    if (error == 0) return true;
    if (error == ENOENT || error == EWOULDBLOCK) continue;
    unlinkat(temp->parent.get(), temp->name, AT_REMOVEDIR);
    return failure->at(Stage::kTemp, error, temp->name);
  }
  return failure->at(Stage::kTemp, EBUSY, temp->name);
}

bool empty_directory(int directory) {
  if (is_empty(directory)) return true;
  struct stat found;
  if (fstat(directory, &found) != 0) return false;
  allow_removal(directory);
  Removal removal(directory, found.st_dev);
  for (int pass = 0; pass < kRemovalPasses; ++pass) {
    bool changed = removal.pass();
    if (is_empty(directory)) return true;
    if (!changed) return false;
  }
  return false;
}

bool remove_temp(TempDirectory* temp) {
  if (!temp->made()) return true;
  bool removed = unlinkat(temp->parent.get(), temp->name, AT_REMOVEDIR) == 0 || errno == ENOENT;
  if (!removed && (errno == ENOTEMPTY || errno == EEXIST)) {
    removed = empty_directory(temp->directory.get()) &&
              unlinkat(temp->parent.get(), temp->name, AT_REMOVEDIR) == 0;
  }
  temp->directory.reset();
  return removed;
}

bool remove_stale_temp(int parent, const char* name) {
  TempDirectory stale;
  if (open_stale(parent, name, &stale)) return remove_temp(&stale);
  struct stat found;
  return fstatat(parent, name, &found, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

void sweep_temp(int parent) {
  UniqueFd directory(openat(parent, ".", kDirectoryFlags));
  if (!directory.valid()) return;
  Directory entries(directory.get());
  while (const dirent64* entry = entries.next()) {
    TempDirectory stale;
    if (open_stale(parent, entry->d_name, &stale)) remove_temp(&stale);
  }
}

}  // namespace cordon
