// effects NAME OUTSIDE WORKSPACE VICTIM ADDRESS ABSTRACT
//
// Tries one effect on the tree OUTSIDE, or on the process VICTIM, and prints what the kernel
// answered:
//   took-place            every step of the effect succeeded
//   refused ERRNO         a step was refused
//   attempted             the effect has no answer to look at (a signal by SIGIO)
//   broken STEP ERRNO     the effect could not even be tried; a fault of the test, exit code 3
// The answer alone proves nothing: the test looks at the world from outside. Layout of OUTSIDE and
// WORKSPACE: world.ts. The rest of the programs here (`victim`, `tree`, `sink` …) are what the
// tests run beside the effects.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

// Numbers that older C libraries do not name; equal on every architecture but alpha.
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#define NR_OPEN_TREE 428
#define NR_MOVE_MOUNT 429
#define NR_FSOPEN 430
#define NR_FSCONFIG 431
#define NR_FSMOUNT 432

// Descriptors that leak.c leaves open, without close-on-exec, in the process that starts this one.
enum {
  kLeakedFile = 50,
  kLeakedPathDirectory = 51,
  kLeakedDirectory = 52,
  kLeakedReadOnly = 53,
  kLeakedAppend = 54,
  kLeakedSocket = 55,
};

static const char *outside, *workspace, *abstract_name;
static pid_t victim;
static unsigned long victim_address;

static const char payload[] = "changed";
#define PAYLOAD_BYTES (sizeof payload - 1)

// ---- answers ----

static void refused(int error) {
  printf("refused %s\n", strerrorname_np(error));
  exit(0);
}

// A step of the effect itself.
static long must(long result) {
  if (result < 0) refused(errno);
  return result;
}

// A step that has to work in every sandbox, or the effect was never tried.
static long given(long result, const char* step) {
  if (result >= 0) return result;
  printf("broken %s %s\n", step, strerrorname_np(errno));
  exit(3);
}

static const char* path_of(const char* base, const char* name) {
  static char buffers[8][4096];
  static unsigned turn;
  char* path = buffers[turn++ % 8];
  snprintf(path, sizeof buffers[0], "%s/%s", base, name);
  return path;
}

static const char* out(const char* name) { return path_of(outside, name); }
static const char* in(const char* name) { return path_of(workspace, name); }

static const char* of_victim(const char* entry) {
  static char path[4096];
  snprintf(path, sizeof path, "/proc/%d/%s", victim, entry);
  return path;
}

static void write_payload(long fd) { must(write((int)fd, payload, PAYLOAD_BYTES)); }

static long source(void) { return given(open(in("file"), O_RDONLY), "open the workspace's file"); }

// ---- content and names, by path ----

static void open_wronly(void) { write_payload(must(open(out("file"), O_WRONLY))); }
static void open_rdwr(void) { write_payload(must(open(out("file"), O_RDWR))); }
static void open_append(void) { write_payload(must(open(out("file"), O_WRONLY | O_APPEND))); }
static void open_creat_excl(void) {
  write_payload(must(open(out("new"), O_WRONLY | O_CREAT | O_EXCL, 0644)));
}
// Creates a name without ever asking for the right to write.
static void open_rdonly_creat(void) { must(open(out("new"), O_RDONLY | O_CREAT, 0644)); }
static void creat_new(void) { write_payload(must(creat(out("new"), 0644))); }
static void creat_existing(void) { must(creat(out("file"), 0644)); }

static void openat2_rdwr(void) {
  struct {
    uint64_t flags, mode, resolve;
  } how = {O_RDWR, 0, 0};
  write_payload(must(syscall(SYS_openat2, AT_FDCWD, out("file"), &how, sizeof how)));
}

static void openat_own_directory(void) {
  long directory = given(open(outside, O_RDONLY | O_DIRECTORY), "open the outside directory");
  write_payload(must(openat((int)directory, "file", O_WRONLY)));
}

static void openat_own_path_directory(void) {
  long directory = given(open(outside, O_PATH | O_DIRECTORY), "open the outside directory");
  write_payload(must(openat((int)directory, "new", O_WRONLY | O_CREAT, 0644)));
}

static void tmpfile_link(void) {
  long fd = must(open(outside, O_WRONLY | O_TMPFILE, 0644));
  write_payload(fd);
  char self[64];
  snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
  must(linkat(AT_FDCWD, self, AT_FDCWD, out("new"), AT_SYMLINK_FOLLOW));
}

// A nameless file made where writing is allowed, then given a name outside.
static void tmpfile_inside_link_out(void) {
  long fd = must(open(workspace, O_WRONLY | O_TMPFILE, 0644));
  write_payload(fd);
  char self[64];
  snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
  must(linkat(AT_FDCWD, self, AT_FDCWD, out("new"), AT_SYMLINK_FOLLOW));
}

static void make_directory(void) { must(mkdir(out("new"), 0755)); }
static void remove_directory(void) { must(rmdir(out("empty"))); }
static void unlink_file(void) { must(unlink(out("file"))); }
static void unlink_relative(void) {
  long directory = given(open(outside, O_PATH | O_DIRECTORY), "open the outside directory");
  must(unlinkat((int)directory, "file", 0));
}
static void rename_same(void) { must(rename(out("file"), out("new"))); }
static void rename_across(void) { must(rename(out("file"), out("directory/new"))); }
static void rename_out(void) { must(rename(in("file"), out("new"))); }
static void rename_over(void) { must(rename(in("file"), out("file"))); }
static void rename_in(void) { must(rename(out("file"), in("taken"))); }
static void rename_directory(void) { must(rename(out("directory"), out("new"))); }
static void rename_directory_in(void) { must(rename(out("directory"), in("taken"))); }
static void rename_exchange(void) {
  must(renameat2(AT_FDCWD, in("file"), AT_FDCWD, out("file"), RENAME_EXCHANGE));
}
static void rename_exchange_outside(void) {
  must(renameat2(AT_FDCWD, out("file"), AT_FDCWD, out("other"), RENAME_EXCHANGE));
}
static void rename_whiteout(void) {
  must(renameat2(AT_FDCWD, out("file"), AT_FDCWD, out("new"), RENAME_WHITEOUT));
}
static void link_same(void) { must(link(out("file"), out("new"))); }
static void link_out(void) { must(link(in("file"), out("new"))); }
static void link_in(void) { must(link(out("file"), in("taken"))); }
static void link_in_then_write(void) {
  must(link(out("file"), in("taken")));
  write_payload(must(open(in("taken"), O_WRONLY)));
}
static void write_through_hard_link(void) { write_payload(must(open(in("hard-link"), O_WRONLY))); }
static void make_symlink(void) { must(symlink("file", out("new"))); }
static void make_fifo(void) { must(mknod(out("new"), S_IFIFO | 0644, 0)); }
static void make_regular(void) { must(mknod(out("new"), S_IFREG | 0644, 0)); }
// The null device, a loop device far beyond the existing ones: harmless when the node is really
// made.
static void make_char(void) { must(mknod(out("new"), S_IFCHR | 0644, makedev(1, 3))); }
static void make_block(void) { must(mknod(out("new"), S_IFBLK | 0600, makedev(7, 4095))); }
static void make_char_in_workspace(void) { must(mknod(in("node"), S_IFCHR | 0644, makedev(1, 3))); }
static void make_block_in_workspace(void) {
  must(mknod(in("node"), S_IFBLK | 0600, makedev(7, 4095)));
}
static void exchange_block_in_workspace(void) {
  must(mknodat(AT_FDCWD, in("tree/node"), S_IFBLK | 0600, makedev(7, 4095)));
  must(rename(in("tree/node"), in("node")));
}

