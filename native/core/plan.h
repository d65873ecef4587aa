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
//   u32 namespaces     (kNamespace…)
//   u32 n, n × { u32 kind, u32 has identity, u64 device, u64 inode, str path }   views
// str: u32 length without the terminator, bytes without NUL, one NUL. Nothing may follow the last
// view.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cordon {

inline constexpr uint32_t kPlanMagic = 0x4e504443;  // "CDPN" read as little-endian
inline constexpr uint32_t kPlanVersion = 2;

inline constexpr uint32_t kFlagConfined = 1u << 0;
inline constexpr uint32_t kFlagNewSession = 1u << 1;
// Only what a rule grants can be read, listed and executed; otherwise everything can.
inline constexpr uint32_t kFlagRestrictsReading = 1u << 2;

inline constexpr uint32_t kInheritUmask = 0xffffffff;

// Namespaces of the run's own. The user namespace is for whoever may mount nothing outside one.
inline constexpr uint32_t kNamespaceUser = 1u << 0;
inline constexpr uint32_t kNamespaceMount = 1u << 1;
inline constexpr uint32_t kNamespaceIpc = 1u << 2;

// What a run sees otherwise than its host, once it has mounts of its own; see linux/view.h for the
// order.
enum class ViewKind : uint32_t {
  kReadOnly = 1,  // everything, wherever no later word says otherwise
  kRoot,          // stays as writable as it is outside
  kPin,           // a directory above something kept: it cannot be renamed
  kKept,          // read-only beneath a root
  kReopened,      // beneath something kept, and as writable as it is outside
  kHidden,        // nothing can be read of it
  kCopied,        // a file, as a copy that belongs to the run's user
  kSharedMemory,  // an empty directory in memory, as /dev/shm is one
  kTerminals,     // an instance of devpts without anybody's terminals
  kTemporary,     // a directory whose changes are the run's own, in memory
};

enum class RuleKind : uint32_t {
  kTree = 1,
  kFile = 2,
  kDevice = 3,
  kDeviceTree = 4,
  kSocket = 5,
  kReadTree = 6,
  kReadFile = 7,
};

constexpr bool grants_reading(RuleKind kind) {
  return kind == RuleKind::kReadTree || kind == RuleKind::kReadFile;
}

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
  uint32_t namespaces;
  PlanList views;

  bool confined() const { return (flags & kFlagConfined) != 0; }
  bool restricts_reading() const { return (flags & kFlagRestrictsReading) != 0; }
};

template <typename Kind>
struct PlanObject {
  Kind kind;
  bool has_identity;
  uint64_t device;
  uint64_t inode;
  const char* path;
};

using PlanRule = PlanObject<RuleKind>;
using PlanView = PlanObject<ViewKind>;

struct PlanLimit {
  uint32_t resource;
  uint64_t soft;
  uint64_t hard;
};

}  // namespace cordon
