#include "linux/caller.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/text.h"
#include "linux/files.h"

namespace cordon {
namespace {

constexpr uint64_t kOpenPathOctal = 010000000;  // O_PATH as fdinfo prints it

Text<64> proc_path(pid_t thread, const char* rest) {
  return Text<64>().add("/proc/").add(static_cast<uint64_t>(thread)).add(rest);
}

// What the shorter way gives, errors too, for where the filter of a container refuses that.
ssize_t read_memory_file(pid_t thread, uint64_t address, void* out, size_t size) {
  UniqueFd memory(open(proc_path(thread, "/mem").get(), O_RDONLY | O_CLOEXEC));
  if (!memory.valid()) {
    if (errno == EACCES) errno = EPERM;
    return -1;
  }
  ssize_t length = pread(memory.get(), out, size, static_cast<off_t>(address));
  if (length < 0 && errno == EIO) errno = EFAULT;
  return length;
}

ssize_t copy_remote(const void* caller, uint64_t address, void* out, size_t size) {
  iovec local{out, size};
  iovec remote{reinterpret_cast<void*>(address), size};
  pid_t thread = static_cast<const Caller*>(caller)->thread();
  ssize_t length =
      syscall(SYS_process_vm_readv, static_cast<long>(thread), &local, 1L, &remote, 1L, 0L);
  bool refused = length < 0 && (errno == ENOSYS || errno == EPERM);
  return refused ? read_memory_file(thread, address, out, size) : length;
}

// Octal, as fdinfo prints flags and status prints the mask.
bool take_octal(const char* at, uint64_t* value) {
  while (*at == '\t' || *at == ' ') ++at;
  return take_number(&at, 8, value);
}

bool read_link(const char* link, char* out, size_t size) {
  long length =
      syscall(SYS_readlinkat, static_cast<long>(AT_FDCWD), link, out, static_cast<long>(size - 1));
  if (length <= 0) return false;
  out[length] = '\0';
  return true;
}

}  // namespace

CallerMemory Caller::memory() const { return {copy_remote, this}; }

bool Caller::path_of_directory(char* out, size_t size) const {
  return read_link(proc_path(thread_, "/cwd").get(), out, size);
}

bool Caller::path_of_descriptor(int number, char* out, size_t size) const {
  if (number < 0) return false;
  auto name = proc_path(thread_, "/fd/").add(static_cast<uint64_t>(number));
  return read_link(name.get(), out, size);
}

UniqueFd Caller::directory(int* error) const {
  UniqueFd fd(open(proc_path(thread_, "/cwd").get(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  *error = fd.valid() ? 0 : errno;
  return fd;
}

UniqueFd Caller::descriptor(int number, bool usable, int* error) const {
  *error = EBADF;
  if (number < 0) return UniqueFd();
  auto name = proc_path(thread_, "/fd/").add(static_cast<uint64_t>(number));
  UniqueFd fd(open(name.get(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno != ENOENT) *error = errno;
    return fd;
  }
  if (usable) {
    char text[256];
    uint64_t flags = 0;
    auto info = proc_path(thread_, "/fdinfo/").add(static_cast<uint64_t>(number));
    if (read_small(info.get(), text, sizeof text) <= 0) return UniqueFd();
    const char* line = find_line(text, "flags:");
    if (line == nullptr || !take_octal(line, &flags) || (flags & kOpenPathOctal) != 0)
      return UniqueFd();
  }
  *error = 0;
  return fd;
}

uint64_t Caller::status_field(const char* name, unsigned base) const {
  char status[4096];
  uint64_t value = 0;
  if (read_small(proc_path(thread_, "/status").get(), status, sizeof status) <= 0) return 0;
  const char* at = find_line(status, name);
  if (at == nullptr) return 0;
  while (*at == '\t' || *at == ' ') ++at;
  return take_number(&at, base, &value) ? value : 0;
}

bool Caller::is_hidden() const {
  char byte;
  // Of one that may be looked at, nothing is there: EFAULT.
  return copy_remote(this, 0, &byte, sizeof byte) < 0 && errno == EPERM;
}

bool Caller::has_number(pid_t number) const {
  return number == thread_ || static_cast<uint64_t>(number) == status_field("Tgid:", 10);
}

mode_t Caller::file_mask() const { return static_cast<mode_t>(status_field("Umask:", 8) & 0777); }

}  // namespace cordon
