// The conformance battery for a machine on which starting a program is slow: one process tries all
// the effects (effects.c), another one outside makes a new world for each and looks at it.
//
//   battery watch UID LIST DIRECTORY[,…] COMMAND…
//     starts COMMAND as UID, asks the `battery try` in it for every effect of LIST in a world
//     beneath every DIRECTORY, and prints for each a line of fields between tabs:
//       DIRECTORY EFFECT ANSWER OUTSIDE INSIDE
//     where the last two are what changed, names between commas. Then how COMMAND ended:
//     `exited N`, `signalled N`.
//   battery try
//     runs the programs that its standard input names, one line of arguments between tabs each,
//     and answers with a line of what they printed.
//   battery as UID COMMAND…
//
// A line of LIST: EFFECT, then of the words `once` (in the first directory only), `leaked` (uses
// the descriptors that COMMAND was started with), `mounted` (needs a mount in the workspace).
// The layout of a world is that of test/support/world.ts.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EFFECTS "/test/effects"
#define METADATA "/test/metadata"

// Of leak.c: the numbers that the effects know.
enum {
  kLeakedFile = 50,
  kLeakedPath,
  kLeakedDirectory,
  kLeakedReadOnly,
  kLeakedAppend,
  kLeakedSocket
};
enum { kForeignId = 4242, kAnswerSeconds = 60, kEndSeconds = 60, kLineBytes = 16384 };

static void fail(const char* step, const char* object) {
  fprintf(stderr, "battery: %s %s: %s\n", step, object, strerror(errno));
  exit(3);
}

static long must(long result, const char* step, const char* object) {
  if (result < 0) fail(step, object);
  return result;
}

static const char* path_of(const char* base, const char* name) {
  static char buffers[16][1024];
  static unsigned turn;
  char* path = buffers[turn++ % 16];
  snprintf(path, sizeof buffers[0], "%s/%s", base, name);
  return path;
}

static void become(uid_t uid) {
  if (uid == 0) return;
  must(setgroups(0, NULL), "setgroups", "");
  must(setgid(uid), "setgid", "");
  must(setuid(uid), "setuid", "");
}

// ---- programs with pipes ----

struct program {
  pid_t pid;
  int to, from;
};

// A line, without its end; 0 when there is none in time.
static int read_line(int fd, char* line, size_t bytes) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  time_t end = now.tv_sec + kAnswerSeconds;
  size_t length = 0;
  while (length + 1 < bytes) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct pollfd ready = {fd, POLLIN, 0};
    if (now.tv_sec >= end || poll(&ready, 1, 1000 * (int)(end - now.tv_sec)) <= 0) return 0;
    if (read(fd, line + length, 1) != 1) return 0;
    if (line[length] == '\n') {
      line[length] = 0;
      return 1;
    }
    length++;
  }
  return 0;
}

static void make_pipes(int to[2], int from[2]) {
  must(pipe2(to, O_CLOEXEC), "pipe", "");
  must(pipe2(from, O_CLOEXEC), "pipe", "");
}

static void take_pipes(const int to[2], const int from[2]) {
  must(dup2(to[0], 0), "dup2", "");
  must(dup2(from[1], 1), "dup2", "");
}

static struct program keep_ends(pid_t pid, const int to[2], const int from[2]) {
  close(to[0]);
  close(from[1]);
  return (struct program){pid, to[1], from[0]};
}

static int ended(pid_t pid, int seconds, int* status) {
  for (int tick = 0; tick < seconds * 100; tick++) {
    if (waitpid(pid, status, WNOHANG) == pid) return 1;
    usleep(10000);
  }
  return 0;
}

static void end_program(struct program* program) {
  close(program->to);
  close(program->from);
  kill(program->pid, SIGKILL);
  waitpid(program->pid, NULL, 0);
}

// ---- the one who tries ----

