#include "linux/survey.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <deque>
#include <string_view>
#include <unordered_set>

#include "core/unique_fd.h"
#include "linux/files.h"

namespace cordon {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

constexpr size_t kDirectoryBytes = 1 << 15;
constexpr off_t kMostTextBytes = 1 << 18;
constexpr uint32_t kMostModuleLevels = 16;

struct DirectoryEntry {  // linux_dirent64
  uint64_t ino;
  int64_t off;
  uint16_t reclen;
  uint8_t type;
  char name[];
};

// What a repository's own directory holds of what becomes code, or leads to it. `info/attributes`,
// `modules` and `worktrees` are looked at as well.
struct GitPart {
  const char* name;
  bool is_read;
};
constexpr GitPart kGitParts[] = {
    {"hooks", false},    {"config", true}, {"config.worktree", true},
    {"commondir", true}, {"gitdir", true},
};

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = lower(letter);
  return result;
}

std::string joined(const std::string& directory, std::string_view name) {
  if (directory.empty()) return std::string(name);
  return directory + "/" + std::string(name);
}

// Names that are looked for. Nearly every name of a tree is none of them, and is told by its first
// or last letter.
class NameTable {
 public:
  NameTable(const std::vector<std::string>& names, const std::vector<std::string>& suffixes) {
    for (const std::string& name : names) {
      names_.insert(lower(name));
      if (!name.empty()) firsts_.set(static_cast<uint8_t>(lower(name[0])));
    }
    for (const std::string& suffix : suffixes) suffixes_.push_back(lower(suffix));
  }

  bool has(std::string_view name) const {
    if (firsts_.test(static_cast<uint8_t>(lower(name[0]))) && names_.count(lower(name)) != 0)
      return true;
    for (const std::string& suffix : suffixes_) {
      if (name.size() > suffix.size() && lower(name.back()) == suffix.back() &&
          lower(name.substr(name.size() - suffix.size())) == suffix) {
        return true;
      }
    }
    return false;
  }

 private:
  std::unordered_set<std::string> names_;
  std::vector<std::string> suffixes_;
  std::bitset<256> firsts_;
};

// What lies there is no tree of files, or has no end, or is mounted by being looked at.
bool is_pseudo(const struct statfs& found) {
  switch (static_cast<uint32_t>(found.f_type)) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case DEVPTS_SUPER_MAGIC:
    case DEBUGFS_MAGIC:
    case TRACEFS_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case BPF_FS_MAGIC:
    case SECURITYFS_MAGIC:
    case AUTOFS_SUPER_MAGIC:
    case 0x62656570:  // configfs
    case 0x19800202:  // mqueue
      return true;
    default:
      return false;
  }
}

bool is_before(const timespec& left, const timespec& right) {
  return left.tv_sec != right.tv_sec ? left.tv_sec < right.tv_sec : left.tv_nsec < right.tv_nsec;
}

// A change from now on gets a time that is not before `start`. Times that are round are of a file
// system that keeps no finer ones.
bool is_settled(timespec changed, const timespec& start) {
  constexpr long kRound = 10'000'000;
  constexpr time_t kCoarsestSeconds = 2;
  if (changed.tv_nsec % kRound == 0) changed.tv_sec += kCoarsestSeconds;
  return is_before(changed, start);
}

bool is_same_time(const timespec& left, const timespec& right) {
  return left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec;
}

bool is_same_object(const struct stat& left, const struct stat& right) {
  return left.st_dev == right.st_dev && left.st_ino == right.st_ino &&
         (left.st_mode & S_IFMT) == (right.st_mode & S_IFMT);
}

SeenObject seen_as(const std::string& path, const struct stat& facts, bool whole) {
  return {path,         true,          whole,         facts.st_mode & S_IFMT, facts.st_dev,
          facts.st_ino, facts.st_size, facts.st_mtim, facts.st_ctim};
}

bool is_absent(int error) { return error == ENOENT || error == ENOTDIR; }

class Surveyor {
 public:
  Surveyor(const SurveyRequest& request, Survey* survey)
      : request_(request),
        survey_(survey),
        names_(request.names, request.suffixes),
        closed_(request.closed, {}) {}

