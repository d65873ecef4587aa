// Plans of what tests run here: this process' identity, this kernel, the test's own directory.
#pragma once

#include <string>
#include <vector>

#include "test/plan_bytes.h"

namespace cordon::test {

// A rule that names the very object at `path`.
RuleSpec rule_for(RuleKind kind, const std::string& path);

// A confined plan of this process' identity and this kernel's ABI: `script` for /bin/sh in the
// test's scratch directory, which is its one writable tree.
PlanSpec shell_plan(const std::string& script);

// The same, for another program.
PlanSpec program_plan(const std::vector<std::string>& arguments);

// All of them but SIGCHLD, with which nobody could wait for a child.
void ignore_signals();

}  // namespace cordon::test
