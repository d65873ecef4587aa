// What a run may never regain: capabilities, set-id programs, root's powers.
#pragma once

#include <cstdint>

#include "core/failure.h"

namespace cordon {

// What a run of root may keep when a workspace belongs to another uid: CHOWN, DAC_OVERRIDE, FOWNER.
inline constexpr uint64_t kKeepable = (1ull << 0) | (1ull << 1) | (1ull << 3);

// Empties the bounding set but for kKeepable, with read-back, once for all runs: 80 calls that a
// run need not make. The caller keeps what it has in effect. Nothing happens without CAP_SETPCAP,
// and nothing need: no_new_privs stops every gain.
bool narrow_bounding_set(Failure* failure);

// no_new_privs, capabilities but for `keep` out of every set, securebits locked; each read back
// from the kernel.
// `*effective` is what was read back.
bool drop_privileges(uint64_t keep, uint64_t* effective, Failure* failure);

}  // namespace cordon
