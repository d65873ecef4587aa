// What was there before a run began, held by descriptors, and what is there after it.
#pragma once

#include <napi.h>
#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "binding/tree_index.h"
#include "core/unique_fd.h"

namespace cordon {

// A name beneath one of the roots.
using Place = std::pair<size_t, std::string>;

struct Known {
  struct stat found;
  std::shared_ptr<const std::string> content;  // null when it was not kept
  bool restorable = false;                     // its disappearance matters too
};

struct Witness {
  int64_t since = 0;  // on the clock of inode times
  std::vector<UniqueFd> roots;
  std::map<Place, Known> known;
  // Looked through: what is not known there was not there.
  std::map<Place, std::pair<dev_t, ino_t>> git_dirs;
  std::set<Place> absent;
  // Watched while the run goes on.
  std::vector<std::pair<Place, int>> posts;
  std::set<Place> hooks;  // directories that are listed in `known`, besides those of repositories
};

enum class Kind { kFile, kDirectory, kSymlink, kOther, kMissing };
enum class Before { kMissing, kChanged, kUnknown };

struct Sighting {
  Place place;
  std::string git_dir;  // empty when it belongs to none
  bool in_git = false;
  bool hook = false;  // in a directory that git takes hooks from
  Kind kind;
  Before before;
  bool fresh;         // the object itself was changed since; else only where it lies
  bool born = false;  // it was made since; false where the file system does not say
  struct stat found;
};

// A git directory that was not known before.
struct NewRepository {
  Place place;
  bool born;              // made since, as far as the file system says
  bool in_new_directory;  // so was the directory above it
};

struct Swept {
  std::vector<Sighting> sightings;
  std::vector<NewRepository> repositories;
  bool complete = true;
  int64_t ended = 0;
};

// Whether git ships it, and never executes it under this name.
bool is_sample(const std::string& folded);

// What a directory held, and what shows whether it still does.
struct RememberedDirectory {
  dev_t dev;
  ino_t ino;
  int64_t modified;
  int64_t changed;
  Listing listing;
};

using RememberedTree = std::unordered_map<std::string, RememberedDirectory>;

// What looks at trees leave for the next ones. Of a tree one look at a time.
struct SweptTree {
  dev_t dev;
  ino_t ino;
  std::mutex mutex;
  RememberedTree remembered;
  int looks = 0;
  bool can_follow = true;  // false: it was tried
  std::unique_ptr<TreeIndex> index;

  // Brings the index up to date, which there is. Lets go of it when that cannot be had.
  bool refresh(int root);
};

class SweepMemory {
 public:
  std::shared_ptr<SweptTree> tree(dev_t dev, ino_t ino);

 private:
  static constexpr size_t kTrees = 4;
  std::mutex mutex_;
  std::vector<std::shared_ptr<SweptTree>> trees_;  // the last used last
};

Swept sweep_roots(const Witness& witness, const std::shared_ptr<const Interest>& interest,
                  SweepMemory* memory);

// What `witness` made; null for any other value.
std::shared_ptr<const Witness> read_witness(const Napi::Value& value);

}  // namespace cordon
