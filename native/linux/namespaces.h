// Namespaces of the run's own, entered by its supervisor.
#pragma once

#include <cstdint>

#include "core/failure.h"

namespace cordon {

// Enters the namespaces of a plan (kNamespace… of core/plan.h). In a user namespace of its own the
// caller is who it was, and everybody else is nobody; its capabilities there are whole.
bool enter_namespaces(uint32_t namespaces, Failure* failure);

}  // namespace cordon
