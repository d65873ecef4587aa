#include "linux/broker.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/plan_codec.h"
#include "linux/broker_calls.h"
#include "linux/observed_calls.h"
#include "linux/opener.h"
#include "linux/resolve.h"
#include "linux/seccomp_filter.h"

namespace cordon {
namespace {

// What the policy answers; the kernel's own refusals keep their errno.
constexpr int kRefusedPath = EACCES;
constexpr int kRefusedSetId = EPERM;

constexpr size_t kXattrNameBytes = 256;         // XATTR_NAME_MAX and its NUL
constexpr size_t kXattrValueBytes = 64 * 1024;  // XATTR_SIZE_MAX
constexpr size_t kExtensibleBytes = 4096;  // of a structure that may grow, the kernel takes a page
constexpr char kProtectedXattrs[] = "security.";

constexpr long kFileSetattr = 469;
// Of x86-64; arm64 has neither.
constexpr int kOpen = 2;
constexpr int kCreat = 85;
constexpr int kAtFlags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
constexpr uint64_t kSyncWakeUp = 1;
#else
constexpr uint64_t kSyncWakeUp = SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP;
#endif
// SECCOMP_IOCTL_NOTIF_SET_FLAGS, since Linux 6.6.
constexpr unsigned long kNotifSetFlags = 0x40082104;

// struct xattr_args of Linux 6.13.
struct XattrArguments {
  uint64_t value;
  uint32_t size;
  uint32_t flags;
};

// One path under judgement. Its own memory: a broker answers one question at a time.
struct PathBuffer {
  char bytes[kPathBytes];
};
PathBuffer g_path;
char g_link[kPathBytes];
unsigned char g_value[kXattrValueBytes];

long failed(long error) { return -error; }
long result_of(long returned) { return returned < 0 ? -errno : returned; }

int as_int(uint64_t word) { return static_cast<int>(static_cast<uint32_t>(word)); }

// Where the object of `call` is, from the caller's memory. On failure the descriptor is invalid and
// `*error` set.
UniqueFd object_of(const Caller& caller, const BrokerCall& call, const uint64_t* words,
                   int* error) {
  int flags = call.flags == kNone ? 0 : as_int(words[call.flags]);
  if ((flags & ~kAtFlags) != 0) {
    *error = EINVAL;
    return UniqueFd();
  }
  if (call.path == kNone) return caller.descriptor(as_int(words[0]), true, error);
  int directory = call.directory == kNone ? AT_FDCWD : as_int(words[call.directory]);
  uint64_t address = words[call.path];
  bool may_be_empty = (flags & AT_EMPTY_PATH) != 0;
  // utimensat and futimesat take no path at all to mean the descriptor, and then no flags either.
  bool times = call.operation == Operation::kTimespecs || call.operation == Operation::kTimevals;
  if (address == 0 && times && directory != AT_FDCWD) {
    if (flags == 0) return caller.descriptor(directory, true, error);
    *error = EINVAL;
    return UniqueFd();
  }
  // The newest calls take no path for an empty one, and want a descriptor that is really open.
  bool newest = call.operation == Operation::kSetXattrAt ||
                call.operation == Operation::kRemoveXattr ||
                call.operation == Operation::kFileAttributes;
  g_path.bytes[0] = '\0';
  bool none = newest && may_be_empty && address == 0;
  *error = none ? 0 : caller.read_text(address, g_path.bytes, sizeof g_path.bytes);
  if (*error != 0) return UniqueFd();
  if (newest && may_be_empty && g_path.bytes[0] == '\0' && directory != AT_FDCWD) {
    return caller.descriptor(directory, true, error);
  }
  bool follow = call.follows && (flags & AT_SYMLINK_NOFOLLOW) == 0;
  return resolve(caller, directory, g_path.bytes, follow, may_be_empty, error);
}

long set_mode(int object, const struct stat& found, uint64_t mode) {
  // On a directory they mean something else, and are ordinary.
  if (!S_ISDIR(found.st_mode) && (mode & kSetIdBits) != 0) return failed(kRefusedSetId);
  return result_of(syscall(SYS_fchmodat, static_cast<long>(AT_FDCWD), own_descriptor(object).get(),
                           static_cast<long>(mode & 07777)));
}

long set_owner(int object, uint64_t owner, uint64_t group) {
  return result_of(syscall(SYS_fchownat, static_cast<long>(object), "",
                           static_cast<long>(as_int(owner)), static_cast<long>(as_int(group)),
                           static_cast<long>(AT_EMPTY_PATH)));
}

long set_times(int object, const Caller& caller, Operation form, uint64_t address) {
  timespec times[2];
  timespec* given = times;
  if (address == 0) {
    given = nullptr;
  } else if (form == Operation::kTimespecs) {
    if (!caller.read(address, times, sizeof times)) return failed(EFAULT);
  } else if (form == Operation::kTimevals) {
    timeval values[2];
    if (!caller.read(address, values, sizeof values)) return failed(EFAULT);
    for (int i = 0; i < 2; ++i) {
      if (values[i].tv_usec < 0 || values[i].tv_usec >= 1000000) return failed(EINVAL);
      times[i] = {values[i].tv_sec, values[i].tv_usec * 1000};
    }
  } else {
    int64_t seconds[2];
    if (!caller.read(address, seconds, sizeof seconds)) return failed(EFAULT);
    for (int i = 0; i < 2; ++i) times[i] = {static_cast<time_t>(seconds[i]), 0};
  }
  return result_of(syscall(SYS_utimensat, static_cast<long>(object), "", given,
                           static_cast<long>(AT_EMPTY_PATH)));
}

// The kernel then does not even look at the path.
bool sets_no_time(const Caller& caller, uint64_t address) {
  timespec times[2];
  return address != 0 && caller.read(address, times, sizeof times) &&
         times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT;
}

// The name of an extended attribute that a run may change, or an errno.
int read_xattr_name(const Caller& caller, uint64_t address, char* name) {
  int error = caller.read_text(address, name, kXattrNameBytes);
  if (error == ENAMETOOLONG) return ERANGE;
  if (error != 0) return error;
  return strncmp(name, kProtectedXattrs, sizeof kProtectedXattrs - 1) == 0 ? kRefusedSetId : 0;
}

long set_xattr(int object, const Caller& caller, uint64_t name_at,
               const XattrArguments& arguments) {
  char name[kXattrNameBytes];
  if (int error = read_xattr_name(caller, name_at, name)) return failed(error);
  if (arguments.size > kXattrValueBytes) return failed(E2BIG);
  if (!caller.read(arguments.value, g_value, arguments.size)) return failed(EFAULT);
  return result_of(syscall(SYS_setxattr, own_descriptor(object).get(), name, g_value,
                           static_cast<long>(arguments.size), static_cast<long>(arguments.flags)));
}

long set_xattr_at(int object, const Caller& caller, const uint64_t* values) {
  XattrArguments arguments;
  uint64_t size = values[2];
  if (size < sizeof arguments) return failed(EINVAL);
  if (size > kExtensibleBytes) return failed(E2BIG);
  if (!caller.read(values[1], g_value, size)) return failed(EFAULT);
  // A longer form than ours is one that this one can stand for as long as it says nothing more.
  for (size_t i = sizeof arguments; i < size; ++i) {
    if (g_value[i] != 0) return failed(E2BIG);
  }
  memcpy(&arguments, g_value, sizeof arguments);
  return set_xattr(object, caller, values[0], arguments);
}

long remove_xattr(int object, const Caller& caller, uint64_t name_at) {
  char name[kXattrNameBytes];
  if (int error = read_xattr_name(caller, name_at, name)) return failed(error);
  return result_of(syscall(SYS_removexattr, own_descriptor(object).get(), name));
}

long set_file_attributes(int object, const Caller& caller, uint64_t address, uint64_t size) {
  if (size > kExtensibleBytes) return failed(E2BIG);
  if (!caller.read(address, g_value, size)) return failed(EFAULT);
  return result_of(syscall(kFileSetattr, static_cast<long>(AT_FDCWD), own_descriptor(object).get(),
                           g_value, static_cast<long>(size), 0L));
}

// An ioctl needs a descriptor that was really opened; only what has such attributes is.
long set_by_ioctl(int object, const struct stat& found, const Caller& caller, uint32_t request,
                  uint64_t address) {
  if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return failed(ENOTTY);
  size_t size = request == kIoctlSetXattr ? sizeof(fsxattr) : sizeof(int);
  if (!caller.read(address, g_value, size)) return failed(EFAULT);
  constexpr int kQuietly = O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  UniqueFd opened(open(own_descriptor(object).get(), O_RDONLY | kQuietly));
  // A caller that may only write has a descriptor for writing.
  if (!opened.valid() && errno == EACCES)
    opened.reset(open(own_descriptor(object).get(), O_WRONLY | kQuietly));
  if (!opened.valid()) return failed(errno);
  return result_of(syscall(SYS_ioctl, static_cast<long>(opened.get()),
                           static_cast<unsigned long>(request), g_value));
}

long apply(const BrokerCall& call, int object, const struct stat& found, const Caller& caller,
           const uint64_t* words) {
  const uint64_t* values = words + call.values;
  switch (call.operation) {
    case Operation::kMode:
      return set_mode(object, found, values[0]);
    case Operation::kOwner:
      return set_owner(object, values[0], values[1]);
    case Operation::kUtime:
    case Operation::kTimevals:
    case Operation::kTimespecs:
      return set_times(object, caller, call.operation, values[0]);
    case Operation::kSetXattr:
      return set_xattr(
          object, caller, values[0],
          {values[1], static_cast<uint32_t>(values[2] > kXattrValueBytes ? UINT32_MAX : values[2]),
           static_cast<uint32_t>(values[3])});
    case Operation::kSetXattrAt:
      return set_xattr_at(object, caller, values);
    case Operation::kRemoveXattr:
      return remove_xattr(object, caller, values[0]);
    case Operation::kFileAttributes:
      return set_file_attributes(object, caller, values[0], values[1]);
    case Operation::kIoctl:
      return set_by_ioctl(object, found, caller, static_cast<uint32_t>(values[0]), values[1]);
    case Operation::kTruncate:
      return result_of(truncate(own_descriptor(object).get(), static_cast<off_t>(values[0])));
    case Operation::kOpenTruncating:
      break;
  }
  return failed(ENOSYS);
}

DeniedOperation denied_operation(Operation operation) {
  switch (operation) {
    case Operation::kMode:
      return DeniedOperation::kMode;
    case Operation::kOwner:
      return DeniedOperation::kOwner;
    case Operation::kUtime:
    case Operation::kTimevals:
    case Operation::kTimespecs:
      return DeniedOperation::kTimes;
    case Operation::kSetXattr:
    case Operation::kSetXattrAt:
    case Operation::kRemoveXattr:
      return DeniedOperation::kAttribute;
    case Operation::kFileAttributes:
    case Operation::kIoctl:
      return DeniedOperation::kFlags;
    case Operation::kTruncate:
    case Operation::kOpenTruncating:
      break;
  }
  return DeniedOperation::kTruncate;
}

// Refused by the policy although the object is the run's own.
bool is_set_id(const BrokerCall& call, const struct stat& found, const uint64_t* words,
               int64_t result) {
  if (result != -kRefusedSetId || call.operation != Operation::kMode) return false;
  return !S_ISDIR(found.st_mode) && (words[call.values] & kSetIdBits) != 0;
}

bool device_granted(const Plan& plan, const char* path) {
  PlanReader rules = read_list(plan.rules);
  for (uint32_t i = 0; i < plan.rules.count; ++i) {
    PlanRule rule = rules.rule();
    if (rule.kind == RuleKind::kDevice && strcmp(path, rule.path) == 0) return true;
    if (rule.kind == RuleKind::kDeviceTree && beneath(path, rule.path)) return true;
  }
  return false;
}

// As the kernel ends the path of what has no name any more. Links alone do not tell: file systems
// in user space may count none of a file that has one.
bool is_unlinked(const char* path) {
  constexpr char kEnd[] = " (deleted)";
  size_t length = strlen(path);
  size_t end = sizeof kEnd - 1;
  return length > end && strcmp(path + length - end, kEnd) == 0;
}

const BrokerCall* find_call(int number) {
  for (const BrokerCall& call : kBrokerCalls) {
    int own = kThisArchitecture == Architecture::kX8664 ? call.x86_64 : call.arm64;
    if (own == number) return &call;
  }
  return nullptr;
}

}  // namespace

void Broker::start(int listener, const Plan& plan, int control) {
  denials_.start(control);
  listener_ = listener;
  plan_ = &plan;
  workers_.start(listener);
  connector_.start(listener, plan, &workers_);
  // The caller then runs on this processor at once, with no trip through the scheduler. Older
  // kernels say no.
  static_cast<void>(syscall(SYS_ioctl, static_cast<long>(listener), kNotifSetFlags, kSyncWakeUp));
}

bool Broker::writable(const char* path) const {
  if (plan_->temp[0] != '\0' && beneath(path, plan_->temp)) return true;
  PlanReader rules = read_list(plan_->rules);
  for (uint32_t i = 0; i < plan_->rules.count; ++i) {
    PlanRule rule = rules.rule();
    if (rule.kind == RuleKind::kTree && beneath(path, rule.path)) return true;
    if (rule.kind == RuleKind::kFile && strcmp(path, rule.path) == 0) return true;
  }
  return false;
}

// Objects without a name are nobody's file; named ones are the run's beneath its writable roots.
bool Broker::allowed(int object) const {
  struct stat found;
  if (fstat(object, &found) != 0) return false;
  if (!path_of(object, g_link, sizeof g_link)) return false;
  return g_link[0] != '/' || (found.st_nlink == 0 && is_unlinked(g_link)) || writable(g_link);
}

int64_t Broker::perform(const seccomp_notif& question) {
  const BrokerCall* call = find_call(question.data.nr);
  if (call == nullptr) return failed(ENOSYS);
  Caller caller(static_cast<pid_t>(question.pid));
  uint64_t words[6];
  for (int i = 0; i < 6; ++i) words[i] = question.data.args[i];
  int error = 0;
  if (call->operation == Operation::kTimespecs && sets_no_time(caller, words[call->values]))
    return 0;
  UniqueFd object = object_of(caller, *call, words, &error);
  if (!object.valid()) return failed(error);
  // Only now is it known that what was read belonged to the caller, and not to one that got its
  // number since.
  uint64_t id = question.id;
  if (syscall(SYS_ioctl, static_cast<long>(listener_), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) != 0)
    return failed(EINTR);
  struct stat found;
  if (fstat(object.get(), &found) != 0) return failed(errno);
  bool inside = allowed(object.get());
  int64_t result = inside ? apply(*call, object.get(), found, caller, words) : failed(kRefusedPath);
  if (!inside || is_set_id(*call, found, words, result)) {
    DeniedOperation operation =
        inside ? DeniedOperation::kSetId : denied_operation(call->operation);
    if (path_of(object.get(), g_link, sizeof g_link)) {
      denials_.report(operation, DenialSource::kBroker, static_cast<int>(-result), caller.thread(),
                      g_link);
    }
  }
  return result;
}

bool Broker::open_truncating(const seccomp_notif& question, int64_t* result) {
  const BrokerCall* call = find_call(question.data.nr);
  if (call == nullptr || call->operation != Operation::kOpenTruncating) {
    *result = perform(question);
    return false;
  }
  const auto* words = question.data.args;
  int directory = call->directory == kNone ? AT_FDCWD : as_int(words[call->directory]);
  // creat has no flags: its mode stands where theirs do.
  bool plain_creat = call->directory == kNone && question.data.nr != kOpen;
  int flags = plain_creat ? O_CREAT | O_WRONLY | O_TRUNC : as_int(words[call->values]);
  mode_t mode = static_cast<mode_t>(plain_creat ? words[call->values] : words[call->values + 1]);
  Caller caller(static_cast<pid_t>(question.pid));
  *result = -caller.read_text(words[call->path], g_path.bytes, sizeof g_path.bytes);
  if (*result != 0) return false;
  uint64_t id = question.id;
  *result = -EINTR;
  if (syscall(SYS_ioctl, static_cast<long>(listener_), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) != 0)
    return false;
  auto judge = [](const void* broker, int object) {
    return static_cast<const Broker*>(broker)->allowed(object);
  };
  OpenRequest request{directory, g_path.bytes, flags, mode, false};
  *result = open_on_behalf(listener_, question, request, judge, this);
  if (*result != -ENXIO || (flags & O_NONBLOCK) != 0) return *result == 0;
  // A FIFO that nobody reads yet: whoever opens it for writing waits.
  *result = -EAGAIN;
  switch (workers_.fork_for(question)) {
    case Workers::Side::kNone:
      return false;
    case Workers::Side::kSupervisor:
      return true;
    case Workers::Side::kWorker:
      break;
  }
  request.waits = true;
  int64_t answer = open_on_behalf(listener_, question, request, judge, this);
  if (answer != 0) send_answer(listener_, question.id, answer);
  _exit(0);
}

// Where a path would lead, as far as it exists.
struct ObservedPath {
  int directory;
  uint64_t address;
  bool follows;
  bool reads;  // what exists already
};

// Reports a path that the policy refuses to write. What does not exist is judged by its directory;
// a path that leads nowhere at all is the kernel's to refuse, and no denial.
void Broker::observe(const Caller& caller, DeniedOperation operation, const ObservedPath& at) {
  if (caller.read_text(at.address, g_path.bytes, sizeof g_path.bytes) != 0) return;
  int error = 0;
  UniqueFd object = resolve(caller, at.directory, g_path.bytes, at.follows, false, &error);
  if (object.valid()) {
    struct stat found;
    if (fstat(object.get(), &found) != 0 || !path_of(object.get(), g_link, sizeof g_link)) return;
    if (at.reads || g_link[0] != '/' || found.st_nlink == 0 || writable(g_link)) return;
    bool device = S_ISCHR(found.st_mode) && operation == DeniedOperation::kWrite;
    if (device && device_granted(*plan_, g_link)) return;
  } else {
    if (error != ENOENT) return;
    if (operation == DeniedOperation::kWrite) operation = DeniedOperation::kCreate;
    char* slash = strrchr(g_path.bytes, '/');
    char name[256] = {};
    const char* last = slash == nullptr ? g_path.bytes : slash + 1;
    memcpy(name, last, strnlen(last, sizeof name - 1));
    const char* parent = slash == nullptr ? "." : slash == g_path.bytes ? "/" : g_path.bytes;
    if (slash != nullptr && slash != g_path.bytes) *slash = '\0';
    UniqueFd directory = resolve(caller, at.directory, parent, true, false, &error);
    if (name[0] == '\0' || !directory.valid() || !path_of(directory.get(), g_link, sizeof g_link))
      return;
    size_t length = strlen(g_link);
    if (length + strlen(name) + 2 > sizeof g_link) return;
    if (length > 1) g_link[length++] = '/';
    memcpy(g_link + length, name, strlen(name) + 1);
    if (writable(g_link)) return;
  }
  denials_.report(operation, DenialSource::kObserver, EACCES, caller.thread(), g_link);
}

// Whether the call is the broker's to perform although the observer knows it too.
bool Broker::truncates(const seccomp_notif& question) const {
  if ((plan_->filter & kFilterBrokerTruncate) == 0) return false;
  const BrokerCall* call = find_call(question.data.nr);
  if (call == nullptr) return false;
  if (call->operation == Operation::kTruncate) return true;
  if (call->operation != Operation::kOpenTruncating) return false;
  bool plain_creat = call->directory == kNone && question.data.nr != kOpen;
  return plain_creat || (as_int(question.data.args[call->values]) & O_TRUNC) != 0;
}

// True when the call is one to look at only: it goes on in the kernel, which decides it by itself.
// What was seen here may have changed by then; nothing rests on it.
bool Broker::observed(const seccomp_notif& question) {
  if ((plan_->filter & kFilterObserve) == 0) return false;
  for (const ObservedCall& call : kObservedCalls) {
    int own = kThisArchitecture == Architecture::kX8664 ? call.x86_64 : call.arm64;
    if (own != question.data.nr) continue;
    const auto* words = question.data.args;
    Caller caller(static_cast<pid_t>(question.pid));
    // open and openat have their flags behind the path; to make a file that is there already
    // changes nothing.
    bool opens = call.operation == DeniedOperation::kWrite && question.data.nr != kCreat;
    bool reads = opens && (as_int(words[call.path + 1]) & (O_ACCMODE | O_TRUNC)) == O_RDONLY;
    observe(caller, call.operation,
            {call.directory == kNone ? AT_FDCWD : as_int(words[call.directory]), words[call.path],
             call.follows, reads});
    if (call.path2 != kNone) {
      observe(caller, call.operation,
              {call.directory2 == kNone ? AT_FDCWD : as_int(words[call.directory2]),
               words[call.path2], false, false});
    }
    seccomp_notif_resp answer{};
    answer.id = question.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    static_cast<void>(
        syscall(SYS_ioctl, static_cast<long>(listener_), SECCOMP_IOCTL_NOTIF_SEND, &answer));
    return true;
  }
  return false;
}

void Broker::answer(bool asked) {
  if (!asked) {
    close(listener_);
    listener_ = -1;
    return;
  }
  // The kernel may know a longer form than these headers; it fills what it has.
  alignas(seccomp_notif) unsigned char memory[256] = {};
  auto* question = reinterpret_cast<seccomp_notif*>(memory);
  if (syscall(SYS_ioctl, static_cast<long>(listener_), SECCOMP_IOCTL_NOTIF_RECV, question) != 0)
    return;
  int64_t result = 0;
  if (question->data.nr == SYS_connect) {
    if (connector_.connect(*question, &result) == Connector::Done::kPending) return;
    if (connector_.refused()[0] != '\0') {
      denials_.report(DeniedOperation::kConnect, DenialSource::kBroker, static_cast<int>(-result),
                      static_cast<pid_t>(question->pid), connector_.refused());
    }
  } else {
    if (!truncates(*question) && observed(*question)) return;
    if (open_truncating(*question, &result)) return;
  }
  send_answer(listener_, question->id, result);
}

}  // namespace cordon
