// The table of rights against what include/uapi/linux/landlock.h of each kernel has, spelled out.

#include "linux/landlock_abi.h"

#include <cstdint>
#include <string>

#include "test/harness.h"

namespace cordon::test {
namespace {

struct Golden {
  uint32_t abi;
  uint64_t handled;
  uint64_t tree;
  uint64_t file;
  uint64_t device;
  uint64_t device_tree;
  uint64_t scoped;
  uint64_t attr_bytes;
};

// execute 0x1, write_file 0x2, read_file 0x4, read_dir 0x8, remove_dir 0x10, remove_file 0x20,
// make_char 0x40, make_dir 0x80, make_reg 0x100, make_sock 0x200, make_fifo 0x400, make_block
// 0x800, make_sym 0x1000, refer 0x2000, truncate 0x4000, ioctl_dev 0x8000, resolve_unix 0x10000.
// Scopes: abstract sockets 0x1, signals 0x2.
constexpr Golden kGolden[] = {
    {0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 8},
    {1, 0x1ff2, 0x17b2, 0x2, 0x2, 0x2, 0x0, 8},
    {2, 0x3ff2, 0x37b2, 0x2, 0x2, 0x2, 0x0, 8},
    {3, 0x7ff2, 0x77b2, 0x4002, 0x4002, 0x2, 0x0, 8},
    {4, 0x7ff2, 0x77b2, 0x4002, 0x4002, 0x2, 0x0, 16},
    {5, 0xfff2, 0x77b2, 0x4002, 0xc002, 0x8002, 0x0, 16},
    {6, 0xfff2, 0x77b2, 0x4002, 0xc002, 0x8002, 0x3, 24},
    {7, 0xfff2, 0x77b2, 0x4002, 0xc002, 0x8002, 0x3, 24},
    {8, 0xfff2, 0x77b2, 0x4002, 0xc002, 0x8002, 0x3, 24},
    {9, 0x1fff2, 0x77b2, 0x4002, 0xc002, 0x8002, 0x3, 24},
    {10, 0x1fff2, 0x77b2, 0x4002, 0xc002, 0x8002, 0x3, 24},
    {11, 0x1fff2, 0x77b2, 0x4002, 0xc002, 0x8002, 0x3, 24},
};

constexpr RuleKind kKinds[] = {RuleKind::kTree, RuleKind::kFile, RuleKind::kDevice,
                               RuleKind::kDeviceTree};
constexpr uint64_t kMakeChar = 1 << 6;
constexpr uint64_t kMakeBlock = 1 << 11;

TEST(every_abi_as_its_golden) {
  static_assert(sizeof kGolden / sizeof *kGolden == kNewestAbi + 1);
  for (const Golden& row : kGolden) {
    CHECK_EQ(handled_fs(row.abi), row.handled);
    CHECK_EQ(granted_fs(row.abi, RuleKind::kTree), row.tree);
    CHECK_EQ(granted_fs(row.abi, RuleKind::kFile), row.file);
    CHECK_EQ(granted_fs(row.abi, RuleKind::kDevice), row.device);
    CHECK_EQ(granted_fs(row.abi, RuleKind::kDeviceTree), row.device_tree);
    CHECK_EQ(scoped(row.abi), row.scoped);
    CHECK_EQ(ruleset_attr_bytes(row.abi), row.attr_bytes);
  }
}

TEST(reading_is_restricted_where_a_plan_says_so_and_then_granted_by_its_own_rules) {
  constexpr uint64_t kReading = 0x1 | 0x4 | 0x8;
  for (uint32_t abi = 1; abi <= kNewestAbi; ++abi) {
    CHECK_EQ(handled_fs(abi, true), handled_fs(abi) | kReading);
    CHECK_EQ(granted_fs(abi, RuleKind::kReadTree), kReading);
    // Not read_dir: the kernel answers EINVAL for it in a rule on what is no directory.
    CHECK_EQ(granted_fs(abi, RuleKind::kReadFile), kReading & ~0x8ull);
    CHECK_EQ(granted_fs(abi, RuleKind::kSocket) & kReading, 0u);
    for (RuleKind kind : kKinds) CHECK_EQ(granted_fs(abi, kind) & kReading, 0u);
  }
  CHECK_EQ(handled_fs(0, true), 0u);
}

TEST(nobody_may_make_device_nodes) {
  for (uint32_t abi = 1; abi <= kNewestAbi; ++abi) {
    CHECK_EQ(handled_fs(abi) & (kMakeChar | kMakeBlock), kMakeChar | kMakeBlock);
    for (RuleKind kind : kKinds) CHECK_EQ(granted_fs(abi, kind) & (kMakeChar | kMakeBlock), 0u);
  }
}

TEST(nothing_is_granted_that_is_not_handled) {
  for (uint32_t abi = 0; abi <= kNewestAbi; ++abi) {
    for (RuleKind kind : kKinds) CHECK_EQ(granted_fs(abi, kind) & ~handled_fs(abi), 0u);
  }
}

// The kernel answers EINVAL for these in a rule on what is no directory.
TEST(files_and_devices_get_no_directory_rights) {
  constexpr uint64_t kFileRights = 0x1 | 0x2 | 0x4 | 0x4000 | 0x8000 | 0x10000;
  for (uint32_t abi = 0; abi <= kNewestAbi; ++abi) {
    for (RuleKind kind : {RuleKind::kFile, RuleKind::kDevice}) {
      CHECK_EQ(granted_fs(abi, kind) & ~kFileRights, 0u);
    }
  }
}

TEST(bits_and_names_are_distinct_and_abis_known) {
  uint64_t seen = 0;
  for (const FsRight& right : kFsRights) {
    CHECK_EQ(seen & right.bit, 0u);
    seen |= right.bit;
    CHECK(right.abi >= 1 && right.abi <= kNewestAbi);
    for (const FsRight& other : kFsRights) {
      CHECK(&right == &other || std::string(right.name) != other.name);
    }
  }
  CHECK_EQ(seen, uint64_t{0x1ffff});
}

}  // namespace
}  // namespace cordon::test