static void bind_to(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  // An address has 108 bytes and a temp path may have more: relative to the directory it always
  // fits.
  char directory[4096];
  snprintf(directory, sizeof directory, "%s", path);
  char* slash = strrchr(directory, '/');
  *slash = 0;
  given(chdir(directory), "enter the socket's directory");
  snprintf(address.sun_path, sizeof address.sun_path, "%s", slash + 1);
  long fd = given(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
  must(bind((int)fd, (struct sockaddr*)&address, sizeof address));
}
static void bind_socket(void) { bind_to(out("new")); }

static void mmap_shared(void) {
  long fd = must(open(out("file"), O_RDWR));
  char* bytes = mmap(NULL, PAYLOAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
  if (bytes == MAP_FAILED) refused(errno);
  memcpy(bytes, payload, PAYLOAD_BYTES);
  must(msync(bytes, PAYLOAD_BYTES, MS_SYNC));
}

static void fallocate_grow(void) {
  must(fallocate((int)must(open(out("file"), O_WRONLY)), 0, 0, 9000));
}
static void punch_hole(void) {
  must(fallocate((int)must(open(out("file"), O_RDWR)), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                 0, 4));
}
static void copy_range(void) {
  long to = must(open(out("file"), O_WRONLY));
  must(copy_file_range((int)source(), NULL, (int)to, NULL, 4, 0));
}
static void send_file(void) {
  long to = must(open(out("file"), O_WRONLY));
  must(sendfile((int)to, (int)source(), NULL, 4));
}
static void splice_pipe(void) {
  long to = must(open(out("file"), O_WRONLY));
  int ends[2];
  given(pipe(ends), "pipe");
  given(write(ends[1], payload, PAYLOAD_BYTES), "write to the pipe");
  must(splice(ends[0], NULL, (int)to, NULL, PAYLOAD_BYTES, 0));
}
static void vectored_write(void) {
  struct iovec part = {(void*)payload, PAYLOAD_BYTES};
  must(pwritev2((int)must(open(out("file"), O_WRONLY)), &part, 1, 0, 0));
}
static void write_fifo(void) { write_payload(must(open(out("fifo"), O_WRONLY | O_NONBLOCK))); }

// ---- other ways to the same file ----

static void reopen_own_descriptor(void) {
  long fd = given(open(out("file"), O_RDONLY), "open for reading");
  char self[64];
  snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
  write_payload(must(open(self, O_WRONLY)));
}
static void reopen_dev_fd(void) {
  long fd = given(open(out("file"), O_RDONLY), "open for reading");
  char self[64];
  snprintf(self, sizeof self, "/dev/fd/%ld", fd);
  write_payload(must(open(self, O_WRONLY)));
}
static void reopen_path_descriptor(void) {
  long fd = given(open(out("file"), O_PATH), "open as a path");
  char self[64];
  snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
  write_payload(must(open(self, O_WRONLY)));
}
static void through_own_root(void) {
  char path[4200];
  snprintf(path, sizeof path, "/proc/self/root%s", out("file"));
  write_payload(must(open(path, O_WRONLY)));
}
static void through_victim_root(void) {
  char path[4200];
  snprintf(path, sizeof path, "%s%s", of_victim("root"), out("file"));
  write_payload(must(open(path, O_WRONLY)));
}
static void through_victim_cwd(void) { write_payload(must(open(of_victim("cwd/file"), O_WRONLY))); }
static void through_victim_fd(void) { write_payload(must(open(of_victim("fd/9"), O_WRONLY))); }
static void dot_dot(void) { write_payload(must(open(in("../outside/file"), O_WRONLY))); }
static void cwd_relative(void) {
  given(chdir(workspace), "enter the workspace");
  write_payload(must(open("../outside/file", O_WRONLY)));
}
static void change_directory(void) {
  given(chdir(outside), "enter the outside directory");
  write_payload(must(open("new", O_WRONLY | O_CREAT, 0644)));
}
static void symlink_file(void) { write_payload(must(open(in("link-to-file"), O_WRONLY))); }
static void symlink_dangling(void) {
  write_payload(must(open(in("link-to-new"), O_WRONLY | O_CREAT, 0644)));
}
static void symlink_directory(void) {
  write_payload(must(open(in("link-to-directory/new"), O_WRONLY | O_CREAT, 0644)));
}
static void symlink_made_here(void) {
  must(symlink(out("file"), in("own-link")));
  write_payload(must(open(in("own-link"), O_WRONLY)));
}
static void by_handle(void) {
  struct {
    struct file_handle handle;
    unsigned char bytes[128];
  } target = {.handle = {.handle_bytes = 128}};
  int mount_id;
  given(name_to_handle_at(AT_FDCWD, out("file"), &target.handle, &mount_id, 0),
        "name_to_handle_at");
  long mount_fd = given(open(workspace, O_RDONLY | O_DIRECTORY), "open the workspace");
  write_payload(must(open_by_handle_at((int)mount_fd, &target.handle, O_WRONLY)));
}

static int can_name_handles(void) {
  struct file_handle handle = {.handle_bytes = 0};
  int mount_id;
  // EOVERFLOW: it has a size, so there is one.
  int has_one = name_to_handle_at(AT_FDCWD, ".", &handle, &mount_id, 0) < 0 && errno == EOVERFLOW;
  puts(has_one ? "yes" : "no");
  return 0;
}

// One operation through a ring: the kernel does it without the system call a filter would see.
static long through_ring(const struct io_uring_sqe* wanted) {
  struct io_uring_params parameters = {0};
  long ring = must(syscall(SYS_io_uring_setup, 2, &parameters));
  size_t entries_bytes = parameters.sq_entries * sizeof(struct io_uring_sqe);
  size_t queue_bytes = parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned);
  size_t completion_bytes =
      parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
  char* queue =
      mmap(NULL, queue_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)ring, IORING_OFF_SQ_RING);
  char* completions = mmap(NULL, completion_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)ring,
                           IORING_OFF_CQ_RING);
  struct io_uring_sqe* entry =
      mmap(NULL, entries_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)ring, IORING_OFF_SQES);
  if (queue == MAP_FAILED || completions == MAP_FAILED || (void*)entry == MAP_FAILED)
    given(-1, "map the ring");
  *entry = *wanted;
  ((unsigned*)(queue + parameters.sq_off.array))[0] = 0;
  __atomic_store_n((unsigned*)(queue + parameters.sq_off.tail), 1, __ATOMIC_RELEASE);
  must(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));
  struct io_uring_cqe* answer = (struct io_uring_cqe*)(completions + parameters.cq_off.cqes);
  if (answer->res < 0) refused(-answer->res);
  return answer->res;
}
static void io_uring_open(void) {
  struct io_uring_sqe open_file = {.opcode = IORING_OP_OPENAT,
                                   .fd = AT_FDCWD,
                                   .addr = (uintptr_t)out("file"),
                                   .open_flags = O_WRONLY};
  write_payload(through_ring(&open_file));
}

// ---- truncation ----

static void truncate_path(void) { must(truncate(out("file"), 1)); }
static void truncate_grow(void) { must(truncate(out("file"), 9000)); }
static void open_rdonly_trunc(void) { must(open(out("file"), O_RDONLY | O_TRUNC)); }
static void open_rdonly_creat_trunc(void) {
  must(open(out("file"), O_RDONLY | O_CREAT | O_TRUNC, 0644));
}

// ---- descriptors that were open before ----

