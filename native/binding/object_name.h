// The name of an open object of the file system.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <string>

namespace cordon {

// The kernel's own name of what `fd` is, whose stat is `object`; empty where going there does not
// lead to it: a removed one still has a name.
inline std::string name_leading_to(int fd, const struct stat& object) {
  char link[32];
  char name[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, name, sizeof name);
  if (length <= 0 || length == static_cast<ssize_t>(sizeof name)) return "";
  std::string text(name, static_cast<size_t>(length));
  struct stat there;
  bool leads = lstat(text.c_str(), &there) == 0 && there.st_dev == object.st_dev &&
               there.st_ino == object.st_ino;
  return leads ? text : "";
}

}  // namespace cordon
