// Plans for tests, in the wire form of core/plan.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan.h"

namespace cordon::test {

using Bytes = std::vector<uint8_t>;

template <typename Kind>
struct ObjectSpec {
  Kind kind;
  std::string path;
  bool has_identity = false;
  uint64_t device = 0;
  uint64_t inode = 0;
};

using RuleSpec = ObjectSpec<RuleKind>;
using ViewSpec = ObjectSpec<ViewKind>;

struct LimitSpec {
  uint32_t resource;
  uint64_t soft;
  uint64_t hard;
};

struct PlanSpec {
  uint32_t flags = kFlagConfined | kFlagNewSession;
  uint32_t umask = kInheritUmask;
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t landlock_abi = 0;
  uint32_t filter = 0;
  uint64_t keep_capabilities = 0;
  uint64_t cwd_device = 0;
  uint64_t cwd_inode = 0;
  std::string cwd;
  std::string program;
  std::string temp;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<RuleSpec> rules;
  std::vector<LimitSpec> limits;
  uint32_t namespaces = 0;
  std::vector<ViewSpec> views;
};

Bytes encode(const PlanSpec& plan);

}  // namespace cordon::test
