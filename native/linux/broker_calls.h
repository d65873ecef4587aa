// The metadata family as data: where each call has its object and what it changes. The broker's
// loop reads these rows.
#pragma once

#include <cstdint>

#include "linux/seccomp_table.h"

namespace cordon {

enum class Operation : uint8_t {
  kMode,
  kOwner,
  kUtime,      // struct utimbuf
  kTimevals,   // struct timeval[2]
  kTimespecs,  // struct timespec[2]
  kSetXattr,
  kSetXattrAt,  // struct xattr_args
  kRemoveXattr,
  kFileAttributes,  // struct file_attr
  kIoctl,
  kTruncate,
  kOpenTruncating,
};

inline constexpr int8_t kNone = -1;

// Argument positions; kNone where the call has no such argument.
struct BrokerCall {
  int x86_64;
  int arm64;
  Operation operation;
  int8_t directory;  // none: relative to the current directory
  int8_t path;       // none: the object is the descriptor in argument 0
  int8_t flags;      // AT_… flags
  bool follows;      // a symbolic link at the end, unless the flags say otherwise
  int8_t values;     // first of what is to be set
};

inline constexpr BrokerCall kBrokerCalls[] = {
    {90, kNoSuchCall, Operation::kMode, kNone, 0, kNone, true, 1},            // chmod
    {91, 52, Operation::kMode, kNone, kNone, kNone, true, 1},                 // fchmod
    {268, 53, Operation::kMode, 0, 1, kNone, true, 2},                        // fchmodat
    {452, 452, Operation::kMode, 0, 1, 3, true, 2},                           // fchmodat2
    {92, kNoSuchCall, Operation::kOwner, kNone, 0, kNone, true, 1},           // chown
    {93, 55, Operation::kOwner, kNone, kNone, kNone, true, 1},                // fchown
    {94, kNoSuchCall, Operation::kOwner, kNone, 0, kNone, false, 1},          // lchown
    {260, 54, Operation::kOwner, 0, 1, 4, true, 2},                           // fchownat
    {132, kNoSuchCall, Operation::kUtime, kNone, 0, kNone, true, 1},          // utime
    {235, kNoSuchCall, Operation::kTimevals, kNone, 0, kNone, true, 1},       // utimes
    {261, kNoSuchCall, Operation::kTimevals, 0, 1, kNone, true, 2},           // futimesat
    {280, 88, Operation::kTimespecs, 0, 1, 3, true, 2},                       // utimensat
    {188, 5, Operation::kSetXattr, kNone, 0, kNone, true, 1},                 // setxattr
    {189, 6, Operation::kSetXattr, kNone, 0, kNone, false, 1},                // lsetxattr
    {190, 7, Operation::kSetXattr, kNone, kNone, kNone, true, 1},             // fsetxattr
    {463, 463, Operation::kSetXattrAt, 0, 1, 2, true, 3},                     // setxattrat
    {197, 14, Operation::kRemoveXattr, kNone, 0, kNone, true, 1},             // removexattr
    {198, 15, Operation::kRemoveXattr, kNone, 0, kNone, false, 1},            // lremovexattr
    {199, 16, Operation::kRemoveXattr, kNone, kNone, kNone, true, 1},         // fremovexattr
    {466, 466, Operation::kRemoveXattr, 0, 1, 2, true, 3},                    // removexattrat
    {469, 469, Operation::kFileAttributes, 0, 1, 4, true, 2},                 // file_setattr
    {16, 29, Operation::kIoctl, kNone, kNone, kNone, true, 1},                // ioctl
    {76, 45, Operation::kTruncate, kNone, 0, kNone, true, 1},                 // truncate
    {2, kNoSuchCall, Operation::kOpenTruncating, kNone, 0, kNone, true, 1},   // open
    {257, 56, Operation::kOpenTruncating, 0, 1, kNone, true, 2},              // openat
    {85, kNoSuchCall, Operation::kOpenTruncating, kNone, 0, kNone, true, 1},  // creat
};

}  // namespace cordon
