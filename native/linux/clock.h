// Time that only goes forward, for waits with an end.
#pragma once

#include <time.h>

#include <cstdint>

namespace cordon {

inline int64_t monotonic_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

}  // namespace cordon