  bool run() {
    // The clock that the kernel takes the times of files from.
    clock_gettime(CLOCK_REALTIME_COARSE, &start_);
    root_ = open_unnoticed(AT_FDCWD, request_.root.c_str(), kDirectoryFlags);
    if (!root_.valid() || fstat(root_.get(), &root_facts_) != 0) return false;
    if (request_.has_identity &&
        (root_facts_.st_dev != request_.device || root_facts_.st_ino != request_.inode)) {
      errno = ESTALE;
      return false;
    }
    survey_->sight.root = request_.root;
    if (!enter(root_.get(), root_facts_)) {
      see("", root_facts_, false);
      return true;
    }
    switch (request_.start) {
      case SurveyStart::kTree:
        for (const std::string& place : request_.places) look_at_place(place);
        walk();
        break;
      case SurveyStart::kGitDir:
        gather(root_.get(), "", root_facts_);
        break;
      case SurveyStart::kModules:
        see("", root_facts_, true);
        gather_modules(root_.get(), "", 0);
        break;
    }
    return true;
  }

 private:
  struct Place {
    std::string path;
    uint32_t depth;
    dev_t parent;
  };

  void stop(SurveyStop reason) {
    if (survey_->stop == SurveyStop::kNone) survey_->stop = reason;
  }

  void see(const std::string& path, const struct stat& facts, bool whole) {
    if (whole && !(is_settled(facts.st_ctim, start_) && is_settled(facts.st_mtim, start_)))
      survey_->sight.can_tell = false;
    survey_->sight.seen.push_back(seen_as(path, facts, whole));
  }

  SurveyedObject& report(const std::string& path, const struct stat& facts) {
    survey_->found.push_back({path, facts, false, false, ""});
    return survey_->found.back();
  }

  // Whether a directory's file system is one to be read.
  bool enter(int directory, const struct stat& facts) {
    if (facts.st_dev == last_device_) return last_device_is_read_;
    struct statfs system;
    if (fstatfs(directory, &system) != 0) return false;
    last_device_ = facts.st_dev;
    last_device_is_read_ = !is_pseudo(system);
    if (last_device_is_read_ && !tells_changes(system)) survey_->sight.can_tell = false;
    return last_device_is_read_;
  }