static int try_all(void) {
  char line[kLineBytes], output[kLineBytes];
  while (fgets(line, sizeof line, stdin)) {
    char* arguments[16] = {NULL};
    int count = 0;
    line[strcspn(line, "\n")] = 0;
    for (char* at = strtok(line, "\t"); at && count < 15; at = strtok(NULL, "\t"))
      arguments[count++] = at;
    int ends[2];
    must(pipe2(ends, O_CLOEXEC), "pipe", "");
    pid_t child = (pid_t)must(fork(), "fork", arguments[0]);
    if (child == 0) {
      int null = open("/dev/null", O_RDWR);
      dup2(null, 0);
      dup2(ends[1], 1);
      close(null);
      execv(arguments[0], arguments);
      dprintf(1, "broken execv %s\n", strerrorname_np(errno));
      _exit(3);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t count_read;
    while (length < sizeof output &&
           (count_read = read(ends[0], output + length, sizeof output - length)) > 0)
      length += (size_t)count_read;
    close(ends[0]);
    waitpid(child, NULL, 0);
    while (length > 0 && output[length - 1] == '\n') length--;
    for (size_t i = 0; i < length; i++)
      if (output[i] == '\n' || output[i] == '\t') output[i] = ';';
    printf("%.*s\n", (int)length, output);
    fflush(stdout);
  }
  return 0;
}

// ---- what is seen ----

struct view {
  char* lines[512];
  int count;
};

static void see(struct view* view, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void see(struct view* view, const char* format, ...) {
  if (view->count == 512) return;
  va_list values;
  va_start(values, format);
  if (vasprintf(&view->lines[view->count], format, values) < 0) fail("vasprintf", "");
  va_end(values);
  view->count++;
}

static uint64_t digest_of(const char* path) {
  uint64_t sum = 14695981039346656037u;
  unsigned char bytes[4096];
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);
  ssize_t count;
  while (fd >= 0 && (count = read(fd, bytes, sizeof bytes)) > 0)
    for (ssize_t i = 0; i < count; i++) sum = (sum ^ bytes[i]) * 1099511628211u;
  if (fd >= 0) close(fd);
  return sum;
}

// Everything that a name says of itself, access time excepted: reading is allowed.
static void see_name(struct view* view, const char* path, const char* shown) {
  struct stat found;
  if (lstat(path, &found) != 0) return;
  char target[512] = "";
  if (S_ISLNK(found.st_mode)) {
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = 0;
  }
  see(view, "%s=%o %u:%u %lu %lld %lld.%09ld %lld.%09ld %lu %lx %s %lx", shown, found.st_mode,
      found.st_uid, found.st_gid, (unsigned long)found.st_nlink, (long long)found.st_size,
      (long long)found.st_mtim.tv_sec, found.st_mtim.tv_nsec, (long long)found.st_ctim.tv_sec,
      found.st_ctim.tv_nsec, (unsigned long)found.st_ino, (unsigned long)found.st_rdev, target,
      S_ISREG(found.st_mode) ? (unsigned long)digest_of(path) : 0ul);
}

static void see_tree(struct view* view, const char* path, const char* shown) {
  see_name(view, path, shown);
  DIR* directory = opendir(path);
  if (!directory) return;
  struct dirent* entry;
  while ((entry = readdir(directory))) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    char name[512], beneath[512];
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    snprintf(beneath, sizeof beneath, "%s/%s", shown, entry->d_name);
    if (entry->d_type == DT_DIR)
      see_tree(view, name, beneath);
    else
      see_name(view, name, beneath);
  }
  closedir(directory);
}

// What is mounted beneath `base` where the command is.
static void see_mounts(struct view* view, pid_t pid, const char* base) {
  char line[4096];
  snprintf(line, sizeof line, "/proc/%d/mountinfo", pid);
  FILE* mounts = fopen(line, "re");
  if (!mounts) return;
  size_t length = strlen(base);
  while (fgets(line, sizeof line, mounts)) {
    char point[2048], options[1024];
    if (sscanf(line, "%*s %*s %*s %*s %2047s %1023s", point, options) != 2) continue;
    if (!strncmp(point, base, length) && point[length] == '/')
      see(view, "mount:%s=%s", point + length + 1, options);
  }
  fclose(mounts);
}

static int by_text(const void* one, const void* other) {
  return strcmp(*(char* const*)one, *(char* const*)other);
}

static void sort(struct view* view) {
  qsort(view->lines, (size_t)view->count, sizeof *view->lines, by_text);
}

static void forget(struct view* view) {
  for (int i = 0; i < view->count; i++) free(view->lines[i]);
  view->count = 0;
}

