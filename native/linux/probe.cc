#include "linux/probe.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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
  operator const char*() const { return text_.get(); }

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
