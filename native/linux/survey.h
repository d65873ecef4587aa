// A look over a tree: the objects with certain names in it and what git keeps there, found on
// descriptors without following a link; and whether everything is still as it was seen then.
#pragma once

#include <sys/stat.h>
#include <sys/vfs.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace cordon {

enum class SurveyStart {
  kTree,
  kGitDir,   // the root is a repository's own directory
  kModules,  // directories of submodules lie beneath the root
};

// Names are compared without the case of ASCII letters: on some file systems there is none.
struct SurveyRequest {
  SurveyStart start = SurveyStart::kTree;
  std::string root;           // absolute
  bool has_identity = false;  // the root must be this object
  uint64_t device = 0;
  uint64_t inode = 0;
  std::vector<std::string> names;     // looked for in every directory
  std::vector<std::string> suffixes;  // of names that are looked for in every directory
  std::vector<std::string> places;    // looked at beneath the root, however many components
  std::vector<std::string> closed;    // names of directories that are not entered
  uint32_t depth = 0;                 // of the deepest directories that are read; the root has 0
  size_t directories = 0;
  size_t entries = 0;
  // Only these directories beneath the root are read, in this order: the caller knows that no other
  // holds anything, and will be told when that changes.
  bool has_stops = false;
  std::vector<std::string> stops;
};

struct SurveyedObject {
  std::string path;  // beneath the root, '' for itself
  struct stat facts;
  bool is_git_dir = false;
  bool has_text = false;
  std::string text;  // where a symbolic link leads; what stands in a small file of git's
};

enum class SurveyStop { kNone, kDirectories, kEntries, kUnreadable, kUnread };

// An object as it was seen. `path` is beneath the look's root, or absolute.
struct SeenObject {
  std::string path;
  bool exists = true;
  bool whole = false;  // times and size too, not only that it is the same object
  mode_t type = 0;
  dev_t dev = 0;
  ino_t ino = 0;
  off_t size = 0;
  timespec modified = {};
  timespec changed = {};
};

// What one look stood on.
struct Sight {
  std::string root;  // empty for single paths
  std::vector<SeenObject> seen;
  // False where a change that comes at once may show no other time than the last one.
  bool can_tell = true;
};

// What several looks stood on.
struct SurveyMemory {
  uint32_t number = 0;
  std::vector<Sight> sights;
};

struct Survey {
  SurveyStop stop = SurveyStop::kNone;
  std::vector<SurveyedObject> found;
  Sight sight;
};

// File systems of which every change here is told, by their times and by inotify. One that is
// served from elsewhere has another's clock, and others who change it.
bool tells_changes(const struct statfs& found);

// Surveys a tree. False with errno for a root that cannot be opened.
bool survey_tree(const SurveyRequest& request, Survey* survey);

// Looks at single absolute paths; a symbolic link at the end is not followed. `found` has one for
// each, with an empty path for what is not there.
void look_at(const std::vector<std::string>& paths, Survey* survey);

// Whether all is as it was. Never true for a memory that cannot tell.
bool is_unchanged(const SurveyMemory& memory);

}  // namespace cordon
