#include "test/plan_bytes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "linux/landlock.h"
#include "test/harness.h"

namespace cordon::test {
namespace {

class Writer {
 public:
  void u32(uint32_t value) { append(&value, sizeof value); }
  void u64(uint64_t value) { append(&value, sizeof value); }
  void text(const std::string& value) {
    u32(static_cast<uint32_t>(value.size()));
    append(value.c_str(), value.size() + 1);
  }
  void texts(const std::vector<std::string>& values) {
    u32(static_cast<uint32_t>(values.size()));
    for (const std::string& value : values) text(value);
  }
  Bytes finish() {
    uint32_t length = static_cast<uint32_t>(bytes_.size());
    memcpy(bytes_.data() + 2 * sizeof(uint32_t), &length, sizeof length);
    return bytes_;
  }

 private:
  void append(const void* from, size_t size) {
    const auto* first = static_cast<const uint8_t*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }

  Bytes bytes_;
};

}  // namespace

Bytes encode(const PlanSpec& plan) {
  Writer out;
  out.u32(kPlanMagic);
  out.u32(kPlanVersion);
  out.u32(0);
  out.u32(plan.flags);
  out.u32(plan.umask);
  out.u32(plan.uid);
  out.u32(plan.gid);
  out.u32(plan.landlock_abi);
  out.u32(plan.filter);
  out.u64(plan.keep_capabilities);
  out.u64(plan.cwd_device);
  out.u64(plan.cwd_inode);
  out.text(plan.cwd);
  out.text(plan.program);
  out.text(plan.temp);
  out.texts(plan.arguments);
  out.texts(plan.environment);
  out.u32(static_cast<uint32_t>(plan.rules.size()));
  for (const RuleSpec& rule : plan.rules) {
    out.u32(static_cast<uint32_t>(rule.kind));
    out.u32(rule.has_identity ? 1 : 0);
    out.u64(rule.device);
    out.u64(rule.inode);
    out.text(rule.path);
  }
  out.u32(static_cast<uint32_t>(plan.limits.size()));
  for (const LimitSpec& limit : plan.limits) {
    out.u32(limit.resource);
    out.u64(limit.soft);
    out.u64(limit.hard);
  }
  return out.finish();
}

RuleSpec rule_for(RuleKind kind, const std::string& path) {
  struct stat found;
  CHECK_CALL(lstat(path.c_str(), &found) == 0);
  return {kind, path, true, found.st_dev, found.st_ino};
}

PlanSpec program_plan(const std::vector<std::string>& arguments) {
  PlanSpec plan;
  int abi = landlock_abi();
  struct stat found;
  CHECK_CALL(stat(scratch().c_str(), &found) == 0);
  plan.uid = geteuid();
  plan.gid = getegid();
  plan.landlock_abi = abi > 0 ? static_cast<uint32_t>(abi) : 0;
  plan.cwd = scratch();
  plan.cwd_device = found.st_dev;
  plan.cwd_inode = found.st_ino;
  plan.program = arguments[0];
  plan.arguments = arguments;
  plan.environment = {"PATH=/usr/bin:/bin"};
  plan.rules = {rule_for(RuleKind::kTree, scratch()), {RuleKind::kDevice, "/dev/null"}};
  return plan;
}

PlanSpec shell_plan(const std::string& script) {
  PlanSpec plan = program_plan({"/bin/sh", "-c", script});
  plan.arguments[0] = "sh";
  return plan;
}

}  // namespace cordon::test
