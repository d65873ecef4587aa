// Landlock: the ruleset of a plan, and its two layers.
#pragma once

#include <cstdint>

#include "core/failure.h"
#include "core/plan.h"
#include "core/unique_fd.h"

namespace cordon {

// The kernel's ABI, or -errno: ENOSYS not built, EOPNOTSUPP disabled at boot, EPERM filtered by an
// outer sandbox.
int landlock_abi();

// Builds the ruleset of `plan`, with the directory behind `temp` (-1: none) and the one at
// `temporary` (null: none) as further writable trees. A root that is not the object it was when the
// policy was resolved fails as Stage::kRootChanged.
bool make_ruleset(const Plan& plan, int temp, const char* temporary, UniqueFd* ruleset,
                  Failure* failure);

// Restricts the calling thread. One ruleset serves both layers of a run.
bool restrict_self(int ruleset, Stage stage, Failure* failure);

}  // namespace cordon
