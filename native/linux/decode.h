// What a caller asks for, out of the registers of its call and its memory: all of it is read here,
// once, before anything is looked up or judged. Nothing here acts.
#pragma once

#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#include "linux/broker_calls.h"
#include "linux/caller_memory.h"
#include "linux/observed_calls.h"

namespace cordon {

inline constexpr size_t kXattrNameBytes = 256;         // XATTR_NAME_MAX and its NUL
inline constexpr size_t kXattrValueBytes = 64 * 1024;  // XATTR_SIZE_MAX

// What becomes of a call that the filter sent here.
enum class Duty : uint8_t {
  kRefuse,  // no call of the broker's
  kConnect,
  kObserve,  // looked at, then left to the kernel: nothing may rest on it
  kChange,   // performed on the caller's behalf, truncate among them
  kOpen,     // performed too: it empties what it opens
};

// `features` as in the plan (FilterFeature).
Duty duty_of(const seccomp_data& call, uint32_t features);

// Where an object is. `path` ends in NUL.
struct Place {
  int directory;      // a descriptor of the caller's, or AT_FDCWD
  bool itself;        // the object is that descriptor's, which must be good for more than naming it
  bool follows;       // a symbolic link at the end
  bool may_be_empty;  // the path: then it is the directory's own object
  char path[kPathBytes];
};

struct MetadataRequest {
  const BrokerCall* call;
  bool idle;  // succeeds without a look at the object
  Place place;

  // The errno of what is to be set. The object comes first: one that is not there, or not the
  // run's, is told before.
  int value_error;
  uint64_t words[2];  // mode, or owner and group, or length, or an ioctl's request
  bool now;           // no times are given
  timespec times[2];
  char name[kXattrNameBytes];  // of an extended attribute; ends in NUL
  uint32_t xattr_flags;
  size_t value_size;
  unsigned char value[kXattrValueBytes];
};

// 0, or the errno that the caller is told.
int decode_metadata(const seccomp_data& call, const CallerMemory& memory, MetadataRequest* out);

struct OpenRequest {
  Place place;
  int flags;
  mode_t mode;
};

// 0, or the errno that the caller is told.
int decode_open(const seccomp_data& call, const CallerMemory& memory, OpenRequest* out);

inline constexpr size_t kMostObservedPaths = 2;

struct ObservedRequest {
  DeniedOperation operation;
  bool reads;  // what exists already
  size_t count;
  Place places[kMostObservedPaths];
};

// Of a path that cannot be read nothing is known, and it is left out.
void decode_observed(const seccomp_data& call, const CallerMemory& memory, ObservedRequest* out);

struct ConnectRequest {
  int socket;
  unsigned length;
  alignas(sockaddr_storage) unsigned char address[sizeof(sockaddr_storage)];
  // Of a UNIX socket that has a path; else empty. Ends in NUL.
  char path[sizeof(sockaddr_storage)];
};

// 0, or the errno that the caller is told: after it is known whether `socket` is one.
int decode_connect(const seccomp_data& call, const CallerMemory& memory, ConnectRequest* out);

}  // namespace cordon
