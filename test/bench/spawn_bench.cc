// The native paths against a plain posix_spawn of the same program, interleaved in one run: one
// line a variant with its median and its ratio. Harness: a single-threaded C++ process of a few MB;
// each sample ends when the command's end is known (waitpid, or the record that the tree is dead;
// the owner then removes the temp directory, which the guard has made ahead by the second run).
//
// usage: spawn_bench CORDON-EXEC PLAN-NO-TEMP PLAN-TEMP TEMP-PARENT TEMP-NAME ROUNDS PROGRAM

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/record.h"
#include "linux/group_hash.h"
#include "linux/rights.h"

extern char** environ;

namespace {

double now_us() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

[[noreturn]] void die(const char* what) {
  perror(what);
  exit(1);
}

std::string plan_bytes(const char* path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat found;
  if (file < 0 || fstat(file, &found) != 0) die(path);
  std::string bytes(static_cast<size_t>(found.st_size), '\0');
  if (read(file, bytes.data(), bytes.size()) != found.st_size) die(path);
  close(file);
  return bytes;
}

int sealed_plan(const std::string& bytes) {
  int plan = memfd_create("bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (plan < 0 || write(plan, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    die("memfd");
  fcntl(plan, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW);
  return plan;
}

struct Bench {
  const char* executable;
  int plan;  // of the one-shot, as a descriptor
  std::string plan_without_temp;
  std::string plan_with_temp;
  const char* temp_parent;
  const char* temp_name;
  const char* program;
  int null;
  int server;
};

void plain(const Bench& bench) {
  char* arguments[] = {const_cast<char*>(bench.program), nullptr};
  pid_t pid;
  if (posix_spawn(&pid, bench.program, nullptr, nullptr, arguments, environ) != 0)
    die("posix_spawn");
  waitpid(pid, nullptr, 0);
}

uint32_t word(const unsigned char* at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

// Reads records until the run has ended; the first must say that it started.
void expect_end(int control) {
  unsigned char records[4096];
  size_t length = 0;
  size_t at = 0;
  for (;;) {
    while (length - at >= 8 && length - at >= 8 + word(records + at + 4)) {
      auto type = static_cast<cordon::RecordType>(word(records + at));
      if (at == 0 && type != cordon::RecordType::kStarted) break;
      if (type == cordon::RecordType::kEnded) return;
      at += 8 + word(records + at + 4);
    }
    ssize_t n = read(control, records + length, sizeof records - length);
    if (n <= 0) break;
    length += static_cast<size_t>(n);
  }
  fprintf(stderr, "the run did not start and end\n");
  exit(1);
}

// The temp directory that the guard has made ahead, or -1; its name goes into `name`.
int ready_temp(int server, char* name) {
  cordon::ReadyTemp ready{};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part{&ready, sizeof ready};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(server, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) <= 0) return -1;
  int directory;
  memcpy(&directory, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof directory);
  memcpy(name, ready.name, sizeof ready.name);
  return directory;
}

// The plan names another directory each time.
std::string plan_for(const Bench& bench, const char* name) {
  std::string bytes = bench.plan_with_temp;
  size_t length = strlen(bench.temp_name);
  for (size_t at = 0; (at = bytes.find(bench.temp_name, at)) != std::string::npos; at += length) {
    bytes.replace(at, length, name);
  }
  return bytes;
}

void served(const Bench& bench, bool temp) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) die("socketpair");
  int parent = temp ? open(bench.temp_parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  cordon::RunRequest header{};
  header.magic = cordon::kRequestMagic;
  header.version = cordon::kRequestVersion;
  header.groups = cordon::group_hash();
  header.flags = cordon::kRequestPlanInline;
  int directory = -1;
  std::string plan = bench.plan_without_temp;
  if (temp) {
    memcpy(header.temp_name, bench.temp_name, strlen(bench.temp_name));
    directory = ready_temp(bench.server, header.temp_name);
    if (directory >= 0) header.flags |= cordon::kRequestTempMade;
    plan = plan_for(bench, header.temp_name);
  }
  int descriptors[] = {ends[1], bench.null, bench.null, bench.null, parent, directory};
  size_t count = directory >= 0 ? 6 : temp ? 5 : 4;
  iovec parts[] = {{&header, sizeof header}, {plan.data(), plan.size()}};
  if (cordon::send_with_descriptors(bench.server, parts, 2, descriptors, count, MSG_NOSIGNAL) < 0) {
    die("sendmsg");
  }
  close(ends[1]);
  if (directory >= 0) close(directory);
  expect_end(ends[0]);
  close(ends[0]);
  if (!temp) return;
  unlinkat(parent, header.temp_name, AT_REMOVEDIR);
  close(parent);
}

void one_shot(const Bench& bench) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, bench.plan, 3);
  char* arguments[] = {const_cast<char*>(bench.executable), const_cast<char*>("run"),
                       const_cast<char*>("3"), const_cast<char*>("-"), nullptr};
  pid_t pid;
  int status = 0;
  if (posix_spawn(&pid, bench.executable, &actions, nullptr, arguments, environ) != 0)
    die("posix_spawn");
  waitpid(pid, &status, 0);
  if (status != 0) {
    fprintf(stderr, "one-shot ended with %d\n", status);
    exit(1);
  }
  posix_spawn_file_actions_destroy(&actions);
}

int start_server(const char* executable) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) die("socketpair");
  int on = 1;
  setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  int moved = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, moved, 3);
  char* arguments[] = {const_cast<char*>(executable), const_cast<char*>("serve"),
                       const_cast<char*>("confined"), const_cast<char*>("-"), nullptr};
  pid_t pid;
  if (posix_spawn(&pid, executable, &actions, nullptr, arguments, environ) != 0) die("posix_spawn");
  close(ends[1]);
  close(moved);
  return fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  std::string without_temp = plan_bytes(argv[2]);
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  Bench bench{argv[1],
              sealed_plan(without_temp),
              without_temp,
              plan_bytes(argv[3]),
              argv[4],
              argv[5],
              argv[7],
              null,
              start_server(argv[1])};
  int rounds = atoi(argv[6]);
  std::vector<double> samples[4];
  for (int round = -5; round < rounds; ++round) {
    for (int variant = 0; variant < 4; ++variant) {
      // What a run leaves to do, to the guard above all, is not the next variant's.
      plain(bench);
      double began = now_us();
      if (variant == 0) plain(bench);
      if (variant == 1) served(bench, false);
      if (variant == 2) served(bench, true);
      if (variant == 3) one_shot(bench);
      if (round >= 0) samples[variant].push_back(now_us() - began);
    }
  }
  const char* names[] = {"posix_spawn", "served", "served, private temp", "one-shot"};
  double base = median(samples[0]);
  for (int variant = 0; variant < 4; ++variant) {
    double middle = median(samples[variant]);
    printf("%s\t%.0f\t%.2f\n", names[variant], middle, middle / base);
  }
  return 0;
}
