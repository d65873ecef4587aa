#include "linux/view.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "core/plan_codec.h"
#include "core/text.h"
#include "linux/resolve.h"

namespace cordon {
namespace {

// Numbers are the same on every architecture; older headers lack the names.
constexpr long kOpenTree = 428;
constexpr long kMoveMount = 429;
constexpr long kFsopen = 430;
constexpr long kFsconfig = 431;
constexpr long kFsmount = 432;
constexpr long kMountSetattr = 442;

constexpr long kCloneTree = 1;  // OPEN_TREE_CLONE
constexpr long kRecursive = 0x8000;
constexpr long kEmptyPath = 0x1000;
constexpr long kMoveByDescriptors = 0x4 | 0x40;  // MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH
constexpr long kSetString = 1;                   // FSCONFIG_SET_STRING
constexpr long kCreate = 6;                      // FSCONFIG_CMD_CREATE
constexpr long kFsCloexec = 1;

constexpr uint64_t kReadOnly = 0x1;  // MOUNT_ATTR_RDONLY
constexpr long kNosuid = 0x2;
constexpr long kNodev = 0x4;

// For a copy: configuration of a few lines.
constexpr size_t kMostCopied = 64 * 1024;
constexpr const char* kMaskDirectory = "directory";
constexpr const char* kMaskFile = "file";
// FNV-1a's.
constexpr uint64_t kHashPrime = 0x100000001b3;

struct MountAttributes {
  uint64_t set;
  uint64_t clear;
  uint64_t propagation;
  uint64_t user_namespace;
};

// A name for the object at a canonical path. A link on the way means that it is no longer the path
// that was judged.
UniqueFd name_object(const char* path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return UniqueFd(
      static_cast<int>(syscall(SYS_openat2, static_cast<long>(AT_FDCWD), path, &how, sizeof how)));
}

// A tree of mounts that lies nowhere yet: what the object and everything beneath it look like.
UniqueFd clone_tree(int object) {
  return UniqueFd(static_cast<int>(syscall(kOpenTree, static_cast<long>(object), "",
                                           kCloneTree | O_CLOEXEC | kRecursive | kEmptyPath)));
}

bool attach(int tree, int object) {
  return syscall(kMoveMount, static_cast<long>(tree), "", static_cast<long>(object), "",
                 kMoveByDescriptors) == 0;
}

bool set_read_only(int tree) {
  MountAttributes attributes{kReadOnly, 0, 0, 0};
  return syscall(kMountSetattr, static_cast<long>(tree), "", kEmptyPath | kRecursive, &attributes,
                 sizeof attributes) == 0;
}

bool is_link(int object) {
  struct stat found;
  return fstat(object, &found) != 0 || S_ISLNK(found.st_mode);
}

}  // namespace

bool View::refuse(int error, const char* path) { return failure_->at(Stage::kMounts, error, path); }

bool View::each(ViewKind kind, bool (View::*act)(const PlanView&)) {
  PlanReader views = read_list(plan_->views);
  for (uint32_t i = 0; i < plan_->views.count; ++i) {
    PlanView view = views.view();
    if (view.kind == kind && !(this->*act)(view)) return false;
  }
  return true;
}

bool View::arrange(const Plan& plan, int temp, Failure* failure) {
  plan_ = &plan;
  failure_ = failure;
  temp_ = temp;
  if (injected(Stage::kMounts) || syscall(SYS_mount, nullptr, "/", nullptr,
                                          static_cast<long>(MS_REC | MS_PRIVATE), nullptr) != 0) {
    return refuse(errno, "/");
  }
  return each(ViewKind::kRoot, &View::take_root) && each(ViewKind::kReopened, &View::take_root) &&
         take_temp() && each(ViewKind::kReadOnly, &View::make_read_only) &&
         each(ViewKind::kTemporary, &View::mount_temporary) &&
         each(ViewKind::kSharedMemory, &View::mount_memory) &&
         each(ViewKind::kTerminals, &View::mount_terminals) &&
         each(ViewKind::kCopied, &View::put_copy) && each(ViewKind::kPin, &View::pin) &&
         each(ViewKind::kRoot, &View::put_root) && check_pins() && put_temp() &&
         each(ViewKind::kKept, &View::keep) && each(ViewKind::kReopened, &View::put_root) &&
         guard_streams() && each(ViewKind::kHidden, &View::hide) && drop_shelf();
}

bool View::take_root(const PlanView& view) {
  if (taken_ == kMostRoots) return refuse(E2BIG, view.path);
  UniqueFd object = name_object(view.path);
  struct stat found;
  if (!object.valid() || fstat(object.get(), &found) != 0) {
    return failure_->at(Stage::kRootChanged, errno, view.path);
  }
  if (found.st_dev != view.device || found.st_ino != view.inode) {
    return failure_->at(Stage::kRootChanged, ESTALE, view.path);
  }
  UniqueFd tree = clone_tree(object.get());
  if (!tree.valid()) return refuse(errno, view.path);
  trees_[taken_++] = static_cast<UniqueFd&&>(tree);
  return true;
}

// By its path: the descriptor is of the mounts outside, and what is there cannot be cloned.
bool View::take_temp() {
  if (temp_ < 0) return true;
  UniqueFd object = name_object(plan_->temp);
  struct stat found;
  struct stat held;
  if (!object.valid() || fstat(object.get(), &found) != 0 || fstat(temp_, &held) != 0) {
    return refuse(errno, plan_->temp);
  }
  if (found.st_dev != held.st_dev || found.st_ino != held.st_ino) {
    return refuse(ESTALE, plan_->temp);
  }
  temp_tree_ = clone_tree(object.get());
  return temp_tree_.valid() || refuse(errno, plan_->temp);
}

bool View::make_read_only(const PlanView& view) {
  UniqueFd object = name_object(view.path);
  if (object.valid() && set_read_only(object.get())) return true;
  return refuse(errno, view.path);
}

// A small file system in memory, from which single files and directories are mounted elsewhere. It
// lies over the root while it is needed: the kernel clones nothing of what lies nowhere.
bool View::make_shelf() {
  if (shelf_.valid()) return true;
  UniqueFd type(static_cast<int>(syscall(kFsopen, "tmpfs", kFsCloexec)));
  if (!type.valid() ||
      syscall(kFsconfig, static_cast<long>(type.get()), kSetString, "mode", "0755", 0L) != 0 ||
      syscall(kFsconfig, static_cast<long>(type.get()), kCreate, nullptr, nullptr, 0L) != 0) {
    return refuse(errno, "tmpfs");
  }
  UniqueFd shelf(static_cast<int>(
      syscall(kFsmount, static_cast<long>(type.get()), kFsCloexec, kNosuid | kNodev)));
  UniqueFd root = name_object("/");
  if (!shelf.valid() || !root.valid() || !attach(shelf.get(), root.get())) {
    return refuse(errno, "tmpfs");
  }
  shelf_ = static_cast<UniqueFd&&>(shelf);
  return true;
}

// What was mounted from it stays. Left over the root it would be what "/.." leads to.
bool View::drop_shelf() {
  if (!shelf_.valid()) return true;
  if (syscall(SYS_fchdir, static_cast<long>(shelf_.get())) != 0 ||
      syscall(SYS_umount2, ".", static_cast<long>(MNT_DETACH)) != 0) {
    return refuse(errno, "tmpfs");
  }
  shelf_.reset();
  return true;
}

// What is there stays to be read, and what is written goes no further than this run. Where the
// kernel cannot do it the directory stays as it is outside, which the caller hears of by its
// absence.
bool View::mount_temporary(const PlanView& view) {
  // Whoever works there works on what is there.
  if (beneath(plan_->cwd, view.path)) return true;
  if (!make_shelf()) return false;
  if (mkdirat(shelf_.get(), "upper", 01777) != 0 || mkdirat(shelf_.get(), "work", 0700) != 0) {
    return refuse(errno, view.path);
  }
  UniqueFd upper(openat(shelf_.get(), "upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // The umask may have taken bits away.
  if (!upper.valid() || fchmod(upper.get(), 01777) != 0) return refuse(errno, view.path);
  if (syscall(SYS_fchdir, static_cast<long>(shelf_.get())) != 0) return refuse(errno, view.path);
  bool user = (plan_->namespaces & kNamespaceUser) != 0;
  Text<512> options;
  options.add("lowerdir=").add(view.path).add(",upperdir=upper,workdir=work");
  if (user) options.add(",userxattr");
  bool mounted = syscall(SYS_mount, "overlay", view.path, "overlay",
                         static_cast<long>(MS_NOSUID | MS_NODEV), options.get()) == 0;
  if (mounted) temporary_ = view.path;
  return true;
}

bool View::mount_memory(const PlanView& view) {
  if (syscall(SYS_mount, "tmpfs", view.path, "tmpfs", static_cast<long>(MS_NOSUID | MS_NODEV),
              "mode=1777") == 0) {
    return true;
  }
  return refuse(errno, view.path);
}

// The directory's own way to new terminals takes the place of /dev/ptmx, where that is a file.
bool View::mount_terminals(const PlanView& view) {
  if (syscall(SYS_mount, "devpts", view.path, "devpts", static_cast<long>(MS_NOSUID | MS_NOEXEC),
              "newinstance,ptmxmode=0666,mode=0620") != 0) {
    return refuse(errno, view.path);
  }
  UniqueFd way = name_object("/dev/ptmx");
  if (!way.valid() || is_link(way.get())) return true;
  UniqueFd own = name_object(Text<512>().add(view.path).add("/ptmx").get());
  UniqueFd tree = own.valid() ? clone_tree(own.get()) : UniqueFd();
  return (tree.valid() && attach(tree.get(), way.get())) || refuse(errno, "/dev/ptmx");
}

// A file that is gone, too large or no file needs no copy: then whoever reads it sees what is
// there.
bool View::put_copy(const PlanView& view) {
  UniqueFd original(open(view.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found;
  if (!original.valid() || fstat(original.get(), &found) != 0 || !S_ISREG(found.st_mode) ||
      static_cast<size_t>(found.st_size) > kMostCopied) {
    return true;
  }
  if (!make_shelf()) return false;
  auto name = Text<32>().add("copy-").add(copies_++);
  UniqueFd copy(openat(shelf_.get(), name.get(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!copy.valid()) return refuse(errno, view.path);
  char bytes[4096];
  ssize_t length = 0;
  while ((length = read(original.get(), bytes, sizeof bytes)) > 0) {
    if (write(copy.get(), bytes, static_cast<size_t>(length)) != length) {
      return refuse(errno, view.path);
    }
  }
  if (length < 0 || fchmod(copy.get(), found.st_mode & 0755) != 0) return refuse(errno, view.path);
  UniqueFd place = name_object(view.path);
  UniqueFd named(openat(shelf_.get(), name.get(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  UniqueFd tree = clone_tree(named.get());
  bool done =
      place.valid() && tree.valid() && set_read_only(tree.get()) && attach(tree.get(), place.get());
  return done || refuse(errno, view.path);
}

bool View::pin(const PlanView& view) {
  UniqueFd object;
  if (!find(view, &object) || !note_pinned(object.get(), view.path, &pinned_)) return false;
  UniqueFd tree = clone_tree(object.get());
  return (tree.valid() && attach(tree.get(), object.get())) || refuse(errno, view.path);
}

// Through the root that lies over them the same directories must be found: one that has another in
// its place by now is not pinned.
bool View::check_pin(const PlanView& view) {
  UniqueFd object;
  return find(view, &object) && note_pinned(object.get(), view.path, &found_);
}

bool View::note_pinned(int object, const char* path, uint64_t* sum) {
  struct stat found;
  if (fstat(object, &found) != 0) return refuse(errno, path);
  *sum = (*sum ^ found.st_dev) * kHashPrime;
  *sum = (*sum ^ found.st_ino) * kHashPrime;
  return true;
}

// What was there when the policy was resolved, and is to stay. A link in its place is not that,
// unless it is the very link that was found then.
bool View::find(const PlanView& view, UniqueFd* object) {
  *object = name_object(view.path);
  struct stat found;
  if (!object->valid() || fstat(object->get(), &found) != 0) {
    return failure_->at(Stage::kRootChanged, errno, view.path);
  }
  bool same = view.has_identity && found.st_dev == view.device && found.st_ino == view.inode;
  if (same || (!view.has_identity && !S_ISLNK(found.st_mode))) return true;
  return failure_->at(Stage::kRootChanged, ESTALE, view.path);
}

bool View::put_root(const PlanView& view) {
  UniqueFd place = name_object(view.path);
  UniqueFd& tree = trees_[put_++];
  struct stat found;
  if (!place.valid() || fstat(place.get(), &found) != 0) {
    return failure_->at(Stage::kRootChanged, errno, view.path);
  }
  if (found.st_dev != view.device || found.st_ino != view.inode) {
    return failure_->at(Stage::kRootChanged, ESTALE, view.path);
  }
  if (!attach(tree.get(), place.get())) return refuse(errno, view.path);
  tree.reset();
  return true;
}

bool View::check_pins() {
  return each(ViewKind::kPin, &View::check_pin) &&
         (found_ == pinned_ || failure_->at(Stage::kRootChanged, ESTALE, "a directory"));
}

// Beneath a directory that is the run's own by now nothing leads to it.
bool View::make_way(const char* path) {
  Text<PATH_MAX> part;
  for (const char* at = path; *at != '\0'; ++at) {
    if (*at == '/' && at != path && mkdir(part.get(), 0755) != 0 && errno != EEXIST) return false;
    char next[] = {*at, '\0'};
    part.add(next);
  }
  return mkdir(part.get(), 0700) == 0 || errno == EEXIST;
}

bool View::put_temp() {
  if (!temp_tree_.valid()) return true;
  UniqueFd place = name_object(plan_->temp);
  if (!place.valid() && errno == ENOENT && make_way(plan_->temp)) place = name_object(plan_->temp);
  if (!place.valid() || !attach(temp_tree_.get(), place.get())) return refuse(errno, plan_->temp);
  temp_tree_.reset();
  return true;
}

bool View::keep(const PlanView& view) {
  UniqueFd object;
  if (!find(view, &object)) return false;
  UniqueFd tree = clone_tree(object.get());
  bool done = tree.valid() && set_read_only(tree.get()) && attach(tree.get(), object.get());
  return done || refuse(errno, view.path);
}

// What is kept or hidden, and not reopened.
bool View::covers(const char* path) const {
  bool covered = false;
  PlanReader views = read_list(plan_->views);
  for (uint32_t i = 0; i < plan_->views.count; ++i) {
    PlanView view = views.view();
    if (!beneath(path, view.path)) continue;
    if (view.kind == ViewKind::kReopened) return false;
    if (view.kind == ViewKind::kKept || view.kind == ViewKind::kHidden) covered = true;
  }
  return covered;
}

// A stream that the caller opened for reading lies on the mounts outside, where the file can be
// opened anew for writing (/proc/self/fd/0), and beneath a root nothing else forbids it. The run
// gets one to the same file that cannot: with a place in it of its own, which is the price.
bool View::guard_stream(int stream) {
  char path[kPathBytes];
  int flags = fcntl(stream, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY || !path_of(stream, path, sizeof path) ||
      !covers(path)) {
    return true;
  }
  struct stat named;
  struct stat held;
  if (fstat(stream, &held) != 0) return refuse(errno, path);
  // Removed: there is nothing any more that it could be written through to.
  if (held.st_nlink == 0) return true;
  UniqueFd object = name_object(path);
  if (!object.valid() || fstat(object.get(), &named) != 0) return refuse(errno, path);
  if (named.st_dev != held.st_dev || named.st_ino != held.st_ino) return refuse(ESTALE, path);
  UniqueFd tree = clone_tree(object.get());
  if (!tree.valid() || !set_read_only(tree.get())) return refuse(errno, path);
  constexpr int kSameFlags = O_PATH | O_NONBLOCK | O_DIRECT | O_NOATIME;
  UniqueFd own(open(own_descriptor(tree.get()).get(), O_CLOEXEC | (flags & kSameFlags)));
  if (!own.valid()) return refuse(errno, path);
  off_t at = lseek(stream, 0, SEEK_CUR);
  if (at > 0 && lseek(own.get(), at, SEEK_SET) != at) return refuse(errno, path);
  return dup2(own.get(), stream) == stream || refuse(errno, path);
}

bool View::guard_streams() {
  return guard_stream(STDIN_FILENO) && guard_stream(STDOUT_FILENO) && guard_stream(STDERR_FILENO);
}

bool View::hide(const PlanView& view) {
  UniqueFd object = name_object(view.path);
  struct stat found;
  // Nothing is there to be read.
  if (!object.valid() && (errno == ENOENT || errno == ENOTDIR)) return true;
  if (!object.valid() || fstat(object.get(), &found) != 0 || S_ISLNK(found.st_mode)) {
    return refuse(object.valid() ? ESTALE : errno, view.path);
  }
  if (!make_shelf()) return false;
  const char* mask = S_ISDIR(found.st_mode) ? kMaskDirectory : kMaskFile;
  long made = S_ISDIR(found.st_mode) ? mkdirat(shelf_.get(), mask, 0)
                                     : syscall(SYS_mknodat, static_cast<long>(shelf_.get()), mask,
                                               static_cast<long>(S_IFREG), 0L);
  if (made != 0 && errno != EEXIST) return refuse(errno, view.path);
  UniqueFd named(openat(shelf_.get(), mask, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  UniqueFd tree = clone_tree(named.get());
  bool done = tree.valid() && set_read_only(tree.get()) && attach(tree.get(), object.get());
  return done || refuse(errno, view.path);
}

}  // namespace cordon
