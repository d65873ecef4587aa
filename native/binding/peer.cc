// Who is at the other end of a socket, and descriptors over one.

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "binding/arguments.h"
#include "binding/exports.h"
#include "binding/system_error.h"
#include "core/unique_fd.h"
#include "linux/files.h"

namespace cordon {
namespace {

// Of 6.5; the number is the same on every architecture Cordon runs on.
constexpr int kPeerPidfd = 77;
// Longer than any chain of parents that is worth following.
constexpr int kMostAncestors = 256;
constexpr size_t kMostText = 256;
constexpr int kMostDescriptors = 3;

// A descriptor of the very process, so that its number cannot come to be another's.
UniqueFd hold_peer(int fd, pid_t pid) {
  int pidfd = -1;
  socklen_t size = sizeof pidfd;
  if (getsockopt(fd, SOL_SOCKET, kPeerPidfd, &pidfd, &size) == 0) {
    fcntl(pidfd, F_SETFD, FD_CLOEXEC);
    return UniqueFd(pidfd);
  }
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

bool is_alive(int pidfd) {
  pollfd ready{pidfd, POLLIN, 0};
  return poll(&ready, 1, 0) == 0;
}

// The value of a line such as "NoNewPrivs:\t1"; -1 when there is none.
int64_t status_field(const std::string& status, const char* name) {
  size_t at = status.find(name);
  return at == std::string::npos ? -1 : strtoll(status.c_str() + at + strlen(name), nullptr, 10);
}

bool read_status(const std::string& process, std::string* status) {
  char text[4096];
  if (read_small(("/proc/" + process + "/status").c_str(), text, sizeof text) < 0) return false;
  *status = text;
  return true;
}

bool read_marks(const std::string& process, Napi::Object* marks) {
  Napi::Env env = marks->Env();
  std::string status;
  if (!read_status(process, &status)) return false;
  marks->Set("noNewPrivs", status_field(status, "\nNoNewPrivs:") == 1);
  marks->Set("filters", static_cast<double>(status_field(status, "\nSeccomp_filters:")));
  Napi::Object namespaces = Napi::Object::New(env);
  for (const char* kind : {"mnt", "user", "pid", "ipc"}) {
    struct stat found;
    if (stat(("/proc/" + process + "/ns/" + kind).c_str(), &found) != 0) return false;
    namespaces.Set(kind, static_cast<double>(found.st_ino));
  }
  marks->Set("namespaces", namespaces);
  return true;
}

Napi::Array ancestors_of(Napi::Env env, pid_t pid) {
  Napi::Array list = Napi::Array::New(env);
  std::string status;
  for (int i = 0; i < kMostAncestors && read_status(std::to_string(pid), &status); ++i) {
    pid = static_cast<pid_t>(status_field(status, "\nPPid:"));
    if (pid <= 0) break;
    list.Set(list.Length(), static_cast<double>(pid));
  }
  return list;
}

class ReceiveWorker : public Napi::AsyncWorker {
 public:
  ReceiveWorker(Napi::Env env, UniqueFd socket, int timeout_ms)
      : Napi::AsyncWorker(env),
        deferred_(Napi::Promise::Deferred::New(env)),
        socket_(static_cast<UniqueFd&&>(socket)),
        timeout_ms_(timeout_ms) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 protected:
  void Execute() override {
    pollfd ready{socket_.get(), POLLIN, 0};
    int result = poll(&ready, 1, timeout_ms_);
    if (result <= 0) {
      error_ = result == 0 ? ETIMEDOUT : errno;
      return;
    }
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostDescriptors)];
    char text[kMostText];
    iovec part{text, sizeof text};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t length = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (length < 0) {
      error_ = errno;
      return;
    }
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
         each = CMSG_NXTHDR(&message, each)) {
      if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
      size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd;
        memcpy(&fd, CMSG_DATA(each) + i * sizeof fd, sizeof fd);
        descriptors_.emplace_back(fd);
      }
    }
    // More than fit were sent: what came of them is let go.
    if ((message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0) {
      descriptors_.clear();
      error_ = EMSGSIZE;
      return;
    }
    text_.assign(text, static_cast<size_t>(length));
  }

  void OnOK() override {
    Napi::Env env = Env();
    if (error_ != 0) {
      throw_system_error(env, error_, "recvmsg");
      deferred_.Reject(env.GetAndClearPendingException().Value());
      return;
    }
    Napi::Object result = Napi::Object::New(env);
    Napi::Array fds = Napi::Array::New(env, descriptors_.size());
    for (size_t i = 0; i < descriptors_.size(); ++i) {
      fds.Set(static_cast<uint32_t>(i), static_cast<double>(descriptors_[i].release()));
    }
    result.Set("text", text_);
    result.Set("descriptors", fds);
    deferred_.Resolve(result);
  }

  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  Napi::Promise::Deferred deferred_;
  UniqueFd socket_;
  int timeout_ms_;
  int error_ = 0;
  std::string text_;
  std::vector<UniqueFd> descriptors_;
};

