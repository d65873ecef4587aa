#include "linux/probe.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "core/errno_name.h"
#include "core/text.h"
#include "core/unique_fd.h"
#include "linux/files.h"
#include "linux/privilege.h"

namespace cordon {
namespace {

constexpr uint64_t kLastStdio = 2;

struct Surroundings {
  const char* directory;
  int outside_pid;
  const char* abstract_name;
};

class Path {
 public:
  Path(const char* directory, const char* name) { text_.add(directory).add("/").add(name); }
  const char* get() const { return text_.get(); }
  operator const char*() const { return get(); }

 private:
  Text<4096> text_;
};

// Each effect returns 0 when it took place, else the errno that stopped it.
int outcome(bool took_place) { return took_place ? 0 : errno; }

int write_create(const Surroundings& at) {
  UniqueFd file(open(Path(at.directory, "created"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return outcome(file.valid());
}

int write_open(const Surroundings& at) {
  UniqueFd file(open(Path(at.directory, "victim-open"), O_WRONLY | O_APPEND | O_CLOEXEC));
  return outcome(file.valid() && write(file.get(), "x", 1) == 1);
}

int write_remove(const Surroundings& at) {
  return outcome(unlink(Path(at.directory, "victim-remove")) == 0);
}

int write_rename(const Surroundings& at) {
  return outcome(rename(Path(at.directory, "victim-rename"), Path(at.directory, "renamed")) == 0);
}

int write_link(const Surroundings& at) {
  return outcome(link(Path(at.directory, "victim-link"), Path(at.directory, "linked")) == 0);
}

int write_directory(const Surroundings& at) {
  return outcome(mkdir(Path(at.directory, "directory"), 0700) == 0);
}

int write_fifo(const Surroundings& at) { return outcome(mkfifo(Path(at.directory, "fifo"), 0600) == 0); }

int write_symlink(const Surroundings& at) {
  return outcome(symlink("nowhere", Path(at.directory, "symlink")) == 0);
}

int truncate_path(const Surroundings& at) {
  return outcome(truncate(Path(at.directory, "victim-truncate"), 0) == 0);
}

int truncate_open(const Surroundings& at) {
  UniqueFd file(open(Path(at.directory, "victim-open-truncate"), O_RDONLY | O_TRUNC | O_CLOEXEC));
  return outcome(file.valid());
}

int signal_outside(const Surroundings& at) { return outcome(kill(at.outside_pid, 0) == 0); }

int connect_to(const sockaddr_un& address, size_t length) {
  UniqueFd client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return outcome(client.valid() && connect(client.get(), generic, static_cast<socklen_t>(length)) == 0);
}

int abstract_connect(const Surroundings& at) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  size_t length = strnlen(at.abstract_name, sizeof address.sun_path - 1);
  memcpy(address.sun_path + 1, at.abstract_name, length);
  return connect_to(address, offsetof(sockaddr_un, sun_path) + 1 + length);
}

int unix_connect(const Surroundings& at) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  Path path(at.directory, "socket");
  size_t length = strlen(path);
  if (length >= sizeof address.sun_path) return ENAMETOOLONG;
  memcpy(address.sun_path, static_cast<const char*>(path), length);
  return connect_to(address, sizeof address);
}

int unix_datagram(const Surroundings&) {
  // It could send by name to any socket outside, with no connect to judge.
  UniqueFd sender(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return outcome(sender.valid());
}

int metadata_mode(const Surroundings& at) {
  return outcome(chmod(Path(at.directory, "victim-mode"), 0644) == 0);
}

int metadata_owner(const Surroundings& at) {
  constexpr long kNobody = 65534;
  Path path(at.directory, "victim-owner");
  return outcome(syscall(SYS_fchownat, static_cast<long>(AT_FDCWD), path.get(), kNobody, kNobody, 0L) == 0);
}

int metadata_times(const Surroundings& at) {
  const timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
  Path path(at.directory, "victim-times");
  return outcome(syscall(SYS_utimensat, static_cast<long>(AT_FDCWD), path.get(), times, 0L) == 0);
}

int metadata_xattr(const Surroundings& at) {
  Path path(at.directory, "victim-xattr");
  return outcome(syscall(SYS_setxattr, path.get(), "user.cordon", "x", 1L, 0L) == 0);
}

int metadata_flags(const Surroundings& at) {
  UniqueFd file(open(Path(at.directory, "victim-flags"), O_RDONLY | O_CLOEXEC));
  unsigned flags = 0;
  if (!file.valid() || syscall(SYS_ioctl, static_cast<long>(file.get()), static_cast<long>(FS_IOC_GETFLAGS), &flags) != 0) {
    return errno;
  }
  flags |= FS_NODUMP_FL;
  return outcome(syscall(SYS_ioctl, static_cast<long>(file.get()), static_cast<long>(FS_IOC_SETFLAGS), &flags) == 0);
}

// Where the run may write: what counts is whether the bit is on the file afterwards.
int set_id_on(const char* path) {
  struct stat found;
  if (stat(path, &found) != 0) return errno;
  return (found.st_mode & S_ISUID) != 0 ? 0 : EPERM;
}

int set_id_create(const Surroundings& at) {
  Path path(at.directory, "inside/created");
  UniqueFd file(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 04755));
  return file.valid() ? set_id_on(path) : errno;
}

int set_id_mode(const Surroundings& at) {
  Path path(at.directory, "inside/changed");
  UniqueFd file(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755));
  if (!file.valid()) return errno;
  return chmod(path, 04755) == 0 ? set_id_on(path) : errno;
}

// Objects that all programs share: made under a name of our own and removed at once.
Text<64> shared_name(const char* prefix) {
  return Text<64>().add(prefix).add("cordon-probe-").add(static_cast<uint64_t>(getpid()));
}

int shared_object(const Surroundings&) {
  auto name = shared_name("/dev/shm/");
  UniqueFd object(open(name.get(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!object.valid()) return errno;
  unlink(name.get());
  return 0;
}

// The kernel makes the queue before it asks Landlock: whether it can be removed says more than the call's own answer.
int message_queue(const Surroundings&) {
  auto name = shared_name("");
  long queue = syscall(SYS_mq_open, name.get(), static_cast<long>(O_RDWR | O_CREAT | O_EXCL), 0600L, 0L);
  int error = queue < 0 ? errno : 0;
  if (queue >= 0) close(static_cast<int>(queue));
  if (syscall(SYS_mq_unlink, name.get()) == 0) return 0;
  return error;
}

// On what is no terminal the kernel's own answer is ENOTTY; any other comes from before it.
int terminal_input(const Surroundings&) {
  UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  char byte = 'x';
  if (syscall(SYS_ioctl, static_cast<long>(null.get()), static_cast<long>(TIOCSTI), &byte) == 0) return 0;
  return errno == ENOTTY || errno == EIO ? 0 : errno;
}

int door_ring(const Surroundings&) {
  unsigned char parameters[120] = {};
  constexpr long kSetup = 425;
  UniqueFd ring(static_cast<int>(syscall(kSetup, 1L, parameters)));
  return outcome(ring.valid());
}

int door_keyring(const Surroundings&) {
  constexpr long kGetKeyringId = 0;
  constexpr long kUserKeyring = -4;
  if (syscall(SYS_keyctl, kGetKeyringId, kUserKeyring, 0L) >= 0) return 0;
  return errno == ENOKEY ? 0 : errno;
}

int door_vsock(const Surroundings&) {
  constexpr int kVsock = 40;
  UniqueFd door(socket(kVsock, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return outcome(door.valid());
}

// A process of its own session whose parent is gone; it ends by itself should nobody end it. Whether it outlives the run is
// for the starter to see.
int outlive(const Surroundings& at) {
  constexpr int kEndsItselfMs = 10000;
  pid_t child = fork();
  if (child < 0) return errno;
  if (child > 0) return outcome(waitpid(child, nullptr, 0) == child);
  setsid();
  pid_t orphan = fork();
  if (orphan != 0) _exit(0);
  UniqueFd file(open(Path(at.directory, "inside/orphan"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  auto pid = Text<24>().add(static_cast<uint64_t>(getpid()));
  if (write(file.get(), pid.get(), pid.size()) != static_cast<ssize_t>(pid.size())) _exit(1);
  // The starter waits for the end of every pipe it made.
  syscall(SYS_close_range, 0L, static_cast<long>(UINT32_MAX), 0L);
  poll(nullptr, 0, kEndsItselfMs);
  _exit(0);
}

// Last: when it takes place this process is another user's to the rest of the table.
int door_namespace(const Surroundings&) {
  return outcome(syscall(SYS_unshare, static_cast<long>(CLONE_NEWUSER)) == 0);
}

// Nothing is attempted that would change the machine: the kernel's own record of this process says what it could gain.
int gain_privilege(const Surroundings&) {
  char status[4096];
  if (read_small("/proc/self/status", status, sizeof status) <= 0) return 0;
  for (const char* name : {"CapInh:\t", "CapPrm:\t", "CapEff:\t", "CapAmb:\t"}) {
    const char* at = find_line(status, name);
    uint64_t set = 0;
    if (at == nullptr || !take_number(&at, 16, &set) || (set & ~kKeepable) != 0) return 0;
  }
  const char* no_new_privs = find_line(status, "NoNewPrivs:\t");
  return no_new_privs != nullptr && *no_new_privs == '1' ? EPERM : 0;
}

int inherited_descriptors(const Surroundings&) {
  UniqueFd own(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own.valid()) return 0;
  Directory entries(own.get());
  while (const dirent64* entry = entries.next()) {
    uint64_t fd = 0;
    if (!whole_number(entry->d_name, INT32_MAX, &fd)) continue;
    if (fd > kLastStdio && fd != static_cast<uint64_t>(own.get())) return 0;
  }
  return entries.failed() ? 0 : EBADF;
}

constexpr struct {
  const char* name;
  int (*attempt)(const Surroundings&);
} kEffects[] = {
    {"descriptors", inherited_descriptors},
    {"privilege", gain_privilege},
    {"write-create", write_create},
    {"write-open", write_open},
    {"write-remove", write_remove},
    {"write-rename", write_rename},
    {"write-link", write_link},
    {"write-directory", write_directory},
    {"write-fifo", write_fifo},
    {"write-symlink", write_symlink},
    {"truncate", truncate_path},
    {"truncate-open", truncate_open},
    {"signal", signal_outside},
    {"abstract-connect", abstract_connect},
    {"unix-connect", unix_connect},
    {"unix-datagram", unix_datagram},
    {"metadata-mode", metadata_mode},
    {"metadata-owner", metadata_owner},
    {"metadata-times", metadata_times},
    {"metadata-xattr", metadata_xattr},
    {"metadata-flags", metadata_flags},
    {"set-id-create", set_id_create},
    {"set-id-mode", set_id_mode},
    {"shared-object", shared_object},
    {"message-queue", message_queue},
    {"terminal-input", terminal_input},
    {"door-ring", door_ring},
    {"door-keyring", door_keyring},
    {"door-vsock", door_vsock},
    {"outlive", outlive},
    {"door-namespace", door_namespace},
};

}  // namespace

int probe(const char* directory, int outside_pid, const char* abstract_name) {
  Surroundings at{directory, outside_pid, abstract_name};
  for (const auto& effect : kEffects) {
    int error = effect.attempt(at);
    Text<80> line;
    line.add(effect.name).add(error == 0 ? " took-place" : " stopped ");
    if (error != 0) line.add(errno_name(error));
    line.add("\n");
    if (write(STDOUT_FILENO, line.get(), line.size()) != static_cast<ssize_t>(line.size())) return 1;
  }
  return 0;
}

}  // namespace cordon
