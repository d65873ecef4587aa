#include "binding/sentry.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "binding/beneath.h"
#include "binding/folded_name.h"

namespace cordon {
namespace {

constexpr uint32_t kEvents = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR;
constexpr size_t kMostPosts = 64;

}  // namespace

Sentry::~Sentry() {
  if (!thread_.joinable()) return;
  uint64_t one = 1;
  while (write(stop_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
}

bool Sentry::begin() {
  if (thread_.joinable()) return true;
  events_.reset(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  stop_.reset(eventfd(0, EFD_CLOEXEC));
  if (!events_.valid() || !stop_.valid()) return false;
  // The process's signals are for its other threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return true;
}

bool Sentry::enter(UniqueFd directory, int* watch) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!directory.valid() || !begin()) return false;
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", directory.get());
  *watch = inotify_add_watch(events_.get(), path, kEvents);
  if (*watch < 0) return false;
  Post& post = posts_[*watch];
  ++post.count;
  post.directory = static_cast<UniqueFd&&>(directory);
  return true;
}

std::vector<std::string> Sentry::leave(int watch) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto post = posts_.find(watch);
  if (post == posts_.end()) return {};
  std::vector<std::string> taken = static_cast<std::vector<std::string>&&>(post->second.taken);
  post->second.taken.clear();
  if (--post->second.count > 0) return taken;
  // The next run in the same place finds the watch made; nothing else of it is held.
  post->second.directory.reset();
  for (auto each = posts_.begin(); posts_.size() > kMostPosts && each != posts_.end();) {
    if (each->second.count > 0) {
      ++each;
      continue;
    }
    inotify_rm_watch(events_.get(), each->first);
    each = posts_.erase(each);
  }
  return taken;
}

void Sentry::run() {
  pollfd ready[] = {{events_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  for (;;) {
    if (poll(ready, 2, -1) < 0 && errno != EINTR) return;
    if (ready[1].revents != 0) return;
    alignas(inotify_event) char buffer[4096];
    ssize_t length = read(events_.get(), buffer, sizeof buffer);
    for (ssize_t at = 0; at < length;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      if ((event->mask & IN_IGNORED) != 0) forget(event->wd);
      if (event->len > 0) handle(event->wd, event->name);
      at += static_cast<ssize_t>(sizeof *event + event->len);
    }
  }
}

// The directory is gone, and the watch with it.
void Sentry::forget(int watch) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto post = posts_.find(watch);
  if (post != posts_.end() && post->second.count == 0) posts_.erase(post);
}

void Sentry::handle(int watch, const char* name) {
  if (folded_name(name) != "commondir") return;
  std::lock_guard<std::mutex> lock(mutex_);
  auto post = posts_.find(watch);
  if (post == posts_.end() || post->second.count == 0) return;
  std::string aside = unforeseen_name(name);
  int directory = post->second.directory.get();
  if (rename_at(directory, name, directory, aside, kRenameNoReplace) != 0) return;
  post->second.taken.push_back(static_cast<std::string&&>(aside));
}

}  // namespace cordon