static void leaked_write(void) { write_payload(kLeakedFile); }
static void leaked_truncate(void) { must(ftruncate(kLeakedFile, 1)); }
static void leaked_append(void) { write_payload(kLeakedAppend); }
static void leaked_mmap(void) {
  char* bytes = mmap(NULL, PAYLOAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, kLeakedFile, 0);
  if (bytes == MAP_FAILED) refused(errno);
  memcpy(bytes, payload, PAYLOAD_BYTES);
  must(msync(bytes, PAYLOAD_BYTES, MS_SYNC));
}
static void leaked_copy(void) {
  must(copy_file_range((int)source(), NULL, kLeakedFile, NULL, 4, 0));
}
static void leaked_path_directory(void) {
  write_payload(must(openat(kLeakedPathDirectory, "new", O_WRONLY | O_CREAT, 0644)));
}
static void leaked_directory(void) { must(unlinkat(kLeakedDirectory, "file", 0)); }
static void leaked_directory_cwd(void) {
  must(fchdir(kLeakedDirectory));
  write_payload(must(open("new", O_WRONLY | O_CREAT, 0644)));
}
static void leaked_reopen(void) {
  char self[64];
  snprintf(self, sizeof self, "/proc/self/fd/%d", kLeakedReadOnly);
  write_payload(must(open(self, O_RDWR)));
}
static void leaked_socket(void) { must(send(kLeakedSocket, payload, PAYLOAD_BYTES, MSG_NOSIGNAL)); }

// ---- other processes ----

static void signal_kill(void) { must(kill(victim, SIGKILL)); }
static void signal_user(void) { must(kill(victim, SIGUSR1)); }
static void signal_group(void) { must(kill(-victim, SIGUSR1)); }
static void signal_thread(void) { must(syscall(SYS_tgkill, victim, victim, SIGUSR1)); }
static void signal_queue(void) { must(sigqueue(victim, SIGUSR1, (union sigval){.sival_int = 1})); }
static void signal_pidfd(void) {
  long fd = must(syscall(SYS_pidfd_open, victim, 0));
  must(syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0));
}
// The kernel sends on behalf of a descriptor's owner; whoever asked gets no answer.
static void signal_io(void) {
  int ends[2];
  given(pipe(ends), "pipe");
  must(fcntl(ends[0], F_SETOWN, victim));
  must(fcntl(ends[0], F_SETSIG, SIGUSR1));
  must(fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK));
  given(write(ends[1], "x", 1), "write to the pipe");
  puts("attempted");
  exit(0);
}

static void trace_poke(void) {
  must(ptrace(PTRACE_ATTACH, victim, NULL, NULL));
  int status;
  given(waitpid(victim, &status, __WALL), "wait for the stop");
  long word;
  memcpy(&word, "changed", sizeof word);
  must(ptrace(PTRACE_POKEDATA, victim, (void*)victim_address, (void*)word));
  must(ptrace(PTRACE_DETACH, victim, NULL, NULL));
}
static void trace_seize(void) { must(ptrace(PTRACE_SEIZE, victim, NULL, NULL)); }
static void vm_write(void) {
  struct iovec from = {(void*)payload, sizeof payload},
               to = {(void*)victim_address, sizeof payload};
  must(process_vm_writev(victim, &from, 1, &to, 1, 0));
}
static void proc_mem(void) {
  long fd = must(open(of_victim("mem"), O_RDWR));
  must(pwrite((int)fd, payload, sizeof payload, (off_t)victim_address));
}
static void steal_descriptor(void) {
  long process = must(syscall(SYS_pidfd_open, victim, 0));
  write_payload(must(syscall(SYS_pidfd_getfd, process, 9, 0)));
}

// ---- sockets ----

static socklen_t abstract_address(struct sockaddr_un* address, const char* suffix) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  int length =
      snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%s%s", abstract_name, suffix);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}
