// The calls that would write, as data: where each has its paths. The observer reads them and leaves
// the call to the kernel.
#pragma once

#include <cstdint>

#include "core/denial.h"
#include "linux/broker_calls.h"

namespace cordon {

struct ObservedCall {
  int x86_64;
  int arm64;
  DeniedOperation operation;
  int8_t directory;  // argument positions; none: relative to the current directory
  int8_t path;
  bool follows;       // a symbolic link at the end
  int8_t directory2;  // of calls with two paths
  int8_t path2;
};

inline constexpr ObservedCall kObservedCalls[] = {
    {2, kNoSuchCall, DeniedOperation::kWrite, kNone, 0, true, kNone, kNone},      // open
    {257, 56, DeniedOperation::kWrite, 0, 1, true, kNone, kNone},                 // openat
    {85, kNoSuchCall, DeniedOperation::kWrite, kNone, 0, true, kNone, kNone},     // creat
    {83, kNoSuchCall, DeniedOperation::kCreate, kNone, 0, false, kNone, kNone},   // mkdir
    {258, 34, DeniedOperation::kCreate, 0, 1, false, kNone, kNone},               // mkdirat
    {133, kNoSuchCall, DeniedOperation::kCreate, kNone, 0, false, kNone, kNone},  // mknod
    {259, 33, DeniedOperation::kCreate, 0, 1, false, kNone, kNone},               // mknodat
    {88, kNoSuchCall, DeniedOperation::kCreate, kNone, 1, false, kNone, kNone},   // symlink
    {266, 36, DeniedOperation::kCreate, 1, 2, false, kNone, kNone},               // symlinkat
    {84, kNoSuchCall, DeniedOperation::kRemove, kNone, 0, false, kNone, kNone},   // rmdir
    {87, kNoSuchCall, DeniedOperation::kRemove, kNone, 0, false, kNone, kNone},   // unlink
    {263, 35, DeniedOperation::kRemove, 0, 1, false, kNone, kNone},               // unlinkat
    {82, kNoSuchCall, DeniedOperation::kRename, kNone, 0, false, kNone, 1},       // rename
    {264, 38, DeniedOperation::kRename, 0, 1, false, 2, 3},                       // renameat
    {316, 276, DeniedOperation::kRename, 0, 1, false, 2, 3},                      // renameat2
    {86, kNoSuchCall, DeniedOperation::kLink, kNone, 0, false, kNone, 1},         // link
    {265, 37, DeniedOperation::kLink, 0, 1, false, 2, 3},                         // linkat
    {76, 45, DeniedOperation::kTruncate, kNone, 0, true, kNone, kNone},           // truncate
};

}  // namespace cordon
