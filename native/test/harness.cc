// The tests' main: `NAME_test [PART-OF-A-NAME]`. One line a test, then the counts; exit code 0, 1
// when a test failed, 77 when every test was skipped.

#include "test/harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include "linux/landlock.h"

namespace cordon::test {
namespace {

// Not a code that a tested program ends with.
constexpr int kFailedExit = 113;
constexpr int kSkippedExit = 77;
constexpr int kTestTimeoutMs = 100 * 1000;
// What a test's end leaves behind may take a moment to notice it.
constexpr int kGraceMs = 3000;
constexpr size_t kMostNamed = 200;

struct TestCase {
  const char* name;
  void (*body)();
  End end;
};

enum class Verdict { kPassed, kFailed, kSkipped };

std::vector<TestCase>& tests() {
  static std::vector<TestCase> all;
  return all;
}

std::string g_scratch;

int64_t now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

End end_from(int status) {
  return WIFSIGNALED(status) ? signalled(WTERMSIG(status)) : exited(WEXITSTATUS(status));
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::string path = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  if (FILE* list = fopen(path.c_str(), "re")) {
    int pid = 0;
    while (fscanf(list, "%d", &pid) == 1) found.push_back(pid);
    fclose(list);
  }
  return found;
}

std::string name_of(pid_t pid) {
  char name[64] = "?";
  if (FILE* file = fopen(("/proc/" + std::to_string(pid) + "/comm").c_str(), "re")) {
    if (fgets(name, sizeof name, file) != nullptr) name[strcspn(name, "\n")] = '\0';
    fclose(file);
  }
  return std::to_string(pid) + " (" + name + ")";
}

// Orphans of a test become children of this process. Empty when all are gone by themselves.
std::string end_leftovers(pid_t group) {
  int64_t until = now_ms() + kGraceMs;
  std::string named;
  for (;;) {
    while (waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
    }
    std::vector<pid_t> left = children();
    if (left.empty()) return named;
    if (now_ms() >= until) {
      for (size_t i = 0; i < left.size() && named.size() < kMostNamed; ++i) {
        named += (named.empty() ? "" : ", ") + name_of(left[i]);
      }
      // At once what forks faster than it could be listed.
      kill(-group, SIGKILL);
      for (pid_t pid : left) kill(pid, SIGKILL);
    }
    poll(nullptr, 0, 5);
  }
}

bool required(const std::string& capability) {
  const char* list = getenv("SANDBOX_REQUIRE");
  std::istringstream items(list != nullptr ? list : "");
  std::string name = capability.substr(0, capability.find(':'));
  std::string value = capability.substr(std::min(capability.size(), name.size() + 1));
  for (std::string item; std::getline(items, item, ',');) {
    if (item == capability) return true;
    std::string listed = item.substr(0, item.find(':'));
    if (listed != name || listed.size() == item.size()) continue;
    if (value.empty() || atoi(value.c_str()) <= atoi(item.c_str() + name.size() + 1)) return true;
  }
  return false;
}

// Also what a test closed or locked up.
void remove_tree(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  if (!std::filesystem::exists(path, ignored)) return;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           path, std::filesystem::directory_options::skip_permission_denied, ignored)) {
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored))
      chmod(entry.path().c_str(), 0700);
  }
  std::filesystem::remove_all(path, ignored);
}

[[noreturn]] void run_body(const TestCase& test) {
  setpgid(0, 0);
  test.body();
  fflush(stdout);
  _exit(0);
}

// The test's end, or a signal death of SIGALRM when it took too long.
End await(pid_t pid) {
  int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  pollfd ready{pidfd, POLLIN, 0};
  bool in_time = poll(&ready, 1, kTestTimeoutMs) > 0;
  if (!in_time) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  close(pidfd);
  return in_time ? end_from(status) : signalled(SIGALRM);
}

