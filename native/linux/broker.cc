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

// In place of a result: it would have to be waited for.
constexpr int64_t kWaits = INT64_MIN;

long failed(long error) { return -error; }
long result_of(long returned) { return returned < 0 ? -errno : returned; }

int as_int(uint64_t word) { return static_cast<int>(static_cast<uint32_t>(word)); }

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

void Broker::start(int listener, const Plan& plan, const char* temporary, int control) {
  denials_.start(control);
  listener_ = listener;
  plan_ = &plan;
  temporary_ = temporary;
  workers_.start(listener);
  connector_.start(listener, plan, temporary, &workers_, &denials_);
  // The caller then runs on this processor at once, with no trip through the scheduler. Older
  // kernels say no.
  static_cast<void>(syscall(SYS_ioctl, static_cast<long>(listener), kNotifSetFlags, kSyncWakeUp));
}

bool Broker::writable(const char* path) const {
  if (plan_->temp[0] != '\0' && beneath(path, plan_->temp)) return true;
  if (temporary_ != nullptr && beneath(path, temporary_)) return true;
  PlanReader rules = read_list(plan_->rules);
  for (uint32_t i = 0; i < plan_->rules.count; ++i) {
    PlanRule rule = rules.rule();
    if (rule.kind == RuleKind::kTree && beneath(path, rule.path)) return true;
    if (rule.kind == RuleKind::kFile && strcmp(path, rule.path) == 0) return true;
  }
  return false;
}

bool Broker::kept(const char* path, bool* itself) const {
  PlanReader views = read_list(plan_->views);
  for (uint32_t i = 0; i < plan_->views.count; ++i) {
    PlanView view = views.view();
    if (view.kind != ViewKind::kKept || !beneath(path, view.path)) continue;
    *itself = strcmp(path, view.path) == 0;
    return !reopened(path);
  }
  return false;
}

bool Broker::reopened(const char* path) const {
  PlanReader views = read_list(plan_->views);
  for (uint32_t i = 0; i < plan_->views.count; ++i) {
    PlanView view = views.view();
    if (view.kind == ViewKind::kReopened && beneath(path, view.path)) return true;
  }
  return false;
}

// What the kernel answers, or would, to whoever changes what is at a path; 0 for what is the run's
// own.
int Broker::refusal(const char* path, DeniedOperation operation) const {
  bool itself = false;
  if (kept(path, &itself)) {
    bool moves = operation == DeniedOperation::kRemove || operation == DeniedOperation::kRename;
    return itself && moves ? EBUSY : EROFS;
  }
  return writable(path) ? 0 : kRefusedPath;
}

// Objects without a name are nobody's file; named ones are the run's beneath its writable roots.
// One whose path is not known is not.
int Broker::refusal(const struct stat& found, const char* path, DeniedOperation operation) const {
  if (path[0] == '\0') return kRefusedPath;
  bool nameless = path[0] != '/' || (found.st_nlink == 0 && is_unlinked(path));
  return nameless ? 0 : refusal(path, operation);
}

int Broker::excused(const Caller& caller, int error) {
  bool doubtful = error == EFAULT || error == EACCES || error == EPERM;
  if (!doubtful || !caller.is_hidden()) return error;
  denials_.lose();
  return kRefusedPath;
}

bool Broker::decode(Duty duty, const seccomp_notif& question, int* error) {
  Caller caller(static_cast<pid_t>(question.pid));
  *error = 0;
  switch (duty) {
    case Duty::kChange:
      *error = decode_metadata(question.data, caller.memory(), &g_request);
      break;
    case Duty::kOpen:
      *error = decode_open(question.data, caller.memory(), &g_open);
      break;
    case Duty::kObserve:
      decode_observed(question.data, caller.memory(), &g_observed);
      if (g_observed.count == 0 && caller.is_hidden()) denials_.lose();
      break;
    case Duty::kConnect:
      break;
    case Duty::kRefuse:
      *error = ENOSYS;
      break;
  }
  *error = excused(caller, *error);
  return *error == 0;
}

int64_t Broker::change_metadata(const seccomp_notif& question, const MountTable* avoided) {
  Caller caller(static_cast<pid_t>(question.pid));
  const MetadataRequest& request = g_request;
  if (request.idle) return 0;
  int error = 0;
  UniqueFd object = resolve(caller, request.place, avoided, g_link, &error);
  if (!object.valid()) return error == kWouldWait ? kWaits : failed(excused(caller, error));
  // Only now is it known that what was read belonged to the caller, and not to one that got its
  // number since.
  if (!is_awaited(listener_, question.id)) return failed(EINTR);
  struct stat found;
  if (fstat(object.get(), &found) != 0) return failed(errno);
  DeniedOperation operation = denied_operation(request.call->operation);
  int refused = refusal(found, g_link, operation);
  int64_t result = refused == 0 ? apply(request, object.get(), found) : failed(refused);
  if (refused != 0 || is_set_id(request, found, result)) {
    if (refused == 0) operation = DeniedOperation::kSetId;
    denials_.report(operation, DenialSource::kBroker, static_cast<int>(-result), caller.thread(),
                    g_link);
  }
  return result;
}

