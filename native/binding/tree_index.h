// The directories of a tree and what of interest they hold, kept true between looks by the kernel's
// word of what changed, so that a look need not go through them all.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/unique_fd.h"

namespace cordon {

// Folded: names of files, or of directories whose files all count; paths beneath the roots of such;
// and ends of names of files.
struct Interest {
  std::unordered_set<std::string> names;
  std::unordered_set<std::string> places;
  std::unordered_set<std::string> above_places;  // the directories that those lie in
  std::vector<std::string> suffixes;

  bool is_name(const std::string& folded) const;
  // A name in the directory with this folded path beneath the root.
  bool counts(const std::string& directory, const std::string& folded) const;
};

struct Name {
  std::string text;
  std::string folded;
  unsigned char type;  // as a directory entry has it

  bool operator==(const Name&) const = default;
};

// What a directory holds of what a look goes on from.
struct Listing {
  bool git = false;         // it is a repository's own
  bool config = false;      // it has a file that only a repository's has
  bool whole = true;        // all of it could be read
  std::vector<Name> names;  // directories, and what counts

  bool operator==(const Listing&) const = default;
};

// Whether a name in a directory says that it is a repository's own.
bool tells_git(const std::string& folded);

// `inside`: everything in it counts.
Listing read_listing(int directory, const std::string& folded_path, bool inside,
                     const Interest& interest);

class TreeIndex {
 public:
  struct Stop {
    std::string path;
    std::string folded;
    int depth = 0;
    Listing listing;  // without directories that do not count
  };

  TreeIndex(std::shared_ptr<const Interest> interest, int most_depth)
      : interest_(static_cast<std::shared_ptr<const Interest>&&>(interest)),
        most_depth_(most_depth) {}

  // Whether the kernel tells of every change made on this machine to a directory of this file
  // system.
  static bool can_follow(int root);

  // Brings it up to date with everything that took place before the call. False when that cannot be
  // had: there are too many directories, or no watches.
  bool refresh(int root);

  // Whether every directory could be read.
  bool complete() const { return unreadable_.empty() && too_deep_.empty(); }

  // Another number whenever another directory holds something of interest, or another name of it;
  // never that of another index.
  uint64_t version() const { return version_; }

  size_t size() const { return nodes_.size(); }

  // Calls with each directory that holds something of interest, or cannot be read.
  template <typename F>
  void each_stop(F call) const {
    for (const auto& [path, node] : stops_) call(node->stop);
  }

  // The directories of at most this depth with something of interest, near the root first, not
  // beneath one that is called like `closed`. False where a look by names would find more.
  bool list_stops(const std::vector<std::string>& closed, int depth,
                  std::vector<std::string>* paths) const;

 private:
  struct Node {
    Stop stop;
    dev_t dev = 0;
    ino_t ino = 0;
    int watch = -1;
    std::unordered_set<std::string> below;  // names of the directories that have nodes
  };

  // Whether what lies at its path is still the directory that is watched.
  static bool is_followed(const Node& node, const struct stat& found);

  using Paths = std::unordered_set<std::string>;

  bool start(int root);
  bool take_events(bool* overflowed);
  void lose(int watch);
  void hear(int watch, const char* name, bool directory);
  UniqueFd enter(int root, Node* node, struct stat* found);
  bool read_again(int root, const std::string& path);
  bool grow(int root, std::deque<std::string> waiting);
  bool follow(int directory, Node* node);
  void settle(Node* node, Listing listing, std::deque<std::string>* unread);
  void add(const Node& above, const Name& name, std::deque<std::string>* unread);
  void close(Node* node);
  void mark(const Node& node);
  void renew();
  void remove(const std::string& path);

  std::shared_ptr<const Interest> interest_;
  int most_depth_;
  size_t most_nodes_ = 0;
  uint64_t version_ = 0;
  UniqueFd events_;
  std::unordered_map<std::string, std::unique_ptr<Node>> nodes_;  // by path
  std::map<std::string, const Node*> stops_;
  std::unordered_map<int, Node*> watches_;
  Paths dirty_;
  Paths unreadable_;
  Paths too_deep_;
};

}  // namespace cordon
