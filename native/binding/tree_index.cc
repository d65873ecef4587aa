#include "binding/tree_index.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "binding/beneath.h"
#include "binding/folded_name.h"
#include "linux/files.h"
#include "linux/survey.h"

namespace cordon {
namespace {

constexpr int kReading = O_RDONLY | O_DIRECTORY | O_NONBLOCK;
constexpr uint32_t kEvents = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR;
constexpr size_t kMostNodes = 32768;
// Watches are the user's, who has editors too.
constexpr size_t kShare = 4;

size_t most_watches() {
  char text[32];
  if (read_small("/proc/sys/fs/inotify/max_user_watches", text, sizeof text) <= 0) return 0;
  return std::min(kMostNodes, static_cast<size_t>(strtoul(text, nullptr, 10)) / kShare);
}

}  // namespace

bool Interest::is_name(const std::string& folded) const {
  if (names.count(folded) != 0) return true;
  return std::any_of(suffixes.begin(), suffixes.end(), [&](const std::string& suffix) {
    return folded.size() > suffix.size() &&
           folded.compare(folded.size() - suffix.size(), suffix.size(), suffix) == 0;
  });
}

bool Interest::counts(const std::string& directory, const std::string& folded) const {
  return is_name(folded) ||
         (above_places.count(directory) != 0 && places.count(join_path(directory, folded)) != 0);
}

bool tells_git(const std::string& folded) {
  return folded == "head" || folded == "objects" || folded == "refs" || folded == "commondir" ||
         folded == "config";
}

Listing read_listing(int directory, const std::string& folded_path, bool inside,
                     const Interest& interest) {
  Listing listing;
  bool head = false;
  bool objects = false;
  bool refs = false;
  bool commondir = false;
  Directory entries(directory);
  while (const dirent64* entry = entries.next()) {
    struct stat found;
    unsigned char type = entry->d_type;
    if (type == DT_UNKNOWN && fstatat(directory, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0) {
      type = IFTODT(found.st_mode);
    }
    std::string folded = folded_name(entry->d_name);
    head = head || folded == "head";
    objects = objects || folded == "objects";
    refs = refs || folded == "refs";
    commondir = commondir || folded == "commondir";
    listing.config = listing.config || folded == "config";
    if (type == DT_DIR || inside || folded == ".git" || interest.counts(folded_path, folded)) {
      listing.names.push_back({entry->d_name, static_cast<std::string&&>(folded), type});
    }
  }
  listing.whole = !entries.failed();
  // As git tells one: with `commondir`, what else it needs lies there.
  listing.git = head && ((objects && refs) || commondir);
  return listing;
}

bool TreeIndex::can_follow(int root) {
  struct statfs found;
  return fstatfs(root, &found) == 0 && tells_changes(found);
}

bool TreeIndex::refresh(int root) {
  bool overflowed = false;
  if (events_.valid() && !take_events(&overflowed)) return false;
  if (!events_.valid() || overflowed) return start(root);
  // What could not be read is tried again: nothing tells when it can be.
  dirty_.insert(unreadable_.begin(), unreadable_.end());
  std::vector<std::string> paths(dirty_.begin(), dirty_.end());
  dirty_.clear();
  // From above: what lies in a directory that is gone is gone with it.
  std::sort(paths.begin(), paths.end(),
            [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  for (const std::string& path : paths) {
    if (nodes_.count(path) != 0 && !read_again(root, path)) return false;
  }
  return true;
}

bool TreeIndex::list_stops(const std::vector<std::string>& closed, int depth,
                           std::vector<std::string>* paths) const {
  std::vector<const Stop*> stops;
  for (const auto& [path, node] : stops_) {
    const Stop& stop = node->stop;
    // A directory that counts for where it lies is one like any other to a look by names.
    for (const Name& name : stop.listing.names) {
      bool by_name = name.folded == ".git" || interest_->is_name(name.folded);
      if (!by_name && name.type == DT_DIR) return false;
    }
    if (stop.depth > depth) continue;
    bool entered = std::none_of(closed.begin(), closed.end(), [&](const std::string& name) {
      return ("/" + stop.folded + "/").find("/" + name + "/") != std::string::npos;
    });
    if (entered) stops.push_back(&stop);
  }
  std::stable_sort(stops.begin(), stops.end(),
                   [](const Stop* a, const Stop* b) { return a->depth < b->depth; });
  for (const Stop* stop : stops) paths->push_back(stop->path);
  return true;
}

bool TreeIndex::start(int root) {
  stops_.clear();
  watches_.clear();
  nodes_.clear();
  dirty_.clear();
  unreadable_.clear();
  too_deep_.clear();
  most_nodes_ = most_watches();
  events_.reset(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!events_.valid()) return false;
  renew();
  nodes_[""] = std::make_unique<Node>();
  return grow(root, {""});
}

bool TreeIndex::take_events(bool* overflowed) {
  for (;;) {
    alignas(inotify_event) char buffer[16384];
    ssize_t length = read(events_.get(), buffer, sizeof buffer);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno == EAGAIN;
    for (ssize_t at = 0; at < length;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      if ((event->mask & (IN_Q_OVERFLOW | IN_UNMOUNT)) != 0) *overflowed = true;
      if ((event->mask & IN_IGNORED) != 0) lose(event->wd);
      if (event->len > 0) hear(event->wd, event->name, (event->mask & IN_ISDIR) != 0);
      at += static_cast<ssize_t>(sizeof *event + event->len);
    }
  }
}

// The directory is gone; what has its name by now may have got its number too.
void TreeIndex::lose(int watch) {
  auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  found->second->watch = -1;
  watches_.erase(found);
}

void TreeIndex::hear(int watch, const char* name, bool directory) {
  auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  const Stop& stop = found->second->stop;
  std::string folded = folded_name(name);
  if (directory || folded == ".git" || tells_git(folded) ||
      interest_->counts(stop.folded, folded)) {
    dirty_.insert(stop.path);
  }
}

// Invalid for a directory that was removed meanwhile, which is forgotten, and for one that cannot
// be entered, which may hide anything.
UniqueFd TreeIndex::enter(int root, Node* node, struct stat* found) {
  UniqueFd directory(open_beneath(root, node->stop.path, kReading));
  if (directory.valid() && fstat(directory.get(), found) == 0) return directory;
  bool gone = !directory.valid() && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
  if (gone) {
    remove(std::string(node->stop.path));
  } else {
    close(node);
  }
  return UniqueFd();
}

bool TreeIndex::is_followed(const Node& node, const struct stat& found) {
  return node.watch >= 0 && found.st_dev == node.dev && found.st_ino == node.ino;
}

bool TreeIndex::read_again(int root, const std::string& path) {
  Node* node = nodes_.at(path).get();
  struct stat found;
  UniqueFd directory = enter(root, node, &found);
  if (!directory.valid()) return true;
  if (!is_followed(*node, found)) {
    Stop stop{path, node->stop.folded, node->stop.depth, {}};
    remove(path);
    nodes_[path] = std::make_unique<Node>();
    nodes_[path]->stop = static_cast<Stop&&>(stop);
    return grow(root, {path});
  }
  Listing listing = read_listing(directory.get(), node->stop.folded, false, *interest_);
  // Another directory may have taken the place of one under its name.
  for (auto name = node->below.begin(); name != node->below.end();) {
    std::string below = join_path(path, *name);
    auto known = nodes_.find(below);
    if (known != nodes_.end() &&
        fstatat(directory.get(), name->c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_followed(*known->second, found)) {
      ++name;
    } else {
      remove(below);
      name = node->below.erase(name);
    }
  }
  std::deque<std::string> unread;
  settle(node, static_cast<Listing&&>(listing), &unread);
  return grow(root, static_cast<std::deque<std::string>&&>(unread));
}

// Reads what has a node and was never read, and all beneath it.
bool TreeIndex::grow(int root, std::deque<std::string> waiting) {
  while (!waiting.empty()) {
    if (nodes_.size() > most_nodes_) return false;
    std::string path = static_cast<std::string&&>(waiting.front());
    waiting.pop_front();
    Node* node = nodes_.at(path).get();
    struct stat found;
    UniqueFd directory = enter(root, node, &found);
    if (!directory.valid()) continue;
    node->dev = found.st_dev;
    node->ino = found.st_ino;
    // Watched before it is read, so that nothing falls between.
    if (!follow(directory.get(), node)) return false;
    settle(node, read_listing(directory.get(), node->stop.folded, false, *interest_), &waiting);
  }
  return true;
}

bool TreeIndex::follow(int directory, Node* node) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", directory);
  node->watch = inotify_add_watch(events_.get(), path, kEvents);
  if (node->watch < 0) return false;
  watches_[node->watch] = node;
  return true;
}

void TreeIndex::settle(Node* node, Listing listing, std::deque<std::string>* unread) {
  const std::string& path = node->stop.path;
  too_deep_.erase(path);
  Paths gone = static_cast<Paths&&>(node->below);
  node->below.clear();
  std::vector<Name> names = static_cast<std::vector<Name>&&>(listing.names);
  listing.names.clear();
  for (Name& name : names) {
    if (name.folded == ".git" || interest_->counts(node->stop.folded, name.folded)) {
      listing.names.push_back(static_cast<Name&&>(name));
    } else if (!listing.git && node->stop.depth >= most_depth_) {
      too_deep_.insert(path);
    } else if (!listing.git) {
      node->below.insert(name.text);
      if (gone.erase(name.text) == 0) add(*node, name, unread);
    }
  }
  for (const std::string& name : gone) remove(join_path(path, name));
  bool same = listing == node->stop.listing;
  node->stop.listing = static_cast<Listing&&>(listing);
  if (node->stop.listing.whole) {
    unreadable_.erase(path);
  } else {
    unreadable_.insert(path);
  }
  if (!same) mark(*node);
}

// It cannot be read, or not now; what is known of it stays.
void TreeIndex::close(Node* node) {
  unreadable_.insert(node->stop.path);
  if (!node->stop.listing.whole) return;
  node->stop.listing.whole = false;
  mark(*node);
}

void TreeIndex::mark(const Node& node) {
  const Listing& listing = node.stop.listing;
  bool stops = listing.git || listing.config || !listing.whole || !listing.names.empty();
  bool known = stops_.count(node.stop.path) != 0;
  if (stops) {
    stops_[node.stop.path] = &node;
  } else {
    stops_.erase(node.stop.path);
  }
  if (stops || known) renew();
}

void TreeIndex::renew() {
  static std::atomic<uint64_t> last{0};
  version_ = ++last;
}

void TreeIndex::add(const Node& above, const Name& name, std::deque<std::string>* unread) {
  auto node = std::make_unique<Node>();
  node->stop = {join_path(above.stop.path, name.text),
                join_path(above.stop.folded, name.folded),
                above.stop.depth + 1,
                {}};
  unread->push_back(node->stop.path);
  nodes_[node->stop.path] = static_cast<std::unique_ptr<Node>&&>(node);
}

// With everything beneath it.
void TreeIndex::remove(const std::string& path) {
  std::vector<std::string> waiting{path};
  while (!waiting.empty()) {
    std::string next = static_cast<std::string&&>(waiting.back());
    waiting.pop_back();
    auto found = nodes_.find(next);
    if (found == nodes_.end()) continue;
    const Node& node = *found->second;
    for (const std::string& name : node.below) waiting.push_back(join_path(next, name));
    // It can be another's by now: a directory that was renamed keeps its watch.
    auto watch = watches_.find(node.watch);
    if (watch != watches_.end() && watch->second == &node) {
      inotify_rm_watch(events_.get(), node.watch);
      watches_.erase(watch);
    }
    if (stops_.erase(next) != 0) renew();
    unreadable_.erase(next);
    too_deep_.erase(next);
    nodes_.erase(found);
  }
}

}  // namespace cordon
