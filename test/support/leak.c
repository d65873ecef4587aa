// What a careless native addon does: loading this library leaves descriptors open without
// close-on-exec. The numbers are those of effects.c; LEAK_OUTSIDE is the tree that they open.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void place(int fd, int number) {
  if (fd < 0) abort();
  if (dup2(fd, number) < 0) abort();  // dup2 leaves close-on-exec off
  close(fd);
}

__attribute__((constructor)) static void leak(void) {
  const char* outside = getenv("LEAK_OUTSIDE");
  if (!outside) abort();
  int directory = open(outside, O_RDONLY | O_DIRECTORY);
  place(openat(directory, "file", O_RDWR), 50);
  place(open(outside, O_PATH | O_DIRECTORY), 51);
  place(dup(directory), 52);
  place(openat(directory, "file", O_RDONLY), 53);
  place(openat(directory, "file", O_WRONLY | O_APPEND), 54);
  // An address has 108 bytes: the path through the directory's descriptor always fits.
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/proc/self/fd/52/socket"};
  int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(socket_fd, (struct sockaddr*)&address, sizeof address) < 0) abort();
  place(socket_fd, 55);
  close(directory);
}
