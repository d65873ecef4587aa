#include "test/plan_bytes.h"

#include <cstring>

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
  template <typename Object>
  void objects(const std::vector<Object>& objects) {
    u32(static_cast<uint32_t>(objects.size()));
    for (const Object& object : objects) {
      u32(static_cast<uint32_t>(object.kind));
      u32(object.has_identity ? 1 : 0);
      u64(object.device);
      u64(object.inode);
      text(object.path);
    }
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
  out.objects(plan.rules);
  out.u32(static_cast<uint32_t>(plan.limits.size()));
  for (const LimitSpec& limit : plan.limits) {
    out.u32(limit.resource);
    out.u64(limit.soft);
    out.u64(limit.hard);
  }
  out.u32(plan.namespaces);
  out.objects(plan.views);
  return out.finish();
}

}  // namespace cordon::test
