#include "linux/temp.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/text.h"
#include "linux/files.h"

namespace cordon {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Deeper trees than this exist only to make a remover fail; the levels beyond are removed by moving
// them up.
constexpr int kMaxDepth = 512;

constexpr int kMakeAttempts = 100;

// Of a name of Cordon's own making, after the prefix. FNV-1a of the random part gives the check
// digits.
constexpr size_t kRandomCharacters = 10;
constexpr size_t kCheckCharacters = 6;
constexpr uint32_t kFnvBasis = 2166136261;
constexpr uint32_t kFnvPrime = 16777619;
constexpr int kRemovalPasses = 64;

// A directory its owner may not enter is opened up first, through a descriptor so that no link is
// followed.
int open_for_removal(int parent, const char* name) {
  int fd = openat(parent, name, kDirectoryFlags);
  if (fd >= 0 || errno != EACCES) return fd;
  UniqueFd handle(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!handle.valid()) return -1;
  auto path = Text<40>().add("/proc/self/fd/").add(static_cast<uint64_t>(handle.get()));
  if (chmod(path.get(), 0700) != 0) return -1;
  return openat(parent, name, kDirectoryFlags);
}

// A directory without write permission refuses the removal of its entries.
void allow_removal(int directory) { fchmod(directory, 0700); }

bool remove_entries(int root, int directory, dev_t device, int depth);

bool remove_subdirectory(int root, int directory, const char* name, dev_t device, int depth) {
  if (unlinkat(directory, name, AT_REMOVEDIR) == 0) return true;
  if (depth >= kMaxDepth) {
    static uint64_t serial = 0;
    auto moved = Text<40>().add(".cordon-deep-").add(serial++);
    return renameat(directory, name, root, moved.get()) == 0;
  }
  UniqueFd child(open_for_removal(directory, name));
  if (!child.valid()) return false;
  struct stat found;
  if (fstat(child.get(), &found) != 0 || found.st_dev != device) return false;
  allow_removal(child.get());
  bool emptied = remove_entries(root, child.get(), device, depth + 1);
  return emptied && unlinkat(directory, name, AT_REMOVEDIR) == 0;
}

bool remove_entries(int root, int directory, dev_t device, int depth) {
  Directory entries(directory);
  bool removed = true;
  while (const dirent64* entry = entries.next()) {
    if (unlinkat(directory, entry->d_name, 0) == 0) continue;
    if (errno != EISDIR && errno != EPERM) {
      removed = false;
      continue;
    }
    if (!remove_subdirectory(root, directory, entry->d_name, device, depth)) removed = false;
  }
  return removed && !entries.failed();
}

bool is_empty(int directory) {
  Directory entries(directory);
  return entries.next() == nullptr && !entries.failed();
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
  constexpr size_t prefix = sizeof kTempPrefix - 1;
  if (!valid_temp_name(name) || strlen(name) != prefix + kRandomCharacters + kCheckCharacters) {
    return false;
  }
  uint32_t hash = kFnvBasis;
  const char* at = name + prefix;
  for (size_t i = 0; i < kRandomCharacters; ++i) {
    hash = (hash ^ static_cast<unsigned char>(*at++)) * kFnvPrime;
  }
  for (size_t i = 0; i < kCheckCharacters; ++i) {
    uint32_t digit = hash % 36;
    hash /= 36;
    if (*at++ != static_cast<char>(digit < 26 ? 'a' + digit : '0' + (digit - 26))) return false;
  }
  return true;
}

bool make_temp(TempDirectory* temp, Failure* failure) {
  if (!valid_temp_name(temp->name)) return failure->at(Stage::kTemp, EINVAL, temp->name);
  if (injected(Stage::kTemp)) return failure->at(Stage::kTemp, errno, temp->name);
  // Another guard's sweep may remove the directory in the moment before it is locked: then it is
  // made again.
  for (int attempt = 0; attempt < kMakeAttempts; ++attempt) {
    if (mkdirat(temp->parent.get(), temp->name, 0700) != 0) {
      if (errno == EEXIST && attempt > 0) continue;
      return failure->at(Stage::kTemp, errno, temp->name);
    }
    UniqueFd made(openat(temp->parent.get(), temp->name, kDirectoryFlags));
    struct stat found;
    if (!made.valid() || flock(made.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (fstat(made.get(), &found) != 0 || found.st_nlink == 0) continue;
    temp->directory = static_cast<UniqueFd&&>(made);
    return true;
  }
  return failure->at(Stage::kTemp, EBUSY, temp->name);
}

bool empty_directory(int directory) {
  if (is_empty(directory)) return true;
  struct stat found;
  if (fstat(directory, &found) != 0) return false;
  allow_removal(directory);
  // What was too deep is moved to the top in one pass and removed in the next.
  for (int pass = 0; pass < kRemovalPasses; ++pass) {
    if (!remove_entries(directory, directory, found.st_dev, 0)) return false;
    if (is_empty(directory)) return true;
  }
  return false;
}

bool remove_temp(TempDirectory* temp) {
  if (!temp->made()) return true;
  bool removed = unlinkat(temp->parent.get(), temp->name, AT_REMOVEDIR) == 0 || errno == ENOENT;
  if (!removed && errno == ENOTEMPTY) {
    removed = empty_directory(temp->directory.get()) &&
              unlinkat(temp->parent.get(), temp->name, AT_REMOVEDIR) == 0;
  }
  temp->directory.reset();
  return removed;
}

void sweep_temp(int parent) {
  UniqueFd directory(openat(parent, ".", kDirectoryFlags));
  if (!directory.valid()) return;
  Directory entries(directory.get());
  while (const dirent64* entry = entries.next()) {
    if (!own_temp_name(entry->d_name)) continue;
    TempDirectory stale;
    stale.directory.reset(openat(parent, entry->d_name, kDirectoryFlags));
    if (!stale.made()) continue;
    struct stat found;
    if (fstat(stale.directory.get(), &found) != 0 || found.st_uid != geteuid()) continue;
    if (flock(stale.directory.get(), LOCK_EX | LOCK_NB) != 0) continue;
    stale.parent.reset(dup(parent));
    memcpy(stale.name, entry->d_name, strlen(entry->d_name));
    remove_temp(&stale);
  }
}

}  // namespace cordon
