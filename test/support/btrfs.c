// btrfs make DIRECTORY
// btrfs show DIRECTORY
// btrfs ACT DIRECTORY
//
// What btrfs lets the owner of a tree do to it through a descriptor that was opened for reading:
// subvolumes are made, copied and destroyed by ioctl, past every open and unlink. `make` lays out
// DIRECTORY/outside and DIRECTORY/workspace, `show` says what stat does not say of the former, and
// an ACT is one of the table below. It prints `took-place` or `refused ERRNO`.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

// A clone is of whole blocks.
enum { kBlock = 4096, kBlocks = 16 };

static const char* base;

static void need(long result, const char* step) {
  if (result >= 0) return;
  fprintf(stderr, "btrfs: %s: %s\n", step, strerror(errno));
  exit(3);
}

static const char* path(const char* name) {
  static char buffers[4][PATH_MAX];
  static unsigned turn;
  char* text = buffers[turn++ % 4];
  snprintf(text, PATH_MAX, "%s/%s", base, name);
  return text;
}

static int reading(const char* name) {
  int fd = open(path(name), O_RDONLY);
  need(fd, name);
  return fd;
}

static void write_blocks(const char* name, char fill) {
  int fd = open(path(name), O_WRONLY | O_CREAT | O_EXCL, 0644);
  need(fd, name);
  char block[kBlock];
  memset(block, fill, sizeof block);
  for (int count = 0; count < kBlocks; ++count) need(write(fd, block, sizeof block), name);
  // Until it is on the disk there is nothing that could be shared.
  need(fsync(fd), name);
  close(fd);
}

static long named(const char* directory, unsigned long request, const char* name) {
  struct btrfs_ioctl_vol_args arguments = {0};
  strcpy(arguments.name, name);
  return ioctl(reading(directory), request, &arguments);
}

static long named_v2(const char* directory, unsigned long request, const char* name, int of) {
  struct btrfs_ioctl_vol_args_v2 arguments = {.fd = of};
  strcpy(arguments.name, name);
  return ioctl(reading(directory), request, &arguments);
}

static long create(void) { return named("outside", BTRFS_IOC_SUBVOL_CREATE, "made"); }
static long create_v2(void) { return named_v2("outside", BTRFS_IOC_SUBVOL_CREATE_V2, "made", 0); }
static long destroy(void) { return named("outside", BTRFS_IOC_SNAP_DESTROY, "volume"); }
static long destroy_v2(void) { return named_v2("outside", BTRFS_IOC_SNAP_DESTROY_V2, "volume", 0); }

static long copy(void) {
  struct btrfs_ioctl_vol_args arguments = {.fd = reading("outside/volume")};
  strcpy(arguments.name, "made");
  return ioctl(reading("outside"), BTRFS_IOC_SNAP_CREATE, &arguments);
}
static long copy_v2(void) {
  return named_v2("outside", BTRFS_IOC_SNAP_CREATE_V2, "made", reading("outside/volume"));
}

static long freeze(void) {
  __u64 flags = BTRFS_SUBVOL_RDONLY;
  return ioctl(reading("outside/volume"), BTRFS_IOC_SUBVOL_SETFLAGS, &flags);
}

static long received(void) {
  struct btrfs_ioctl_received_subvol_args arguments = {.uuid = "received"};
  return ioctl(reading("outside/volume"), BTRFS_IOC_SET_RECEIVED_SUBVOL, &arguments);
}

static long inode_flags(void) {
  int flags = FS_NODUMP_FL;
  return ioctl(reading("outside/file"), FS_IOC_SETFLAGS, &flags);
}

// The name of the directory, so that no two acts set the same one.
static long label(void) {
  char text[BTRFS_LABEL_SIZE] = {0};
  snprintf(text, sizeof text, "%s", strrchr(base, '/') + 1);
  return ioctl(reading("outside"), BTRFS_IOC_SET_FSLABEL, text);
}

