// What a run was refused, as the owner is told: numbers here, words in src/run/denial.ts.
#pragma once

#include <cstdint>

namespace cordon {

enum class DeniedOperation : uint32_t {
  kWrite = 1,
  kCreate,
  kRemove,
  kRename,
  kLink,
  kTruncate,
  kMode,
  kOwner,
  kTimes,
  kAttribute,
  kFlags,
  kSetId,
  kConnect,
};

enum class DenialSource : uint32_t {
  kBroker = 1,    // refused by it
  kObserver = 2,  // seen by it; the kernel refused
};

}  // namespace cordon