  // Beneath the root, through no link, whoever exchanges a component meanwhile.
  UniqueFd open_directory(const std::string& path) {
    if (path.empty()) return UniqueFd(fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
    if (has_openat2_) {
      open_how how = {};
      how.flags = kDirectoryFlags | O_NOATIME;
      how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
      long fd = syscall(SYS_openat2, root_.get(), path.c_str(), &how, sizeof how);
      if (fd < 0 && errno == EPERM) {
        how.flags = kDirectoryFlags;
        fd = syscall(SYS_openat2, root_.get(), path.c_str(), &how, sizeof how);
      }
      if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return UniqueFd(static_cast<int>(fd));
      has_openat2_ = false;
    }
    UniqueFd at(fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
    for (size_t start = 0; at.valid() && start <= path.size();) {
      size_t end = std::min(path.find('/', start), path.size());
      at = open_unnoticed(at.get(), path.substr(start, end - start).c_str(), kDirectoryFlags);
      start = end + 1;
    }
    return at;
  }

  // Names and types of what `directory` holds. False where reading stopped, which has been noted
  // then.
  template <typename Each>
  bool read_directory(int directory, Each each) {
    alignas(DirectoryEntry) char buffer[kDirectoryBytes];
    for (;;) {
      long length = syscall(SYS_getdents64, directory, buffer, sizeof buffer);
      if (length == 0) return true;
      if (length < 0) {
        stop(SurveyStop::kUnreadable);
        return false;
      }
      for (long at = 0; at < length;) {
        auto* entry = reinterpret_cast<DirectoryEntry*>(buffer + at);
        at += entry->reclen;
        std::string_view name(entry->name);
        if (name == "." || name == "..") continue;
        if (++entry_count_ > request_.entries) {
          stop(SurveyStop::kEntries);
          return false;
        }
        each(name, entry->type);
      }
    }
  }

  bool is_spent() {
    if (++directory_count_ <= request_.directories) return false;
    stop(SurveyStop::kDirectories);
    return true;
  }

  // A directory that the user cannot read, and cannot make readable, is as little the run's.
  void note_unopened(const std::string& path) {
    int error = errno;
    struct stat facts;
    bool is_there = fstatat(root_.get(), path.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_there || !S_ISDIR(facts.st_mode)) {
      // Exchanged since it was listed: what it is now is told by its parent's time.
      survey_->sight.can_tell = false;
      return;
    }
    see(path, facts, true);
    bool is_closed = error == EACCES && facts.st_uid != geteuid() &&
                     faccessat(root_.get(), path.c_str(), X_OK, AT_EACCESS) != 0;
    if (!is_closed) stop(SurveyStop::kUnreadable);
  }

  void walk_stops() {
    std::deque<Place> unused;
    for (const std::string& path : request_.stops) {
      if (is_spent()) return;
      read_place({path, request_.depth, root_facts_.st_dev}, &unused);
    }
  }

  // In order of depth, so that what is near the root is found whatever lies beneath.
  void walk() {
    if (request_.has_stops) return walk_stops();
    std::deque<Place> waiting{{"", 0, root_facts_.st_dev}};
    for (; !waiting.empty(); waiting.pop_front()) {
      if (survey_->stop == SurveyStop::kDirectories || survey_->stop == SurveyStop::kEntries)
        return;
      if (is_spent()) return;
      read_place(waiting.front(), &waiting);
    }
  }

  void read_place(const Place& place, std::deque<Place>* waiting) {
    UniqueFd directory = open_directory(place.path);
    if (!directory.valid()) return note_unopened(place.path);
    struct stat facts;
    if (fstat(directory.get(), &facts) != 0) return note_unopened(place.path);
    // Before it is read: what changes meanwhile changes its time.
    see(place.path, facts, !request_.has_stops);
    if (!enter(directory.get(), facts)) return;
    std::vector<std::string> inner;
    std::vector<std::string> matches;
    std::vector<std::string> repositories;
    unsigned git_marks = 0;
    bool has_config = false;
    read_directory(directory.get(), [&](std::string_view name, uint8_t type) {
      if (name == "HEAD") git_marks |= 1;
      if (name == "objects") git_marks |= 2;
      if (name == "refs") git_marks |= 4;
      if (name == "commondir") git_marks |= 6;
      if (name == "config") has_config = true;
      if (name.size() == 4 && lower(name) == ".git") {
        repositories.emplace_back(name);
        return;
      }
      if (names_.has(name)) {
        matches.emplace_back(name);
        return;
      }
      bool may_be_directory = type == DT_DIR || type == DT_UNKNOWN;
      if (!may_be_directory || place.depth >= request_.depth || closed_.has(name)) return;
      if (type == DT_DIR || is_directory(directory.get(), name)) inner.emplace_back(name);
    });
    if (git_marks == 7) {
      survey_->sight.seen.pop_back();
      return gather(directory.get(), place.path, facts);
    }
    if (has_config && has_git_config(directory.get(), place.path))
      return gather(directory.get(), place.path, facts);
    for (const std::string& name : matches) add(directory.get(), place.path, name, false);
    for (const std::string& name : repositories) add_repository(directory.get(), place.path, name);
    for (const std::string& name : inner)
      waiting->push_back({joined(place.path, name), place.depth + 1, facts.st_dev});
  }

  // What tells a repository from other directories a run can take away, and the next one would find
  // nothing to protect. Its configuration stays where it is.
  bool has_git_config(int directory, const std::string& path) {
    struct stat facts;
    std::string text;
    if (fstatat(directory, "config", &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode))
      return false;
    see(joined(path, "config"), facts, true);
    return read_file(directory, "config", facts, &text) &&
           lower(text).find("repositoryformatversion") != std::string::npos;
  }

  bool is_directory(int parent, std::string_view name) {
    struct stat facts;
    return fstatat(parent, std::string(name).c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(facts.st_mode);
  }

  // Looks at `name` in `parent`; true when it is there.
  bool add(int parent, const std::string& path, const char* name, bool is_read) {
    struct stat facts;
    if (fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      if (!is_absent(errno)) stop(SurveyStop::kUnreadable);
      return false;
    }
    std::string full = joined(path, name);
    // A directory that is not read is watched for what it is; a file also for its other names.
    see(full, facts, !S_ISDIR(facts.st_mode));
    SurveyedObject& object = report(full, facts);
    if (S_ISLNK(facts.st_mode)) object.has_text = read_link(parent, name, &object.text);
    if (S_ISREG(facts.st_mode) && is_read) {
      object.has_text = read_file(parent, name, facts, &object.text);
      if (!object.has_text) stop(SurveyStop::kUnread);
    }
    return true;
  }

  bool add(int parent, const std::string& path, const std::string& name, bool is_read) {
    return add(parent, path, name.c_str(), is_read);
  }

  void add_repository(int parent, const std::string& path, const std::string& name) {
    UniqueFd directory = open_unnoticed(parent, name.c_str(), kDirectoryFlags);
    struct stat facts;
    if (directory.valid() && fstat(directory.get(), &facts) == 0 && enter(directory.get(), facts))
      return gather(directory.get(), joined(path, name), facts);
    // A worktree's or a submodule's file, a link, or a directory that cannot be read.
    struct stat named;
    bool is_there = fstatat(parent, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && S_ISDIR(named.st_mode)) return note_unopened(joined(path, name));
    add(parent, path, name, true);
  }

  static bool read_link(int parent, const char* name, std::string* target) {
    char buffer[PATH_MAX];
    ssize_t length = readlinkat(parent, name, buffer, sizeof buffer);
    if (length <= 0 || length == static_cast<ssize_t>(sizeof buffer)) return false;
    target->assign(buffer, static_cast<size_t>(length));
    return true;
  }

  // Only what was just seen to be a regular file is opened: a FIFO or a device would notice.
  static bool read_file(int parent, const char* name, const struct stat& facts, std::string* text) {
    if (facts.st_size > kMostTextBytes) return false;
    UniqueFd file =
        open_unnoticed(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat opened;
    if (!file.valid() || fstat(file.get(), &opened) != 0 || !is_same_object(opened, facts))
      return false;
    text->resize(static_cast<size_t>(kMostTextBytes) + 1);
    size_t length = 0;
    for (;;) {
      ssize_t count = read(file.get(), text->data() + length, text->size() - length);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      length += static_cast<size_t>(count);
      if (length > static_cast<size_t>(kMostTextBytes)) return false;
      if (count == 0) break;
    }
    text->resize(length);
    text->shrink_to_fit();
    return true;
  }

  // A repository's own directory.
  void gather(int directory, const std::string& path, const struct stat& facts) {
    see(path, facts, true);
    report(path, facts).is_git_dir = true;
    for (const GitPart& part : kGitParts) add(directory, path, part.name, part.is_read);
    gather_info(directory, path);
    descend(directory, path, "modules",
            [this](int modules, const std::string& at) { gather_modules(modules, at, 0); });
    descend(directory, path, "worktrees",
            [this](int worktrees, const std::string& at) { gather_worktrees(worktrees, at); });
  }

  // Opens a directory of git's that is to be read; anything else by that name is reported as it is.
  template <typename Each>
  void descend(int parent, const std::string& path, const char* name, Each each) {
    UniqueFd directory = open_unnoticed(parent, name, kDirectoryFlags);
    struct stat facts;
    if (!directory.valid() || fstat(directory.get(), &facts) != 0) {
      // ENOTDIR is also what a link gives.
      if (errno != ENOENT && add(parent, path, name, false) &&
          S_ISDIR(survey_->found.back().facts.st_mode)) {
        stop(SurveyStop::kUnreadable);
      }
      return;
    }
    std::string full = joined(path, name);
    see(full, facts, true);
    if (enter(directory.get(), facts)) each(directory.get(), full);
  }

  void gather_info(int directory, const std::string& path) {
    descend(directory, path, "info",
            [this](int info, const std::string& at) { add(info, at, "attributes", false); });
  }

  // A submodule's name may have slashes: a directory that is no repository is a part of one.
  void gather_modules(int directory, const std::string& path, uint32_t level) {
    for_each_directory(directory, path, [&](int inner, const std::string& at, const auto& facts) {
      struct stat head;
      if (fstatat(inner, "HEAD", &head, AT_SYMLINK_NOFOLLOW) == 0 || has_git_config(inner, at))
        return gather(inner, at, facts);
      see(at, facts, true);
      if (level < kMostModuleLevels) return gather_modules(inner, at, level + 1);
      stop(SurveyStop::kDirectories);
    });
  }

  void gather_worktrees(int directory, const std::string& path) {
    for_each_directory(directory, path, [&](int inner, const std::string& at, const auto& facts) {
      gather(inner, at, facts);
    });
  }

  template <typename Each>
  void for_each_directory(int parent, const std::string& path, Each each) {
    std::vector<std::string> names;
    read_directory(parent, [&](std::string_view name, uint8_t type) {
      if (type == DT_DIR || type == DT_UNKNOWN || type == DT_LNK) names.emplace_back(name);
    });
    for (const std::string& name : names) {
      if (is_spent()) return;
      descend_into(parent, path, name, each);
    }
  }

  template <typename Each>
  void descend_into(int parent, const std::string& path, const std::string& name, Each each) {
    UniqueFd directory = open_unnoticed(parent, name.c_str(), kDirectoryFlags);
    struct stat facts;
    if (directory.valid() && fstat(directory.get(), &facts) == 0 && enter(directory.get(), facts))
      return each(directory.get(), joined(path, name), facts);
    add(parent, path, name, false);
  }

  // Each component on the way is watched, since any of them can come to be something else.
  void look_at_place(const std::string& place) {
    UniqueFd at(fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
    std::string path;
    for (size_t start = 0; at.valid();) {
      size_t end = std::min(place.find('/', start), place.size());
      std::string name = place.substr(start, end - start);
      if (end == place.size()) {
        add(at.get(), path, name, false);
        return;
      }
      UniqueFd next = open_unnoticed(at.get(), name.c_str(), kDirectoryFlags);
      struct stat facts;
      if (!next.valid() || fstat(next.get(), &facts) != 0) {
        // A link on the way, which gives ENOTDIR: what it leads to is for the caller to find.
        if (errno != ENOENT) add(at.get(), path, name, false);
        return;
      }
      path = joined(path, name);
      see(path, facts, true);
      if (!enter(next.get(), facts)) return;
      at = std::move(next);
      start = end + 1;
    }
  }

  const SurveyRequest& request_;
  Survey* survey_;
  NameTable names_;
  NameTable closed_;
  UniqueFd root_;
  struct stat root_facts_ = {};
  timespec start_ = {};
  bool has_openat2_ = true;
  dev_t last_device_ = static_cast<dev_t>(-1);
  bool last_device_is_read_ = false;
  size_t directory_count_ = 0;
  size_t entry_count_ = 0;
};

bool is_as_seen(int root, const SeenObject& seen) {
  struct stat now;
  int result = seen.path.empty() ? fstat(root, &now)
                                 : fstatat(root, seen.path.c_str(), &now, AT_SYMLINK_NOFOLLOW);
  if (result != 0) return !seen.exists && is_absent(errno);
  if (!seen.exists || now.st_dev != seen.dev || now.st_ino != seen.ino ||
      (now.st_mode & S_IFMT) != seen.type) {
    return false;
  }
  return !seen.whole || (is_same_time(now.st_mtim, seen.modified) &&
                         is_same_time(now.st_ctim, seen.changed) && now.st_size == seen.size);
}

bool is_still_so(const Sight& sight) {
  if (!sight.can_tell) return false;
  UniqueFd root;
  if (!sight.root.empty()) {
    root.reset(open(sight.root.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!root.valid()) return false;
  }
  int base = sight.root.empty() ? AT_FDCWD : root.get();
  return std::all_of(sight.seen.begin(), sight.seen.end(),
                     [base](const SeenObject& seen) { return is_as_seen(base, seen); });
}

}  // namespace

bool tells_changes(const struct statfs& found) {
  switch (static_cast<uint32_t>(found.f_type)) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case 0x2fc12fc1:  // ZFS
    case 0xca451a4e:  // bcachefs
      return true;
    default:
      return false;
  }
}

bool survey_tree(const SurveyRequest& request, Survey* survey) {
  return Surveyor(request, survey).run();
}

void look_at(const std::vector<std::string>& paths, Survey* survey) {
  timespec start;
  clock_gettime(CLOCK_REALTIME_COARSE, &start);
  for (const std::string& path : paths) {
    SurveyedObject object{"", {}, false, false, ""};
    bool exists = fstatat(AT_FDCWD, path.c_str(), &object.facts, AT_SYMLINK_NOFOLLOW) == 0;
    // What cannot be looked at is nobody's name there that the run could use.
    if (exists) object.path = path;
    bool whole = exists && !S_ISDIR(object.facts.st_mode);
    if (whole && !is_settled(object.facts.st_ctim, start)) survey->sight.can_tell = false;
    if (!exists && !is_absent(errno)) survey->sight.can_tell = false;
    struct statfs system;
    if (whole && !S_ISLNK(object.facts.st_mode) &&
        (statfs(path.c_str(), &system) != 0 || !tells_changes(system))) {
      survey->sight.can_tell = false;
    }
    if (exists && S_ISLNK(object.facts.st_mode)) {
      char target[PATH_MAX];
      ssize_t length = readlink(path.c_str(), target, sizeof target);
      object.has_text = length > 0 && length < static_cast<ssize_t>(sizeof target);
      if (object.has_text) object.text.assign(target, static_cast<size_t>(length));
    }
    survey->sight.seen.push_back(seen_as(path, object.facts, whole));
    survey->sight.seen.back().exists = exists;
    survey->found.push_back(std::move(object));
  }
}

bool is_unchanged(const SurveyMemory& memory) {
  return std::all_of(memory.sights.begin(), memory.sights.end(), is_still_so);
}

}  // namespace cordon
