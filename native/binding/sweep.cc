// The look at the writable roots when a run is over: what has a name of interest and is not what it
// was. Bounded in every direction; by descriptors, following no link and crossing no mount.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <deque>

#include "binding/beneath.h"
#include "binding/folded_name.h"
#include "binding/witness.h"
#include "linux/files.h"

namespace cordon {
namespace {

constexpr int kMaxDirectories = 32768;
constexpr int kMaxDepth = 64;
constexpr int kMaxModuleDepth = 8;
constexpr size_t kMaxSightings = 4096;
// Older changes than this are told apart by their times.
constexpr int64_t kSettledNs = 100'000'000;
constexpr int kListing = O_RDONLY | O_DIRECTORY | O_NONBLOCK;

Kind kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return Kind::kFile;
    case S_IFDIR:
      return Kind::kDirectory;
    case S_IFLNK:
      return Kind::kSymlink;
    default:
      return Kind::kOther;
  }
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mode == b.st_mode && nanoseconds(a.st_ctim) == nanoseconds(b.st_ctim);
}

// A directory of git's: where it lies, and whether it came there since.
struct GitDir {
  size_t root;
  std::string path;
  bool moved;
};

class Sweep {
 public:
  Sweep(const Witness& witness, const std::shared_ptr<const Interest>& interest,
        SweepMemory* memory)
      : witness_(witness), interest_(interest), memory_(memory) {}

  Swept run() {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    swept_.ended = nanoseconds(now);
    for (const auto& [place, identity] : witness_.git_dirs) examine(place.first, place.second);
    for (const Place& place : witness_.hooks)
      look_into({place.first, "", false}, place.second, true);
    for (const auto& [place, known] : witness_.known) look_again(place, known);
    for (size_t root = 0; root < witness_.roots.size(); ++root) walk(root);
    return static_cast<Swept&&>(swept_);
  }

 private:
  struct Item {
    std::string path;
    std::string folded;
    int depth;
    bool inside;  // of a directory whose files all count
    bool moved;
  };

  bool fresh(const timespec& time) const { return nanoseconds(time) >= witness_.since; }

