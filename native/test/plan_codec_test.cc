// The decoder is total: any bytes give a plan that lies in them, or the offset of what is wrong.

#include "core/plan_codec.h"

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "test/harness.h"
#include "test/plan_bytes.h"

namespace cordon::test {
namespace {

PlanSpec full_plan() {
  PlanSpec plan;
  plan.umask = 022;
  plan.uid = 1000;
  plan.gid = 1001;
  plan.landlock_abi = 7;
  plan.filter = 3;
  plan.keep_capabilities = 0x0102030405060708;
  plan.cwd_device = 0x1112131415161718;
  plan.cwd_inode = 0x2122232425262728;
  plan.cwd = "/some/place";
  plan.program = "/bin/echo";
  plan.temp = "/tmp/cordon-0";
  plan.arguments = {"echo", "", "a b"};
  plan.environment = {"A=1", "B="};
  plan.rules = {{RuleKind::kTree, "/tree", true, 5, 6},
                {RuleKind::kDevice, "/dev/null", false, 0, 0},
                {RuleKind::kFile, "/etc/f", true, std::numeric_limits<uint64_t>::max(), 1},
                {RuleKind::kDeviceTree, "/dev/pts", false, 0, 0}};
  plan.limits = {{4, 1, 1}, {7, 1024, 4096}};
  plan.namespaces = kNamespaceUser | kNamespaceMount | kNamespaceIpc;
  plan.views = {{ViewKind::kReadOnly, "/"},           {ViewKind::kRoot, "/tree", true, 5, 6},
                {ViewKind::kPin, "/tree/a"},          {ViewKind::kKept, "/tree/a/b", true, 7, 8},
                {ViewKind::kReopened, "/tree/a/b/c"}, {ViewKind::kHidden, "/tree/h"},
                {ViewKind::kCopied, "/etc/c"},        {ViewKind::kSharedMemory, "/dev/shm"},
                {ViewKind::kTerminals, "/dev/pts"},   {ViewKind::kTemporary, "/tmp"}};
  return plan;
}

// Fields before the first text, and where each starts.
enum Offset : size_t {
  kMagicAt = 0,
  kVersionAt = 4,
  kTotalAt = 8,
  kFlagsAt = 12,
  kUmaskAt = 16,
  kUidAt = 20,
  kGidAt = 24,
  kAbiAt = 28,
  kFilterAt = 32,
  kKeepAt = 36,
  kCwdDeviceAt = 44,
  kCwdInodeAt = 52,
  kCwdAt = 60,
};

// Decoded from a copy of exactly this size, so that a read past the end is the sanitizer's to see.
struct Decoded {
  std::unique_ptr<uint8_t[]> bytes;
  size_t size;
  Plan plan{};
  size_t fault = std::numeric_limits<size_t>::max();
  bool valid = false;
};

Decoded decode(const Bytes& bytes) {
  Decoded decoded;
  decoded.size = bytes.size();
  decoded.bytes.reset(new uint8_t[bytes.size()]);
  if (!bytes.empty()) memcpy(decoded.bytes.get(), bytes.data(), bytes.size());
  decoded.valid = decode_plan(decoded.bytes.get(), decoded.size, &decoded.plan, &decoded.fault);
  return decoded;
}

void set_u32(Bytes* bytes, size_t offset, uint32_t value) {
  memcpy(bytes->data() + offset, &value, sizeof value);
}

// The total length as the bytes have it, so that what is tested is not found out by it.
Bytes retotalled(Bytes bytes) {
  if (bytes.size() >= kTotalAt + 4) set_u32(&bytes, kTotalAt, static_cast<uint32_t>(bytes.size()));
  return bytes;
}

bool lies_in(const Decoded& decoded, const void* first, size_t size) {
  const auto* at = static_cast<const uint8_t*>(first);
  return at >= decoded.bytes.get() && at + size <= decoded.bytes.get() + decoded.size;
}

void check_text(const Decoded& decoded, const char* text) {
  CHECK(lies_in(decoded, text, strlen(text) + 1));
}

// Walks everything a supervisor walks.
void check_views(const Decoded& decoded) {
  const Plan& plan = decoded.plan;
  for (const char* text : {plan.cwd, plan.program, plan.temp}) check_text(decoded, text);
  for (const PlanList* list : {&plan.arguments, &plan.environment}) {
    CHECK(list->count <= decoded.size);
    std::vector<const char*> pointers(list->count);
    list_pointers(*list, pointers.data());
    for (const char* text : pointers) check_text(decoded, text);
  }
  PlanReader rules = read_list(plan.rules);
  for (uint32_t i = 0; i < plan.rules.count; ++i) check_text(decoded, rules.rule().path);
  PlanReader limits = read_list(plan.limits);
  for (uint32_t i = 0; i < plan.limits.count; ++i) limits.limit();
  PlanReader views = read_list(plan.views);
  for (uint32_t i = 0; i < plan.views.count; ++i) check_text(decoded, views.view().path);
  CHECK(!rules.faulted() && !limits.faulted() && !views.faulted());
  CHECK(plan.views.count == 0 || (plan.namespaces & kNamespaceMount) != 0);
  CHECK(plan.arguments.count > 0);
  CHECK_EQ(plan.confined(), plan.landlock_abi > 0);
}

void check_total(const Bytes& bytes) {
  Decoded decoded = decode(bytes);
  if (decoded.valid) {
    check_views(decoded);
  } else {
    CHECK(decoded.fault <= bytes.size());
  }
}

void expect_fault(const Bytes& bytes, size_t offset) {
  Decoded decoded = decode(bytes);
  CHECK(!decoded.valid);
  CHECK_EQ(decoded.fault, offset);
}

TEST(decodes_every_field) {
  Decoded decoded = decode(encode(full_plan()));
  CHECK(decoded.valid);
  check_views(decoded);
  const Plan& plan = decoded.plan;
  CHECK_EQ(plan.flags, kFlagConfined | kFlagNewSession);
  CHECK_EQ(plan.umask, 022u);
  CHECK_EQ(plan.uid, 1000u);
  CHECK_EQ(plan.gid, 1001u);
  CHECK_EQ(plan.landlock_abi, 7u);
  CHECK_EQ(plan.filter, 3u);
  CHECK_EQ(plan.keep_capabilities, uint64_t{0x0102030405060708});
  CHECK_EQ(plan.cwd_device, uint64_t{0x1112131415161718});
  CHECK_EQ(plan.cwd_inode, uint64_t{0x2122232425262728});
  CHECK_EQ(std::string(plan.cwd), "/some/place");
  CHECK_EQ(std::string(plan.program), "/bin/echo");
  CHECK_EQ(std::string(plan.temp), "/tmp/cordon-0");
}

TEST(walks_its_lists_in_order) {
  PlanSpec spec = full_plan();
  Decoded decoded = decode(encode(spec));
  CHECK(decoded.valid);
  const Plan& plan = decoded.plan;
  CHECK_EQ(plan.arguments.count, 3u);
  std::vector<const char*> arguments(3);
  list_pointers(plan.arguments, arguments.data());
  for (size_t i = 0; i < 3; ++i) CHECK_EQ(std::string(arguments[i]), spec.arguments[i]);
  CHECK_EQ(plan.environment.count, 2u);
  std::vector<const char*> environment(2);
  list_pointers(plan.environment, environment.data());
  for (size_t i = 0; i < 2; ++i) CHECK_EQ(std::string(environment[i]), spec.environment[i]);
  CHECK_EQ(plan.rules.count, 4u);
  PlanReader rules = read_list(plan.rules);
  for (const RuleSpec& wanted : spec.rules) {
    PlanRule rule = rules.rule();
    CHECK(rule.kind == wanted.kind);
    CHECK_EQ(rule.has_identity, wanted.has_identity);
    CHECK_EQ(rule.device, wanted.device);
    CHECK_EQ(rule.inode, wanted.inode);
    CHECK_EQ(std::string(rule.path), wanted.path);
  }
  CHECK_EQ(plan.limits.count, 2u);
  PlanReader limits = read_list(plan.limits);
  for (const LimitSpec& wanted : spec.limits) {
    PlanLimit limit = limits.limit();
    CHECK_EQ(limit.resource, wanted.resource);
    CHECK_EQ(limit.soft, wanted.soft);
    CHECK_EQ(limit.hard, wanted.hard);
  }
}

TEST(takes_empty_lists_but_no_empty_command) {
  PlanSpec spec = full_plan();
  spec.environment.clear();
  spec.rules.clear();
  spec.limits.clear();
  CHECK(decode(encode(spec)).valid);
  spec.arguments.clear();
  CHECK(!decode(encode(spec)).valid);
}

TEST(ten_thousand_rules_and_a_megabyte_of_arguments) {
  PlanSpec spec = full_plan();
  spec.rules.clear();
  for (int i = 0; i < 10000; ++i) {
    spec.rules.push_back({RuleKind::kTree, "/root/" + std::to_string(i), true, 1, 2});
  }
  spec.arguments.push_back(std::string(1 << 20, 'x'));
  Decoded decoded = decode(encode(spec));
  CHECK(decoded.valid);
  check_views(decoded);
}

TEST(every_truncation_gives_an_offset) {
  Bytes whole = encode(full_plan());
  for (size_t size = 0; size < whole.size(); ++size) {
    Bytes prefix(whole.begin(), whole.begin() + static_cast<ssize_t>(size));
    for (const Bytes& bytes : {prefix, retotalled(prefix)}) {
      Decoded decoded = decode(bytes);
      CHECK(!decoded.valid);
      CHECK(decoded.fault <= size);
    }
  }
}

TEST(every_change_of_one_byte_gives_a_plan_or_an_offset) {
  Bytes whole = encode(full_plan());
  for (size_t at = 0; at < whole.size(); ++at) {
    Bytes changed = whole;
    for (int value = 0; value < 256; ++value) {
      changed[at] = static_cast<uint8_t>(value);
      check_total(changed);
    }
  }
}

TEST(every_count_and_length_at_its_extremes) {
  Bytes whole = encode(full_plan());
  for (size_t at = 0; at + 4 <= whole.size(); ++at) {
    for (uint32_t value : {0u, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu}) {
      Bytes changed = whole;
      set_u32(&changed, at, value);
      check_total(changed);
    }
  }
}

TEST(names_the_first_wrong_byte) {
  Bytes whole = encode(full_plan());
  struct {
    size_t at;
    uint32_t value;
  } wrong[] = {{kMagicAt, 1},     {kVersionAt, kPlanVersion + 1},
               {kTotalAt, 7},     {kFlagsAt, 8},
               {kUmaskAt, 01000}, {kAbiAt, 0}};
  for (const auto& field : wrong) {
    Bytes changed = whole;
    set_u32(&changed, field.at, field.value);
    expect_fault(changed, field.at);
  }
}

TEST(names_the_text_the_rule_and_the_byte_too_many) {
  PlanSpec spec = full_plan();
  Bytes whole = encode(spec);
  size_t program_at = kCwdAt + 4 + spec.cwd.size() + 1;
  Bytes long_cwd = whole;
  set_u32(&long_cwd, kCwdAt, 0xffffffff);
  expect_fault(long_cwd, kCwdAt);
  Bytes unterminated = whole;
  unterminated[program_at + 4 + spec.program.size()] = 'x';
  expect_fault(unterminated, program_at);
  Bytes nul_inside = whole;
  nul_inside[program_at + 4 + 1] = 0;
  expect_fault(nul_inside, program_at);

  Bytes more = whole;
  more.push_back(0);
  expect_fault(retotalled(more), whole.size());

  spec.limits.clear();
  spec.environment.clear();
  spec.views.clear();
  spec.rules = {{static_cast<RuleKind>(99), "/x"}};
  Bytes unknown_kind = encode(spec);
  // Behind it are the counts of limits and views, and the namespaces.
  expect_fault(unknown_kind, unknown_kind.size() - 3 * 4 - (4 + 4 + 8 + 8 + 4 + 3));
}

TEST(a_confined_plan_needs_landlock_and_an_unconfined_one_has_none) {
  PlanSpec spec = full_plan();
  spec.namespaces = 0;
  spec.views.clear();
  spec.landlock_abi = 0;
  CHECK(!decode(encode(spec)).valid);
  spec.flags = kFlagNewSession;
  CHECK(decode(encode(spec)).valid);
  spec.landlock_abi = 1;
  CHECK(!decode(encode(spec)).valid);
}

TEST(names_the_view_and_the_namespaces_that_are_wrong) {
  PlanSpec spec = full_plan();
  for (uint32_t kind : {0u, static_cast<uint32_t>(ViewKind::kTemporary) + 1, 0xffffffffu}) {
    spec.views = {{ViewKind::kReadOnly, "/"}, {static_cast<ViewKind>(kind), "/x"}};
    Bytes unknown = encode(spec);
    expect_fault(unknown, unknown.size() - (4 + 4 + 8 + 8 + 4 + 3));
  }
  spec.views.clear();
  Bytes bare = encode(spec);
  CHECK(decode(bare).valid);
  // Unknown ones, and a user namespace that nothing is mounted in.
  for (uint32_t namespaces : {8u, 0x80000000u, kNamespaceUser, kNamespaceIpc}) {
    Bytes changed = bare;
    set_u32(&changed, bare.size() - 8, namespaces);
    expect_fault(changed, bare.size() - 8);
  }
  // What nobody would arrange.
  Bytes without = encode(full_plan());
  size_t views_at = bare.size() - 4;
  set_u32(&without, views_at - 4, 0);
  expect_fault(without, views_at);
}

TEST(an_unconfined_plan_has_no_namespaces) {
  PlanSpec spec = full_plan();
  spec.flags = kFlagNewSession;
  spec.landlock_abi = 0;
  CHECK(!decode(encode(spec)).valid);
  spec.views.clear();
  CHECK(!decode(encode(spec)).valid);
  spec.namespaces = 0;
  CHECK(decode(encode(spec)).valid);
}

TEST(rules_for_reading_need_a_plan_that_restricts_it_and_that_confines) {
  for (RuleKind kind : {RuleKind::kReadTree, RuleKind::kReadFile}) {
    PlanSpec spec = full_plan();
    spec.rules = {{kind, "/x", true, 1, 2}};
    CHECK(!decode(encode(spec)).valid);
    spec.flags |= kFlagRestrictsReading;
    CHECK(decode(encode(spec)).valid);
    spec.rules.clear();
    CHECK(decode(encode(spec)).valid);
    spec.flags &= ~kFlagConfined;
    spec.landlock_abi = 0;
    CHECK(!decode(encode(spec)).valid);
  }
}

TEST(umask_is_inherited_or_nine_bits) {
  PlanSpec spec = full_plan();
  for (uint32_t umask : {0u, 0777u, kInheritUmask}) {
    spec.umask = umask;
    CHECK(decode(encode(spec)).valid);
  }
  for (uint32_t umask : {01000u, 0xfffffffeu}) {
    spec.umask = umask;
    CHECK(!decode(encode(spec)).valid);
  }
}

}  // namespace
}  // namespace cordon::test
