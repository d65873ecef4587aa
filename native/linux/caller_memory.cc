#include "linux/caller_memory.h"

#include <cerrno>
#include <cstring>

namespace cordon {
namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

bool CallerMemory::read(uint64_t address, void* out, size_t size) const {
  return size == 0 || copy_(source_, address, out, size) == static_cast<ssize_t>(size);
}

int CallerMemory::read_text(uint64_t address, char* out, size_t size) const {
  size_t length = 0;
  int error = ENAMETOOLONG;
  while (length < size) {
    // Never across a page: the text may end right before one that does not exist.
    size_t in_page = kPage - (address + length) % kPage;
    size_t want = in_page < size - length ? in_page : size - length;
    ssize_t got = copy_(source_, address + length, out + length, want);
    if (got <= 0) {
      error = EFAULT;
      break;
    }
    if (memchr(out + length, '\0', static_cast<size_t>(got)) != nullptr) return 0;
    length += static_cast<size_t>(got);
  }
  out[length < size ? length : size - 1] = '\0';
  return error;
}

}  // namespace cordon
