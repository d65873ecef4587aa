// Every Landlock right from ABI 1 to 11: since when, whether Cordon restricts it, and which rules
// grant it. Source: include/uapi/linux/landlock.h of Linux 7.2, and the ABI history in
// Documentation/userspace-api/landlock.rst. Rights are spelled as numbers because the headers of
// the machine that builds may be older than the kernel that runs.
#pragma once

#include <cstdint>

#include "core/plan.h"

namespace cordon {

enum class Handling : uint8_t {
  kReading,     // restricted by plans that hide paths and have no mounts to do it
  kRestricted,  // handled, and granted where a rule says so
};

constexpr uint32_t grants(RuleKind kind) { return 1u << static_cast<uint32_t>(kind); }

struct FsRight {
  const char* name;
  uint64_t bit;
  uint32_t abi;
  Handling handling;
  uint32_t granted_by;  // set of grants(kind)
};

inline constexpr uint32_t kTreeOnly = grants(RuleKind::kTree);
inline constexpr uint32_t kReaders = grants(RuleKind::kReadTree) | grants(RuleKind::kReadFile);
inline constexpr uint32_t kNobody = 0;

inline constexpr FsRight kFsRights[] = {
    {"execute", 1ull << 0, 1, Handling::kReading, kReaders},
    {"write_file", 1ull << 1, 1, Handling::kRestricted,
     kTreeOnly | grants(RuleKind::kFile) | grants(RuleKind::kDevice) |
         grants(RuleKind::kDeviceTree)},
    {"read_file", 1ull << 2, 1, Handling::kReading, kReaders},
    {"read_dir", 1ull << 3, 1, Handling::kReading, grants(RuleKind::kReadTree)},
    {"remove_dir", 1ull << 4, 1, Handling::kRestricted, kTreeOnly},
    {"remove_file", 1ull << 5, 1, Handling::kRestricted, kTreeOnly},
    // Nobody: root could make the disk's own device node in a writable directory.
    {"make_char", 1ull << 6, 1, Handling::kRestricted, kNobody},
    {"make_dir", 1ull << 7, 1, Handling::kRestricted, kTreeOnly},
    {"make_reg", 1ull << 8, 1, Handling::kRestricted, kTreeOnly},
    {"make_sock", 1ull << 9, 1, Handling::kRestricted, kTreeOnly},
    {"make_fifo", 1ull << 10, 1, Handling::kRestricted, kTreeOnly},
    {"make_block", 1ull << 11, 1, Handling::kRestricted, kNobody},
    {"make_sym", 1ull << 12, 1, Handling::kRestricted, kTreeOnly},
    // Not handled (ABI 1) means renames and links between directories give EXDEV.
    {"refer", 1ull << 13, 2, Handling::kRestricted, kTreeOnly},
    {"truncate", 1ull << 14, 3, Handling::kRestricted,
     kTreeOnly | grants(RuleKind::kFile) | grants(RuleKind::kDevice)},
    {"ioctl_dev", 1ull << 15, 5, Handling::kRestricted,
     grants(RuleKind::kDevice) | grants(RuleKind::kDeviceTree)},
    // Sockets made by the run itself stay reachable: the kernel allows them within the domain.
    {"resolve_unix", 1ull << 16, 9, Handling::kRestricted, grants(RuleKind::kSocket)},
};

// TCP and UDP are not promised, so no network right is handled; the rows keep the table whole for
// the reader of reports.
struct NetRight {
  const char* name;
  uint64_t bit;
  uint32_t abi;
};

inline constexpr NetRight kNetRights[] = {
    {"bind_tcp", 1ull << 0, 4},
    {"connect_tcp", 1ull << 1, 4},
    {"bind_udp", 1ull << 2, 10},
    {"connect_send_udp", 1ull << 3, 10},
};

struct Scope {
  const char* name;
  uint64_t bit;
  uint32_t abi;
};

inline constexpr Scope kScopes[] = {
    {"abstract_unix_socket", 1ull << 0, 6},
    {"signal", 1ull << 1, 6},
};

// The newest ABI the table describes; a newer kernel is used as this one.
inline constexpr uint32_t kNewestAbi = 11;

constexpr uint64_t handled_fs(uint32_t abi, bool restricts_reading = false) {
  uint64_t mask = 0;
  for (const FsRight& right : kFsRights) {
    bool handled = right.handling == Handling::kRestricted || restricts_reading;
    if (right.abi <= abi && handled) mask |= right.bit;
  }
  return mask;
}

constexpr uint64_t granted_fs(uint32_t abi, RuleKind kind) {
  uint64_t mask = 0;
  for (const FsRight& right : kFsRights) {
    if (right.abi <= abi && (right.granted_by & grants(kind)) != 0) mask |= right.bit;
  }
  return mask;
}

constexpr uint64_t scoped(uint32_t abi) {
  uint64_t mask = 0;
  for (const Scope& scope : kScopes) {
    if (scope.abi <= abi) mask |= scope.bit;
  }
  return mask;
}

// Bytes of landlock_ruleset_attr that the ABI knows: handled_access_fs, then _net (4), then scoped
// (6).
constexpr uint64_t ruleset_attr_bytes(uint32_t abi) { return abi >= 6 ? 24 : abi >= 4 ? 16 : 8; }

}  // namespace cordon
