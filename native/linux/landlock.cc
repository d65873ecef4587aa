#include "linux/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/plan_codec.h"
#include "linux/landlock_abi.h"

namespace cordon {
namespace {

// Numbers are the same on every architecture; older headers lack the names.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr uint32_t kCreateVersion = 1u << 0;
constexpr uint32_t kRulePathBeneath = 1;

struct RulesetAttr {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};

struct [[gnu::packed]] PathBeneathAttr {
  uint64_t allowed_access;
  int32_t parent_fd;
};

bool fits(RuleKind kind, mode_t mode) {
  switch (kind) {
    case RuleKind::kTree:
    case RuleKind::kDeviceTree:
    case RuleKind::kReadTree:
      return S_ISDIR(mode);
    case RuleKind::kDevice:
      return S_ISCHR(mode) || S_ISBLK(mode);
    case RuleKind::kSocket:
      return S_ISSOCK(mode);
    case RuleKind::kFile:
    case RuleKind::kReadFile:
      return !S_ISDIR(mode) && !S_ISLNK(mode);
  }
  return false;
}

bool add_rights(int ruleset, uint64_t rights, int fd, const char* path, Failure* failure) {
  PathBeneathAttr attr{rights, fd};
  // A right that this ABI does not know is not restricted either: there is nothing to grant.
  if (attr.allowed_access == 0) return true;
  if (injected(Stage::kLandlockRule) ||
      syscall(kAddRule, ruleset, kRulePathBeneath, &attr, 0) != 0) {
    return failure->at(Stage::kLandlockRule, errno, path);
  }
  return true;
}

// Where the object of such a rule is missing, or is another by now, there is nothing to grant.
// Rules without an identity are the well-known devices; rules for reading stand for thousands of
// files that others remove at any time, and one that is left out only hides more.
bool may_be_gone(const PlanRule& rule) { return !rule.has_identity || grants_reading(rule.kind); }

bool add_rule(int ruleset, uint32_t abi, const PlanRule& rule, Failure* failure) {
  int flags = O_PATH | O_CLOEXEC | (rule.has_identity ? O_NOFOLLOW : 0);
  UniqueFd object(open(rule.path, flags));
  if (!object.valid()) {
    if (may_be_gone(rule)) return true;
    return failure->at(Stage::kRootChanged, errno, rule.path);
  }
  struct stat found;
  if (fstat(object.get(), &found) != 0) return failure->at(Stage::kLandlockRule, errno, rule.path);
  if (injected(Stage::kRootChanged)) return failure->at(Stage::kRootChanged, errno, rule.path);
  bool same = !rule.has_identity || (found.st_dev == rule.device && found.st_ino == rule.inode);
  if (!same || !fits(rule.kind, found.st_mode)) {
    if (may_be_gone(rule)) return true;
    return failure->at(Stage::kRootChanged, ESTALE, rule.path);
  }
  return add_rights(ruleset, granted_fs(abi, rule.kind), object.get(), rule.path, failure);
}

// The run's own directories are made for it: no list of what can be read names them.
uint64_t own_rights(const Plan& plan, uint32_t abi) {
  uint64_t reading = plan.restricts_reading() ? granted_fs(abi, RuleKind::kReadTree) : 0;
  return granted_fs(abi, RuleKind::kTree) | reading;
}

}  // namespace

int landlock_abi() {
  long abi = syscall(kCreateRuleset, nullptr, 0, kCreateVersion);
  return abi < 0 ? -errno : static_cast<int>(abi);
}

bool make_ruleset(const Plan& plan, int temp, const char* temporary, UniqueFd* ruleset,
                  Failure* failure) {
  uint32_t abi = plan.landlock_abi < kNewestAbi ? plan.landlock_abi : kNewestAbi;
  RulesetAttr attr{handled_fs(abi, plan.restricts_reading()), 0, scoped(abi)};
  long fd = injected(Stage::kLandlockCreate)
                ? -1
                : syscall(kCreateRuleset, &attr, ruleset_attr_bytes(abi), 0);
  if (fd < 0) return failure->at(Stage::kLandlockCreate, errno);
  ruleset->reset(static_cast<int>(fd));
  PlanReader rules = read_list(plan.rules);
  for (uint32_t i = 0; i < plan.rules.count; ++i) {
    if (!add_rule(ruleset->get(), abi, rules.rule(), failure)) return false;
  }
  if (temporary != nullptr) {
    PlanRule rule{RuleKind::kTree, false, 0, 0, temporary};
    if (!add_rule(ruleset->get(), abi, rule, failure)) return false;
  }
  if (temp < 0) return true;
  return add_rights(ruleset->get(), own_rights(plan, abi), temp, plan.temp, failure);
}

bool restrict_self(int ruleset, Stage stage, Failure* failure) {
  if (injected(stage) || syscall(kRestrictSelf, ruleset, 0) != 0) return failure->at(stage, errno);
  return true;
}

}  // namespace cordon