static void abstract_connect(void) {
  struct sockaddr_un address;
  socklen_t length = abstract_address(&address, "-stream");
  long fd = given(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
  must(connect((int)fd, (struct sockaddr*)&address, length));
  write_payload(fd);
}
static void abstract_datagram(void) {
  struct sockaddr_un address;
  socklen_t length = abstract_address(&address, "-datagram");
  long fd = must(socket(AF_UNIX, SOCK_DGRAM, 0));
  must(sendto((int)fd, payload, PAYLOAD_BYTES, 0, (struct sockaddr*)&address, length));
}
static void abstract_datagram_pair(void) {
  struct sockaddr_un address;
  socklen_t length = abstract_address(&address, "-datagram");
  int ends[2];
  must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
  must(sendto(ends[0], payload, PAYLOAD_BYTES, 0, (struct sockaddr*)&address, length));
}
// An address has 108 bytes: the sockets outside are called by their last name.
static struct sockaddr_un outside_socket(const char* name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
  given(chdir(outside), "enter the outside directory");
  return address;
}
static void connect_and_write(const struct sockaddr_un* address) {
  long fd = given(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
  must(connect((int)fd, (const struct sockaddr*)address, sizeof *address));
  write_payload(fd);
}
static void pathname_connect(void) {
  struct sockaddr_un address = outside_socket("socket");
  connect_and_write(&address);
}
static void pathname_connect_nonblocking(void) {
  struct sockaddr_un address = outside_socket("socket");
  long fd = given(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket");
  must(connect((int)fd, (struct sockaddr*)&address, sizeof address));
  write_payload(fd);
}
static void pathname_connect_descriptor(void) {
  long target = given(open(out("socket"), O_PATH), "open the socket's name");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%ld", target);
  connect_and_write(&address);
}
static void pathname_connect_link(void) {
  given(chdir(workspace), "enter the workspace");
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "to-socket"};
  must(symlink(out("socket"), "to-socket"));
  connect_and_write(&address);
}
static void send_named(long fd) {
  struct sockaddr_un address = outside_socket("datagram");
  must(sendto((int)fd, payload, PAYLOAD_BYTES, 0, (struct sockaddr*)&address, sizeof address));
}
static void datagram(void) { send_named(must(socket(AF_UNIX, SOCK_DGRAM, 0))); }
static void datagram_connected(void) {
  struct sockaddr_un address = outside_socket("datagram");
  long fd = must(socket(AF_UNIX, SOCK_DGRAM, 0));
  must(connect((int)fd, (struct sockaddr*)&address, sizeof address));
  write_payload(fd);
}
// The kernel makes a datagram socket of it.
static void datagram_raw(void) { send_named(must(socket(AF_UNIX, SOCK_RAW, 0))); }
static void datagram_pair(void) {
  int ends[2];
  must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
  send_named(ends[0]);
}
static void datagram_raw_pair(void) {
  int ends[2];
  must(socketpair(AF_UNIX, SOCK_RAW | SOCK_CLOEXEC, 0, ends));
  send_named(ends[0]);
}
// The kernel looks at the lower half of either.
static void datagram_high_family(void) {
  send_named(must(syscall(SYS_socket, 0x100000001ul, (unsigned long)SOCK_DGRAM, 0ul)));
}
static void datagram_high_type(void) {
  send_named(must(syscall(SYS_socket, 1ul, 0x100000000ul | SOCK_DGRAM, 0ul)));
}
static void io_uring_connect(void) {
  struct sockaddr_un address = outside_socket("socket");
  long fd = given(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
  struct io_uring_sqe connect_socket = {.opcode = IORING_OP_CONNECT,
                                        .fd = (int)fd,
                                        .addr = (uintptr_t)&address,
                                        .off = sizeof address};
  through_ring(&connect_socket);
  write_payload(fd);
}
static void io_uring_datagram(void) {
  struct io_uring_sqe make_socket = {.opcode = IORING_OP_SOCKET, .fd = AF_UNIX, .off = SOCK_DGRAM};
  send_named(through_ring(&make_socket));
}

// ---- metadata: a form of each kind; every form there is: metadata.c ----

static void change_mode(void) { must(chmod(out("file"), 0600)); }
static void change_directory_mode(void) { must(chmod(out("directory"), 0700)); }
static void change_mode_by_descriptor(void) {
  must(fchmod((int)given(open(out("file"), O_RDONLY), "open for reading"), 0600));
}
static void change_mode_by_name_of_descriptor(void) {
  char self[64];
  snprintf(self, sizeof self, "/proc/self/fd/%ld", given(open(out("file"), O_PATH), "open"));
  must(chmod(self, 0600));
}
static void change_mode_through_link(void) { must(chmod(in("link-to-file"), 0600)); }
static void change_mode_through_hard_link(void) { must(chmod(in("hard-link"), 0600)); }
static void change_owner(void) { must(lchown(out("file"), getuid(), getgid())); }
static void change_owner_to_another(void) { must(chown(out("file"), 4242, 4242)); }
static void change_times(void) {
  struct timespec times[2] = {{1, 0}, {1, 0}};
  must(utimensat(AT_FDCWD, out("file"), times, 0));
}
static void set_attribute(void) {
  must(setxattr(out("file"), "user.cordon", payload, PAYLOAD_BYTES, 0));
}
static void change_flags(void) {
  int fd = (int)given(open(out("file"), O_RDONLY), "open for reading");
  unsigned flags = 0;
  given(ioctl(fd, FS_IOC_GETFLAGS, &flags), "FS_IOC_GETFLAGS");
  flags |= FS_NODUMP_FL;
  must(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}
static void change_flags_immutable(void) {
  int fd = (int)given(open(out("file"), O_RDONLY), "open for reading");
  unsigned flags = FS_IMMUTABLE_FL | FS_EXTENT_FL;
  must(ioctl(fd, FS_IOC_SETFLAGS, &flags));
  // Nobody could remove it any more.
  flags = FS_EXTENT_FL;
  must(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}
static void io_uring_attribute(void) {
  static const char name[] = "user.cordon";
  struct io_uring_sqe set = {.opcode = IORING_OP_SETXATTR,
                             .addr = (uintptr_t)name,
                             .off = (uintptr_t)payload,
                             .len = PAYLOAD_BYTES,
                             .addr3 = (uintptr_t)out("file")};
  through_ring(&set);
}

#if defined(__x86_64__)
// A call by its number of the 32-bit table, whose arguments have 32 bits.
static long call_of_32_bits(long number, const char* path, long second, long third) {
  char* low =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) given(-1, "map below 4 GiB");
  snprintf(low, 4096, "%s", path);
  long result;
  __asm__ volatile("int $0x80"
                   : "=a"(result)
                   : "a"(number), "b"(low), "c"(second), "d"(third)
                   : "memory", "r8", "r9", "r10", "r11");
  if (result < 0) refused((int)-result);
  return result;
}
enum { kX32 = 0x40000000 };
static void int80_chmod(void) { call_of_32_bits(15, out("file"), 0600, 0); }
static void int80_utime(void) { call_of_32_bits(30, out("file"), 0, 0); }
static void int80_set_id(void) { call_of_32_bits(5, in("set-id"), O_WRONLY | O_CREAT, 06755); }
static void x32_chmod(void) { must(syscall(kX32 | SYS_chmod, out("file"), 0600)); }
static int can_int80(void) {
  call_of_32_bits(20, "", 0, 0);  // getpid
  puts("yes");
  return 0;
}
static int can_x32(void) {
  puts(syscall(kX32 | SYS_getppid) > 0 ? "yes" : "no");
  return 0;
}
#endif

// ---- set-id bits ----

static void set_id_open(void) { must(open(in("set-id"), O_WRONLY | O_CREAT, 06755)); }
static void set_group_id_open(void) { must(open(in("set-id"), O_WRONLY | O_CREAT, 02755)); }
static void set_id_open_by_number(void) {
  must(syscall(SYS_open, in("set-id"), O_WRONLY | O_CREAT | 0x7fff00000000ul, 0xabcd00006755ul));
}
static void set_id_openat(void) {
  long directory = given(open(workspace, O_PATH | O_DIRECTORY), "open the workspace");
  must(syscall(SYS_openat, directory, "set-id", O_RDONLY | O_CREAT | O_EXCL, 04755));
}
static void set_id_openat2(void) {
  struct {
    uint64_t flags, mode, resolve;
  } how = {O_WRONLY | O_CREAT, 04755, 0};
  must(syscall(SYS_openat2, AT_FDCWD, in("set-id"), &how, sizeof how));
}
static void set_id_creat(void) { must(creat(in("set-id"), 04755)); }
static void set_id_tmpfile(void) {
  char self[64];
  long fd = must(open(workspace, O_WRONLY | O_TMPFILE, 04755));
  snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
  must(linkat(AT_FDCWD, self, AT_FDCWD, in("set-id"), AT_SYMLINK_FOLLOW));
}
static void set_id_mknod(void) { must(mknod(in("set-id"), S_IFREG | 04755, 0)); }
static void set_id_mknodat(void) {
  must(mknodat(AT_FDCWD, in("set-id"), 04755 /* of type 0: a regular file */, 0));
}
static void set_id_chmod(void) { must(chmod(in("file"), 04755)); }
static void set_group_id_chmod(void) { must(chmod(in("file"), 02755)); }
static void set_id_fchmod(void) {
  must(fchmod((int)given(open(in("file"), O_RDONLY), "open for reading"), 06755));
}
static void set_id_tmpfile_chmod(void) {
  char self[64];
  long fd = given(open(workspace, O_WRONLY | O_TMPFILE, 0755), "O_TMPFILE");
  must(fchmod((int)fd, 04755));
  snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
  must(linkat(AT_FDCWD, self, AT_FDCWD, in("set-id"), AT_SYMLINK_FOLLOW));
}
static void file_capability(void) {
  // CAP_NET_RAW, effective and permitted.
  static const unsigned char capability[20] = {1, 0, 0, 2, 0, 0x20};
  must(setxattr(in("file"), "security.capability", capability, sizeof capability, 0));
}

// ---- objects that have no file ----

static key_t shared_key(void) {
  uint32_t hash = 2166136261u;
  for (const char* at = abstract_name; *at; at++) hash = (hash ^ (unsigned char)*at) * 16777619u;
  return (key_t)((hash & 0x3fffffff) | 0x40000000);
}
static const char* queue_name(void) {
  static char name[128];
  snprintf(name, sizeof name, "/%s", abstract_name);
  return name;
}
// The kernel may have made the queue although it then refuses to open it.
static void make_queue(void) { must(mq_open(queue_name(), O_RDWR | O_CREAT | O_EXCL, 0600, NULL)); }
static void make_queue_by_number(void) {
  must(syscall(SYS_mq_open, queue_name() + 1, O_WRONLY | O_CREAT, 0600, NULL));
}
static void make_segment(void) { must(shmget(shared_key(), 4096, IPC_CREAT | IPC_EXCL | 0600)); }
static void make_semaphores(void) { must(semget(shared_key(), 1, IPC_CREAT | IPC_EXCL | 0600)); }
static void make_messages(void) { must(msgget(shared_key(), IPC_CREAT | IPC_EXCL | 0600)); }
// How many of them somebody made since the last look, each removed again.
static int take_shared_objects(void) {
  int found = 0;
  found += mq_unlink(queue_name()) == 0;
  int segment = shmget(shared_key(), 0, 0);
  found += segment >= 0 && shmctl(segment, IPC_RMID, NULL) == 0;
  int semaphores = semget(shared_key(), 0, 0);
  found += semaphores >= 0 && semctl(semaphores, 0, IPC_RMID) == 0;
  int messages = msgget(shared_key(), 0);
  found += messages >= 0 && msgctl(messages, IPC_RMID, NULL) == 0;
  return found;
}

// ---- privilege ----

static unsigned long long status_field(const char* name, int base) {
  FILE* status = fopen("/proc/self/status", "re");
  if (!status) given(-1, "open /proc/self/status");
  char line[512];
  size_t length = strlen(name);
  while (fgets(line, sizeof line, status)) {
    if (strncmp(line, name, length) || line[length] != ':') continue;
    unsigned long long value = strtoull(line + length + 1, NULL, base);
    fclose(status);
    return value;
  }
  errno = ENOENT;
  given(-1, name);
  return 0;
}

// The three that linux.md lets root keep for a workspace of another owner; the report says when.
#define KEPT_MASK ((1ull << CAP_CHOWN) | (1ull << CAP_DAC_OVERRIDE) | (1ull << CAP_FOWNER))

static void has_capabilities(void) {
  static const char* const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
  unsigned long long held = 0;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) held |= status_field(sets[i], 16);
  // Of an ordinary user only the bounding set is ever filled, and no_new_privs makes it
  // meaningless.
  if (geteuid() != 0)
    held = status_field("CapPrm", 16) | status_field("CapEff", 16) | status_field("CapAmb", 16);
  if (held & ~KEPT_MASK) return;
  refused(EPERM);
}
static void can_gain_privileges(void) {
  if (status_field("NoNewPrivs", 10) == 0) return;
  refused(EPERM);
}
static void capabilities_by_exec(void) {
  // Executing as uid 0 gives root its capabilities back, unless the securebits say otherwise.
  const char* self = "/proc/self/exe";
  must(execl(self, "effects", "has-capabilities", outside, workspace, "0", "0", "-", NULL));
}
static void capabilities_by_ambient(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2];
  given(syscall(SYS_capget, &header, sets), "capget");
  sets[0].inheritable |= 1u << CAP_SYS_ADMIN;  // only what is inheritable can be made ambient
  must(syscall(SYS_capset, &header, sets));
  must(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0));
}
static void unlock_securebits(void) { must(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0)); }
static void set_id_program(void) {
  must(execl(out("set-id-program"), "effects", "is-another", outside, workspace, "0", "0", "-",
             NULL));
}
static void is_another(void) {
  if (geteuid() != getuid()) return;
  refused(EPERM);
}
static void become_another(void) { must(setresuid(4242, 4242, 4242)); }