// Whether the file system that opens the file, or makes it, is one to avoid.
bool Broker::opens_slowly(const Caller& caller, const MountTable* avoided) const {
  if (avoided == nullptr || avoided->empty()) return false;
  int error = 0;
  const char* name = nullptr;
  if (resolve(caller, g_open.place, avoided, g_link, &error).valid()) return false;
  if (error == ENOENT) resolve_parent(caller, g_open.place, avoided, g_link, &name, &error);
  return error == kWouldWait;
}

// 0 when the caller has been answered already.
int64_t Broker::open_truncating(const seccomp_notif& question, const MountTable* avoided) {
  Caller caller(static_cast<pid_t>(question.pid));
  if (opens_slowly(caller, avoided)) return kWaits;
  if (!is_awaited(listener_, question.id)) return failed(EINTR);
  auto judge = [](const void* broker, int object) {
    struct stat found;
    return fstat(object, &found) == 0 && path_of(object, g_link, sizeof g_link) &&
           static_cast<const Broker*>(broker)->refusal(found, g_link, DeniedOperation::kTruncate) ==
               0;
  };
  bool waits = avoided == nullptr;
  int64_t result = open_on_behalf(listener_, question, g_open, waits, judge, this);
  // A FIFO that nobody reads yet: whoever opens it for writing waits.
  bool fifo = result == failed(ENXIO) && (g_open.flags & O_NONBLOCK) == 0;
  return fifo && !waits ? kWaits : result;
}

// Reports a path that the policy refuses to write. What does not exist is judged by its directory;
// a path that leads nowhere at all is the kernel's to refuse, and no denial. False when the answer
// would have to be waited for.
bool Broker::observe(const Caller& caller, DeniedOperation operation, bool reads, const Place& at,
                     const MountTable* avoided) {
  int error = 0;
  int refused = 0;
  UniqueFd object = resolve(caller, at, avoided, g_link, &error);
  if (object.valid()) {
    struct stat found;
    if (fstat(object.get(), &found) != 0) return true;
    if (reads || g_link[0] != '/' || found.st_nlink == 0) return true;
    refused = refusal(g_link, operation);
    bool device = S_ISCHR(found.st_mode) && operation == DeniedOperation::kWrite;
    if (device && device_granted(*plan_, g_link)) return true;
  } else {
    if (error != ENOENT) return error != kWouldWait;
    if (operation == DeniedOperation::kWrite) operation = DeniedOperation::kCreate;
    const char* name = nullptr;
    UniqueFd directory = resolve_parent(caller, at, avoided, g_link, &name, &error);
    if (!directory.valid()) return error != kWouldWait;
    size_t length = strlen(g_link);
    if (length == 0 || length + strlen(name) + 2 > sizeof g_link) return true;
    if (length > 1) g_link[length++] = '/';
    memcpy(g_link + length, name, strlen(name) + 1);
    refused = refusal(g_link, operation);
  }
  // Read-only mounts answer before Landlock does.
  if (refused == kRefusedPath && plan_->namespaces != 0) refused = EROFS;
  if (refused != 0) {
    denials_.report(operation, DenialSource::kObserver, refused, caller.thread(), g_link);
  }
  return true;
}

bool Broker::observe_call(const seccomp_notif& question, const MountTable* avoided) {
  Caller caller(static_cast<pid_t>(question.pid));
  for (size_t i = 0; i < g_observed.count; ++i) {
    if (!observe(caller, g_observed.operation, i == 0 && g_observed.reads, g_observed.places[i],
                 avoided))
      return false;
  }
  return true;
}

// The call goes on in the kernel, which decides it by itself. What was seen here may have changed
// by then; nothing rests on it.
void Broker::leave_to_kernel(uint64_t question) const {
  seccomp_notif_resp answer{};
  answer.id = question;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  static_cast<void>(
      syscall(SYS_ioctl, static_cast<long>(listener_), SECCOMP_IOCTL_NOTIF_SEND, &answer));
}

// Does what was decoded and answers. False when something would have to be waited for: then nothing
// is done yet.
bool Broker::perform(Duty duty, const seccomp_notif& question, const MountTable* avoided) {
  int64_t result = 0;
  switch (duty) {
    case Duty::kObserve:
      if (!observe_call(question, avoided)) return false;
      leave_to_kernel(question.id);
      return true;
    case Duty::kConnect:
      if (connector_.connect(question, *avoided, &result) == Connector::Done::kPending) return true;
      break;
    case Duty::kChange:
      result = change_metadata(question, avoided);
      break;
    case Duty::kOpen:
      result = open_truncating(question, avoided);
      if (result == 0) return true;
      break;
    case Duty::kRefuse:
      result = failed(ENOSYS);
      break;
  }
  if (result == kWaits) return false;
  send_answer(listener_, question.id, result);
  return true;
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
  Duty duty = duty_of(question->data, plan_->filter);
  int error = 0;
  if (!decode(duty, *question, &error)) return send_answer(listener_, question->id, -error);
  if (perform(duty, *question, &mounts_.now())) return;
  switch (workers_.fork_for(*question, Workers::Task::kFile)) {
    case Workers::Side::kSupervisor:
      return;
    case Workers::Side::kWorker:
      perform(duty, *question, nullptr);
      _exit(0);
    case Workers::Side::kNobody:
      break;
  }
  if (duty != Duty::kObserve) return send_answer(listener_, question->id, -EAGAIN);
  denials_.lose();
  leave_to_kernel(question->id);
}

}  // namespace cordon