// A path that is too long for an address is reached through its directory.
bool connect_to(int socket, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string name = path;
  UniqueFd directory;
  if (path.size() >= sizeof address.sun_path) {
    size_t slash = path.rfind('/');
    if (slash == std::string::npos) {
      errno = ENAMETOOLONG;
      return false;
    }
    directory.reset(open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory.valid()) return false;
    name = "/proc/self/fd/" + std::to_string(directory.get()) + path.substr(slash);
    if (name.size() >= sizeof address.sun_path) {
      errno = ENAMETOOLONG;
      return false;
    }
  }
  memcpy(address.sun_path, name.c_str(), name.size());
  return connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

bool read_descriptors(const Napi::Value& value, std::vector<int>* fds) {
  if (!value.IsArray()) return false;
  auto list = value.As<Napi::Array>();
  if (list.Length() > kMostDescriptors) return false;
  for (uint32_t i = 0; i < list.Length(); ++i) {
    fds->push_back(-1);
    if (!read_descriptor(list.Get(i), &fds->back())) return false;
  }
  return true;
}

// An address that begins with `@` is one of the abstract namespace, whose names begin with a zero
// byte.
bool send_datagram(int socket, const std::string& path, const std::string& text) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(address.sun_path, path.data(), path.size());
  if (path[0] == '@') address.sun_path[0] = '\0';
  auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  return sendto(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                reinterpret_cast<sockaddr*>(&address), size) >= 0;
}

}  // namespace

Napi::Value peer(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  int fd = -1;
  if (info.Length() != 1 || !read_descriptor(info[0], &fd)) {
    return throw_type_error(env, "a descriptor");
  }
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return throw_system_error(env, errno, "getsockopt");
  }
  Napi::Object found = Napi::Object::New(env);
  found.Set("uid", static_cast<double>(who.uid));
  found.Set("gid", static_cast<double>(who.gid));
  found.Set("pid", static_cast<double>(who.pid));
  UniqueFd held = hold_peer(fd, who.pid);
  if (who.pid <= 0 || !held.valid() || !read_marks(std::to_string(who.pid), &found)) return found;
  found.Set("ancestors", ancestors_of(env, who.pid));
  // What was read was of this process only if it is still there.
  if (is_alive(held.get())) found.Set("isRead", true);
  return found;
}

Napi::Value own_marks(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  Napi::Object found = Napi::Object::New(env);
  if (!read_marks("self", &found))
    return throw_system_error(env, errno, "open", "/proc/self/status");
  return found;
}

Napi::Value receive_descriptors(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  int fd = -1;
  int timeout_ms = 0;
  if (info.Length() != 2 || !read_descriptor(info[0], &fd) ||
      !read_descriptor(info[1], &timeout_ms)) {
    return throw_type_error(env, "a descriptor and milliseconds");
  }
  UniqueFd socket(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!socket.valid()) return throw_system_error(env, errno, "fcntl");
  auto* worker = new ReceiveWorker(env, static_cast<UniqueFd&&>(socket), timeout_ms);
  worker->Queue();
  return worker->promise();
}

Napi::Value send_descriptors(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::string path;
  std::string text;
  std::vector<int> fds;
  if (info.Length() != 3 || !read_text(info[0], &path) || !read_text(info[1], &text) ||
      text.empty() || text.size() > kMostText || !read_descriptors(info[2], &fds)) {
    return throw_type_error(env, "a path, a text, and at most three descriptors");
  }
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return throw_system_error(env, errno, "socket");
  if (!connect_to(socket.get(), path)) {
    return throw_system_error(env, errno, "connect", path.c_str());
  }
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostDescriptors)] = {};
  iovec part{text.data(), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
  }
  if (sendmsg(socket.get(), &message, MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    return throw_system_error(env, errno, "sendmsg", path.c_str());
  }
  return env.Undefined();
}

Napi::Value notify(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::string path;
  std::string text;
  if (info.Length() != 2 || !read_text(info[0], &path) || !read_text(info[1], &text)) {
    return throw_type_error(env, "a path and a text");
  }
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return throw_system_error(env, errno, "socket");
  if (!send_datagram(socket.get(), path, text)) {
    return throw_system_error(env, errno, "sendto", path.c_str());
  }
  return env.Undefined();
}

}  // namespace cordon
