#include "core/plan_codec.h"

#include <cstring>

namespace cordon {
namespace {

// A decoded list holds checked items: a reader over it needs no bound of its own beyond the address
// space.
constexpr size_t kUnbounded = SIZE_MAX / 2;

bool known_kind(RuleKind kind) {
  switch (kind) {
    case RuleKind::kTree:
    case RuleKind::kFile:
    case RuleKind::kDevice:
    case RuleKind::kDeviceTree:
    case RuleKind::kSocket:
    case RuleKind::kReadTree:
    case RuleKind::kReadFile:
      return true;
  }
  return false;
}

bool known_view(ViewKind kind) {
  switch (kind) {
    case ViewKind::kReadOnly:
    case ViewKind::kRoot:
    case ViewKind::kPin:
    case ViewKind::kKept:
    case ViewKind::kReopened:
    case ViewKind::kHidden:
    case ViewKind::kCopied:
    case ViewKind::kSharedMemory:
    case ViewKind::kTerminals:
    case ViewKind::kTemporary:
      return true;
  }
  return false;
}

// Mounts of its own are what a view is made of, and what a user namespace is entered for.
bool known_namespaces(uint32_t namespaces) {
  constexpr uint32_t kKnown = kNamespaceUser | kNamespaceMount | kNamespaceIpc;
  return (namespaces & ~kKnown) == 0 && (namespaces == 0 || (namespaces & kNamespaceMount) != 0);
}

}  // namespace

void PlanReader::fail(size_t at) {
  if (faulted_) return;
  faulted_ = true;
  offset_ = at;
}

bool PlanReader::take(size_t bytes) {
  if (size_ - offset_ < bytes) fail(offset_);
  return !faulted_;
}

uint32_t PlanReader::u32() {
  uint32_t value = 0;
  if (!take(sizeof value)) return 0;
  memcpy(&value, here(), sizeof value);
  offset_ += sizeof value;
  return value;
}

uint64_t PlanReader::u64() {
  uint64_t value = 0;
  if (!take(sizeof value)) return 0;
  memcpy(&value, here(), sizeof value);
  offset_ += sizeof value;
  return value;
}

const char* PlanReader::text() {
  size_t start = offset_;
  size_t length = u32();
  if (faulted_) return "";
  const char* value = reinterpret_cast<const char*>(here());
  if (left() < length + 1 || value[length] != '\0' || memchr(value, '\0', length) != nullptr) {
    fail(start);
    return "";
  }
  offset_ += length + 1;
  return value;
}

PlanList PlanReader::texts() {
  PlanList list{u32(), here()};
  for (uint32_t i = 0; i < list.count && !faulted_; ++i) text();
  return list;
}

template <typename Object>
Object PlanReader::object() {
  Object object{};
  object.kind = static_cast<decltype(object.kind)>(u32());
  object.has_identity = u32() != 0;
  object.device = u64();
  object.inode = u64();
  object.path = text();
  return object;
}

PlanRule PlanReader::rule() { return object<PlanRule>(); }

PlanView PlanReader::view() { return object<PlanView>(); }

PlanLimit PlanReader::limit() {
  PlanLimit limit{};
  limit.resource = u32();
  limit.soft = u64();
  limit.hard = u64();
  return limit;
}

bool decode_plan(const uint8_t* data, size_t size, Plan* plan, size_t* fault) {
  PlanReader in(data, size);
  size_t field = 0;
  // What was read since `field` is one field: it is right, or the fault is at its first byte.
  auto expect = [&](bool right) {
    if (!right) in.fail(field);
    field = in.offset();
  };
  expect(in.u32() == kPlanMagic);
  expect(in.u32() == kPlanVersion);
  expect(in.u32() == size);
  plan->flags = in.u32();
  constexpr uint32_t kKnownFlags = kFlagConfined | kFlagNewSession | kFlagRestrictsReading;
  // Unconfined nothing would keep the restriction.
  expect((plan->flags & ~kKnownFlags) == 0 && (plan->confined() || !plan->restricts_reading()));
  plan->umask = in.u32();
  expect(plan->umask == kInheritUmask || plan->umask <= 0777);
  plan->uid = in.u32();
  plan->gid = in.u32();
  field = in.offset();
  plan->landlock_abi = in.u32();
  // A confined plan without Landlock would run unconfined under a confined name.
  expect(plan->confined() == (plan->landlock_abi > 0));
  plan->filter = in.u32();
  plan->keep_capabilities = in.u64();
  plan->cwd_device = in.u64();
  plan->cwd_inode = in.u64();
  plan->cwd = in.text();
  plan->program = in.text();
  plan->temp = in.text();
  field = in.offset();
  plan->arguments = in.texts();
  expect(plan->arguments.count > 0);
  plan->environment = in.texts();
  plan->rules = {in.u32(), in.here()};
  for (uint32_t i = 0; i < plan->rules.count && !in.faulted(); ++i) {
    field = in.offset();
    RuleKind kind = in.rule().kind;
    // The kernel takes no rule for what its ruleset does not handle.
    expect(known_kind(kind) && (plan->restricts_reading() || !grants_reading(kind)));
  }
  plan->limits = {in.u32(), in.here()};
  for (uint32_t i = 0; i < plan->limits.count && !in.faulted(); ++i) in.limit();
  field = in.offset();
  plan->namespaces = in.u32();
  // An unconfined plan promises nothing that a view could be for.
  expect(known_namespaces(plan->namespaces) && (plan->confined() || plan->namespaces == 0));
  plan->views = {in.u32(), in.here()};
  expect(plan->views.count == 0 || plan->namespaces != 0);
  for (uint32_t i = 0; i < plan->views.count && !in.faulted(); ++i) {
    field = in.offset();
    expect(known_view(in.view().kind));
  }
  if (in.left() != 0) in.fail(in.offset());
  *fault = in.offset();
  return !in.faulted();
}

PlanReader read_list(const PlanList& list) { return PlanReader(list.first, kUnbounded); }

void list_pointers(const PlanList& list, const char** out) {
  PlanReader in = read_list(list);
  for (uint32_t i = 0; i < list.count; ++i) out[i] = in.text();
}

}  // namespace cordon
