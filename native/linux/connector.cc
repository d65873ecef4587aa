#include "linux/connector.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/plan_codec.h"
#include "core/text.h"
#include "linux/decode.h"
#include "linux/processes.h"
#include "linux/resolve.h"

namespace cordon {
namespace {

// PIDFD_THREAD, since Linux 6.9: a thread may have a descriptor table of its own.
constexpr unsigned long kPidfdThread = O_EXCL;
constexpr int kRefusedSocket = EACCES;

int open_pidfd(pid_t thread) {
  int fd = static_cast<int>(syscall(SYS_pidfd_open, static_cast<long>(thread), kPidfdThread));
  if (fd >= 0 || errno != EINVAL) return fd;
  uint64_t process = Caller(thread).status_field("Tgid:", 10);
  return static_cast<int>(syscall(SYS_pidfd_open, static_cast<long>(process), 0L));
}

// The caller's own socket, not another one to the same: connecting ours connects its.
UniqueFd socket_of(const Caller& caller, int number, int* error) {
  UniqueFd process(open_pidfd(caller.thread()));
  UniqueFd socket;
  if (process.valid()) {
    socket.reset(static_cast<int>(
        syscall(SYS_pidfd_getfd, static_cast<long>(process.get()), static_cast<long>(number), 0L)));
  }
  *error = socket.valid() ? 0 : errno;
  return socket;
}

int option(int socket, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  if (syscall(SYS_getsockopt, static_cast<long>(socket), static_cast<long>(SOL_SOCKET),
              static_cast<long>(name), &value, &length) != 0) {
    return -1;
  }
  return value;
}

// Whether who listens descends from the supervisor, which is the worker's parent. One that is gone
// cannot be asked; then place and age of the socket have to do.
bool served_from_within(int socket) {
  ucred server{};
  socklen_t length = sizeof server;
  if (syscall(SYS_getsockopt, static_cast<long>(socket), static_cast<long>(SOL_SOCKET),
              static_cast<long>(SO_PEERCRED), &server, &length) != 0) {
    return false;
  }
  Process process{};
  if (!read_process(server.pid, &process)) return true;
  pid_t supervisor = getppid();
  while (process.pid != supervisor) {
    if (process.parent <= 1 || !read_process(process.parent, &process)) return false;
  }
  return true;
}

int64_t connect_now(int socket, const void* address, unsigned length) {
  return ::connect(socket, static_cast<const sockaddr*>(address), length) == 0 ? 0 : -errno;
}

}  // namespace

void Connector::start(int listener, const Plan& plan, const char* temporary, Workers* workers,
                      Denials* denials) {
  listener_ = listener;
  denials_ = denials;
  workers_ = workers;
  plan_ = &plan;
  temporary_ = temporary;
}

void Connector::begin() {
  // The clock that file systems stamp inodes with.
  clock_gettime(CLOCK_REALTIME_COARSE, &began_);
}

bool Connector::born_in_run(int object) const {
  struct statx found {};
  if (syscall(SYS_statx, static_cast<long>(object), "", static_cast<long>(AT_EMPTY_PATH),
              static_cast<long>(STATX_BTIME), &found) != 0 ||
      (found.stx_mask & STATX_BTIME) == 0) {
    return false;
  }
  if (found.stx_btime.tv_sec != began_.tv_sec) return found.stx_btime.tv_sec > began_.tv_sec;
  return static_cast<int64_t>(found.stx_btime.tv_nsec) >= began_.tv_nsec;
}

// What the run made lies where it may write, and is not older than the run. Both are asked for: a
// service outside may be restarted meanwhile, and one in the workspace may have been there before.
bool Connector::permitted(const char* path, int object) {
  granted_ = false;
  // Only the run itself writes in its own temp directory, whatever the file system says of ages.
  if (plan_->temp[0] != '\0' && beneath(path, plan_->temp)) return true;
  // Of what was there before the kernel finds no listener: it looks for the inode that was bound.
  if (temporary_ != nullptr && beneath(path, temporary_)) return true;
  PlanReader rules = read_list(plan_->rules);
  for (uint32_t i = 0; i < plan_->rules.count; ++i) {
    PlanRule rule = rules.rule();
    if (rule.kind == RuleKind::kSocket && strcmp(path, rule.path) == 0) return granted_ = true;
    if (rule.kind == RuleKind::kTree && beneath(path, rule.path) && born_in_run(object))
      return true;
  }
  return false;
}

// 0 when the run may connect to the socket at `path`, which `*object` then names.
int Connector::permitted_path(const Caller& caller, const char* path, const MountTable* avoided,
                              UniqueFd* object) {
  Place place;
  place.directory = AT_FDCWD;
  place.itself = false;
  place.follows = true;
  place.may_be_empty = false;
  memcpy(place.path, path, strlen(path) + 1);
  int error = 0;
  char where[kPathBytes];
  *object = resolve(caller, place, avoided, where, &error);
  if (!object->valid()) return error;
  struct stat found;
  if (fstat(object->get(), &found) != 0) return errno;
  if (!S_ISSOCK(found.st_mode)) return ECONNREFUSED;
  if (where[0] == '\0') return kRefusedSocket;
  if (permitted(where, object->get())) return 0;
  denials_->report(DeniedOperation::kConnect, DenialSource::kBroker, kRefusedSocket,
                   caller.thread(), where);
  return kRefusedSocket;
}

int64_t Connector::connect_to_path(int socket, const UniqueFd& object) {
  sockaddr_un judged{};
  judged.sun_family = AF_UNIX;
  auto name = own_descriptor(object.get());
  memcpy(judged.sun_path, name.get(), name.size() + 1);
  int64_t answer = connect_now(socket, &judged, sizeof judged);
  if (answer == 0 && !granted_ && !served_from_within(socket)) {
    shutdown(socket, SHUT_RDWR);
    answer = -kRefusedSocket;
  }
  return answer;
}

Connector::Done Connector::connect(const seccomp_notif& question, const MountTable& avoided,
                                   int64_t* result) {
  Caller caller(static_cast<pid_t>(question.pid));
  ConnectRequest request;
  int malformed = decode_connect(question.data, caller.memory(), &request);
  int error = 0;
  UniqueFd socket = socket_of(caller, request.socket, &error);
  *result = -error;
  if (!socket.valid()) {
    if (error == EPERM && caller.is_hidden()) denials_->lose();
    return Done::kAnswered;
  }
  int domain = option(socket.get(), SO_DOMAIN);
  *result = -ENOTSOCK;
  if (domain < 0) return Done::kAnswered;
  *result = -malformed;
  if (malformed != 0) return Done::kAnswered;
  *result = -EINTR;
  if (!is_awaited(listener_, question.id)) return Done::kAnswered;

  bool by_path = domain == AF_UNIX && request.path[0] != '\0';
  *result = -EINVAL;
  if (by_path && request.length > sizeof(sockaddr_un)) return Done::kAnswered;
  UniqueFd object;
  error = by_path ? permitted_path(caller, request.path, &avoided, &object) : 0;
  *result = -error;
  if (error != 0 && error != kWouldWait) return Done::kAnswered;

  int type = option(socket.get(), SO_TYPE);
  // Whether it waits is a flag that another thread may change in between, so it is not asked: what
  // could is a worker's.
  if (!by_path && (type == SOCK_DGRAM || type == SOCK_RAW)) {
    *result = connect_now(socket.get(), request.address, request.length);
    return Done::kAnswered;
  }
  *result = -EAGAIN;
  switch (workers_->fork_for(question, Workers::Task::kConnect)) {
    case Workers::Side::kNobody:
      return Done::kAnswered;
    case Workers::Side::kSupervisor:
      return Done::kPending;
    case Workers::Side::kWorker:
      break;
  }
  if (error == kWouldWait) error = permitted_path(caller, request.path, nullptr, &object);
  int64_t answer = error != 0 ? -error
                   : by_path  ? connect_to_path(socket.get(), object)
                              : connect_now(socket.get(), request.address, request.length);
  send_answer(listener_, question.id, answer);
  _exit(0);
}

}  // namespace cordon
