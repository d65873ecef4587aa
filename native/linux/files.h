// Reading directories and small files with system calls alone.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "core/unique_fd.h"

namespace cordon {

// Entries of an open directory but "." and "..", from its start. The descriptor is borrowed and its
// offset moves.
class Directory {
 public:
  explicit Directory(int fd) : fd_(fd) { failed_ = lseek(fd, 0, SEEK_SET) != 0; }

  // The next entry, valid until the next call; null at the end and after a failure.
  const dirent64* next() {
    for (;;) {
      if (at_ >= length_ && !refill()) return nullptr;
      const auto* entry = reinterpret_cast<const dirent64*>(buffer_ + at_);
      at_ += entry->d_reclen;
      const char* name = entry->d_name;
      bool dot = name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
      if (!dot) return entry;
    }
  }

  bool failed() const { return failed_; }

 private:
  bool refill() {
    at_ = 0;
    length_ = 0;
    if (failed_) return false;
    ssize_t length = getdents64(fd_, buffer_, sizeof buffer_);
    if (length < 0) failed_ = true;
    if (length > 0) length_ = static_cast<size_t>(length);
    return length > 0;
  }

  int fd_;
  bool failed_;
  size_t at_ = 0;
  size_t length_ = 0;
  alignas(dirent64) char buffer_[2048];
};

// Reads at most size - 1 bytes and ends them with NUL; their number, or -1.
inline ssize_t read_small(const char* path, char* buffer, size_t size) {
  UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return -1;
  ssize_t length = read(file.get(), buffer, size - 1);
  if (length >= 0) buffer[length] = '\0';
  return length;
}

// As openat, and without a trace in the times of what is then read, where that is the caller's own.
inline UniqueFd open_unnoticed(int directory, const char* name, int flags) {
  UniqueFd file(openat(directory, name, flags | O_NOATIME));
  if (!file.valid() && errno == EPERM) file.reset(openat(directory, name, flags));
  return file;
}

}  // namespace cordon