// Prints the names of what is in one view only, the first few of them, and says how many.
static int print_differences(const struct view* before, const struct view* after) {
  int one = 0, other = 0, shown = 0;
  char last[512] = "";
  while (one < before->count || other < after->count) {
    int order = one == before->count    ? 1
                : other == after->count ? -1
                                        : strcmp(before->lines[one], after->lines[other]);
    if (order == 0) {
      one++;
      other++;
      continue;
    }
    const char* line = order < 0 ? before->lines[one++] : after->lines[other++];
    char name[512];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(line, "="), line);
    if (!strcmp(name, last) || shown >= 6) continue;
    printf("%s%s", shown++ > 0 ? "," : "", name);
    strcpy(last, name);
  }
  return shown;
}

// ---- the world ----

// An effect that was refused half-way leaves a file that nobody can remove.
static void let_be_removed(const char* path) {
  unsigned flags = 0;
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return;
  flags &= ~(unsigned)FS_IMMUTABLE_FL;
  must(ioctl(fd, FS_IOC_SETFLAGS, &flags), "FS_IOC_SETFLAGS", path);
  close(fd);
}

static void remove_tree(const char* path, int itself) {
  DIR* directory = opendir(path);
  if (directory) {
    struct dirent* entry;
    while ((entry = readdir(directory))) {
      if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
      char name[512];
      snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
      struct stat found;
      if (lstat(name, &found) != 0) continue;
      if (S_ISDIR(found.st_mode))
        remove_tree(name, 1);
      else if (unlink(name) != 0) {
        let_be_removed(name);
        must(unlink(name), "unlink", name);
      }
    }
    closedir(directory);
  }
  if (itself) must(rmdir(path), "rmdir", path);
}

static void make_file(const char* path, const char* text, uid_t uid) {
  int fd = (int)must(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), "create", path);
  must(write(fd, text, strlen(text)), "write", path);
  must(fchown(fd, uid, uid), "chown", path);
  close(fd);
}

static void make_directory(const char* path, uid_t uid) {
  must(mkdir(path, 0755), "mkdir", path);
  must(chown(path, uid, uid), "chown", path);
}

static void fill_tree(const char* root, uid_t uid) {
  make_file(path_of(root, "file"), "original\n", uid);
  make_file(path_of(root, "other"), "other\n", uid);
  make_file(path_of(root, "linked"), "linked\n", uid);
  make_directory(path_of(root, "empty"), uid);
  make_directory(path_of(root, "directory"), uid);
  make_file(path_of(root, "directory/child"), "child\n", uid);
  must(mkfifo(path_of(root, "fifo"), 0644), "mkfifo", root);
  must(chown(path_of(root, "fifo"), uid, uid), "chown", root);
}

static void make_link(const char* target, const char* path, uid_t uid) {
  must(symlink(target, path), "symlink", path);
  must(lchown(path, uid, uid), "chown", path);
}

// A program that makes whoever runs it another user.
static void make_set_id_program(const char* path) {
  int from = (int)must(open(EFFECTS, O_RDONLY | O_CLOEXEC), "open", EFFECTS);
  int to = (int)must(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755), "create", path);
  char bytes[65536];
  ssize_t count;
  while ((count = read(from, bytes, sizeof bytes)) > 0)
    must(write(to, bytes, (size_t)count), "write", path);
  must(fchown(to, kForeignId, kForeignId), "chown", path);
  must(fchmod(to, 04755), "chmod", path);
  close(from);
  close(to);
}

static void fill_workspace(const char* workspace, const char* outside, uid_t uid) {
  make_file(path_of(workspace, "file"), "inside\n", uid);
  must(link(path_of(outside, "linked"), path_of(workspace, "hard-link")), "link", workspace);
  make_link("../outside/file", path_of(workspace, "link-to-file"), uid);
  make_link("../outside/new", path_of(workspace, "link-to-new"), uid);
  make_link(path_of(outside, "directory"), path_of(workspace, "link-to-directory"), uid);
  make_directory(path_of(workspace, "sub"), uid);
  make_directory(path_of(workspace, "mounted"), uid);
  make_directory(path_of(workspace, "tree"), uid);
  fill_tree(path_of(workspace, "tree"), uid);
}

