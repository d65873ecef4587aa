// metadata list
// metadata make DIRECTORY
// metadata run DIRECTORY
// metadata run-nameless DIRECTORY
// metadata show DIRECTORY
// metadata stdin
//
// Every form of every call that changes what a file says of itself, each on files of its own, and
// each mistake that the kernel has an errno for. `make` lays out DIRECTORY/CASE for every case,
// `run` makes the calls, a line `CASE RESULT ERRNO NOTE` each, and `show` says what the files then
// look like. `run-nameless` does the same with files without a name. A sandbox that answers for the
// kernel has to come to the same lines as the kernel. `list` names the cases, with `changes` for
// those that change something when nobody hinders them.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

// Numbers that older C libraries do not name; equal on every architecture but alpha.
enum {
  kFchmodat2 = 452,
  kSetxattrat = 463,
  kRemovexattrat = 466,
  kFileGetattr = 468,
  kFileSetattr = 469,
};
enum { kFirstSecond = 1000000000, kSetSecond = 1100000000, kNobodyNumber = 9999 };

static char here[PATH_MAX];
static char note[256];

static jmp_buf refusal;
static int may_be_refused;

// What a sandbox refuses on the way to a call, it refuses of the call.
static long given(long result, const char* step) {
  if (result >= 0) return result;
  if (may_be_refused && errno == EACCES) longjmp(refusal, errno);
  fprintf(stderr, "metadata: %s: %s\n", step, strerror(errno));
  exit(3);
}

static const char* path(const char* name) {
  static char buffers[4][PATH_MAX + 256];
  static unsigned turn;
  char* text = buffers[turn++ % 4];
  snprintf(text, sizeof buffers[0], "%s/%s", here, name);
  return text;
}

static int opened(const char* name, int flags) { return (int)given(open(name, flags), name); }
static int reading(void) { return opened("file", O_RDONLY); }
static int as_path(const char* name) { return opened(name, O_PATH | O_NOFOLLOW); }
static int directory(void) { return opened(".", O_RDONLY | O_DIRECTORY); }

static const char* by_number(const char* prefix, int fd, const char* rest) {
  static char text[128];
  snprintf(text, sizeof text, "%s%d%s", prefix, fd, rest);
  return text;
}

static void note_mode(int fd) {
  struct stat found;
  given(fstat(fd, &found), "fstat");
  snprintf(note, sizeof note, "mode=%o", found.st_mode);
}

// The 64-bit registers of a call whose arguments are ints may hold anything above them.
static long call3(long number, uint64_t a, uint64_t b, uint64_t c) {
  return syscall(number, a, b, c);
}
static const uint64_t kHigh = 0xabcd00000000u;
static void* const kNowhere = (void*)16;

// ---- mode ----