Verdict run(const TestCase& test) {
  char path[] = "/tmp/native-test-XXXXXX";
  if (mkdtemp(path) == nullptr || chmod(path, 0777) != 0) {
    printf("FAIL %s: no scratch directory: %s\n", test.name, strerror(errno));
    return Verdict::kFailed;
  }
  g_scratch = path;
  int64_t began = now_ms();
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) run_body(test);
  End end = await(pid);
  std::string left = end_leftovers(pid);
  remove_tree(g_scratch);
  long long took = static_cast<long long>(now_ms() - began);
  if (end == exited(kSkippedExit) && left.empty()) {
    printf("skip %s\n", test.name);
    return Verdict::kSkipped;
  }
  if (end == test.end && left.empty()) {
    printf("ok   %s (%lld ms)\n", test.name, took);
    return Verdict::kPassed;
  }
  printf("FAIL %s (%lld ms)", test.name, took);
  if (end == signalled(SIGALRM)) {
    printf(": still running after %d ms", kTestTimeoutMs);
  } else if (end != test.end && end != exited(kFailedExit)) {
    printf(": ended with %s, declared was %s", words(end).c_str(), words(test.end).c_str());
  }
  if (!left.empty()) printf(": left running: %s", left.c_str());
  printf("\n");
  return Verdict::kFailed;
}

}  // namespace

std::string words(End end) {
  return (end.by_signal ? "signal " : "exit ") + std::to_string(end.value);
}

Registration::Registration(const char* name, void (*body)(), End end) {
  tests().push_back({name, body, end});
}

void fail_at(const char* file, int line, const std::string& what) {
  const char* base = strrchr(file, '/');
  printf("     %s:%d: %s\n", base != nullptr ? base + 1 : file, line, what.c_str());
  fflush(stdout);
  _exit(kFailedExit);
}

void skip(const std::string& capability, const std::string& missing) {
  if (required(capability)) {
    printf("     SANDBOX_REQUIRE says that this machine has %s; missing: %s\n", capability.c_str(),
           missing.c_str());
    fflush(stdout);
    _exit(kFailedExit);
  }
  printf("     missing: %s\n", missing.c_str());
  fflush(stdout);
  _exit(kSkippedExit);
}

void needs_root() {
  if (geteuid() != 0) skip("root", "root (this is uid " + std::to_string(geteuid()) + ")");
}

void needs_landlock(int abi) {
  int found = landlock_abi();
  if (found >= abi) return;
  std::string wanted = std::to_string(abi);
  skip("landlock:" + wanted,
       "Landlock ABI " + wanted + " (this kernel has " + std::to_string(std::max(found, 0)) + ")");
}

End end_of(const std::function<void()>& body) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    body();
    fflush(stdout);
    _exit(0);
  }
  if (pid < 0) fail_at(__FILE__, __LINE__, std::string("fork: ") + strerror(errno));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  End end = end_from(status);
  // Said where it happened already.
  if (end == exited(kFailedExit) || end == exited(kSkippedExit)) _exit(end.value);
  return end;
}

void expect_end(End expected, const char* file, int line, const std::function<void()>& body) {
  End end = end_of(body);
  if (!(end == expected)) {
    fail_at(file, line, "ended with " + words(end) + ", expected " + words(expected));
  }
}

const std::string& scratch() { return g_scratch; }

std::string text_of(const std::string& value) { return '"' + value + '"'; }
std::string text_of(const char* value) { return text_of(std::string(value)); }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(long long value) { return std::to_string(value); }
std::string text_of(unsigned long long value) { return std::to_string(value); }

}  // namespace cordon::test

int main(int argc, char** argv) {
  using namespace cordon::test;
  setvbuf(stdout, nullptr, _IOLBF, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  umask(022);
  int counts[3] = {};
  for (const TestCase& test : tests()) {
    if (argc > 1 && strstr(test.name, argv[1]) == nullptr) continue;
    ++counts[static_cast<int>(run(test))];
  }
  int passed = counts[static_cast<int>(Verdict::kPassed)];
  int failed = counts[static_cast<int>(Verdict::kFailed)];
  int skipped = counts[static_cast<int>(Verdict::kSkipped)];
  printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  if (failed > 0 || passed + skipped == 0) return 1;
  return passed == 0 ? kSkippedExit : 0;
}