// ---- doors of the kernel ----

static void mount_tmpfs(void) { must(mount("tmpfs", in("tree"), "tmpfs", 0, "size=4096")); }
static void mount_bind(void) { must(mount(outside, in("tree"), NULL, MS_BIND, NULL)); }
static void mount_bind_write(void) {
  must(mount(outside, in("tree"), NULL, MS_BIND, NULL));
  write_payload(must(open(in("tree/file"), O_WRONLY)));
}
static void unmount(void) { must(umount2(in("mounted"), MNT_DETACH)); }
static void remount(void) {
  must(mount(NULL, in("mounted"), NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
}
static void mount_by_tree(void) {
  long tree = must(syscall(NR_OPEN_TREE, AT_FDCWD, outside, 1 /* OPEN_TREE_CLONE */));
  must(syscall(NR_MOVE_MOUNT, tree, "", AT_FDCWD, in("tree"), 4 /* MOVE_MOUNT_F_EMPTY_PATH */));
}
static void mount_by_context(void) {
  long context = must(syscall(NR_FSOPEN, "tmpfs", 0));
  must(syscall(NR_FSCONFIG, context, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0));
  long made = must(syscall(NR_FSMOUNT, context, 0, 0));
  must(syscall(NR_MOVE_MOUNT, made, "", AT_FDCWD, in("tree"), 4 /* MOVE_MOUNT_F_EMPTY_PATH */));
}
static void change_root(void) { must(chroot(outside)); }
static void pivot(void) {
  // In a namespace of its own where that can be had, so that the control leaves the test's root
  // alone.
  if (unshare(CLONE_NEWNS) == 0) {
    must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
    must(mount(workspace, workspace, NULL, MS_BIND, NULL));
  }
  must(chdir(workspace));
  must(syscall(SYS_pivot_root, ".", "."));
}
static void new_namespace_mount(void) {
  must(unshare(CLONE_NEWUSER | CLONE_NEWNS));
  // Unmapped, or under slave propagation, a mount is an effect all the same.
  mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  must(mount(outside, in("tree"), NULL, MS_BIND, NULL));
  write_payload(must(open(in("tree/file"), O_WRONLY)));
}
static void make_ring(void) {
  struct io_uring_params parameters = {0};
  must(syscall(SYS_io_uring_setup, 2, &parameters));
}
static void user_keyring(void) {
  must(syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -4 /* the user's */, 1));
}
static void add_key_to_user(void) {
  long key = must(syscall(SYS_add_key, "user", abstract_name, payload, PAYLOAD_BYTES, -4));
  given(syscall(SYS_keyctl, 9 /* KEYCTL_UNLINK */, key, -4), "unlink the key");
}
static void user_faults(void) { must(syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */)); }
static void load_program(void) {
  // BPF_MAP_CREATE of an array of one.
  struct {
    uint32_t type, key_bytes, value_bytes, entries;
    unsigned char rest[96];
  } map = {2, 4, 4, 1, {0}};
  must(syscall(SYS_bpf, 0, &map, sizeof map));
}
static void clone_namespace(void) {
  long child = must(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  if (child == 0) _exit(0);
  given(waitpid((pid_t)child, NULL, 0), "wait");
}
static void clone3_namespace(void) {
  uint64_t arguments[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
  long child = must(syscall(SYS_clone3, arguments, sizeof arguments));
  if (child == 0) _exit(0);
  given(waitpid((pid_t)child, NULL, 0), "wait");
}
static void set_host_name(void) {
  char name[256];
  given(gethostname(name, sizeof name), "gethostname");
  must(sethostname(name, strlen(name)));
}
static void kernel_messages(void) { must(syscall(SYS_syslog, 10 /* its size */, NULL, 0)); }
static void tree_with_attributes(void) {
  uint64_t attributes[4] = {0};
  must(syscall(467 /* open_tree_attr */, AT_FDCWD, workspace, 1 /* OPEN_TREE_CLONE */, attributes,
               sizeof attributes));
}
static void enter_namespace(void) {
  long process = must(syscall(SYS_pidfd_open, victim, 0));
  must(setns((int)process, CLONE_NEWNS));
}
// Opening is the effect; nothing is written, for the control must not change the machine.
static void open_core_pattern(void) { must(open("/proc/sys/kernel/core_pattern", O_WRONLY)); }
static void open_kernel_log(void) { must(open("/dev/kmsg", O_WRONLY)); }
static void create_shared_memory(void) {
  char name[300];
  snprintf(name, sizeof name, "/dev/shm/%s", abstract_name);
  must(open(name, O_RDWR | O_CREAT | O_EXCL, 0600));
}

// From 1 to 0 brings a piped core handler back; who asks is told that it is done.
static int core_limit_after(int by_number) {
  struct rlimit none = {0, 0}, now;
  if (by_number)
    must(syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL));
  else
    must(setrlimit(RLIMIT_CORE, &none));
  given(getrlimit(RLIMIT_CORE, &now), "getrlimit");
  return now.rlim_cur == 0 || now.rlim_max == 0;
}
static void lower_core_limit(void) {
  if (!core_limit_after(0)) refused(EPERM);
}
static void lower_core_limit_by_number(void) {
  if (!core_limit_after(1)) refused(EPERM);
}

static void core_dump(void) {
  struct rlimit limit;
  given(getrlimit(RLIMIT_CORE, &limit), "getrlimit");
  limit.rlim_cur = limit.rlim_max;
  given(setrlimit(RLIMIT_CORE, &limit), "setrlimit");
  given(chdir(outside), "enter the outside directory");
  pid_t child = (pid_t)given(fork(), "fork");
  if (child == 0) abort();
  int status;
  given(waitpid(child, &status, 0), "wait");
  if (WCOREDUMP(status)) return;
  refused(EFBIG);
}

// On the terminal that is standard input: a letter typed for whoever reads next. Answers on
// standard error.
static int push_input(void) {
  char letter = 'P';
  long high = syscall(SYS_ioctl, 0, 0xabcd00000000ul | TIOCSTI, &letter);
  fprintf(stderr, "push %s\n", high == 0 ? "took-place" : strerrorname_np(errno));
  char selection = 2;
  long console = ioctl(0, TIOCLINUX, &selection);
  fprintf(stderr, "select %s\n", console == 0 ? "took-place" : strerrorname_np(errno));
  return 0;
}

// ---- what is allowed ----

// Every kind of change beneath $TMPDIR, and nothing but $TMPDIR.
static void use_temp(void) {
  const char* temp = getenv("TMPDIR");
  if (!temp) {
    errno = ENOENT;
    given(-1, "TMPDIR");
  }
  struct stat facts;
  must(stat(temp, &facts));
  if ((facts.st_mode & 07777) != 0700) refused(EPERM);
  must(mkdir(path_of(temp, "a"), 0755));
  must(mkdir(path_of(temp, "b"), 0755));
  long fd = must(open(path_of(temp, "a/file"), O_RDWR | O_CREAT | O_EXCL, 0644));
  write_payload(fd);
  must(ftruncate((int)fd, 2));
  must(truncate(path_of(temp, "a/file"), 1));
  must(rename(path_of(temp, "a/file"), path_of(temp, "b/file")));
  must(link(path_of(temp, "b/file"), path_of(temp, "a/link")));
  must(symlink("file", path_of(temp, "b/symlink")));
  must(mkfifo(path_of(temp, "fifo"), 0600));
  must(open(temp, O_WRONLY | O_TMPFILE, 0600));
  must(unlink(path_of(temp, "a/link")));
  // Left behind on purpose: a tree that has to be removed for the run, unreadable directories
  // included.
  must(mkdir(path_of(temp, "b/deep"), 0755));
  must(open(path_of(temp, "b/deep/file"), O_WRONLY | O_CREAT, 0000));
  must(chmod(path_of(temp, "b/deep"), 0000));
  bind_to(path_of(temp, "socket"));
}

// Whatever can be done to what stands behind standard output, beside adding to it. Answers on
// standard error.
static int overwrite_stdout(void) {
  ftruncate(STDOUT_FILENO, 0);
  pwrite(STDOUT_FILENO, "over", 4, 0);
  lseek(STDOUT_FILENO, 0, SEEK_SET);
  fcntl(STDOUT_FILENO, F_SETFL, 0);
  write(STDOUT_FILENO, "added\n", 6);
  char link[4096] = {0};
  if (readlink("/proc/self/fd/1", link, sizeof link - 1) > 0) {
    int again = open("/proc/self/fd/1", O_WRONLY | O_TRUNC);
    if (again >= 0 && link[0] == '/') write(again, "over", 4);
    if (link[0] == '/') truncate(link, 0);
  }
  int flags[] = {MAP_SHARED, MAP_SHARED_VALIDATE};
  for (int i = 0; i < 2; i++) {
    char* bytes = mmap(NULL, 4, PROT_READ | PROT_WRITE, flags[i], STDOUT_FILENO, 0);
    if (bytes != MAP_FAILED) memcpy(bytes, "over", 4);
  }
  fallocate(STDOUT_FILENO, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4);
  fputs("tried\n", stderr);
  return 0;
}

static void write_sinks(void) {
  static const struct {
    const char* path;
    int error;
  } sinks[] = {{"/dev/null", 0}, {"/dev/zero", 0}, {"/dev/full", ENOSPC}};
  for (size_t i = 0; i < sizeof sinks / sizeof *sinks; i++) {
    static const int flags[] = {O_WRONLY, O_RDWR, O_WRONLY | O_CREAT | O_TRUNC,
                                O_WRONLY | O_APPEND};
    for (size_t j = 0; j < sizeof flags / sizeof *flags; j++) {
      long fd = must(open(sinks[i].path, flags[j], 0666));
      long written = write((int)fd, payload, PAYLOAD_BYTES);
      if (sinks[i].error == 0) must(written);
      if (sinks[i].error != 0 && (written >= 0 || errno != sinks[i].error)) refused(EBADMSG);
      close((int)fd);
    }
  }
}

static void read_outside(void) {
  char bytes[16];
  must(read((int)must(open(out("file"), O_RDONLY)), bytes, sizeof bytes));
  DIR* directory = opendir(outside);
  if (!directory) refused(errno);
}

static void rename_across_allowed(void) { must(rename(in("tree/file"), in("sub/moved"))); }
static void link_across_allowed(void) { must(link(in("tree/file"), in("sub/linked"))); }

static void own_abstract_server(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int name = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "cordon-own-%d", getpid());
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)name);
  long server = must(socket(AF_UNIX, SOCK_STREAM, 0));
  must(bind((int)server, (struct sockaddr*)&address, length));
  must(listen((int)server, 1));
  long client = must(socket(AF_UNIX, SOCK_STREAM, 0));
  must(connect((int)client, (struct sockaddr*)&address, length));
}

