#include "test/world.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "test/harness.h"

namespace cordon::test {
namespace {

constexpr uid_t kOrdinaryUid = 54321;

}  // namespace

int64_t now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

bool eventually(int within_ms, const std::function<bool()>& condition) {
  int64_t until = now_ms() + within_ms;
  for (;;) {
    if (condition()) return true;
    if (now_ms() >= until) return false;
    poll(nullptr, 0, 2);
  }
}

bool exists(const std::string& path) {
  struct stat found;
  return lstat(path.c_str(), &found) == 0;
}

void write_file(const std::string& path, const std::string& text) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  CHECK_CALL(fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(fd);
}

std::string read_file(const std::string& path) {
  std::string text;
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char part[4096];
  for (ssize_t n = 0; fd >= 0 && (n = read(fd, part, sizeof part)) > 0;) {
    text.append(part, static_cast<size_t>(n));
  }
  if (fd >= 0) close(fd);
  return text;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  DIR* open_directory = opendir(directory.c_str());
  if (open_directory == nullptr) return names;
  while (const dirent* entry = readdir(open_directory)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(open_directory);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<pid_t> children() { return children_of(getpid()); }

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> found;
  std::string process = "/proc/" + std::to_string(pid);
  std::string text = read_file(process + "/task/" + std::to_string(pid) + "/children");
  char* at = text.data();
  for (char* end = at;; at = end) {
    long child = strtol(at, &end, 10);
    if (end == at) return found;
    found.push_back(static_cast<pid_t>(child));
  }
}

bool all_gone(int within_ms) {
  return eventually(within_ms, [] {
    while (waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
    }
    return children().empty();
  });
}

bool is_alive(pid_t pid) {
  std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat[name_end + 2] != 'Z' && stat[name_end + 2] != 'X';
}

rlimit room_for_processes(int more) {
  rlim_t count = 0;
  for (const std::string& name : names_in("/proc")) {
    struct stat found;
    std::string process = "/proc/" + name;
    if (stat(process.c_str(), &found) != 0 || found.st_uid != getuid()) continue;
    // Threads count, and only processes have any.
    count += names_in(process + "/task").size();
  }
  return {count + static_cast<rlim_t>(more), count + static_cast<rlim_t>(more)};
}

int count_named(const std::string& name) {
  int count = 0;
  std::vector<pid_t> pids = children();
  for (size_t i = 0; i < pids.size(); ++i) {
    std::vector<pid_t> more = children_of(pids[i]);
    pids.insert(pids.end(), more.begin(), more.end());
    bool named = read_file("/proc/" + std::to_string(pids[i]) + "/comm") == name + "\n";
    if (named && is_alive(pids[i])) ++count;
  }
  return count;
}

pid_t pid_from(const std::string& path) {
  pid_t pid = 0;
  CHECK(eventually(10000, [&] {
    std::string text = read_file(path);
    if (text.empty() || text.back() != '\n') return false;
    pid = atoi(text.c_str());
    return pid > 0;
  }));
  return pid;
}

int count_of_descriptors(pid_t pid) {
  return static_cast<int>(names_in("/proc/" + std::to_string(pid) + "/fd").size());
}

void become_ordinary_user() {
  if (geteuid() != 0) return;
  CHECK_CALL(chown(scratch().c_str(), kOrdinaryUid, kOrdinaryUid) == 0);
  CHECK_CALL(setgroups(0, nullptr) == 0);
  CHECK_CALL(setresgid(kOrdinaryUid, kOrdinaryUid, kOrdinaryUid) == 0);
  CHECK_CALL(setresuid(kOrdinaryUid, kOrdinaryUid, kOrdinaryUid) == 0);
  // The change of uid took it; without it /proc/self belongs to root.
  CHECK_CALL(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
}

void refuse_call(long number, int error, std::optional<uint32_t> first_argument) {
  uint32_t refused = SECCOMP_RET_ERRNO | static_cast<uint32_t>(error);
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0,
               static_cast<uint8_t>(first_argument.has_value() ? 3 : 1)),
  };
  if (first_argument.has_value()) {
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, *first_argument, 0, 1));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, refused));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  // Root need not give up gaining privileges for it, and a test may be about just that.
  if (geteuid() != 0) CHECK_CALL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK_CALL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
}

std::string beside_this_test(const std::string& name) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  CHECK_CALL(length > 0 && length < static_cast<ssize_t>(sizeof self));
  std::string path(self, static_cast<size_t>(length));
  return path.substr(0, path.rfind('/') + 1) + name;
}

}  // namespace cordon::test
