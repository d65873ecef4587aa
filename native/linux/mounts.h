// Where a look at a file may last, or never end: what is served over a network or by a program.
// Everything else is the kernel's own and answers at once.
#pragma once

#include <cstddef>

#include "core/unique_fd.h"

namespace cordon {

// The mount points of such file systems, from the text of /proc/self/mountinfo.
class MountTable {
 public:
  void clear();
  // The next piece of the text, cut anywhere.
  void take(const char* text, size_t size);
  // There was something that could not be taken in: then everything may wait.
  void give_up() { whole_ = false; }

  bool empty() const { return whole_ && used_ == 0; }
  // One of them is of a kind that asks its server again whenever a directory is entered, not only
  // when a name is looked up.
  bool revalidates() const { return !whole_ || revalidates_; }
  // Whether the object with this canonical path may keep who touches it waiting.
  bool may_wait(const char* path) const;

 private:
  void end_word();
  void end_line();

  static constexpr size_t kMostBytes = 32 * 1024;
  static constexpr size_t kWordBytes = 32;

  size_t used_ = 0;  // bytes of points_
  bool whole_ = true;
  bool revalidates_ = false;

  // Of the line at hand.
  size_t words_ = 0;
  size_t point_bytes_ = 0;
  size_t separator_ = 0;  // the number of the word "-"; 0: not seen yet
  bool waits_ = false;
  char word_[kWordBytes];
  size_t word_bytes_ = 0;

  // One behind the other, each with its NUL. Last, so that an ordinary machine, which has hardly
  // any, touches no page of it but the first.
  char points_[kMostBytes];
};

class Mounts {
 public:
  // Reads them at the first call and whenever they changed.
  const MountTable& now();

  // Becomes exceptional (POLLPRI) when something is mounted or unmounted; -1 before the first look.
  int descriptor() const { return file_.get(); }
  void changed() { stale_ = true; }

 private:
  void read();

  UniqueFd file_;
  bool stale_ = true;
  MountTable table_;
};

}  // namespace cordon