static void own_child_signal(void) {
  pid_t child = (pid_t)must(fork());
  if (child == 0) {
    for (;;) pause();
  }
  must(kill(child, SIGKILL));
  must(waitpid(child, NULL, 0));
}

static void own_child_trace(void) {
  pid_t child = (pid_t)must(fork());
  if (child == 0) {
    for (;;) pause();
  }
  must(ptrace(PTRACE_SEIZE, child, NULL, NULL));
  kill(child, SIGKILL);
  must(waitpid(child, NULL, 0));
}

struct effect {
  const char* name;
  void (*attempt)(void);
};

static const struct effect effects[] = {
    {"open-wronly", open_wronly},
    {"open-rdwr", open_rdwr},
    {"open-append", open_append},
    {"open-creat-excl", open_creat_excl},
    {"open-rdonly-creat", open_rdonly_creat},
    {"creat-new", creat_new},
    {"creat-existing", creat_existing},
    {"openat2-rdwr", openat2_rdwr},
    {"openat-own-directory", openat_own_directory},
    {"openat-own-path-directory", openat_own_path_directory},
    {"tmpfile-link", tmpfile_link},
    {"tmpfile-inside-link-out", tmpfile_inside_link_out},
    {"mkdir", make_directory},
    {"rmdir", remove_directory},
    {"unlink", unlink_file},
    {"unlink-relative", unlink_relative},
    {"rename-same", rename_same},
    {"rename-across", rename_across},
    {"rename-out", rename_out},
    {"rename-over", rename_over},
    {"rename-in", rename_in},
    {"rename-directory", rename_directory},
    {"rename-directory-in", rename_directory_in},
    {"rename-exchange", rename_exchange},
    {"rename-exchange-outside", rename_exchange_outside},
    {"rename-whiteout", rename_whiteout},
    {"link-same", link_same},
    {"link-out", link_out},
    {"link-in", link_in},
    {"link-in-then-write", link_in_then_write},
    {"write-through-hard-link", write_through_hard_link},
    {"symlink", make_symlink},
    {"mknod-fifo", make_fifo},
    {"mknod-regular", make_regular},
    {"mknod-char", make_char},
    {"mknod-block", make_block},
    {"mknod-char-in-workspace", make_char_in_workspace},
    {"mknod-block-in-workspace", make_block_in_workspace},
    {"mknod-block-renamed", exchange_block_in_workspace},
    {"bind-socket", bind_socket},
    {"mmap-shared", mmap_shared},
    {"fallocate", fallocate_grow},
    {"punch-hole", punch_hole},
    {"copy-file-range", copy_range},
    {"sendfile", send_file},
    {"splice", splice_pipe},
    {"pwritev2", vectored_write},
    {"write-fifo", write_fifo},
    {"reopen-own-descriptor", reopen_own_descriptor},
    {"reopen-dev-fd", reopen_dev_fd},
    {"reopen-path-descriptor", reopen_path_descriptor},
    {"through-own-root", through_own_root},
    {"through-victim-root", through_victim_root},
    {"through-victim-cwd", through_victim_cwd},
    {"through-victim-fd", through_victim_fd},
    {"dot-dot", dot_dot},
    {"cwd-relative", cwd_relative},
    {"change-directory", change_directory},
    {"symlink-file", symlink_file},
    {"symlink-dangling", symlink_dangling},
    {"symlink-directory", symlink_directory},
    {"symlink-made-here", symlink_made_here},
    {"open-by-handle", by_handle},
    {"io-uring-open", io_uring_open},
    {"truncate", truncate_path},
    {"truncate-grow", truncate_grow},
    {"open-rdonly-trunc", open_rdonly_trunc},
    {"open-rdonly-creat-trunc", open_rdonly_creat_trunc},
    {"leaked-write", leaked_write},
    {"leaked-truncate", leaked_truncate},
    {"leaked-append", leaked_append},
    {"leaked-mmap", leaked_mmap},
    {"leaked-copy", leaked_copy},
    {"leaked-path-directory", leaked_path_directory},
    {"leaked-directory", leaked_directory},
    {"leaked-directory-cwd", leaked_directory_cwd},
    {"leaked-reopen", leaked_reopen},
    {"leaked-socket", leaked_socket},
    {"signal-kill", signal_kill},
    {"signal-user", signal_user},
    {"signal-group", signal_group},
    {"signal-thread", signal_thread},
    {"signal-queue", signal_queue},
    {"signal-pidfd", signal_pidfd},
    {"signal-io", signal_io},
    {"ptrace-poke", trace_poke},
    {"ptrace-seize", trace_seize},
    {"process-vm-write", vm_write},
    {"proc-mem", proc_mem},
    {"steal-descriptor", steal_descriptor},
    {"abstract-connect", abstract_connect},
    {"abstract-datagram", abstract_datagram},
    {"abstract-datagram-pair", abstract_datagram_pair},
    {"pathname-connect", pathname_connect},
    {"pathname-connect-nonblocking", pathname_connect_nonblocking},
    {"pathname-connect-descriptor", pathname_connect_descriptor},
    {"pathname-connect-link", pathname_connect_link},
    {"datagram", datagram},
    {"datagram-connected", datagram_connected},
    {"datagram-raw", datagram_raw},
    {"datagram-pair", datagram_pair},
    {"datagram-raw-pair", datagram_raw_pair},
    {"datagram-high-family", datagram_high_family},
    {"datagram-high-type", datagram_high_type},
    {"io-uring-connect", io_uring_connect},
    {"io-uring-datagram", io_uring_datagram},
    {"chmod", change_mode},
    {"chmod-directory", change_directory_mode},
    {"fchmod", change_mode_by_descriptor},
    {"chmod-descriptor-name", change_mode_by_name_of_descriptor},
    {"chmod-link", change_mode_through_link},
    {"chmod-hard-link", change_mode_through_hard_link},
    {"chown", change_owner},
    {"chown-another", change_owner_to_another},
    {"utimes", change_times},
    {"setxattr", set_attribute},
    {"inode-flags", change_flags},
    {"inode-flags-immutable", change_flags_immutable},
    {"io-uring-setxattr", io_uring_attribute},
#if defined(__x86_64__)
    {"int80-chmod", int80_chmod},
    {"int80-utime", int80_utime},
    {"int80-set-id", int80_set_id},
    {"x32-chmod", x32_chmod},
#endif
    {"set-id-open", set_id_open},
    {"set-group-id-open", set_group_id_open},
    {"set-id-open-high-bits", set_id_open_by_number},
    {"set-id-openat", set_id_openat},
    {"set-id-openat2", set_id_openat2},
    {"set-id-creat", set_id_creat},
    {"set-id-tmpfile", set_id_tmpfile},
    {"set-id-mknod", set_id_mknod},
    {"set-id-mknodat", set_id_mknodat},
    {"set-id-chmod", set_id_chmod},
    {"set-group-id-chmod", set_group_id_chmod},
    {"set-id-fchmod", set_id_fchmod},
    {"set-id-tmpfile-chmod", set_id_tmpfile_chmod},
    {"file-capability", file_capability},
    {"message-queue", make_queue},
    {"message-queue-by-number", make_queue_by_number},
    {"shared-segment", make_segment},
    {"shared-semaphores", make_semaphores},
    {"shared-messages", make_messages},
    {"ring", make_ring},
    {"user-keyring", user_keyring},
    {"add-key", add_key_to_user},
    {"user-faults", user_faults},
    {"bpf-map", load_program},
    {"clone-namespace", clone_namespace},
    {"clone3-namespace", clone3_namespace},
    {"host-name", set_host_name},
    {"kernel-messages", kernel_messages},
    {"tree-with-attributes", tree_with_attributes},
    {"lower-core-limit", lower_core_limit},
    {"lower-core-limit-by-number", lower_core_limit_by_number},
    {"has-capabilities", has_capabilities},
    {"can-gain-privileges", can_gain_privileges},
    {"capabilities-by-exec", capabilities_by_exec},
    {"capabilities-by-ambient", capabilities_by_ambient},
    {"unlock-securebits", unlock_securebits},
    {"set-id-program", set_id_program},
    {"is-another", is_another},
    {"become-another", become_another},
    {"mount-tmpfs", mount_tmpfs},
    {"mount-bind", mount_bind},
    {"mount-bind-write", mount_bind_write},
    {"unmount", unmount},
    {"remount", remount},
    {"mount-by-tree", mount_by_tree},
    {"mount-by-context", mount_by_context},
    {"chroot", change_root},
    {"pivot-root", pivot},
    {"new-namespace-mount", new_namespace_mount},
    {"enter-namespace", enter_namespace},
    {"open-core-pattern", open_core_pattern},
    {"open-kernel-log", open_kernel_log},
    {"create-shared-memory", create_shared_memory},
    {"core-dump", core_dump},
    {"use-temp", use_temp},
    {"write-sinks", write_sinks},
    {"read-outside", read_outside},
    {"rename-across-allowed", rename_across_allowed},
    {"link-across-allowed", link_across_allowed},
    {"own-abstract-server", own_abstract_server},
    {"own-child-signal", own_child_signal},
    {"own-child-trace", own_child_trace},
};

