// What stopped a launch: the step, the errno, and the object it was about. Plain memory: it is
// filled between clone and exec, where nothing may allocate.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "core/stage.h"

namespace cordon {

inline constexpr size_t kFailureObjectBytes = 512;

struct Failure {
  bool set = false;
  Stage stage = Stage::kDescriptors;
  int error = 0;
  uint32_t detail = 0;
  char object[kFailureObjectBytes] = {};

  // Keeps the first failure; returns false so that a step can end with `return failure.at(...)`.
  bool at(Stage where, int code, const char* what = "", uint32_t more = 0) {
    if (set) return false;
    set = true;
    stage = where;
    error = code;
    detail = more;
    size_t length = strnlen(what, kFailureObjectBytes - 1);
    memcpy(object, what, length);
    object[length] = '\0';
    return false;
  }
};

#ifdef CORDON_FAULT_INJECTION
// Test builds only: the stage that fails although nothing is wrong; 0 for none.
inline uint32_t g_injected_stage = 0;
inline bool injected(Stage stage) {
  if (g_injected_stage != static_cast<uint32_t>(stage)) return false;
  errno = EIO;
  return true;
}
#else
constexpr bool injected(Stage) { return false; }
#endif

}  // namespace cordon