static long chmod_absolute(void) { return chmod(path("file"), 0600); }
static long chmod_relative(void) { return chmod("file", 0600); }
static long chmod_dot_dot(void) { return chmod("dir/../file", 0600); }
static long chmod_directory(void) { return chmod("dir", 0700); }
static long chmod_current_directory(void) { return chmod(".", 0700); }
static long chmod_fifo(void) { return chmod("fifo", 0600); }
static long chmod_link(void) { return chmod("link", 0600); }
static long chmod_below_link(void) { return chmod("dirlink/child", 0600); }
static long chmod_dangling(void) { return chmod("dangling", 0600); }
static long chmod_loop(void) { return chmod("loop", 0600); }
static long chmod_missing(void) { return chmod("missing", 0600); }
static long chmod_missing_directory(void) { return chmod("missing/child", 0600); }
static long chmod_slash(void) { return chmod("file/", 0600); }
static long chmod_below_file(void) { return chmod("file/child", 0600); }
static long chmod_empty(void) { return chmod("", 0600); }
static long chmod_null(void) { return chmod(NULL, 0600); }
static long chmod_nowhere(void) { return chmod(kNowhere, 0600); }
static long chmod_long_name(void) {
  char name[300];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = 0;
  return chmod(name, 0600);
}
static long chmod_long_path(void) {
  static char name[PATH_MAX + 10];
  for (size_t i = 0; i + 2 < sizeof name; i += 2) memcpy(name + i, "./", 2);
  return chmod(name, 0600);
}
// The end of the text is the end of the memory.
static long chmod_at_the_edge(void) {
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + 4096, 4096);
  memcpy(pages + 4096 - 5, "file", 5);
  return chmod(pages + 4096 - 5, 0600);
}
static long chmod_over_the_edge(void) {
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + 4096, 4096);
  memcpy(pages + 4096 - 4, "file", 4);
  return chmod(pages + 4096 - 4, 0600);
}
static long chmod_across_pages(void) {
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(pages + 4096 - 2, "file", 5);
  return chmod(pages + 4096 - 2, 0600);
}
static long chmod_directory_set_group(void) { return chmod("dir", 02755); }
static long chmod_directory_sticky(void) { return chmod("dir", 01777); }
static long chmod_file_sticky(void) { return chmod("file", 01600); }
static long chmod_type_bits(void) { return chmod("file", S_IFDIR | 0600); }
static long chmod_high_bits(void) {
  return call3(SYS_chmod, (uintptr_t) "file", kHigh | 0x10000 | 0600, 0);
}
static long chmod_same(void) { return chmod("file", 0644); }
static long chmod_takes_set_id(void) { return chmod("setid", 0755); }
static long fchmod_reading(void) { return fchmod(reading(), 0600); }
static long fchmod_writing(void) { return fchmod(opened("file", O_WRONLY), 0600); }
static long fchmod_unreadable(void) { return fchmod(opened("writeonly", O_WRONLY), 0600); }
static long fchmod_directory(void) { return fchmod(opened("dir", O_RDONLY), 0700); }
static long fchmod_path(void) { return fchmod(as_path("file"), 0600); }
static long fchmod_negative(void) { return fchmod(-1, 0600); }
static long fchmod_closed(void) { return fchmod(kNobodyNumber, 0600); }
static long fchmod_high_bits(void) {
  return call3(SYS_fchmod, kHigh | (uint64_t)reading(), 0600, 0);
}
static long fchmod_pipe(void) {
  int ends[2];
  given(pipe(ends), "pipe");
  long result = fchmod(ends[0], 0640);
  int error = errno;
  note_mode(ends[0]);
  errno = error;
  return result;
}
static long fchmod_socket(void) {
  int fd = (int)given(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
  long result = fchmod(fd, 0640);
  int error = errno;
  note_mode(fd);
  errno = error;
  return result;
}
static long fchmod_memory(void) {
  int fd = (int)given(memfd_create("memory", 0), "memfd_create");
  long result = fchmod(fd, 0640);
  int error = errno;
  note_mode(fd);
  errno = error;
  return result;
}
static long fchmod_unlinked(void) {
  int fd = (int)given(open("gone", O_RDWR | O_CREAT, 0644), "open");
  given(unlink("gone"), "unlink");
  long result = fchmod(fd, 0640);
  int error = errno;
  note_mode(fd);
  errno = error;
  return result;
}
static long fchmod_nameless(void) {
  int fd = (int)given(open(".", O_RDWR | O_TMPFILE, 0644), "O_TMPFILE");
  long result = fchmod(fd, 0640);
  int error = errno;
  note_mode(fd);
  errno = error;
  return result;
}
static long fchmodat_directory(void) { return fchmodat(directory(), "file", 0600, 0); }
static long fchmodat_path_directory(void) { return fchmodat(as_path("dir"), "child", 0600, 0); }
static long fchmodat_current(void) { return fchmodat(AT_FDCWD, "file", 0600, 0); }
static long fchmodat_high_bits(void) {
  return call3(SYS_fchmodat, kHigh | (uint32_t)AT_FDCWD, (uintptr_t) "file", 0600);
}
static long fchmodat_closed(void) { return fchmodat(kNobodyNumber, "file", 0600, 0); }
static long fchmodat_closed_absolute(void) {
  return fchmodat(kNobodyNumber, path("file"), 0600, 0);
}
static long fchmodat_of_file(void) { return fchmodat(reading(), "child", 0600, 0); }
static long fchmodat_empty(void) { return fchmodat(directory(), "", 0600, 0); }
// glibc goes through /proc/self/fd for these.
static long fchmodat_no_follow(void) {
  return fchmodat(AT_FDCWD, "file", 0600, AT_SYMLINK_NOFOLLOW);
}
static long fchmodat_no_follow_directory(void) {
  return fchmodat(directory(), "dir", 0700, AT_SYMLINK_NOFOLLOW);
}
static long fchmodat_no_follow_link(void) {
  return fchmodat(AT_FDCWD, "link", 0600, AT_SYMLINK_NOFOLLOW);
}
static long chmod_self_descriptor(void) {
  return chmod(by_number("/proc/self/fd/", reading(), ""), 0600);
}
static long chmod_self_path_descriptor(void) {
  return chmod(by_number("/proc/self/fd/", as_path("file"), ""), 0600);
}
static long chmod_self_link_descriptor(void) {
  return chmod(by_number("/proc/self/fd/", as_path("link"), ""), 0600);
}
static long chmod_thread_descriptor(void) {
  return chmod(by_number("/proc/thread-self/fd/", reading(), ""), 0600);
}
static long chmod_device_descriptor(void) {
  return chmod(by_number("/dev/fd/", reading(), ""), 0600);
}
static long chmod_below_descriptor(void) {
  return chmod(by_number("/proc/self/fd/", directory(), "/file"), 0600);
}
static long chmod_below_file_descriptor(void) {
  return chmod(by_number("/proc/self/fd/", reading(), "/file"), 0600);
}
static long chmod_closed_descriptor(void) {
  return chmod(by_number("/proc/self/fd/", kNobodyNumber, ""), 0600);
}
static const char* of_process(pid_t process, int fd, const char* rest) {
  static char text[128];
  snprintf(text, sizeof text, "/proc/%d/fd/%d%s", process, fd, rest);
  return text;
}
static long chmod_process_descriptor(void) {
  return chmod(of_process(getpid(), reading(), ""), 0600);
}
static long chmod_below_process_descriptor(void) {
  return chmod(of_process(getpid(), directory(), "/file"), 0600);
}
static long chmod_closed_process_descriptor(void) {
  return chmod(of_process(getpid(), 999, ""), 0600);
}
static long chmod_no_process_descriptor(void) { return chmod("/proc/0/fd/0", 0600); }
// Ways through /proc that only the caller's own kernel thread could follow for it.
static long chmod_other_process_descriptor(void) {
  int fd = reading();
  pid_t other = (pid_t)given(fork(), "fork");
  if (other == 0) {
    pause();
    _exit(0);
  }
  long result = chmod(of_process(other, fd, ""), 0600);
  int error = errno;
  given(kill(other, SIGKILL), "kill");
  given(waitpid(other, NULL, 0), "wait");
  errno = error;
  return result;
}
static long chmod_self_directory(void) { return chmod("/proc/self/cwd/file", 0600); }
static long chmod_self_descriptor_no_follow(void) {
  return fchmodat(AT_FDCWD, by_number("/proc/self/fd/", reading(), ""), 0600, AT_SYMLINK_NOFOLLOW);
}
static long fchmodat2_plain(void) { return syscall(kFchmodat2, AT_FDCWD, "file", 0600, 0); }
static long fchmodat2_directory(void) { return syscall(kFchmodat2, directory(), "file", 0600, 0); }
static long fchmodat2_no_follow(void) {
  return syscall(kFchmodat2, AT_FDCWD, "file", 0600, AT_SYMLINK_NOFOLLOW);
}
static long fchmodat2_no_follow_link(void) {
  return syscall(kFchmodat2, AT_FDCWD, "link", 0600, AT_SYMLINK_NOFOLLOW);
}
static long fchmodat2_descriptor(void) {
  return syscall(kFchmodat2, reading(), "", 0600, AT_EMPTY_PATH);
}
static long fchmodat2_path_descriptor(void) {
  return syscall(kFchmodat2, as_path("file"), "", 0600, AT_EMPTY_PATH);
}
static long fchmodat2_link_descriptor(void) {
  return syscall(kFchmodat2, as_path("link"), "", 0600, AT_EMPTY_PATH);
}
static long fchmodat2_current(void) {
  return syscall(kFchmodat2, AT_FDCWD, "", 0700, AT_EMPTY_PATH);
}
static long fchmodat2_empty_with_path(void) {
  return syscall(kFchmodat2, AT_FDCWD, "file", 0600, AT_EMPTY_PATH);
}
static long fchmodat2_empty(void) { return syscall(kFchmodat2, reading(), "", 0600, 0); }
static long fchmodat2_null(void) {
  return syscall(kFchmodat2, reading(), NULL, 0600, AT_EMPTY_PATH);
}
static long fchmodat2_flags(void) {
  return syscall(kFchmodat2, AT_FDCWD, "file", 0600, AT_SYMLINK_FOLLOW);
}
static long fchmodat2_flags_closed(void) {
  return syscall(kFchmodat2, kNobodyNumber, kNowhere, 0600, 0x4000);
}

// ---- owner: to oneself, which shows in the change time ----

static long chown_file(void) { return chown(path("file"), getuid(), getgid()); }
static long chown_link(void) { return chown("link", getuid(), getgid()); }
static long chown_nobody(void) { return chown("file", (uid_t)-1, (gid_t)-1); }
static long chown_group(void) { return chown("file", (uid_t)-1, getgid()); }
static long chown_another(void) { return chown("file", 4243, (gid_t)-1); }
static long chown_another_group(void) { return chown("file", (uid_t)-1, 4243); }
static long chown_takes_set_id(void) { return chown("setid", getuid(), getgid()); }
static long chown_missing(void) { return chown("missing", getuid(), getgid()); }
static long chown_null(void) { return chown(NULL, getuid(), getgid()); }
static long lchown_link(void) { return lchown("link", getuid(), getgid()); }
static long lchown_file(void) { return lchown("file", getuid(), getgid()); }
static long lchown_slash(void) { return lchown("dirlink/", getuid(), getgid()); }
static long lchown_dangling(void) { return lchown("dangling", getuid(), getgid()); }
static long fchown_file(void) { return fchown(reading(), getuid(), getgid()); }
static long fchown_path(void) { return fchown(as_path("file"), getuid(), getgid()); }
static long fchown_closed(void) { return fchown(kNobodyNumber, getuid(), getgid()); }
static long fchownat_directory(void) {
  return fchownat(directory(), "file", getuid(), getgid(), 0);
}
static long fchownat_no_follow(void) {
  return fchownat(AT_FDCWD, "link", getuid(), getgid(), AT_SYMLINK_NOFOLLOW);
}
static long fchownat_follow(void) { return fchownat(AT_FDCWD, "link", getuid(), getgid(), 0); }
static long fchownat_descriptor(void) {
  return fchownat(reading(), "", getuid(), getgid(), AT_EMPTY_PATH);
}
static long fchownat_path_descriptor(void) {
  return fchownat(as_path("file"), "", getuid(), getgid(), AT_EMPTY_PATH);
}
static long fchownat_link_descriptor(void) {
  return fchownat(as_path("link"), "", getuid(), getgid(), AT_EMPTY_PATH);
}
static long fchownat_current(void) {
  return fchownat(AT_FDCWD, "", getuid(), getgid(), AT_EMPTY_PATH);
}
static long fchownat_empty(void) { return fchownat(reading(), "", getuid(), getgid(), 0); }
static long fchownat_flags(void) {
  return fchownat(AT_FDCWD, "file", getuid(), getgid(), AT_SYMLINK_FOLLOW);
}

// ---- times ----

static const struct timespec both_times[2] = {{kSetSecond, 7}, {kSetSecond + 1, 9}};

static long utime_file(void) {
  struct utimbuf times = {kSetSecond, kSetSecond + 1};
  return syscall(SYS_utime, "file", &times);
}
static long utime_link(void) {
  struct utimbuf times = {kSetSecond, kSetSecond + 1};
  return syscall(SYS_utime, "link", &times);
}
static long utime_now(void) { return syscall(SYS_utime, "file", NULL); }
static long utime_nowhere(void) { return syscall(SYS_utime, "file", kNowhere); }
static long utime_missing(void) { return syscall(SYS_utime, "missing", NULL); }
static long utimes_file(void) {
  struct timeval times[2] = {{kSetSecond, 5}, {kSetSecond + 1, 999999}};
  return syscall(SYS_utimes, "file", times);
}
static long utimes_now(void) { return syscall(SYS_utimes, path("file"), NULL); }
static long utimes_invalid(void) {
  struct timeval times[2] = {{kSetSecond, 1000000}, {kSetSecond, 0}};
  return syscall(SYS_utimes, "file", times);
}
static long utimes_negative(void) {
  struct timeval times[2] = {{kSetSecond, -1}, {kSetSecond, 0}};
  return syscall(SYS_utimes, "file", times);
}
static long utimes_before_the_epoch(void) {
  struct timeval times[2] = {{-5, 0}, {-7, 3}};
  return syscall(SYS_utimes, "file", times);
}
static long futimesat_directory(void) {
  struct timeval times[2] = {{kSetSecond, 5}, {kSetSecond + 1, 6}};
  return syscall(SYS_futimesat, directory(), "file", times);
}
static long futimesat_null(void) {
  struct timeval times[2] = {{kSetSecond, 5}, {kSetSecond + 1, 6}};
  return syscall(SYS_futimesat, reading(), NULL, times);
}
static long futimesat_null_path(void) {
  return syscall(SYS_futimesat, as_path("file"), NULL, NULL);
}
static long utimensat_absolute(void) {
  return syscall(SYS_utimensat, AT_FDCWD, path("file"), both_times, 0);
}
static long utimensat_directory(void) {
  return syscall(SYS_utimensat, directory(), "file", both_times, 0);
}
static long utimensat_of_directory(void) {
  return syscall(SYS_utimensat, AT_FDCWD, "dir", both_times, 0);
}
static long utimensat_link(void) { return syscall(SYS_utimensat, AT_FDCWD, "link", both_times, 0); }
static long utimensat_no_follow(void) {
  return syscall(SYS_utimensat, AT_FDCWD, "link", both_times, AT_SYMLINK_NOFOLLOW);
}
static long utimensat_dangling(void) {
  return syscall(SYS_utimensat, AT_FDCWD, "dangling", both_times, 0);
}
static long utimensat_dangling_no_follow(void) {
  return syscall(SYS_utimensat, AT_FDCWD, "dangling", both_times, AT_SYMLINK_NOFOLLOW);
}
static long utimensat_now(void) { return syscall(SYS_utimensat, AT_FDCWD, "file", NULL, 0); }
static long utimensat_now_and_omit(void) {
  struct timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  return syscall(SYS_utimensat, AT_FDCWD, "file", times, 0);
}
static long utimensat_omit_and_set(void) {
  struct timespec times[2] = {{0, UTIME_OMIT}, {kSetSecond, 3}};
  return syscall(SYS_utimensat, AT_FDCWD, "file", times, 0);
}
static long utimensat_omit(void) {
  struct timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
  return syscall(SYS_utimensat, AT_FDCWD, "file", times, 0);
}
// The kernel does not even look at the path.
static long utimensat_omit_missing(void) {
  struct timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
  return syscall(SYS_utimensat, AT_FDCWD, "missing", times, 0);
}
static long utimensat_invalid(void) {
  struct timespec times[2] = {{0, 1000000000}, {0, 0}};
  return syscall(SYS_utimensat, AT_FDCWD, "file", times, 0);
}
static long utimensat_null(void) { return syscall(SYS_utimensat, reading(), NULL, both_times, 0); }
static long utimensat_null_now(void) { return syscall(SYS_utimensat, reading(), NULL, NULL, 0); }
static long utimensat_null_flags(void) {
  return syscall(SYS_utimensat, reading(), NULL, both_times, AT_SYMLINK_NOFOLLOW);
}
static long utimensat_null_empty(void) {
  return syscall(SYS_utimensat, reading(), NULL, both_times, AT_EMPTY_PATH);
}
static long utimensat_null_current(void) {
  return syscall(SYS_utimensat, AT_FDCWD, NULL, both_times, 0);
}
static long utimensat_null_path(void) {
  return syscall(SYS_utimensat, as_path("file"), NULL, both_times, 0);
}
static long utimensat_null_closed(void) {
  return syscall(SYS_utimensat, kNobodyNumber, NULL, both_times, 0);
}
static long utimensat_descriptor(void) {
  return syscall(SYS_utimensat, reading(), "", both_times, AT_EMPTY_PATH);
}
static long utimensat_path_descriptor(void) {
  return syscall(SYS_utimensat, as_path("file"), "", both_times, AT_EMPTY_PATH);
}
static long utimensat_link_descriptor(void) {
  return syscall(SYS_utimensat, as_path("link"), "", both_times, AT_EMPTY_PATH);
}
static long utimensat_empty(void) { return syscall(SYS_utimensat, reading(), "", both_times, 0); }
static long utimensat_nowhere(void) {
  return syscall(SYS_utimensat, AT_FDCWD, "file", kNowhere, 0);
}
static long utimensat_flags(void) {
  return syscall(SYS_utimensat, AT_FDCWD, "file", both_times, 0x4000);
}
static long utimensat_self_descriptor(void) {
  return syscall(SYS_utimensat, AT_FDCWD, by_number("/proc/self/fd/", reading(), ""), both_times,
                 0);
}
static long futimens_file(void) { return futimens(reading(), both_times); }
static long utimensat_fifo(void) { return syscall(SYS_utimensat, AT_FDCWD, "fifo", both_times, 0); }

// ---- extended attributes ----

static const char value[] = "value";
#define VALUE value, sizeof value - 1

struct attribute_arguments {
  uint64_t value;
  uint32_t size, flags;
};
static const struct attribute_arguments at_arguments = {(uintptr_t)value, sizeof value - 1, 0};

static long setxattr_file(void) { return setxattr(path("file"), "user.one", VALUE, 0); }
static long setxattr_link(void) { return setxattr("link", "user.one", VALUE, 0); }
static long setxattr_directory(void) { return setxattr("dir", "user.one", VALUE, 0); }
static long setxattr_empty_value(void) { return setxattr("file", "user.one", NULL, 0, 0); }
static long setxattr_create(void) { return setxattr("file", "user.one", VALUE, XATTR_CREATE); }
static long setxattr_create_existing(void) {
  return setxattr("file", "user.old", VALUE, XATTR_CREATE);
}
static long setxattr_replace(void) { return setxattr("file", "user.old", VALUE, XATTR_REPLACE); }
static long setxattr_replace_missing(void) {
  return setxattr("file", "user.one", VALUE, XATTR_REPLACE);
}
static long setxattr_flags(void) { return setxattr("file", "user.one", VALUE, 8); }
static long setxattr_no_name(void) { return setxattr("file", "", VALUE, 0); }
static long setxattr_bare_namespace(void) { return setxattr("file", "user.", VALUE, 0); }
static long setxattr_long_name(void) {
  char name[300];
  memset(name, 'x', sizeof name - 1);
  memcpy(name, "user.", 5);
  name[sizeof name - 1] = 0;
  return setxattr("file", name, VALUE, 0);
}
static long setxattr_longest_name(void) {
  char name[256];
  memset(name, 'x', sizeof name - 1);
  memcpy(name, "user.", 5);
  name[sizeof name - 1] = 0;
  return setxattr("file", name, VALUE, 0);
}
static long setxattr_null_name(void) { return setxattr("file", NULL, VALUE, 0); }
static long setxattr_null_value(void) { return setxattr("file", "user.one", NULL, 5, 0); }
static long setxattr_nowhere(void) { return setxattr("file", "user.one", kNowhere, 5, 0); }
static char large[70000];
static long setxattr_too_large(void) { return setxattr("file", "user.one", large, 65537, 0); }
static long setxattr_huge(void) {
  return syscall(SYS_setxattr, "file", "user.one", large, 0x100000005ul, 0);
}
static long setxattr_page(void) { return setxattr("file", "user.one", large, 3000, 0); }
static long setxattr_unknown(void) { return setxattr("file", "odd.one", VALUE, 0); }
static long setxattr_trusted(void) { return setxattr("file", "trusted.one", VALUE, 0); }
static long setxattr_security(void) { return setxattr("file", "security.one", VALUE, 0); }
static long setxattr_missing(void) { return setxattr("missing", "user.one", VALUE, 0); }
static long setxattr_fifo(void) { return setxattr("fifo", "user.one", VALUE, 0); }
static long lsetxattr_file(void) { return lsetxattr("file", "user.one", VALUE, 0); }
static long lsetxattr_link(void) { return lsetxattr("link", "user.one", VALUE, 0); }
static long fsetxattr_reading(void) { return fsetxattr(reading(), "user.one", VALUE, 0); }
static long fsetxattr_path(void) { return fsetxattr(as_path("file"), "user.one", VALUE, 0); }
static long fsetxattr_closed(void) { return fsetxattr(kNobodyNumber, "user.one", VALUE, 0); }
static long fsetxattr_pipe(void) {
  int ends[2];
  given(pipe(ends), "pipe");
  return fsetxattr(ends[0], "user.one", VALUE, 0);
}
static long setxattr_self_descriptor(void) {
  return setxattr(by_number("/proc/self/fd/", reading(), ""), "user.one", VALUE, 0);
}
static long setxattrat_directory(void) {
  return syscall(kSetxattrat, directory(), "file", 0, "user.one", &at_arguments,
                 sizeof at_arguments);
}
static long setxattrat_no_follow(void) {
  return syscall(kSetxattrat, AT_FDCWD, "link", AT_SYMLINK_NOFOLLOW, "user.one", &at_arguments,
                 sizeof at_arguments);
}
static long setxattrat_descriptor(void) {
  return syscall(kSetxattrat, reading(), "", AT_EMPTY_PATH, "user.one", &at_arguments,
                 sizeof at_arguments);
}
static long setxattrat_null(void) {
  return syscall(kSetxattrat, reading(), NULL, AT_EMPTY_PATH, "user.one", &at_arguments,
                 sizeof at_arguments);
}
static long setxattrat_path_descriptor(void) {
  return syscall(kSetxattrat, as_path("file"), "", AT_EMPTY_PATH, "user.one", &at_arguments,
                 sizeof at_arguments);
}
static long setxattrat_current(void) {
  return syscall(kSetxattrat, AT_FDCWD, "", AT_EMPTY_PATH, "user.one", &at_arguments,
                 sizeof at_arguments);
}
static long setxattrat_huge(void) {
  static unsigned char longer[8192];
  memcpy(longer, &at_arguments, sizeof at_arguments);
  return syscall(kSetxattrat, AT_FDCWD, "file", 0, "user.one", longer, sizeof longer);
}
static long setxattrat_flags(void) {
  return syscall(kSetxattrat, AT_FDCWD, "file", 0x4000, "user.one", &at_arguments,
                 sizeof at_arguments);
}
static long setxattrat_short(void) {
  return syscall(kSetxattrat, AT_FDCWD, "file", 0, "user.one", &at_arguments,
                 sizeof at_arguments - 4);
}
static long setxattrat_longer(void) {
  unsigned char longer[sizeof at_arguments + 8] = {0};
  memcpy(longer, &at_arguments, sizeof at_arguments);
  return syscall(kSetxattrat, AT_FDCWD, "file", 0, "user.one", longer, sizeof longer);
}
static long setxattrat_longer_set(void) {
  unsigned char longer[sizeof at_arguments + 8] = {0};
  memcpy(longer, &at_arguments, sizeof at_arguments);
  longer[sizeof at_arguments] = 1;
  return syscall(kSetxattrat, AT_FDCWD, "file", 0, "user.one", longer, sizeof longer);
}
static long removexattr_file(void) { return removexattr("file", "user.old"); }
static long removexattr_missing(void) { return removexattr("file", "user.one"); }
static long removexattr_no_name(void) { return removexattr("file", ""); }
static long lremovexattr_file(void) { return lremovexattr("file", "user.old"); }
static long lremovexattr_link(void) { return lremovexattr("link", "user.old"); }
static long fremovexattr_reading(void) { return fremovexattr(reading(), "user.old"); }
static long fremovexattr_path(void) { return fremovexattr(as_path("file"), "user.old"); }
static long removexattrat_directory(void) {
  return syscall(kRemovexattrat, directory(), "file", 0, "user.old");
}
static long removexattrat_descriptor(void) {
  return syscall(kRemovexattrat, reading(), "", AT_EMPTY_PATH, "user.old");
}
static long removexattrat_path_descriptor(void) {
  return syscall(kRemovexattrat, as_path("file"), "", AT_EMPTY_PATH, "user.old");
}
static long removexattrat_null(void) {
  return syscall(kRemovexattrat, reading(), NULL, AT_EMPTY_PATH, "user.old");
}
static long removexattrat_flags(void) {
  return syscall(kRemovexattrat, AT_FDCWD, "file", 0x4000, "user.old");
}

// An access list: owner, one named user, group, mask, others.
static const unsigned char access_list[] = {
    2, 0,    0,    0,   1,   0,   6,  0, 255, 255, 255, 255, 2,   0,  4,
    0, 0x39, 0x30, 0,   0,   4,   0,  4, 0,   255, 255, 255, 255, 16, 0,
    6, 0,    255,  255, 255, 255, 32, 0, 4,   0,   255, 255, 255, 255};
static long acl_set(void) {
  return setxattr("file", "system.posix_acl_access", access_list, sizeof access_list, 0);
}
static long acl_set_default(void) {
  return setxattr("dir", "system.posix_acl_default", access_list, sizeof access_list, 0);
}
static long acl_set_descriptor(void) {
  return fsetxattr(reading(), "system.posix_acl_access", access_list, sizeof access_list, 0);
}
static long acl_remove(void) {
  given(setxattr("file", "system.posix_acl_access", access_list, sizeof access_list, 0),
        "set the list");
  return removexattr("file", "system.posix_acl_access");
}
static long acl_malformed(void) {
  return setxattr("file", "system.posix_acl_access", access_list, 10, 0);
}

// ---- inode flags, projects ----

static long set_flags_of(int fd, unsigned flags) {
  unsigned known = 0;
  given(ioctl(fd, FS_IOC_GETFLAGS, &known), "FS_IOC_GETFLAGS");
  known |= flags;
  return ioctl(fd, FS_IOC_SETFLAGS, &known);
}
static long setflags_file(void) { return set_flags_of(reading(), FS_NODUMP_FL); }
static long setflags_writing(void) { return set_flags_of(opened("file", O_WRONLY), FS_NODUMP_FL); }
static long setflags_unreadable(void) {
  return set_flags_of(opened("writeonly", O_WRONLY), FS_NODUMP_FL);
}
static long setflags_directory(void) { return set_flags_of(opened("dir", O_RDONLY), FS_NODUMP_FL); }
static long setflags_immutable(void) { return set_flags_of(reading(), FS_IMMUTABLE_FL); }
static long setflags_high_bits(void) {
  unsigned flags = FS_NODUMP_FL | FS_EXTENT_FL;
  return call3(SYS_ioctl, (uint64_t)reading(), kHigh | FS_IOC_SETFLAGS, (uintptr_t)&flags);
}
static long setflags_path(void) {
  unsigned flags = FS_NODUMP_FL;
  return ioctl(as_path("file"), FS_IOC_SETFLAGS, &flags);
}
static long setflags_closed(void) {
  unsigned flags = FS_NODUMP_FL;
  return ioctl(kNobodyNumber, FS_IOC_SETFLAGS, &flags);
}
static long setflags_fifo(void) {
  unsigned flags = FS_NODUMP_FL;
  return ioctl(opened("fifo", O_RDONLY | O_NONBLOCK), FS_IOC_SETFLAGS, &flags);
}
static long setflags_pipe(void) {
  unsigned flags = FS_NODUMP_FL;
  int ends[2];
  given(pipe(ends), "pipe");
  return ioctl(ends[0], FS_IOC_SETFLAGS, &flags);
}
static long setflags_nowhere(void) { return ioctl(reading(), FS_IOC_SETFLAGS, kNowhere); }
static long setflags_of_32_bits(void) {
  unsigned flags = FS_NODUMP_FL;
  return ioctl(reading(), FS_IOC32_SETFLAGS, &flags);
}
static long fssetxattr_file(void) {
  struct fsxattr known = {0};
  int fd = reading();
  given(ioctl(fd, FS_IOC_FSGETXATTR, &known), "FS_IOC_FSGETXATTR");
  known.fsx_xflags |= FS_XFLAG_NODUMP;
  return ioctl(fd, FS_IOC_FSSETXATTR, &known);
}
static long fssetxattr_nowhere(void) { return ioctl(reading(), FS_IOC_FSSETXATTR, kNowhere); }
static long getversion_file(void) {
  unsigned version = 0;
  return ioctl(reading(), FS_IOC_GETVERSION, &version);
}
// By number: a subvolume is destroyed through a directory that is only read.
static long btrfs_destroy(void) {
  static char arguments[4096];
  return ioctl(opened("dir", O_RDONLY), _IOW(0x94, 15, char[4096]), arguments);
}
static long btrfs_create(void) {
  static char arguments[4096];
  return ioctl(opened("dir", O_RDONLY), _IOW(0x94, 14, char[4096]), arguments);
}
static long vfat_attributes(void) {
  uint32_t attributes = 1;
  return ioctl(reading(), 0x40047211, &attributes);
}

struct file_attributes {
  uint64_t xflags;
  uint32_t extent_bytes, extents, project, cow_bytes;
};
static long set_file_attributes(int at, const char* name, unsigned flags) {
  struct file_attributes known = {0};
  if (syscall(kFileGetattr, at, name, &known, sizeof known, flags) < 0) return -1;
  known.xflags |= FS_XFLAG_NODUMP;
  known.extents = 0;
  return syscall(kFileSetattr, at, name, &known, sizeof known, flags);
}
static long file_setattr_path(void) { return set_file_attributes(AT_FDCWD, "file", 0); }
static long file_setattr_directory(void) { return set_file_attributes(directory(), "file", 0); }
static long file_setattr_link(void) { return set_file_attributes(AT_FDCWD, "link", 0); }
static long file_setattr_no_follow(void) {
  return set_file_attributes(AT_FDCWD, "file", AT_SYMLINK_NOFOLLOW);
}
static long file_setattr_descriptor(void) {
  return set_file_attributes(reading(), "", AT_EMPTY_PATH);
}
static long file_setattr_raw(int at, const char* name, size_t size, unsigned flags, int odd) {
  unsigned char bytes[4200] = {0};
  struct file_attributes wanted = {.xflags = FS_XFLAG_NODUMP};
  memcpy(bytes, &wanted, sizeof wanted);
  if (odd) bytes[sizeof wanted] = 1;
  return syscall(kFileSetattr, at, name, bytes, size, flags);
}
static long file_setattr_path_descriptor(void) {
  return file_setattr_raw(as_path("file"), "", sizeof(struct file_attributes), AT_EMPTY_PATH, 0);
}
static long file_setattr_null(void) {
  return file_setattr_raw(reading(), NULL, sizeof(struct file_attributes), AT_EMPTY_PATH, 0);
}
static long file_setattr_current(void) { return set_file_attributes(AT_FDCWD, "", AT_EMPTY_PATH); }
static long file_setattr_short(void) { return file_setattr_raw(AT_FDCWD, "file", 8, 0, 0); }
static long file_setattr_longer(void) {
  return file_setattr_raw(AT_FDCWD, "file", sizeof(struct file_attributes) + 8, 0, 0);
}
static long file_setattr_longer_set(void) {
  return file_setattr_raw(AT_FDCWD, "file", sizeof(struct file_attributes) + 8, 0, 1);
}
static long file_setattr_huge(void) { return file_setattr_raw(AT_FDCWD, "file", 4100, 0, 0); }
static long file_setattr_flags(void) {
  return file_setattr_raw(AT_FDCWD, "file", sizeof(struct file_attributes), 0x4000, 0);
}
static long file_setattr_missing(void) {
  return file_setattr_raw(AT_FDCWD, "missing", sizeof(struct file_attributes), 0, 0);
}

// ---- programs that hide ----

static long chmod_not_dumpable(void) {
  given(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE");
  return chmod("file", 0600);
}
static long fchmod_not_dumpable(void) {
  given(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE");
  return fchmod(reading(), 0600);
}
static long dumpable_invalid(void) { return prctl(PR_SET_DUMPABLE, 7, 0, 0, 0); }

enum { kFails = 0, kChanges = 1 };
static const struct {
  const char* name;
  long (*call)(void);
  int changes;
} cases[] = {
#define CHANGES(name) \
  { #name, name, kChanges }
#define FAILS(name) \
  { #name, name, kFails }
    CHANGES(chmod_absolute),
    CHANGES(chmod_relative),
    CHANGES(chmod_dot_dot),
    CHANGES(chmod_directory),
    CHANGES(chmod_current_directory),
    CHANGES(chmod_fifo),
    CHANGES(chmod_link),
    CHANGES(chmod_below_link),
    FAILS(chmod_dangling),
    FAILS(chmod_loop),
    FAILS(chmod_missing),
    FAILS(chmod_missing_directory),
    FAILS(chmod_slash),
    FAILS(chmod_below_file),
    FAILS(chmod_empty),
    FAILS(chmod_null),
    FAILS(chmod_nowhere),
    FAILS(chmod_long_name),
    FAILS(chmod_long_path),
    CHANGES(chmod_at_the_edge),
    FAILS(chmod_over_the_edge),
    CHANGES(chmod_across_pages),
    CHANGES(chmod_directory_set_group),
    CHANGES(chmod_directory_sticky),
    CHANGES(chmod_file_sticky),
    CHANGES(chmod_type_bits),
    CHANGES(chmod_high_bits),
    CHANGES(chmod_same),
    CHANGES(chmod_takes_set_id),
    CHANGES(fchmod_reading),
    CHANGES(fchmod_writing),
    CHANGES(fchmod_unreadable),
    CHANGES(fchmod_directory),
    FAILS(fchmod_path),
    FAILS(fchmod_negative),
    FAILS(fchmod_closed),
    CHANGES(fchmod_high_bits),
    FAILS(fchmod_pipe),
    FAILS(fchmod_socket),
    FAILS(fchmod_memory),
    CHANGES(fchmodat_directory),
    CHANGES(fchmodat_path_directory),
    CHANGES(fchmodat_current),
    CHANGES(fchmodat_high_bits),
    FAILS(fchmodat_closed),
    CHANGES(fchmodat_closed_absolute),
    FAILS(fchmodat_of_file),
    FAILS(fchmodat_empty),
    CHANGES(fchmodat_no_follow),
    CHANGES(fchmodat_no_follow_directory),
    FAILS(fchmodat_no_follow_link),
    CHANGES(chmod_self_descriptor),
    CHANGES(chmod_self_path_descriptor),
    FAILS(chmod_self_link_descriptor),
    CHANGES(chmod_thread_descriptor),
    CHANGES(chmod_device_descriptor),
    CHANGES(chmod_below_descriptor),
    FAILS(chmod_below_file_descriptor),
    FAILS(chmod_closed_descriptor),
    CHANGES(chmod_process_descriptor),
    CHANGES(chmod_below_process_descriptor),
    FAILS(chmod_closed_process_descriptor),
    FAILS(chmod_no_process_descriptor),
    CHANGES(chmod_other_process_descriptor),
    CHANGES(chmod_self_directory),
    FAILS(chmod_self_descriptor_no_follow),
    CHANGES(fchmodat2_plain),
    CHANGES(fchmodat2_directory),
    CHANGES(fchmodat2_no_follow),
    FAILS(fchmodat2_no_follow_link),
    CHANGES(fchmodat2_descriptor),
    CHANGES(fchmodat2_path_descriptor),
    FAILS(fchmodat2_link_descriptor),
    CHANGES(fchmodat2_current),
    CHANGES(fchmodat2_empty_with_path),
    FAILS(fchmodat2_empty),
    FAILS(fchmodat2_null),
    FAILS(fchmodat2_flags),
    FAILS(fchmodat2_flags_closed),

    CHANGES(chown_file),
    CHANGES(chown_link),
    CHANGES(chown_nobody),
    CHANGES(chown_group),
    FAILS(chown_another),
    FAILS(chown_another_group),
    CHANGES(chown_takes_set_id),
    FAILS(chown_missing),
    FAILS(chown_null),
    CHANGES(lchown_link),
    CHANGES(lchown_file),
    CHANGES(lchown_slash),
    CHANGES(lchown_dangling),
    CHANGES(fchown_file),
    FAILS(fchown_path),
    FAILS(fchown_closed),
    CHANGES(fchownat_directory),
    CHANGES(fchownat_no_follow),
    CHANGES(fchownat_follow),
    CHANGES(fchownat_descriptor),
    CHANGES(fchownat_path_descriptor),
    CHANGES(fchownat_link_descriptor),
    CHANGES(fchownat_current),
    FAILS(fchownat_empty),
    FAILS(fchownat_flags),

    CHANGES(utime_file),
    CHANGES(utime_link),
    CHANGES(utime_now),
    FAILS(utime_nowhere),
    FAILS(utime_missing),
    CHANGES(utimes_file),
    CHANGES(utimes_now),
    FAILS(utimes_invalid),
    FAILS(utimes_negative),
    CHANGES(utimes_before_the_epoch),
    CHANGES(futimesat_directory),
    CHANGES(futimesat_null),
    FAILS(futimesat_null_path),
    CHANGES(utimensat_absolute),
    CHANGES(utimensat_directory),
    CHANGES(utimensat_of_directory),
    CHANGES(utimensat_link),
    CHANGES(utimensat_no_follow),
    FAILS(utimensat_dangling),
    CHANGES(utimensat_dangling_no_follow),
    CHANGES(utimensat_now),
    CHANGES(utimensat_now_and_omit),
    CHANGES(utimensat_omit_and_set),
    FAILS(utimensat_omit),
    FAILS(utimensat_omit_missing),
    FAILS(utimensat_invalid),
    CHANGES(utimensat_null),
    CHANGES(utimensat_null_now),
    FAILS(utimensat_null_flags),
    FAILS(utimensat_null_empty),
    FAILS(utimensat_null_current),
    FAILS(utimensat_null_path),
    FAILS(utimensat_null_closed),
    CHANGES(utimensat_descriptor),
    CHANGES(utimensat_path_descriptor),
    CHANGES(utimensat_link_descriptor),
    FAILS(utimensat_empty),
    FAILS(utimensat_nowhere),
    FAILS(utimensat_flags),
    CHANGES(utimensat_self_descriptor),
    CHANGES(futimens_file),
    CHANGES(utimensat_fifo),

    CHANGES(setxattr_file),
    CHANGES(setxattr_link),
    CHANGES(setxattr_directory),
    CHANGES(setxattr_empty_value),
    CHANGES(setxattr_create),
    FAILS(setxattr_create_existing),
    CHANGES(setxattr_replace),
    FAILS(setxattr_replace_missing),
    FAILS(setxattr_flags),
    FAILS(setxattr_no_name),
    FAILS(setxattr_bare_namespace),
    FAILS(setxattr_long_name),
    CHANGES(setxattr_longest_name),
    FAILS(setxattr_null_name),
    FAILS(setxattr_null_value),
    FAILS(setxattr_nowhere),
    FAILS(setxattr_too_large),
    FAILS(setxattr_huge),
    CHANGES(setxattr_page),
    FAILS(setxattr_unknown),
    FAILS(setxattr_trusted),
    FAILS(setxattr_security),
    FAILS(setxattr_missing),
    FAILS(setxattr_fifo),
    CHANGES(lsetxattr_file),
    FAILS(lsetxattr_link),
    CHANGES(fsetxattr_reading),
    FAILS(fsetxattr_path),
    FAILS(fsetxattr_closed),
    FAILS(fsetxattr_pipe),
    CHANGES(setxattr_self_descriptor),
    CHANGES(setxattrat_directory),
    FAILS(setxattrat_no_follow),
    CHANGES(setxattrat_descriptor),
    CHANGES(setxattrat_null),
    FAILS(setxattrat_path_descriptor),
    CHANGES(setxattrat_current),
    FAILS(setxattrat_huge),
    FAILS(setxattrat_flags),
    FAILS(setxattrat_short),
    CHANGES(setxattrat_longer),
    FAILS(setxattrat_longer_set),
    CHANGES(removexattr_file),
    FAILS(removexattr_missing),
    FAILS(removexattr_no_name),
    CHANGES(lremovexattr_file),
    FAILS(lremovexattr_link),
    CHANGES(fremovexattr_reading),
    FAILS(fremovexattr_path),
    CHANGES(removexattrat_directory),
    CHANGES(removexattrat_descriptor),
    FAILS(removexattrat_path_descriptor),
    CHANGES(removexattrat_null),
    FAILS(removexattrat_flags),
    CHANGES(acl_set),
    CHANGES(acl_set_default),
    CHANGES(acl_set_descriptor),
    CHANGES(acl_remove),
    FAILS(acl_malformed),

    CHANGES(setflags_file),
    CHANGES(setflags_writing),
    CHANGES(setflags_unreadable),
    CHANGES(setflags_directory),
    FAILS(setflags_immutable),
    CHANGES(setflags_high_bits),
    FAILS(setflags_path),
    FAILS(setflags_closed),
    FAILS(setflags_fifo),
    FAILS(setflags_pipe),
    FAILS(setflags_nowhere),
    FAILS(setflags_of_32_bits),
    CHANGES(fssetxattr_file),
    FAILS(fssetxattr_nowhere),
    FAILS(getversion_file),
    FAILS(btrfs_destroy),
    FAILS(btrfs_create),
    FAILS(vfat_attributes),
    CHANGES(file_setattr_path),
    CHANGES(file_setattr_directory),
    CHANGES(file_setattr_link),
    CHANGES(file_setattr_no_follow),
    CHANGES(file_setattr_descriptor),
    FAILS(file_setattr_path_descriptor),
    CHANGES(file_setattr_null),
    CHANGES(file_setattr_current),
    FAILS(file_setattr_short),
    CHANGES(file_setattr_longer),
    FAILS(file_setattr_longer_set),
    FAILS(file_setattr_huge),
    FAILS(file_setattr_flags),
    FAILS(file_setattr_missing),

    // Last: they change the process.
    FAILS(dumpable_invalid),
    CHANGES(chmod_not_dumpable),
    CHANGES(fchmod_not_dumpable),
};
static const struct {
  const char* name;
  long (*call)(void);
} writing_cases[] = {{"fchmod_unlinked", fchmod_unlinked}, {"fchmod_nameless", fchmod_nameless}};
enum { kCases = sizeof cases / sizeof *cases };

// Everything that a descriptor alone is enough for, on the file that is standard input.
static long stdin_fchmod(void) { return fchmod(0, 0640); }
static long stdin_fchown(void) { return fchown(0, getuid(), getgid()); }
static long stdin_futimens(void) { return futimens(0, both_times); }
static long stdin_futimesat(void) { return syscall(SYS_futimesat, 0, NULL, NULL); }
static long stdin_utimensat_empty(void) {
  return syscall(SYS_utimensat, 0, "", both_times, AT_EMPTY_PATH);
}
static long stdin_fchmodat2(void) { return syscall(kFchmodat2, 0, "", 0644, AT_EMPTY_PATH); }
static long stdin_fchownat(void) { return fchownat(0, "", getuid(), getgid(), AT_EMPTY_PATH); }
static long stdin_fsetxattr(void) { return fsetxattr(0, "user.stdin", VALUE, 0); }
static long stdin_fremovexattr(void) { return fremovexattr(0, "user.old"); }
static long stdin_setflags(void) { return set_flags_of(0, FS_NODUMP_FL); }
static const struct {
  const char* name;
  long (*call)(void);
} stdin_cases[] = {
#define ON_STDIN(name) \
  { #name, name }
    ON_STDIN(stdin_fchmod),          ON_STDIN(stdin_fchown),    ON_STDIN(stdin_futimens),
    ON_STDIN(stdin_futimesat),       ON_STDIN(stdin_fchmodat2), ON_STDIN(stdin_fchownat),
    ON_STDIN(stdin_utimensat_empty), ON_STDIN(stdin_fsetxattr), ON_STDIN(stdin_setflags),
    ON_STDIN(stdin_fremovexattr),
};

// ---- files of a case ----

static void make_file(const char* name, mode_t mode) {
  int fd = (int)given(open(name, O_WRONLY | O_CREAT | O_EXCL, 0600), name);
  given(write(fd, "content\n", 8), "write");
  given(fchmod(fd, mode), "chmod");
  close(fd);
}

static void make_case(const char* name) {
  static const struct timespec first[2] = {{kFirstSecond, 0}, {kFirstSecond, 0}};
  given(mkdir(name, 0755), name);
  given(chdir(name), name);
  make_file("file", 0644);
  make_file("setid", 04755);
  make_file("writeonly", 0200);
  given(setxattr("file", "user.old", "old", 3, 0), "setxattr");
  given(mkdir("dir", 0755), "dir");
  make_file("dir/child", 0644);
  given(mkfifo("fifo", 0644), "fifo");
  given(symlink("file", "link"), "link");
  given(symlink("dir", "dirlink"), "dirlink");
  given(symlink("nothing", "dangling"), "dangling");
  given(symlink("loop", "loop"), "loop");
  static const char* const stamped[] = {"file",      "setid", "writeonly", "dir",
                                        "dir/child", "fifo",  "link"};
  for (size_t i = 0; i < sizeof stamped / sizeof *stamped; i++)
    given(utimensat(AT_FDCWD, stamped[i], first, AT_SYMLINK_NOFOLLOW), "utimensat");
  given(chdir(".."), "leave");
}

static int later(const struct timespec* one, const struct timespec* other) {
  if (one->tv_sec != other->tv_sec) return one->tv_sec > other->tv_sec;
  return one->tv_nsec > other->tv_nsec;
}

// Whatever is done from here on shows in a change time after that of `made`.
static void make_mark(void) {
  struct stat mark, now;
  make_file("made", 0600);
  given(stat("made", &mark), "stat");
  make_file("clock", 0600);
  do {
    given(utimensat(AT_FDCWD, "clock", NULL, 0), "utimensat");
    given(stat("clock", &now), "stat");
  } while (!later(&now.st_ctim, &mark.st_ctim));
}

static void show_time(const char* name, const struct timespec* time) {
  if (time->tv_sec > 1500000000)
    printf(" %s=now", name);
  else
    printf(" %s=%lld.%ld", name, (long long)time->tv_sec, time->tv_nsec);
}

static int by_name(const void* one, const void* other) {
  return strcmp(*(char* const*)one, *(char* const*)other);
}

static void show_attributes(const char* name) {
  char names[4096], bytes[65536];
  const char* sorted[64];
  size_t count = 0;
  ssize_t length = llistxattr(name, names, sizeof names);
  for (char* at = names; length > 0 && at < names + length && count < 64; at += strlen(at) + 1)
    sorted[count++] = at;
  qsort(sorted, count, sizeof *sorted, by_name);
  for (size_t i = 0; i < count; i++) {
    ssize_t size = lgetxattr(name, sorted[i], bytes, sizeof bytes);
    unsigned sum = 5381;
    for (ssize_t j = 0; j < size; j++) sum = sum * 33 + (unsigned char)bytes[j];
    printf(" %.40s=%zd:%x", sorted[i], size, sum);
  }
}

static void show_object(const char* name, const struct timespec* made) {
  struct stat found;
  given(lstat(name, &found), name);
  printf("  %s mode=%o owner=%u:%u", name, found.st_mode, found.st_uid, found.st_gid);
  // Looking through a link, or into a directory, moves its access time.
  if (!S_ISLNK(found.st_mode)) show_time("accessed", &found.st_atim);
  show_time("modified", &found.st_mtim);
  show_attributes(name);
  if (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode)) {
    // Whoever looks may not be let in by the mode.
    int fd = open(name, O_RDONLY | O_NONBLOCK);
    unsigned flags = 0;
    if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) printf(" flags=%x", flags);
    if (fd >= 0) close(fd);
  }
  if (later(&found.st_ctim, made)) printf(" touched");
  putchar('\n');
}

static void show_case(const char* name, const struct timespec* made) {
  static const char* const names[] = {".",    "dangling", "dir",  "dir/child", "dirlink",  "fifo",
                                      "file", "link",     "loop", "setid",     "writeonly"};
  printf("%s\n", name);
  if (chdir(name) != 0) {
    printf("  closed\n");
    return;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) show_object(names[i], made);
  given(chdir(".."), "leave");
}

static void answer(const char* name, long (*call)(void)) {
  note[0] = 0;
  volatile long result = -1;
  may_be_refused = 1;
  int error = setjmp(refusal);
  if (error == 0)
    result = call();
  else
    errno = error;
  may_be_refused = 0;
  printf("%s %ld %s%s%s\n", name, result, result < 0 ? strerrorname_np(errno) : "-",
         note[0] ? " " : "", note);
  fflush(stdout);
}

static void run_case(const char* base, const char* name, long (*call)(void)) {
  snprintf(here, sizeof here, "%s/%s", base, name);
  given(chdir(here), here);
  answer(name, call);
}

int main(int count, char** values) {
  if (count == 2 && !strcmp(values[1], "list")) {
    for (int i = 0; i < kCases; i++)
      printf("%s %s\n", cases[i].name, cases[i].changes ? "changes" : "fails");
    return 0;
  }
  if (count == 2 && !strcmp(values[1], "stdin")) {
    for (size_t i = 0; i < sizeof stdin_cases / sizeof *stdin_cases; i++)
      answer(stdin_cases[i].name, stdin_cases[i].call);
    return 0;
  }
  if (count != 3) return 2;
  umask(022);
  const char* base = values[2];
  given(chdir(base), base);
  if (!strcmp(values[1], "make")) {
    for (int i = 0; i < kCases; i++) make_case(cases[i].name);
    make_mark();
    return 0;
  }
  if (!strcmp(values[1], "run")) {
    for (int i = 0; i < kCases; i++) run_case(base, cases[i].name, cases[i].call);
    return 0;
  }
  if (!strcmp(values[1], "run-nameless")) {
    for (size_t i = 0; i < sizeof writing_cases / sizeof *writing_cases; i++)
      answer(writing_cases[i].name, writing_cases[i].call);
    return 0;
  }
  if (!strcmp(values[1], "show")) {
    struct stat made;
    given(stat("made", &made), "made");
    for (int i = 0; i < kCases; i++) show_case(cases[i].name, &made.st_ctim);
    return 0;
  }
  return 2;
}
