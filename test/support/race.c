// race KIND INSIDE OUTSIDE MILLISECONDS
// race load THREADS CALLS INSIDE
// race forks MILLISECONDS INSIDE
// race busy INSIDE
//
// Threads that change what a call is about, between the moment it is looked at and the moment it is
// done, and others that make the call over and over. INSIDE and OUTSIDE are directories whose paths
// differ in one byte, each with `file`, `directory/file` and a listening `socket`. Prints how many
// calls worked and how many were refused: where only one of the two happens nothing was raced.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { kFchmodat2 = 452, kContested = 77, kCallers = 3, kPatienceMs = 15000 };

static const char *inside, *outside;
static _Alignas(16) char contested[4096];
static size_t differing;
static int inside_fd, outside_fd;
static atomic_int over;
static atomic_long worked, refused;

static long given(long result, const char* step) {
  if (result >= 0) return result;
  fprintf(stderr, "race: %s: %s\n", step, strerror(errno));
  exit(3);
}

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void count(long result) {
  if (result >= 0)
    atomic_fetch_add(&worked, 1);
  else
    atomic_fetch_add(&refused, 1);
}

static void join_path(char* out, const char* base, const char* name) {
  snprintf(out, sizeof contested, "%s/%s", base, name);
}

// ---- what changes underneath ----

static void* swap_byte(void* unused) {
  volatile char* byte = contested + differing;
  while (!over) {
    *byte = outside[differing];
    *byte = inside[differing];
  }
  return unused;
}
static void* swap_descriptor(void* unused) {
  while (!over) {
    dup2(outside_fd, kContested);
    dup2(inside_fd, kContested);
  }
  return unused;
}
static void* swap_link(void* unused) {
  char file[2][4096];
  join_path(file[0], inside, "file");
  join_path(file[1], outside, "file");
  for (unsigned turn = 0; !over; turn++) {
    given(symlink(file[turn % 2], "next"), "symlink");
    given(rename("next", "link"), "rename");
  }
  return unused;
}
static void* swap_directory(void* unused) {
  while (!over) renameat2(AT_FDCWD, "directory", AT_FDCWD, "elsewhere", RENAME_EXCHANGE);
  return unused;
}
static void* swap_current(void* unused) {
  while (!over) {
    given(chdir(outside), "chdir");
    given(chdir(inside), "chdir");
  }
  return unused;
}

// ---- who calls ----

static const struct timespec times[2] = {{5, 0}, {6, 0}};