// ---- the process outside ----

static volatile char victim_memory[16] = "untouched";
static volatile sig_atomic_t victim_signals;
static void count_signal(int number) {
  (void)number;
  victim_signals++;
}

// victim OUTSIDE ABSTRACT: a process outside, holding what the effects reach for. Answers each line
// of stdin with what was done to it; ends with stdin.
static int be_victim(void) {
  struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
  given(sigaction(SIGUSR1, &action, NULL), "sigaction");
  given(chdir(outside), "enter the outside directory");
  given(dup2((int)given(open("file", O_RDWR), "open"), 9), "dup2");
  long fifo = given(open("fifo", O_RDWR | O_NONBLOCK), "open the fifo");

  struct sockaddr_un address;
  int listeners[2];
  for (int i = 0; i < 2; i++) {
    listeners[i] = (int)given(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket");
    socklen_t length = abstract_address(&address, "-stream");
    if (i == 1) {
      memset(&address, 0, sizeof address);
      address.sun_family = AF_UNIX;
      strcpy(address.sun_path, "socket");
      length = sizeof address;
    }
    given(bind(listeners[i], (struct sockaddr*)&address, length), "bind");
    given(listen(listeners[i], 16), "listen");
  }
  int datagrams[2];
  for (int i = 0; i < 2; i++) {
    datagrams[i] = (int)given(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), "socket");
    socklen_t length = abstract_address(&address, "-datagram");
    if (i == 1) {
      address = outside_socket("datagram");
      length = sizeof address;
    }
    given(bind(datagrams[i], (struct sockaddr*)&address, length), "bind");
  }

  printf("ready %lu\n", (unsigned long)victim_memory);
  fflush(stdout);
  int connections[64], open_connections = 0, received_datagrams = 0, shared_objects = 0;
  long fifo_bytes = 0, socket_bytes = 0;
  char line[64], bytes[256];
  while (fgets(line, sizeof line, stdin)) {
    for (int i = 0; i < 2; i++) {
      int accepted;
      while (open_connections < 64 &&
             (accepted = accept4(listeners[i], NULL, NULL, SOCK_NONBLOCK)) >= 0)
        connections[open_connections++] = accepted;
    }
    long count;
    for (int i = 0; i < open_connections; i++)
      while ((count = read(connections[i], bytes, sizeof bytes)) > 0) socket_bytes += count;
    while ((count = read((int)fifo, bytes, sizeof bytes)) > 0) fifo_bytes += count;
    for (int i = 0; i < 2; i++)
      while (recv(datagrams[i], bytes, sizeof bytes, 0) >= 0) received_datagrams++;
    shared_objects += take_shared_objects();
    printf(
        "signals=%d memory=%s connections=%d socketBytes=%ld datagrams=%d fifoBytes=%ld "
        "sharedObjects=%d\n",
        (int)victim_signals, (const char*)victim_memory, open_connections, socket_bytes,
        received_datagrams, fifo_bytes, shared_objects);
    fflush(stdout);
  }
  return 0;
}

