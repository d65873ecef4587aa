// What an object of the file system is, in the words of JavaScript, and whether its name can be.
#pragma once

#include <napi.h>
#include <sys/stat.h>

#include <string>

namespace cordon {

inline const char* kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "file";
    case S_IFDIR:
      return "directory";
    case S_IFCHR:
      return "character";
    case S_IFBLK:
      return "block";
    case S_IFIFO:
      return "fifo";
    case S_IFSOCK:
      return "socket";
    default:
      return "anonymous";
  }
}

// No string of JavaScript could carry any other.
inline bool is_utf8(Napi::Env env, const std::string& text) {
  return Napi::String::New(env, text).Utf8Value() == text;
}

}  // namespace cordon
