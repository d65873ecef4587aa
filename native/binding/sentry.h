// Names that must not appear in a git directory while a run goes on: removed by a thread of its own
// the moment they do, whatever keeps JavaScript busy.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/unique_fd.h"

namespace cordon {

class Sentry {
 public:
  ~Sentry();

  // Watches a directory; false where nothing can be watched. Counted: each call takes one `leave`.
  bool enter(UniqueFd directory, int* watch);

  // The names that what appeared has now, in that directory.
  std::vector<std::string> leave(int watch);

 private:
  struct Post {
    UniqueFd directory;
    int count = 0;
    std::vector<std::string> taken;
  };

  bool begin();
  void run();
  void forget(int watch);
  void handle(int watch, const char* name);

  std::mutex mutex_;
  UniqueFd events_;
  UniqueFd stop_;
  std::map<int, Post> posts_;  // also of directories that nobody has entered any more
  std::thread thread_;
};

}  // namespace cordon
