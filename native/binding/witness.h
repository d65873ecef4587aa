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
#include <unordered_set>
#include <utility>
#include <vector>

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

// Folded: names of files, or of directories whose files all count; paths beneath the roots of such;
// and ends of names of files.
struct Interest {
  std::unordered_set<std::string> names;
  std::unordered_set<std::string> places;
  std::unordered_set<std::string> above_places;  // the directories that those lie in
  std::vector<std::string> suffixes;
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

bool ends_with(const std::string& text, const std::string& end);

struct Name {
  std::string text;
  std::string folded;
  unsigned char type;  // as a directory entry has it
};

// What a directory held of what a look goes on from, and what shows whether it still does.
struct RememberedDirectory {
  dev_t dev;
  ino_t ino;
  int64_t modified;
  int64_t changed;
  bool git;
  std::vector<Name> names;
};

using RememberedTree = std::unordered_map<std::string, RememberedDirectory>;

// The directories of the last looks, between them. A look takes a tree out and puts its own in:
// what looks at the same tree meanwhile reads it all.
class SweepMemory {
 public:
  RememberedTree take(dev_t dev, ino_t ino);
  void put(dev_t dev, ino_t ino, RememberedTree tree);

 private:
  static constexpr size_t kTrees = 4;
  struct Kept {
    dev_t dev;
    ino_t ino;
    RememberedTree tree;
  };
  std::mutex mutex_;
  std::vector<Kept> kept_;
};

Swept sweep_roots(const Witness& witness, const Interest& interest, SweepMemory* memory);

// What `witness` made; null for any other value.
std::shared_ptr<const Witness> read_witness(const Napi::Value& value);

}  // namespace cordon
