// fuse DIRECTORY
//
// Mounts a file system in user space on DIRECTORY, with one file, `file`, that has a name and
// counts no links: nothing makes such a file system count. Who looks up `hangs` waits until a
// signal takes them out, who looks up `dead` until the end of the server. `unread` can be opened,
// and who reads it waits as for `hangs`. Serves in the background until it is unmounted.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kFileNode = 2, kUnreadNode = 3, kRequestBytes = 1 << 17, kMostHeld = 1024 };

static int device;
static unsigned mode = S_IFREG | 0644;
static uint64_t held[kMostHeld];
static unsigned held_count;

static void answer(const struct fuse_in_header* request, int error, const void* data, size_t size) {
  char bytes[512];
  struct fuse_out_header header = {(unsigned)(sizeof header + size), error, request->unique};
  memcpy(bytes, &header, sizeof header);
  if (size > 0) memcpy(bytes + sizeof header, data, size);
  write(device, bytes, sizeof header + size);
}

static struct fuse_attr facts(uint64_t node) {
  struct fuse_attr facts = {.ino = node, .mode = S_IFDIR | 0755, .blksize = 4096};
  if (node == kFileNode) facts.mode = mode;
  if (node == kUnreadNode) facts.mode = S_IFREG | 0444;
  if (node == kUnreadNode) facts.size = 4096;
  return facts;
}

static void hold(uint64_t unique) {
  if (held_count < kMostHeld) held[held_count++] = unique;
}

static void interrupt(uint64_t unique) {
  struct fuse_in_header request = {.unique = unique};
  for (unsigned i = 0; i < held_count; i++) {
    if (held[i] != unique) continue;
    held[i] = held[--held_count];
    return answer(&request, -EINTR, NULL, 0);
  }
}

static void serve(const struct fuse_in_header* request, const void* body) {
  // One name that is waited for does not hold up the others of its directory.
  struct fuse_init_out start = {
      .major = 7, .minor = 31, .max_write = 4096, .flags = FUSE_PARALLEL_DIROPS};
  struct fuse_entry_out entry = {.nodeid = kFileNode};
  struct fuse_attr_out seen = {0};
  struct fuse_open_out opened = {0};
  const struct fuse_setattr_in* wanted = body;
  switch (request->opcode) {
    case FUSE_INIT:
      return answer(request, 0, &start, sizeof start);
    case FUSE_INTERRUPT:
      return interrupt(((const struct fuse_interrupt_in*)body)->unique);
    case FUSE_LOOKUP:
      if (!strcmp(body, "dead")) return;
      if (!strcmp(body, "hangs")) return hold(request->unique);
      if (!strcmp(body, "unread")) {
        entry.nodeid = kUnreadNode;
        entry.attr = facts(kUnreadNode);
        return answer(request, 0, &entry, sizeof entry);
      }
      if (strcmp(body, "file")) return answer(request, -ENOENT, NULL, 0);
      entry.attr = facts(kFileNode);
      return answer(request, 0, &entry, sizeof entry);
    case FUSE_SETATTR:
      if (wanted->valid & FATTR_MODE) mode = wanted->mode;
      // The new facts are the answer.
      __attribute__((fallthrough));
    case FUSE_GETATTR:
      seen.attr = facts(request->nodeid);
      return answer(request, 0, &seen, sizeof seen);
    case FUSE_OPEN:
      if (request->nodeid == kUnreadNode) return answer(request, 0, &opened, sizeof opened);
      return answer(request, -ENOSYS, NULL, 0);
    case FUSE_READ:
      return hold(request->unique);
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
      return;
    default:
      return answer(request, -ENOSYS, NULL, 0);
  }
}

int main(int count, char** values) {
  static char request[kRequestBytes];
  char options[128];
  if (count != 2) return 2;
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
  if (device < 0 || mount("fuse", values[1], "fuse", 0, options) != 0) {
    perror("fuse");
    return 1;
  }
  if (fork() != 0) return 0;
  // Who waits for the output of the starter is not to wait for this.
  for (int fd = 0; fd <= 2; fd++) close(fd);
  while (read(device, request, sizeof request) > 0 || errno == EINTR)
    serve((struct fuse_in_header*)request, request + sizeof(struct fuse_in_header));
  return 0;
}