static void change_path(const char* path) {
  count(chmod(path, 0640));
  count(utimensat(AT_FDCWD, path, times, 0));
  count(setxattr(path, "user.race", "x", 1, 0));
  count(chown(path, (uid_t)-1, getgid()));
}
static void* change_contested(void* unused) {
  while (!over) change_path(contested);
  return unused;
}
static void* change_link(void* unused) {
  while (!over) change_path("link");
  return unused;
}
static void* change_below(void* unused) {
  while (!over) change_path("directory/file");
  return unused;
}
static void* change_relative(void* unused) {
  while (!over) change_path("file");
  return unused;
}
static void* change_descriptor(void* unused) {
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", kContested);
  while (!over) {
    unsigned flags = FS_NODUMP_FL | FS_EXTENT_FL;
    count(fchmod(kContested, 0640));
    count(futimens(kContested, times));
    count(fsetxattr(kContested, "user.race", "x", 1, 0));
    count(ioctl(kContested, FS_IOC_SETFLAGS, &flags));
    count(syscall(kFchmodat2, kContested, "", 0600, AT_EMPTY_PATH));
    count(fchown(kContested, (uid_t)-1, getgid()));
    change_path(name);
  }
  return unused;
}
static void* change_below_descriptor(void* unused) {
  while (!over) {
    count(fchmodat(kContested, "file", 0640, 0));
    count(utimensat(kContested, "file", times, 0));
  }
  return unused;
}
static void* connect_contested(void* unused) {
  struct sockaddr_un* address = (struct sockaddr_un*)contested;
  while (!over) {
    int fd = (int)given(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket");
    int result = connect(fd, (struct sockaddr*)address, sizeof *address);
    // A full queue is a server that was reached.
    count(result == 0 || errno == EAGAIN ? 0 : -1);
    close(fd);
  }
  return unused;
}
static void* accept_all(void* server) {
  while (!over) {
    int fd = accept4(*(int*)server, NULL, NULL, SOCK_NONBLOCK);
    if (fd >= 0) close(fd);
  }
  return NULL;
}

typedef void* (*body)(void*);
static void race(body change, body call, long milliseconds) {
  pthread_t changing, calling[kCallers];
  given(-pthread_create(&changing, NULL, change, NULL), "thread");
  for (int i = 0; i < kCallers; i++)
    given(-pthread_create(&calling[i], NULL, call, NULL), "thread");
  long end = now_ms() + milliseconds;
  // A busy machine may need longer until one call is made at the right moment.
  while (now_ms() < end || (worked == 0 && now_ms() < end + kPatienceMs)) {
    struct timespec moment = {0, 5000000};
    nanosleep(&moment, NULL);
  }
  over = 1;
  pthread_join(changing, NULL);
  for (int i = 0; i < kCallers; i++) pthread_join(calling[i], NULL);
}

static int race_connect(long milliseconds) {
  struct sockaddr_un address = {.sun_family = AF_UNIX}, *shared = (struct sockaddr_un*)contested;
  snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", inside);
  int server = (int)given(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket");
  given(bind(server, (struct sockaddr*)&address, sizeof address), "bind");
  given(listen(server, 64), "listen");
  *shared = address;
  differing += offsetof(struct sockaddr_un, sun_path);
  // The swap reads its bytes from the paths, so they are shifted as well.
  static char shifted[2][4096];
  memcpy(shifted[0] + offsetof(struct sockaddr_un, sun_path), inside, strlen(inside) + 1);
  memcpy(shifted[1] + offsetof(struct sockaddr_un, sun_path), outside, strlen(outside) + 1);
  inside = shifted[0];
  outside = shifted[1];
  pthread_t accepting;
  given(-pthread_create(&accepting, NULL, accept_all, &server), "thread");
  race(swap_byte, connect_contested, milliseconds);
  pthread_join(accepting, NULL);
  return 0;
}

// ---- many at once ----

static long calls_each;
static void* hammer(void* number) {
  char path[4096];
  snprintf(path, sizeof path, "%s/of-%ld", inside, (long)number);
  int fd = (int)given(open(path, O_RDWR | O_CREAT, 0600), "open");
  for (long i = 0; i < calls_each; i++) {
    mode_t mode = i % 2 ? 0640 : 0600;
    struct stat found;
    if (fchmod(fd, mode) != 0 || fstat(fd, &found) != 0 || (found.st_mode & 0777) != mode)
      count(-1);
    else
      count(0);
    if (chmod("/", 0755) == 0) count(-1);
  }
  close(fd);
  return NULL;
}

static int load(long threads) {
  pthread_t* all = calloc((size_t)threads, sizeof *all);
  for (long i = 0; i < threads; i++)
    given(-pthread_create(&all[i], NULL, hammer, (void*)i), "thread");
  for (long i = 0; i < threads; i++) pthread_join(all[i], NULL);
  return 0;
}

// Every process makes more, and each calls; the limit of processes bounds it.
static void multiply(long end) {
  char path[4096];
  join_path(path, inside, "file");
  while (now_ms() < end) {
    chmod(path, 0640);
    if (fork() < 0) chmod(path, 0600);
  }
}

static int forks(long milliseconds) {
  struct rlimit few = {150, 150};
  given(setrlimit(RLIMIT_NPROC, &few), "setrlimit");
  long end = now_ms() + milliseconds;
  if (given(fork(), "fork") == 0) {
    setsid();
    multiply(end + 60000);
    _exit(0);
  }
  char path[4096];
  join_path(path, inside, "file");
  while (now_ms() < end) count(chmod(path, 0600));
  return 0;
}

// Calls for ever, in this process and in one that is nobody's child any more.
static int busy(void) {
  char path[4096];
  join_path(path, inside, "file");
  if (given(fork(), "fork") == 0) {
    setsid();
    if (fork() != 0) _exit(0);
  } else {
    puts("ready");
    fflush(stdout);
  }
  alarm(60);
  for (;;)
    if (chmod(path, 0600) != 0) _exit(1);
}

int main(int count_of_values, char** values) {
  if (count_of_values < 3) return 2;
  const char* kind = values[1];
  if (!strcmp(kind, "load") && count_of_values == 5) {
    calls_each = atol(values[3]);
    inside = values[4];
    load(atol(values[2]));
  } else if (!strcmp(kind, "forks") && count_of_values == 4) {
    inside = values[3];
    forks(atol(values[2]));
  } else if (!strcmp(kind, "busy")) {
    inside = values[2];
    return busy();
  } else if (count_of_values == 5) {
    inside = values[2];
    outside = values[3];
    long milliseconds = atol(values[4]);
    while (inside[differing] == outside[differing] && inside[differing]) differing++;
    given(chdir(inside), "enter the inside");
    int is_below = !strcmp(kind, "directory-descriptor");
    int flags = is_below ? O_PATH | O_DIRECTORY : O_RDONLY;
    join_path(contested, outside, is_below ? "." : "file");
    outside_fd = (int)given(open(contested, flags), contested);
    join_path(contested, inside, is_below ? "." : "file");
    inside_fd = (int)given(open(contested, flags), contested);
    given(dup2(inside_fd, kContested), "dup2");
    if (!strcmp(kind, "path")) race(swap_byte, change_contested, milliseconds);
    if (!strcmp(kind, "descriptor")) race(swap_descriptor, change_descriptor, milliseconds);
    if (is_below) race(swap_descriptor, change_below_descriptor, milliseconds);
    if (!strcmp(kind, "current")) race(swap_current, change_relative, milliseconds);
    if (!strcmp(kind, "connect")) race_connect(milliseconds);
    if (!strcmp(kind, "link")) {
      given(symlink(contested, "link"), "symlink");
      race(swap_link, change_link, milliseconds);
    }
    if (!strcmp(kind, "rename")) {
      char target[4096];
      join_path(target, outside, "directory");
      given(symlink(target, "elsewhere"), "symlink");
      race(swap_directory, change_below, milliseconds);
    }
  } else {
    return 2;
  }
  printf("%ld %ld\n", worked, refused);
  return 0;
}
