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
#include "linux/decode.h"
#include "linux/opener.h"
#include "linux/resolve.h"
#include "linux/seccomp_filter.h"

namespace cordon {
namespace {

// What the policy answers; the kernel's own refusals keep their errno.
constexpr int kRefusedPath = EACCES;
constexpr int kRefusedSetId = EPERM;

constexpr char kProtectedXattrs[] = "security.";

constexpr long kFileSetattr = 469;

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
constexpr uint64_t kSyncWakeUp = 1;
#else
constexpr uint64_t kSyncWakeUp = SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP;
#endif
// SECCOMP_IOCTL_NOTIF_SET_FLAGS, since Linux 6.6.
constexpr unsigned long kNotifSetFlags = 0x40082104;

// The questions under judgement. Their own memory: a broker answers one at a time.
MetadataRequest g_request;
OpenRequest g_open;
ObservedRequest g_observed;
char g_link[kPathBytes];

long failed(long error) { return -error; }
long result_of(long returned) { return returned < 0 ? -errno : returned; }

int as_int(uint64_t word) { return static_cast<int>(static_cast<uint32_t>(word)); }

// The object at `place`, as a descriptor that only names it. Invalid with an errno in `*error`.
UniqueFd object_at(const Caller& caller, const Place& place, int* error) {
  if (place.itself) return caller.descriptor(place.directory, true, error);
  return resolve(caller, place.directory, place.path, place.follows, place.may_be_empty, error);
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

long set_times(int object, const timespec* times) {
  return result_of(syscall(SYS_utimensat, static_cast<long>(object), "", times,
                           static_cast<long>(AT_EMPTY_PATH)));
}

bool is_protected(const char* xattr) {
  return strncmp(xattr, kProtectedXattrs, sizeof kProtectedXattrs - 1) == 0;
}

long set_xattr(int object, const MetadataRequest& request) {
  return result_of(syscall(SYS_setxattr, own_descriptor(object).get(), request.name, request.value,
                           static_cast<long>(request.value_size),
                           static_cast<long>(request.xattr_flags)));
}

long remove_xattr(int object, const char* name) {
  return result_of(syscall(SYS_removexattr, own_descriptor(object).get(), name));
}

long set_file_attributes(int object, const MetadataRequest& request) {
  return result_of(syscall(kFileSetattr, static_cast<long>(AT_FDCWD), own_descriptor(object).get(),
                           request.value, static_cast<long>(request.value_size), 0L));
}

// An ioctl needs a descriptor that was really opened; only what has such attributes is.
long set_by_ioctl(int object, const struct stat& found, const MetadataRequest& request) {
  if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return failed(ENOTTY);
  if (request.value_error != 0) return failed(request.value_error);
  constexpr int kQuietly = O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  UniqueFd opened(open(own_descriptor(object).get(), O_RDONLY | kQuietly));
  // A caller that may only write has a descriptor for writing.
  if (!opened.valid() && errno == EACCES)
    opened.reset(open(own_descriptor(object).get(), O_WRONLY | kQuietly));
  if (!opened.valid()) return failed(errno);
  return result_of(syscall(SYS_ioctl, static_cast<long>(opened.get()),
                           static_cast<unsigned long>(request.words[0]), request.value));
}

long apply(const MetadataRequest& request, int object, const struct stat& found) {
  Operation operation = request.call->operation;
  if (operation == Operation::kIoctl) return set_by_ioctl(object, found, request);
  // A name that could be read is judged although its value could not.
  if (is_protected(request.name)) return failed(kRefusedSetId);
  if (request.value_error != 0) return failed(request.value_error);
  switch (operation) {
    case Operation::kMode:
      return set_mode(object, found, request.words[0]);
    case Operation::kOwner:
      return set_owner(object, request.words[0], request.words[1]);
    case Operation::kUtime:
    case Operation::kTimevals:
    case Operation::kTimespecs:
      return set_times(object, request.now ? nullptr : request.times);
    case Operation::kSetXattr:
    case Operation::kSetXattrAt:
      return set_xattr(object, request);
    case Operation::kRemoveXattr:
      return remove_xattr(object, request.name);
    case Operation::kFileAttributes:
      return set_file_attributes(object, request);
    case Operation::kTruncate:
      return result_of(
          truncate(own_descriptor(object).get(), static_cast<off_t>(request.words[0])));
    case Operation::kIoctl:
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
bool is_set_id(const MetadataRequest& request, const struct stat& found, int64_t result) {
  if (result != -kRefusedSetId || request.call->operation != Operation::kMode) return false;
  return !S_ISDIR(found.st_mode) && (request.words[0] & kSetIdBits) != 0;
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

int64_t Broker::change_metadata(const seccomp_notif& question) {
  Caller caller(static_cast<pid_t>(question.pid));
  const MetadataRequest& request = g_request;
  if (int error = decode_metadata(question.data, caller.memory(), &g_request)) return failed(error);
  if (request.idle) return 0;
  int error = 0;
  UniqueFd object = object_at(caller, request.place, &error);
  if (!object.valid()) return failed(error);
  // Only now is it known that what was read belonged to the caller, and not to one that got its
  // number since.
  if (!is_awaited(listener_, question.id)) return failed(EINTR);
  struct stat found;
  if (fstat(object.get(), &found) != 0) return failed(errno);
  bool inside = allowed(object.get());
  int64_t result = inside ? apply(request, object.get(), found) : failed(kRefusedPath);
  if (!inside || is_set_id(request, found, result)) {
    DeniedOperation operation =
        inside ? DeniedOperation::kSetId : denied_operation(request.call->operation);
    if (path_of(object.get(), g_link, sizeof g_link)) {
      denials_.report(operation, DenialSource::kBroker, static_cast<int>(-result), caller.thread(),
                      g_link);
    }
  }
  return result;
}

bool Broker::open_truncating(const seccomp_notif& question, int64_t* result) {
  Caller caller(static_cast<pid_t>(question.pid));
  *result = -decode_open(question.data, caller.memory(), &g_open);
  if (*result != 0) return false;
  *result = -EINTR;
  if (!is_awaited(listener_, question.id)) return false;
  auto judge = [](const void* broker, int object) {
    return static_cast<const Broker*>(broker)->allowed(object);
  };
  *result = open_on_behalf(listener_, question, g_open, false, judge, this);
  if (*result != -ENXIO || (g_open.flags & O_NONBLOCK) != 0) return *result == 0;
  // A FIFO that nobody reads yet: whoever opens it for writing waits.
  *result = -EAGAIN;
  switch (workers_.fork_for(question)) {
    case Workers::Side::kNobody:
      return false;
    case Workers::Side::kSupervisor:
      return true;
    case Workers::Side::kWorker:
      break;
  }
  int64_t answer = open_on_behalf(listener_, question, g_open, true, judge, this);
  if (answer != 0) send_answer(listener_, question.id, answer);
  _exit(0);
}

// Reports a path that the policy refuses to write. What does not exist is judged by its directory;
// a path that leads nowhere at all is the kernel's to refuse, and no denial.
void Broker::observe(const Caller& caller, DeniedOperation operation, bool reads, Place* at) {
  int error = 0;
  UniqueFd object = object_at(caller, *at, &error);
  if (object.valid()) {
    struct stat found;
    if (fstat(object.get(), &found) != 0 || !path_of(object.get(), g_link, sizeof g_link)) return;
    if (reads || g_link[0] != '/' || found.st_nlink == 0 || writable(g_link)) return;
    bool device = S_ISCHR(found.st_mode) && operation == DeniedOperation::kWrite;
    if (device && device_granted(*plan_, g_link)) return;
  } else {
    if (error != ENOENT) return;
    if (operation == DeniedOperation::kWrite) operation = DeniedOperation::kCreate;
    char* slash = strrchr(at->path, '/');
    char name[256] = {};
    const char* last = slash == nullptr ? at->path : slash + 1;
    memcpy(name, last, strnlen(last, sizeof name - 1));
    const char* parent = slash == nullptr ? "." : slash == at->path ? "/" : at->path;
    if (slash != nullptr && slash != at->path) *slash = '\0';
    UniqueFd directory = resolve(caller, at->directory, parent, true, false, &error);
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

// The call goes on in the kernel, which decides it by itself. What was seen here may have changed
// by then; nothing rests on it.
void Broker::observe_call(const seccomp_notif& question) {
  Caller caller(static_cast<pid_t>(question.pid));
  decode_observed(question.data, caller.memory(), &g_observed);
  for (size_t i = 0; i < g_observed.count; ++i) {
    observe(caller, g_observed.operation, i == 0 && g_observed.reads, &g_observed.places[i]);
  }
  seccomp_notif_resp answer{};
  answer.id = question.id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  static_cast<void>(
      syscall(SYS_ioctl, static_cast<long>(listener_), SECCOMP_IOCTL_NOTIF_SEND, &answer));
}

bool Broker::connect(const seccomp_notif& question, int64_t* result) {
  if (connector_.connect(question, result) == Connector::Done::kPending) return true;
  if (connector_.refused()[0] != '\0') {
    denials_.report(DeniedOperation::kConnect, DenialSource::kBroker, static_cast<int>(-*result),
                    static_cast<pid_t>(question.pid), connector_.refused());
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
  int64_t result = failed(ENOSYS);
  switch (duty_of(question->data, plan_->filter)) {
    case Duty::kConnect:
      if (connect(*question, &result)) return;
      break;
    case Duty::kObserve:
      return observe_call(*question);
    case Duty::kChange:
      result = change_metadata(*question);
      break;
    case Duty::kOpen:
      if (open_truncating(*question, &result)) return;
      break;
    case Duty::kRefuse:
      break;
  }
  send_answer(listener_, question->id, result);
}

}  // namespace cordon