  // The names of a directory; false when it cannot be read.
  bool list(int fd, std::vector<Name>* names) {
    Directory entries(fd);
    while (const dirent64* entry = entries.next()) {
      struct stat found;
      unsigned char type = entry->d_type;
      if (type == DT_UNKNOWN && fstatat(fd, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0) {
        type = IFTODT(found.st_mode);
      }
      names->push_back({entry->d_name, folded_name(entry->d_name), type});
    }
    return !entries.failed();
  }

  UniqueFd enter(size_t root, const std::string& path) {
    UniqueFd fd(open_beneath(witness_.roots[root].get(), path, kListing));
    // What was removed meanwhile is nobody's; what cannot be entered may hide anything.
    bool gone = !fd.valid() && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
    if (!fd.valid() && !gone) swept_.complete = false;
    if (fd.valid() && ++directories_ > kMaxDirectories) {
      swept_.complete = false;
      fd.reset();
    }
    return fd;
  }

  // Whether the directory took its name since: its own change time says that of a rename, and so
  // does its parent's. Both say it of other changes too.
  bool moved_since(const struct stat& directory, size_t root, const std::string& path) {
    if (path.empty() || !fresh(directory.st_ctim)) return false;
    UniqueFd parent(
        open_beneath(witness_.roots[root].get(), split_path(path).first, O_PATH | O_DIRECTORY));
    struct stat above;
    return parent.valid() && fstat(parent.get(), &above) == 0 && fresh(above.st_mtim);
  }

  void walk(size_t root) {
    struct stat top;
    int fd = witness_.roots[root].get();
    if (fstat(fd, &top) != 0) return;
    std::shared_ptr<SweptTree> tree = memory_->tree(top.st_dev, top.st_ino);
    std::lock_guard<std::mutex> lock(tree->mutex);
    // The first look may be the only one: nothing is to be followed for it.
    if (++tree->looks == 1 || !tree->can_follow) return walk_all(root, &tree->remembered);
    if (tree->index == nullptr) {
      tree->can_follow = TreeIndex::can_follow(fd);
      if (!tree->can_follow) return walk_all(root, &tree->remembered);
      tree->index = std::make_unique<TreeIndex>(interest_, kMaxDepth);
    }
    if (!tree->refresh(fd)) return walk_all(root, &tree->remembered);
    tree->remembered.clear();
    walk_stops(root, *tree->index);
  }

  void walk_stops(size_t root, const TreeIndex& index) {
    if (!index.complete()) swept_.complete = false;
    std::deque<Item> waiting;
    index.each_stop([&](const TreeIndex::Stop& stop) {
      if (stop.listing.git) return examine(root, stop.path);
      Item item{stop.path, stop.folded, stop.depth, false, false};
      for (const Name& name : stop.listing.names) visit(root, item, name, &waiting);
    });
    RememberedTree unused;
    descend(root, static_cast<std::deque<Item>&&>(waiting), {}, &unused);
  }

  void walk_all(size_t root, RememberedTree* remembered) {
    RememberedTree now;
    descend(root, {{"", "", 0, false, false}}, static_cast<RememberedTree&&>(*remembered), &now);
    *remembered = static_cast<RememberedTree&&>(now);
  }

  void descend(size_t root, std::deque<Item> waiting, RememberedTree before, RememberedTree* now) {
    while (!waiting.empty() && directories_ <= kMaxDirectories) {
      Item item = static_cast<Item&&>(waiting.front());
      waiting.pop_front();
      RememberedDirectory held;
      bool settled = true;
      auto known = before.find(item.path);
      if (known != before.end() && is_unchanged(root, item.path, known->second)) {
        held = static_cast<RememberedDirectory&&>(known->second);
      } else if (!read_directory(root, item, &held, &settled)) {
        continue;
      }
      if (held.listing.git) {
        examine(root, item.path);
      } else {
        for (const Name& name : held.listing.names) visit(root, item, name, &waiting);
      }
      if (settled) (*now)[item.path] = static_cast<RememberedDirectory&&>(held);
    }
  }

  // By name: the directories above were found to be what they were, or read, in this look.
  bool is_unchanged(size_t root, const std::string& path, const RememberedDirectory& known) {
    struct stat found;
    ++directories_;
    return fstatat(witness_.roots[root].get(), path.c_str(), &found,
                   AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
           found.st_dev == known.dev && found.st_ino == known.ino &&
           nanoseconds(found.st_mtim) == known.modified &&
           nanoseconds(found.st_ctim) == known.changed;
  }

  // `settled`: a later change will show in the times.
  bool read_directory(size_t root, const Item& item, RememberedDirectory* held, bool* settled) {
    UniqueFd directory = enter(root, item.path);
    struct stat found;
    if (!directory.valid() || fstat(directory.get(), &found) != 0) return false;
    *held = {found.st_dev, found.st_ino, nanoseconds(found.st_mtim), nanoseconds(found.st_ctim),
             read_listing(directory.get(), item.folded, item.inside, *interest_)};
    *settled =
        held->listing.whole && std::max(held->modified, held->changed) + kSettledNs < swept_.ended;
    if (!held->listing.whole) swept_.complete = false;
    return true;
  }

  void visit(size_t root, const Item& item, const Name& name, std::deque<Item>* waiting) {
    std::string path = join_path(item.path, name.text);
    std::string folded = join_path(item.folded, name.folded);
    bool counts = item.inside || interest_->counts(item.folded, name.folded);
    if (name.folded == ".git" && name.type == DT_DIR) {
      examine(root, path);
    } else if (name.folded == ".git") {
      GitDir pointer{root, path, false};
      look_at(root, path, &pointer, false);
    } else if (name.type != DT_DIR) {
      if (counts) look_at(root, path, nullptr, item.moved);
    } else if (item.depth < kMaxDepth) {
      bool moved = item.moved || (counts && has_moved(root, path));
      waiting->push_back({path, folded, item.depth + 1, counts, moved});
    } else {
      swept_.complete = false;
    }
  }

  bool has_moved(size_t root, const std::string& path) {
    UniqueFd directory(open_beneath(witness_.roots[root].get(), path, O_PATH | O_DIRECTORY));
    struct stat found;
    return directory.valid() && fstat(directory.get(), &found) == 0 &&
           moved_since(found, root, path);
  }

  void look_at(size_t root, const std::string& path, const GitDir* git, bool moved) {
    UniqueFd directory(
        open_beneath(witness_.roots[root].get(), split_path(path).first, O_PATH | O_DIRECTORY));
    if (directory.valid()) add(directory.get(), {root, path}, git, moved);
  }

  void examine(size_t root, const std::string& path) {
    if (!examined_.insert({root, path}).second) return;
    UniqueFd directory = enter(root, path);
    struct stat found;
    if (!directory.valid() || fstat(directory.get(), &found) != 0) return;
    GitDir git{root, path, moved_since(found, root, path)};
    if (witness_.git_dirs.count({root, path}) == 0) note_new(root, path, directory.get());
    std::vector<Name> names;
    if (!list(directory.get(), &names)) swept_.complete = false;
    for (const Name& name : names) {
      std::string below = join_path(path, name.text);
      bool is_directory = name.type == DT_DIR;
      if (name.folded == "config" || name.folded == "config.worktree" ||
          name.folded == "commondir") {
        sight(directory.get(), {root, below}, git, git.moved);
      } else if (name.folded == "hooks" || name.folded == "info" || name.folded == "modules" ||
                 name.folded == "worktrees") {
        if (!is_directory) {
          sight(directory.get(), {root, below}, git, git.moved);
        } else if (name.folded == "hooks" || name.folded == "info") {
          look_into(git, below, name.folded == "hooks");
        } else {
          look_for_more(root, below, 0);
        }
      }
    }
  }

  // Whether it was made since. Not every file system says so.
  bool born_since(int directory, const std::string& name) {
    struct statx found {};
    int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
    bool told = statx(directory, name.c_str(), flags, STATX_BTIME, &found) == 0 &&
                (found.stx_mask & STATX_BTIME) != 0;
    timespec born{static_cast<time_t>(found.stx_btime.tv_sec), found.stx_btime.tv_nsec};
    return told && fresh(born);
  }

  void note_new(size_t root, const std::string& path, int directory) {
    UniqueFd above(
        open_beneath(witness_.roots[root].get(), split_path(path).first, O_PATH | O_DIRECTORY));
    bool in_new = above.valid() && born_since(above.get(), "");
    swept_.repositories.push_back({{root, path}, born_since(directory, ""), in_new});
  }

  void look_into(const GitDir& git, const std::string& path, bool hooks) {
    UniqueFd directory = enter(git.root, path);
    struct stat found;
    if (!directory.valid() || fstat(directory.get(), &found) != 0) return;
    bool moved = git.moved || moved_since(found, git.root, path);
    std::vector<Name> names;
    if (!list(directory.get(), &names)) swept_.complete = false;
    for (const Name& name : names) {
      bool counts =
          hooks ? name.type != DT_DIR && !is_sample(name.folded) : name.folded == "attributes";
      if (counts) add(directory.get(), {git.root, join_path(path, name.text)}, &git, moved, hooks);
    }
  }

  // Repositories of submodules, which lie at any depth, and of worktrees.
  void look_for_more(size_t root, const std::string& path, int depth) {
    UniqueFd directory = enter(root, path);
    if (!directory.valid()) return;
    std::vector<Name> names;
    if (!list(directory.get(), &names)) swept_.complete = false;
    for (const Name& name : names) {
      if (name.folded == "head") return examine(root, path);
    }
    for (const Name& name : names) {
      std::string below = join_path(path, name.text);
      if (name.type == DT_LNK) sight(directory.get(), {root, below}, {root, path, false}, false);
      if (name.type != DT_DIR) continue;
      if (depth >= kMaxModuleDepth) {
        swept_.complete = false;
      } else {
        look_for_more(root, below, depth + 1);
      }
    }
  }

  void sight(int directory, Place place, const GitDir& git, bool moved) {
    add(directory, static_cast<Place&&>(place), &git, moved);
  }

  void add(int directory, Place place, const GitDir* git, bool moved, bool hook = false) {
    Sighting seen;
    seen.hook = hook;
    std::string name = split_path(place.second).second;
    if (fstatat(directory, name.c_str(), &seen.found, AT_SYMLINK_NOFOLLOW) != 0) return;
    auto known = witness_.known.find(place);
    if (known != witness_.known.end() && is_same(known->second.found, seen.found)) return;
    if (!sighted_.insert(place).second) return;
    seen.before = known != witness_.known.end() ? Before::kChanged
                  : was_absent(place, git)      ? Before::kMissing
                                                : Before::kUnknown;
    seen.fresh = fresh(seen.found.st_ctim);
    if (seen.before == Before::kUnknown && !seen.fresh && !moved) return;
    seen.born = born_since(directory, name);
    seen.kind = kind_of(seen.found.st_mode);
    seen.in_git = git != nullptr;
    if (git != nullptr) seen.git_dir = git->path;
    seen.place = static_cast<Place&&>(place);
    push(static_cast<Sighting&&>(seen));
  }

  bool was_absent(const Place& place, const GitDir* git) const {
    if (witness_.absent.count(place) != 0) return true;
    if (witness_.hooks.count({place.first, split_path(place.second).first}) != 0) return true;
    if (git == nullptr) return false;
    return witness_.absent.count({git->root, git->path}) != 0 ||
           witness_.git_dirs.count({git->root, git->path}) != 0;
  }

  // What was known, wherever the walk does not come; what is restored may be gone.
  void look_again(const Place& place, const Known& known) {
    auto [above, name] = split_path(place.second);
    UniqueFd directory(
        open_beneath(witness_.roots[place.first].get(), above, O_PATH | O_DIRECTORY));
    struct stat found;
    bool there = directory.valid() &&
                 fstatat(directory.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
    if (there) return add(directory.get(), place, nullptr, false);
    if (!known.restorable || !sighted_.insert(place).second) return;
    push({place, "", false, false, Kind::kMissing, Before::kChanged, true, false, known.found});
  }

  void push(Sighting sighting) {
    if (swept_.sightings.size() < kMaxSightings) {
      swept_.sightings.push_back(static_cast<Sighting&&>(sighting));
    } else {
      swept_.complete = false;
    }
  }

  const Witness& witness_;
  const std::shared_ptr<const Interest>& interest_;
  SweepMemory* memory_;
  Swept swept_;
  int directories_ = 0;
  std::set<Place> examined_;
  std::set<Place> sighted_;
};

}  // namespace

bool is_sample(const std::string& folded) {
  constexpr std::string_view kEnd = ".sample";
  return folded.size() > kEnd.size() &&
         folded.compare(folded.size() - kEnd.size(), kEnd.size(), kEnd) == 0;
}

bool SweptTree::refresh(int root) {
  if (index->refresh(root)) return true;
  can_follow = false;
  index.reset();
  return false;
}

std::shared_ptr<SweptTree> SweepMemory::tree(dev_t dev, ino_t ino) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = std::find_if(trees_.begin(), trees_.end(),
                            [&](const auto& each) { return each->dev == dev && each->ino == ino; });
  if (found != trees_.end()) {
    std::rotate(found, found + 1, trees_.end());
    return trees_.back();
  }
  if (trees_.size() == kTrees) trees_.erase(trees_.begin());
  trees_.push_back(std::make_shared<SweptTree>());
  trees_.back()->dev = dev;
  trees_.back()->ino = ino;
  return trees_.back();
}

Swept sweep_roots(const Witness& witness, const std::shared_ptr<const Interest>& interest,
                  SweepMemory* memory) {
  return Sweep(witness, interest, memory).run();
}

}  // namespace cordon
