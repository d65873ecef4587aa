// The memory of a caller, which is hostile: it changes between two looks, ends anywhere, and says
// what it likes. Everything is copied before it is judged.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace cordon {

// Longest path the kernel takes, its NUL included.
inline constexpr size_t kPathBytes = 4096;

class CallerMemory {
 public:
  // Copies as many bytes as there are from `address`, at most `size`: their number, or -1.
  using Copy = ssize_t (*)(const void* source, uint64_t address, void* out, size_t size);

  CallerMemory(Copy copy, const void* source) : copy_(copy), source_(source) {}

  // Copies `size` bytes. False when any of them cannot be read.
  bool read(uint64_t address, void* out, size_t size) const;

  // Copies a text of at most `size` bytes with its NUL: 0, or EFAULT, or ENAMETOOLONG. `out` ends
  // in NUL whatever is returned.
  int read_text(uint64_t address, char* out, size_t size) const;

 private:
  Copy copy_;
  const void* source_;
};

}  // namespace cordon
