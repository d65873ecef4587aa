// Supplementary groups as one number: owner and guard compare theirs, because SCM_CREDENTIALS
// carries only uid and gid.
#pragma once

#include <grp.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace cordon {

// More groups than fit here make getgroups fail: all such callers look alike, and uid and gid still
// tell them apart.
inline uint64_t group_hash() {
  gid_t groups[1024];
  int count = getgroups(1024, groups);
  uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (int i = 0; i < count; ++i) {
    hash = (hash ^ groups[i]) * 0x100000001b3ull;
  }
  return hash ^ static_cast<uint64_t>(count);
}

}  // namespace cordon