static long clone_to(const char* target) {
  int fd = open(path(target), O_WRONLY | O_CREAT, 0644);
  return fd < 0 ? fd : ioctl(fd, FICLONE, reading("outside/other"));
}
static long clone_range_to(const char* target) {
  struct file_clone_range range = {.src_fd = reading("outside/other"), .src_length = kBlock};
  int fd = open(path(target), O_WRONLY | O_CREAT, 0644);
  return fd < 0 ? fd : ioctl(fd, FICLONERANGE, &range);
}
static long clone_out(void) { return clone_to("outside/file"); }
static long clone_range_out(void) { return clone_range_to("outside/file"); }
static long clone_in(void) { return clone_to("workspace/clone"); }
static long clone_range_in(void) { return clone_range_to("workspace/clone"); }

static long dedupe(const char* target, int flags) {
  struct {
    struct file_dedupe_range range;
    struct file_dedupe_range_info info;
  } request = {.range = {.src_length = kBlock, .dest_count = 1}};
  int fd = open(path(target), flags);
  if (fd < 0) return fd;
  request.info.dest_fd = fd;
  long result = ioctl(reading("workspace/source"), FIDEDUPERANGE, &request);
  if (result < 0) return result;
  if (request.info.status == FILE_DEDUPE_RANGE_SAME) return 0;
  errno = request.info.status < 0 ? -request.info.status : EILSEQ;
  return -1;
}
static long dedupe_in(void) { return dedupe("workspace/same", O_RDWR); }
// Its owner need not open it for writing: what it holds stays what it was.
static long dedupe_out(void) { return dedupe("outside/same", O_RDONLY); }

static long read_flags(void) {
  int flags;
  return ioctl(reading("outside/file"), FS_IOC_GETFLAGS, &flags);
}
static long read_label(void) {
  char text[BTRFS_LABEL_SIZE];
  return ioctl(reading("outside"), BTRFS_IOC_GET_FSLABEL, text);
}

static const struct {
  const char* name;
  long (*act)(void);
} kActs[] = {
    {"create", create},
    {"create-v2", create_v2},
    {"destroy", destroy},
    {"destroy-v2", destroy_v2},
    {"copy", copy},
    {"copy-v2", copy_v2},
    {"freeze", freeze},
    {"received", received},
    {"inode-flags", inode_flags},
    {"label", label},
    {"clone-out", clone_out},
    {"clone-range-out", clone_range_out},
    {"clone-in", clone_in},
    {"clone-range-in", clone_range_in},
    {"dedupe-in", dedupe_in},
    {"dedupe-out", dedupe_out},
    {"read-flags", read_flags},
    {"read-label", read_label},
};

static void make(void) {
  need(mkdir(base, 0755), base);
  need(mkdir(path("outside"), 0755), "outside");
  need(mkdir(path("workspace"), 0755), "workspace");
  need(named("outside", BTRFS_IOC_SUBVOL_CREATE, "volume"), "volume");
  write_blocks("outside/file", 'f');
  write_blocks("outside/other", 'o');
  write_blocks("outside/same", 's');
  write_blocks("outside/volume/file", 'v');
  write_blocks("workspace/source", 's');
  write_blocks("workspace/same", 's');
}

static void show(void) {
  int flags = 0;
  need(ioctl(reading("outside/file"), FS_IOC_GETFLAGS, &flags), "flags");
  char text[BTRFS_LABEL_SIZE] = {0};
  need(ioctl(reading("outside"), BTRFS_IOC_GET_FSLABEL, text), "label");
  printf("flags %d\nlabel %s\n", flags, text);
  // Destroyed.
  if (access(path("outside/volume"), F_OK) != 0) return;
  __u64 volume = 0;
  need(ioctl(reading("outside/volume"), BTRFS_IOC_SUBVOL_GETFLAGS, &volume), "volume");
  struct btrfs_ioctl_get_subvol_info_args info = {0};
  need(ioctl(reading("outside/volume"), BTRFS_IOC_GET_SUBVOL_INFO, &info), "info");
  printf("volume %llu %.8s\n", (unsigned long long)volume, (const char*)info.received_uuid);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  base = argv[2];
  if (strcmp(argv[1], "make") == 0) return make(), 0;
  if (strcmp(argv[1], "show") == 0) return show(), 0;
  for (size_t each = 0; each < sizeof kActs / sizeof *kActs; ++each) {
    if (strcmp(argv[1], kActs[each].name) != 0) continue;
    if (kActs[each].act() >= 0) {
      puts("took-place");
    } else {
      printf("refused %s\n", strerrorname_np(errno));
    }
    return 0;
  }
  return 2;
}
