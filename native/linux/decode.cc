#include "linux/decode.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "linux/seccomp_filter.h"

namespace cordon {
namespace {

constexpr size_t kExtensibleBytes = 4096;  // of a structure that may grow, the kernel takes a page

// Of x86-64; arm64 has neither.
constexpr int kOpen = 2;
constexpr int kCreat = 85;
constexpr int kAtFlags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;

// struct xattr_args of Linux 6.13.
struct XattrArguments {
  uint64_t value;
  uint32_t size;
  uint32_t flags;
};

int as_int(uint64_t word) { return static_cast<int>(static_cast<uint32_t>(word)); }

template <typename Row, size_t N>
const Row* find_row(const Row (&rows)[N], int number) {
  for (const Row& row : rows) {
    int own = kThisArchitecture == Architecture::kX8664 ? row.x86_64 : row.arm64;
    if (own == number && own != kNoSuchCall) return &row;
  }
  return nullptr;
}

// creat has no flags: its mode stands where theirs do.
bool is_creat(const BrokerCall& row, int number) {
  return row.directory == kNone && number != kOpen;
}

// Whether the call is the broker's to perform although the observer knows it too.
bool truncates(const BrokerCall& row, const seccomp_data& call) {
  if (row.operation == Operation::kTruncate) return true;
  return is_creat(row, call.nr) || (as_int(call.args[row.values]) & O_TRUNC) != 0;
}

int directory_of(int8_t position, const seccomp_data& call) {
  return position == kNone ? AT_FDCWD : as_int(call.args[position]);
}

int decode_place(const seccomp_data& call, const BrokerCall& row, const CallerMemory& memory,
                 Place* out) {
  out->path[0] = '\0';
  int flags = row.flags == kNone ? 0 : as_int(call.args[row.flags]);
  if ((flags & ~kAtFlags) != 0) return EINVAL;
  out->itself = row.path == kNone;
  out->directory = out->itself ? as_int(call.args[0]) : directory_of(row.directory, call);
  out->follows = row.follows && (flags & AT_SYMLINK_NOFOLLOW) == 0;
  out->may_be_empty = (flags & AT_EMPTY_PATH) != 0;
  if (out->itself) return 0;
  uint64_t address = call.args[row.path];
  // utimensat and futimesat take no path at all to mean the descriptor, and then no flags either.
  bool times = row.operation == Operation::kTimespecs || row.operation == Operation::kTimevals;
  if (address == 0 && times && out->directory != AT_FDCWD) {
    out->itself = true;
    return flags == 0 ? 0 : EINVAL;
  }
  // The newest calls take no path for an empty one, and want a descriptor that is really open.
  bool newest = row.operation == Operation::kSetXattrAt ||
                row.operation == Operation::kRemoveXattr ||
                row.operation == Operation::kFileAttributes;
  bool none = newest && out->may_be_empty && address == 0;
  if (!none) {
    if (int error = memory.read_text(address, out->path, sizeof out->path)) return error;
  }
  out->itself = newest && out->may_be_empty && out->path[0] == '\0' && out->directory != AT_FDCWD;
  return 0;
}

// 0, or an errno.
int decode_times(Operation form, uint64_t address, const CallerMemory& memory,
                 MetadataRequest* out) {
  out->now = address == 0;
  if (out->now) return 0;
  if (form == Operation::kTimespecs) {
    if (!memory.read(address, out->times, sizeof out->times)) return EFAULT;
    // The kernel then does not even look at the path.
    out->idle = out->times[0].tv_nsec == UTIME_OMIT && out->times[1].tv_nsec == UTIME_OMIT;
  } else if (form == Operation::kTimevals) {
    timeval values[2];
    if (!memory.read(address, values, sizeof values)) return EFAULT;
    for (int i = 0; i < 2; ++i) {
      if (values[i].tv_usec < 0 || values[i].tv_usec >= 1000000) return EINVAL;
      out->times[i] = {values[i].tv_sec, values[i].tv_usec * 1000};
    }
  } else {
    int64_t seconds[2];
    if (!memory.read(address, seconds, sizeof seconds)) return EFAULT;
    for (int i = 0; i < 2; ++i) out->times[i] = {static_cast<time_t>(seconds[i]), 0};
  }
  return 0;
}

int decode_xattr_name(uint64_t address, const CallerMemory& memory, MetadataRequest* out) {
  int error = memory.read_text(address, out->name, sizeof out->name);
  return error == ENAMETOOLONG ? ERANGE : error;
}

int decode_value(uint64_t address, uint64_t size, uint64_t most, const CallerMemory& memory,
                 MetadataRequest* out) {
  if (size > most) return E2BIG;
  if (!memory.read(address, out->value, size)) return EFAULT;
  out->value_size = size;
  return 0;
}

int decode_xattr_at(const __u64* values, const CallerMemory& memory, MetadataRequest* out) {
  XattrArguments arguments;
  uint64_t size = values[2];
  if (size < sizeof arguments) return EINVAL;
  if (int error = decode_value(values[1], size, kExtensibleBytes, memory, out)) return error;
  // A longer form than ours is one that this one can stand for as long as it says nothing more.
  for (size_t i = sizeof arguments; i < size; ++i) {
    if (out->value[i] != 0) return E2BIG;
  }
  memcpy(&arguments, out->value, sizeof arguments);
  out->value_size = 0;
  out->xattr_flags = arguments.flags;
  if (int error = decode_xattr_name(values[0], memory, out)) return error;
  return decode_value(arguments.value, arguments.size, kXattrValueBytes, memory, out);
}

int decode_values(const BrokerCall& row, const __u64* values, const CallerMemory& memory,
                  MetadataRequest* out) {
  switch (row.operation) {
    case Operation::kMode:
    case Operation::kTruncate:
      out->words[0] = values[0];
      return 0;
    case Operation::kOwner:
      out->words[0] = values[0];
      out->words[1] = values[1];
      return 0;
    case Operation::kUtime:
    case Operation::kTimevals:
    case Operation::kTimespecs:
      return decode_times(row.operation, values[0], memory, out);
    case Operation::kSetXattr:
      out->xattr_flags = static_cast<uint32_t>(values[3]);
      if (int error = decode_xattr_name(values[0], memory, out)) return error;
      return decode_value(values[1], values[2], kXattrValueBytes, memory, out);
    case Operation::kSetXattrAt:
      return decode_xattr_at(values, memory, out);
    case Operation::kRemoveXattr:
      return decode_xattr_name(values[0], memory, out);
    case Operation::kFileAttributes:
      return decode_value(values[0], values[1], kExtensibleBytes, memory, out);
    case Operation::kIoctl: {
      out->words[0] = static_cast<uint32_t>(values[0]);
      size_t size = out->words[0] == kIoctlSetXattr ? sizeof(fsxattr) : sizeof(int);
      return decode_value(values[1], size, size, memory, out);
    }
    case Operation::kOpenTruncating:
      break;
  }
  return ENOSYS;
}

}  // namespace

Duty duty_of(const seccomp_data& call, uint32_t features) {
  if (call.nr == SYS_connect) return Duty::kConnect;
  const BrokerCall* row = find_row(kBrokerCalls, call.nr);
  bool observed = (features & kFilterObserve) != 0 && find_row(kObservedCalls, call.nr) != nullptr;
  if (row == nullptr) return observed ? Duty::kObserve : Duty::kRefuse;
  bool opens = row->operation == Operation::kOpenTruncating;
  if (!opens && row->operation != Operation::kTruncate) return Duty::kChange;
  bool performed = (features & kFilterBrokerTruncate) != 0 && truncates(*row, call);
  if (!performed) return observed ? Duty::kObserve : Duty::kRefuse;
  return opens ? Duty::kOpen : Duty::kChange;
}

int decode_metadata(const seccomp_data& call, const CallerMemory& memory, MetadataRequest* out) {
  const BrokerCall* row = find_row(kBrokerCalls, call.nr);
  if (row == nullptr || row->operation == Operation::kOpenTruncating) return ENOSYS;
  out->call = row;
  out->idle = false;
  out->name[0] = '\0';
  out->value_size = 0;
  out->value_error = decode_values(*row, call.args + row->values, memory, out);
  return out->idle ? 0 : decode_place(call, *row, memory, &out->place);
}

int decode_open(const seccomp_data& call, const CallerMemory& memory, OpenRequest* out) {
  const BrokerCall* row = find_row(kBrokerCalls, call.nr);
  if (row == nullptr || row->operation != Operation::kOpenTruncating) return ENOSYS;
  const auto* values = call.args + row->values;
  bool creat = is_creat(*row, call.nr);
  out->flags = creat ? O_CREAT | O_WRONLY | O_TRUNC : as_int(values[0]);
  out->mode = static_cast<mode_t>(creat ? values[0] : values[1]);
  return decode_place(call, *row, memory, &out->place);
}

void decode_observed(const seccomp_data& call, const CallerMemory& memory, ObservedRequest* out) {
  out->count = 0;
  const ObservedCall* row = find_row(kObservedCalls, call.nr);
  if (row == nullptr) return;
  out->operation = row->operation;
  // open and openat have their flags behind the path; to make a file that is there already changes
  // nothing.
  bool opens = row->operation == DeniedOperation::kWrite && call.nr != kCreat;
  out->reads = opens && (as_int(call.args[row->path + 1]) & (O_ACCMODE | O_TRUNC)) == O_RDONLY;
  auto take = [&](int8_t directory, int8_t path, bool follows) {
    Place* place = &out->places[out->count];
    place->directory = directory_of(directory, call);
    place->itself = false;
    place->follows = follows;
    place->may_be_empty = false;
    if (memory.read_text(call.args[path], place->path, sizeof place->path) == 0) ++out->count;
  };
  take(row->directory, row->path, row->follows);
  if (row->path2 != kNone) take(row->directory2, row->path2, false);
}

int decode_connect(const seccomp_data& call, const CallerMemory& memory, ConnectRequest* out) {
  out->socket = as_int(call.args[0]);
  out->path[0] = '\0';
  uint32_t length = static_cast<uint32_t>(call.args[2]);
  if (length > sizeof out->address) return EINVAL;
  out->length = length;
  memset(out->address, 0, sizeof out->address);
  if (!memory.read(call.args[1], out->address, length)) return EFAULT;
  const auto* local = reinterpret_cast<const sockaddr_un*>(out->address);
  if (length <= offsetof(sockaddr_un, sun_path) || local->sun_family != AF_UNIX) return 0;
  // Longer is nobody's UNIX address; it may be another family's, whose socket then judges it.
  size_t most = length < sizeof(sockaddr_un) ? length : sizeof(sockaddr_un);
  size_t size = most - offsetof(sockaddr_un, sun_path);
  memcpy(out->path, local->sun_path, size);
  out->path[size] = '\0';
  return 0;
}

}  // namespace cordon