// ---- process trees ----

// Ends what a broken sandbox leaves running, some time after the test has failed.
enum { kLongestSeconds = 300, kHopperSeconds = 10 };

static void ignore_polite_signals(void) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
}

static void wait_for_ever(int ready) {
  given(write(ready, "x", 1), "report readiness");
  close(ready);
  alarm(kLongestSeconds);
  for (;;) pause();
}

// tree MARK: a child with a child, one in a session of its own, one orphaned into a session of its
// own; all deaf to polite signals. Prints `ready` when every one of the five runs. With `leave` the
// first process then ends.
static int be_tree(int leave) {
  ignore_polite_signals();
  int ends[2];
  given(pipe(ends), "pipe");
  fflush(stdout);
  if (given(fork(), "fork") == 0) {
    if (given(fork(), "fork") == 0) wait_for_ever(ends[1]);
    wait_for_ever(ends[1]);
  }
  if (given(fork(), "fork") == 0) {
    given(setsid(), "setsid");
    wait_for_ever(ends[1]);
  }
  pid_t between = (pid_t)given(fork(), "fork");
  if (between == 0) {
    given(setsid(), "setsid");
    if (given(fork(), "fork") == 0) wait_for_ever(ends[1]);
    _exit(0);
  }
  given(waitpid(between, NULL, 0), "wait");
  char byte;
  for (int i = 0; i < 4; i++) given(read(ends[0], &byte, 1) == 1 ? 0 : -1, "wait for readiness");
  puts("ready");
  fflush(stdout);
  if (leave) return 0;
  alarm(kLongestSeconds);
  for (;;) pause();
}

// hopper MARK: a process that is always another one: it forks and ends, again and again. The
// command itself ends with the first hop.
static int be_hopper(void) {
  puts("ready");
  fflush(stdout);
  time_t end = time(NULL) + kHopperSeconds;
  while (time(NULL) < end) {
    pid_t child = fork();
    if (child > 0) _exit(0);
    if (child == 0) setsid();
  }
  return 0;
}

// descriptors: the numbers that are open here.
static int list_descriptors(void) {
  DIR* directory = opendir("/proc/self/fd");
  if (!directory) given(-1, "open /proc/self/fd");
  struct dirent* entry;
  while ((entry = readdir(directory)))
    if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory))
      printf("%s\n", entry->d_name);
  return 0;
}

// signals: what is blocked and ignored here, as the parent left it.
static int list_signals(void) {
  printf("blocked %llx ignored %llx\n", status_field("SigBlk", 16), status_field("SigIgn", 16));
  return 0;
}

// limits: the core limit, soft and hard.
static int list_limits(void) {
  struct rlimit core;
  given(getrlimit(RLIMIT_CORE, &core), "getrlimit");
  printf("core %llu %llu\n", (unsigned long long)core.rlim_cur, (unsigned long long)core.rlim_max);
  return 0;
}

int main(int count, char** values) {
  if (count < 2) return 2;
  const char* name = values[1];
  if (!strcmp(name, "victim") && count == 4) {
    outside = values[2];
    abstract_name = values[3];
    return be_victim();
  }
  if (!strcmp(name, "tree") && count == 3) return be_tree(0);
  if (!strcmp(name, "tree-leave") && count == 3) return be_tree(1);
  if (!strcmp(name, "hopper") && count == 3) return be_hopper();
  if (!strcmp(name, "descriptors")) return list_descriptors();
  if (!strcmp(name, "overwrite-stdout")) return overwrite_stdout();
  if (!strcmp(name, "signals")) return list_signals();
  if (!strcmp(name, "limits")) return list_limits();
  if (!strcmp(name, "push-input")) return push_input();
  if (!strcmp(name, "can-name-handles")) return can_name_handles();
#if defined(__x86_64__)
  if (!strcmp(name, "can-int80")) return can_int80();
  if (!strcmp(name, "can-x32")) return can_x32();
#endif
  if (count < 7) return 2;
  outside = values[2];
  workspace = values[3];
  victim = (pid_t)atol(values[4]);
  victim_address = strtoul(values[5], NULL, 10);
  abstract_name = values[6];
  for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
    if (strcmp(effects[i].name, name)) continue;
    effects[i].attempt();
    puts("took-place");
    return 0;
  }
  fprintf(stderr, "effects: no effect is called %s\n", name);
  return 2;
}
