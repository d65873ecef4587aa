// What travels on a run's control socket, and what asks the guard for a run. Little-endian, packed
// by hand.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace cordon {

// Supervisor to owner: u32 type, u32 payload bytes, payload.
enum class RecordType : uint32_t {
  kStarted = 1,    // i32 pid, i32 supervisor, u32 abi, u32 layers, u64 fs, u64 scoped, u64
                   // capabilities, u32 nnp, u32 0
  kFailed = 2,     // u32 stage, i32 errno, u32 detail, str object
  kExited = 3,     // i32 wait status, u32 0, u64 user µs, u64 system µs, u64 peak resident KiB
  kSurvivor = 4,   // i32 pid, str command
  kEnded = 5,      // u32 survivors, u32 flags, u32 denials lost; the tree is dead and the temp
                   // directory empty, its removal is the owner's
  kStopped = 6,    // i32 signal
  kContinued = 7,  // nothing
  kDenied = 8,     // i32 thread, i32 errno, u32 DeniedOperation, u32 DenialSource, str command,
                   // str path
};

inline constexpr uint32_t kEndedTempNotEmpty = 1u << 0;
// Something of the tree is killed but does not die: it waits in the kernel without an end. It was
// told as a survivor.
inline constexpr uint32_t kEndedTreeAlive = 1u << 1;

// Owner to supervisor: u32 type, u32 signal.
enum class ControlType : uint32_t { kSignal = 1, kSignalTree = 2, kKill = 3 };

struct ControlRequest {
  uint32_t type;
  uint32_t signal;
};

// In ControlRequest::signal: the terminal may have sent it to the whole process group already.
inline constexpr uint32_t kSignalFromTerminal = 0x80000000;

// Owner to guard: this header and descriptors: plan, control, 0, 1, 2, when a temp directory is
// named its parent, and with kRequestTempMade the directory itself. With kRequestPlanInline the
// plan's bytes follow the header instead of its descriptor.
inline constexpr uint32_t kRequestMagic = 0x51504443;  // "CDPQ" read as little-endian
inline constexpr uint32_t kRequestVersion = 2;
inline constexpr uint32_t kRequestDescriptors = 5;
inline constexpr uint32_t kTempNameBytes = 48;
// In RunRequest::flags: the temp directory is one that the guard made ahead.
inline constexpr uint32_t kRequestTempMade = 1u << 0;
// A memfd is made, sealed, sent and mapped in 50 µs; a few pages of a message cost two.
inline constexpr uint32_t kRequestPlanInline = 1u << 1;
// One more descriptor behind the streams': the run's own connection to its daemon.
inline constexpr uint32_t kRequestDaemon = 1u << 2;
// Longer ones would fill the pair: it takes some 200 KB (net.core.wmem_default), and several wait.
inline constexpr uint32_t kMostInlineBytes = 16 * 1024;

struct RunRequest {
  uint32_t magic;
  uint32_t version;
  uint64_t groups;  // hash of the owner's supplementary groups, see group_hash
  uint32_t flags;
  uint32_t unused;
  char temp_name[kTempNameBytes];
};

// Guard to owner, with the directory's descriptor: a temp directory that waits for a run.
struct ReadyTemp {
  uint64_t parent_device;
  uint64_t parent_inode;
  // When it last changed, which is when it was made: another run may have both its parent to write
  // and a reason to leave something in it.
  int64_t changed_s;
  int64_t changed_ns;
  char name[kTempNameBytes];
};

// Whether it is as it was made: still there, nothing in it, no attribute set.
inline bool untouched(const ReadyTemp& ready, const struct stat& found) {
  return found.st_nlink > 0 && found.st_ctim.tv_sec == ready.changed_s &&
         found.st_ctim.tv_nsec == ready.changed_ns;
}

}  // namespace cordon