static struct program start_victim(uid_t uid, const char* outside, const char* abstract,
                                   char* address) {
  int to[2], from[2];
  make_pipes(to, from);
  pid_t pid = (pid_t)must(fork(), "fork", "victim");
  if (pid == 0) {
    take_pipes(to, from);
    // A group of its own: effects signal it.
    setsid();
    become(uid);
    execl(EFFECTS, "effects", "victim", outside, abstract, NULL);
    _exit(3);
  }
  struct program victim = keep_ends(pid, to, from);
  char line[kLineBytes];
  if (!read_line(victim.from, line, sizeof line) || sscanf(line, "ready %63s", address) != 1)
    fail("start", "the process outside");
  return victim;
}

static void see_victim(struct view* view, const struct program* victim) {
  char line[kLineBytes];
  if (write(victim->to, "look\n", 5) != 5 || !read_line(victim->from, line, sizeof line)) {
    see(view, "process=dead");
    return;
  }
  for (char* at = strtok(line, " "); at; at = strtok(NULL, " ")) see(view, "process:%s", at);
}

static int in_mounts_of(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/mnt", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd < 0 || setns(fd, CLONE_NEWNS) != 0 ? -1 : 0;
}

// In the mount namespace of the command; this one must not see it.
static void mount_something(pid_t command, const char* workspace) {
  pid_t child = (pid_t)must(fork(), "fork", "");
  if (child == 0) {
    if (in_mounts_of(command) != 0) _exit(1);
    _exit(mount("none", path_of(workspace, "mounted"), "tmpfs", 0, "size=64k") != 0);
  }
  int status;
  waitpid(child, &status, 0);
  if (status != 0) fail("mount for the effect", workspace);
}

// ---- one effect after another ----

static uid_t user;
static struct program command;

static void lay_out(const char* directory) {
  make_directory(path_of(directory, "outside"), user);
  make_directory(path_of(directory, "workspace"), user);
}

static void leak_descriptors(const char* leaked) {
  int directory = (int)must(open(leaked, O_RDONLY | O_DIRECTORY), "open", leaked);
  const char* file = path_of(leaked, "file");
  must(dup2((int)must(open(file, O_RDWR), "open", file), kLeakedFile), "dup2", file);
  must(dup2((int)must(open(leaked, O_PATH | O_DIRECTORY), "open", leaked), kLeakedPath), "dup2",
       "");
  must(dup2(directory, kLeakedDirectory), "dup2", leaked);
  must(dup2((int)must(open(file, O_RDONLY), "open", file), kLeakedReadOnly), "dup2", file);
  must(dup2((int)must(open(file, O_WRONLY | O_APPEND), "open", file), kLeakedAppend), "dup2", file);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", leaked);
  int fd = (int)must(socket(AF_UNIX, SOCK_STREAM, 0), "socket", "");
  must(connect(fd, (struct sockaddr*)&address, sizeof address), "connect", leaked);
  must(dup2(fd, kLeakedSocket), "dup2", "socket");
  for (int low = 3; low < kLeakedFile; low++) close(low);
}

static void start_command(const char* workspace, const char* leaked, char** arguments) {
  int to[2], from[2];
  make_pipes(to, from);
  pid_t pid = (pid_t)must(fork(), "fork", arguments[0]);
  if (pid == 0) {
    take_pipes(to, from);
    // What effects mount unconfined ends with the command.
    must(unshare(CLONE_NEWNS), "unshare", "mounts");
    must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount", "/");
    setsid();
    become(user);
    must(chdir(workspace), "enter", workspace);
    leak_descriptors(leaked);
    execv(arguments[0], arguments);
    fail("execv", arguments[0]);
  }
  command = keep_ends(pid, to, from);
}

