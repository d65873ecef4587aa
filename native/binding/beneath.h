// Opening names beneath a held directory: no link followed, no mount crossed, nothing above
// reached.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>

#include "core/unique_fd.h"

namespace cordon {

// `path` is relative; empty for the directory itself. Invalid with errno.
UniqueFd open_beneath(int root, const std::string& path, int flags);

// The directory that holds `path`, and the last component.
std::pair<std::string, std::string> split_path(const std::string& path);

inline std::string join_path(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

constexpr unsigned kRenameNoReplace = 1;
constexpr unsigned kRenameExchange = 2;

// renameat2, for which older C libraries have no function.
int rename_at(int from, const std::string& name, int to, const std::string& new_name,
              unsigned flags);

// A name that a run could not take beforehand, and that nothing looks for.
std::string unforeseen_name(const std::string& name);

inline int64_t nanoseconds(const timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

}  // namespace cordon
