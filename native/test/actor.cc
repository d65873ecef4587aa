// A command for tests to run: does what no shell can, and starts without a sanitizer's runtime.
//
//   actor descriptors            prints the open descriptors, one a line
//   actor lower-limits PID       takes every descriptor from another process of the same user
//   actor headless               its first thread exits, the other one stays
//   actor bomb same|own          forks without an end; own: each in a session of its own
//   actor tree DIRECTORY         grows a tree, its pids in DIRECTORY, and waits
//   actor orphans DIRECTORY      grows the same tree and exits
//   actor leave COUNT DIRECTORY… exits and leaves so many children; the last one's pid is there

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

[[noreturn]] void stay() {
  for (;;) pause();
}

int descriptors() {
  DIR* own = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(own)) {
    int fd = atoi(entry->d_name);
    if (entry->d_name[0] != '.' && fd != dirfd(own)) printf("%d\n", fd);
  }
  return 0;
}

int lower_limits(pid_t pid) {
  rlimit none{0, 0};
  if (prlimit(pid, RLIMIT_NOFILE, &none, nullptr) == 0) return 0;
  perror("prlimit");
  return 1;
}

int headless() {
  pthread_t thread;
  pthread_create(
      &thread, nullptr, [](void*) -> void* { stay(); }, nullptr);
  for (;;) syscall(SYS_exit, 0);
}

int bomb(bool own_sessions) {
  for (;;) {
    if (fork() == 0 && own_sessions) setsid();
  }
}

void note(const std::string& path) {
  std::string text = std::to_string(getpid()) + "\n";
  std::string unfinished = path + ".new";
  int fd = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (write(fd, text.data(), text.size()) < 0 || rename(unfinished.c_str(), path.c_str()) != 0)
    _exit(1);
  close(fd);
}

void grow(const std::string& directory) {
  for (const char* name : {"child", "session"}) {
    if (fork() != 0) continue;
    bool own = strcmp(name, "session") == 0;
    if (own) setsid();
    std::string path = directory + "/" + name;
    // The grandchild loses its parent at once.
    if (fork() == 0) {
      if (fork() == 0) {
        if (own) setsid();
        note(path + "-orphan");
        stay();
      }
      _exit(0);
    }
    note(path);
    stay();
  }
}

int leave(int count, const std::string& directory) {
  for (int i = 1; i <= count; ++i) {
    if (fork() != 0) continue;
    if (i == count) note(directory + "/last");
    stay();
  }
  while (access((directory + "/last").c_str(), F_OK) != 0) usleep(1000);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "descriptors") return descriptors();
  if (verb == "lower-limits" && argc == 3) return lower_limits(atoi(argv[2]));
  if (verb == "headless") return headless();
  if (verb == "bomb" && argc == 3) return bomb(strcmp(argv[2], "own") == 0);
  if (verb == "leave" && argc >= 4) return leave(atoi(argv[2]), argv[3]);
  if ((verb == "tree" || verb == "orphans") && argc == 3) {
    grow(argv[2]);
    note(std::string(argv[2]) + "/main");
    if (verb == "tree") stay();
    // Not before they are there.
    for (const char* name : {"child", "session", "child-orphan", "session-orphan"}) {
      while (access((std::string(argv[2]) + "/" + name).c_str(), F_OK) != 0) usleep(1000);
    }
    return 0;
  }
  fprintf(stderr, "actor: what is %s?\n", verb.c_str());
  return 2;
}