// Asks the one who tries; the answer of one that is no longer there is `broken`.
static int ask(char* answer, size_t bytes, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
static int ask(char* answer, size_t bytes, const char* format, ...) {
  va_list values;
  va_start(values, format);
  int written = vdprintf(command.to, format, values);
  va_end(values);
  if (written > 0 && read_line(command.from, answer, bytes)) return 1;
  snprintf(answer, bytes, "broken no answer");
  return 0;
}

struct world {
  const char* directory;
  char outside[512], workspace[512], abstract[64], address[64];
  struct program victim;
  // Nothing has changed in it since it was made: the next effect can have it.
  int is_fresh;
};

static void look(const struct world* world, struct view* outside, struct view* inside) {
  see_tree(outside, world->outside, "outside");
  see_victim(outside, &world->victim);
  see_mounts(outside, command.pid, world->directory);
  see_name(outside, path_of("/dev/shm", world->abstract), "shm");
  see_tree(inside, world->workspace, "workspace");
  sort(outside);
  sort(inside);
}

static int attempt(const char* effect, struct world* world) {
  static struct view outside[2], inside[2];
  look(world, &outside[0], &inside[0]);
  char answer[kLineBytes];
  int goes_on =
      ask(answer, sizeof answer, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", EFFECTS, effect, world->outside,
          world->workspace, world->victim.pid, world->address, world->abstract);
  look(world, &outside[1], &inside[1]);
  printf("%s\t%s\t%s\t", world->directory, effect, answer);
  int changes = print_differences(&outside[0], &outside[1]);
  putchar('\t');
  changes += print_differences(&inside[0], &inside[1]);
  putchar('\n');
  fflush(stdout);
  if (changes > 0) world->is_fresh = 0;
  unlink(path_of("/dev/shm", world->abstract));
  for (int i = 0; i < 2; i++) {
    forget(&outside[i]);
    forget(&inside[i]);
  }
  return goes_on;
}

static void unmake(struct world* world) {
  if (world->victim.pid == 0) return;
  end_program(&world->victim);
  world->victim.pid = 0;
  world->is_fresh = 0;
  remove_tree(world->outside, 0);
  remove_tree(world->workspace, 0);
}

static void make_anew(struct world* world) {
  static int number;
  unmake(world);
  snprintf(world->outside, sizeof world->outside, "%s/outside", world->directory);
  snprintf(world->workspace, sizeof world->workspace, "%s/workspace", world->directory);
  snprintf(world->abstract, sizeof world->abstract, "ct-%d-%d", getpid(), number++);
  fill_tree(world->outside, user);
  fill_workspace(world->workspace, world->outside, user);
  world->victim = start_victim(user, world->outside, world->abstract, world->address);
  world->is_fresh = 1;
}

static int attempt_in(struct world* world, const char* effect, int is_mounted) {
  if (!world->is_fresh) make_anew(world);
  if (!strcmp(effect, "set-id-program")) {
    make_set_id_program(path_of(world->outside, effect));
    world->is_fresh = 0;
  }
  if (is_mounted) {
    mount_something(command.pid, world->workspace);
    world->is_fresh = 0;
  }
  return attempt(effect, world);
}

// On the descriptors that the command was started with, so always on the same files.
static int attempt_leaked(struct world* world, const char* effect) {
  // An effect may have taken the name away.
  if (access(path_of(world->outside, "file"), F_OK) != 0)
    must(link(path_of(world->directory, "spare"), path_of(world->outside, "file")), "link", effect);
  return attempt(effect, world);
}

static void make_leaked(struct world* world) {
  snprintf(world->outside, sizeof world->outside, "%s/leaked", world->directory);
  snprintf(world->workspace, sizeof world->workspace, "%s/leaked-workspace", world->directory);
  snprintf(world->abstract, sizeof world->abstract, "ct-%d-leaked", getpid());
  make_directory(world->outside, user);
  make_directory(world->workspace, user);
  fill_tree(world->outside, user);
  make_file(path_of(world->workspace, "file"), "inside\n", user);
  const char* file = path_of(world->outside, "file");
  must(link(file, path_of(world->directory, "spare")), "link", file);
  world->victim = start_victim(user, world->outside, world->abstract, world->address);
}

// ---- every form of the metadata calls ----

// Its output and complaints; whether it succeeded.
static int run_metadata(const char* act, const char* directory, FILE* output) {
  int ends[2], status;
  must(pipe2(ends, O_CLOEXEC), "pipe", "");
  pid_t child = (pid_t)must(fork(), "fork", METADATA);
  if (child == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    become(user);
    execl(METADATA, "metadata", act, directory, NULL);
    _exit(3);
  }
  close(ends[1]);
  char bytes[4096];
  ssize_t count;
  while ((count = read(ends[0], bytes, sizeof bytes)) > 0) fwrite(bytes, 1, (size_t)count, output);
  close(ends[0]);
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Each case's name and what its files are, on one line.
static void see_cases(struct view* view, const char* directory) {
  char *text = NULL, *at;
  size_t bytes = 0;
  FILE* output = open_memstream(&text, &bytes);
  if (!run_metadata("show", directory, output)) fail("show", directory);
  fclose(output);
  char* case_text = text;
  for (at = text; *at; at++) {
    if (*at != '\n') continue;
    int goes_on = at[1] == ' ';
    *at = goes_on ? '=' : 0;
    if (goes_on) continue;
    see(view, "%s", case_text);
    case_text = at + 1;
  }
  free(text);
  sort(view);
}

static int attempt_metadata(const char* directory) {
  const char* place = path_of(directory, "metadata");
  make_directory(place, user);
  char *text = NULL, answer[65536];
  size_t bytes = 0;
  FILE* output = open_memstream(&text, &bytes);
  int is_made = run_metadata("make", place, output);
  fclose(output);
  int goes_on = 1, changed = 0;
  char names[65536] = "";
  if (!is_made) {
    snprintf(answer, sizeof answer, "broken %.*s", (int)strcspn(text, "\n"), text);
  } else {
    static struct view before, after;
    see_cases(&before, place);
    goes_on = ask(answer, sizeof answer, "%s\trun\t%s\n", METADATA, place);
    see_cases(&after, place);
    if (before.count == 0 || before.count != after.count) fail("show", place);
    for (int i = 0; i < before.count; i++) {
      if (!strcmp(before.lines[i], after.lines[i])) continue;
      const char* line = before.lines[i];
      size_t length = strlen(names);
      snprintf(names + length, sizeof names - length, "%s%.*s", changed++ > 0 ? "," : "",
               (int)strcspn(line, "="), line);
    }
    if (goes_on) snprintf(answer, sizeof answer, "%d of %d", changed, before.count);
    forget(&before);
    forget(&after);
  }
  free(text);
  printf("%s\tmetadata\t%s\t%s\t\n", directory, answer, names);
  fflush(stdout);
  return goes_on;
}

static int watch(char** values) {
  user = (uid_t)atoi(values[0]);
  FILE* list = fopen(values[1], "re");
  if (!list) fail("open", values[1]);
  struct world worlds[8] = {{0}};
  int count = 0;
  for (char* at = strtok(values[2], ","); at && count < 8; at = strtok(NULL, ","))
    worlds[count++].directory = at;
  if (count == 0) return 2;
  umask(022);
  signal(SIGPIPE, SIG_IGN);

  struct world leaked = {.directory = worlds[0].directory};
  for (int i = 0; i < count; i++) lay_out(worlds[i].directory);
  make_leaked(&leaked);
  start_command(path_of(worlds[0].directory, "workspace"), leaked.outside, values + 3);

  char line[256];
  int goes_on = 1;
  while (goes_on && fgets(line, sizeof line, list)) {
    line[strcspn(line, "\n")] = 0;
    int is_once = strstr(line, " once") != NULL, is_leaked = strstr(line, " leaked") != NULL,
        is_mounted = strstr(line, " mounted") != NULL;
    line[strcspn(line, " ")] = 0;
    if (is_leaked) {
      goes_on = attempt_leaked(&leaked, line);
      continue;
    }
    for (int i = 0; goes_on && i < (is_once ? 1 : count); i++) {
      if (!strcmp(line, "metadata"))
        goes_on = attempt_metadata(worlds[i].directory);
      else
        goes_on = attempt_in(&worlds[i], line, is_mounted);
    }
  }
  fclose(list);

  close(command.to);
  int status = 0;
  if (!ended(command.pid, kEndSeconds, &status)) {
    kill(command.pid, SIGKILL);
    waitpid(command.pid, &status, 0);
  }
  end_program(&leaked.victim);
  for (int i = 0; i < count; i++) {
    unmake(&worlds[i]);
    remove_tree(worlds[i].directory, 0);
  }
  printf("%s %d\n", WIFEXITED(status) ? "exited" : "signalled",
         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  return 0;
}

int main(int count, char** values) {
  if (count == 2 && !strcmp(values[1], "try")) return try_all();
  if (count > 5 && !strcmp(values[1], "watch")) return watch(values + 2);
  if (count > 3 && !strcmp(values[1], "as")) {
    become((uid_t)atoi(values[2]));
    execvp(values[3], values + 3);
    fail("execvp", values[3]);
  }
  return 2;
}
