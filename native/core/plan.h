// The finished list of what a run is made of, as the supervisor reads it: views into the received
// bytes, no copies.
//
// Wire form, little-endian, every integer unaligned:
//   u32 magic 'CDPN'   u32 version   u32 total length
//   u32 flags          (kFlag…)
//   u32 umask          (0xffffffff: inherit)
//   u32 uid  u32 gid
//   u32 landlock ABI
//   u32 filter features (FilterFeature of linux/seccomp_table.h)
//   u64 capabilities to keep
//   u64 cwd device  u64 cwd inode
//   str cwd  str program  str temp (empty: none)
//   u32 n, n × str argument
//   u32 n, n × str environment entry
//   u32 n, n × { u32 kind, u32 has identity, u64 device, u64 inode, str path }   rules
//   u32 n, n × { u32 resource, u64 soft, u64 hard }                              limits
// str: u32 length without the terminator, bytes without NUL, one NUL. Nothing may follow the last
// limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cordon {

inline constexpr uint32_t kPlanMagic = 0x4e504443;  // "CDPN" read as little-endian
inline constexpr uint32_t kPlanVersion = 1;

inline constexpr uint32_t kFlagConfined = 1u << 0;
inline constexpr uint32_t kFlagNewSession = 1u << 1;

inline constexpr uint32_t kInheritUmask = 0xffffffff;

enum class RuleKind : uint32_t { kTree = 1, kFile = 2, kDevice = 3, kDeviceTree = 4, kSocket = 5 };

// Sequence of n encoded items that lies in the plan; walked with a cursor, never indexed.
struct PlanList {
  uint32_t count;
  const uint8_t* first;
};

struct Plan {
  uint32_t flags;
  uint32_t umask;
  uint32_t uid;
  uint32_t gid;
  uint32_t landlock_abi;
  uint32_t filter;
  uint64_t keep_capabilities;
  uint64_t cwd_device;
  uint64_t cwd_inode;
  const char* cwd;
  const char* program;
  const char* temp;
  PlanList arguments;
  PlanList environment;
  PlanList rules;
  PlanList limits;

  bool confined() const { return (flags & kFlagConfined) != 0; }
};

struct PlanRule {
  RuleKind kind;
  bool has_identity;
  uint64_t device;
  uint64_t inode;
  const char* path;
};

struct PlanLimit {
  uint32_t resource;
  uint64_t soft;
  uint64_t hard;
};

}  // namespace cordon
