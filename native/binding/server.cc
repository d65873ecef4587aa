// The served process: its life ends with a descriptor, which ends with the thread that it serves at
// the latest.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <vector>

#include "binding/arguments.h"
#include "binding/exports.h"
#include "binding/system_error.h"
#include "binding/thread_state.h"
#include "core/unique_fd.h"

extern char** environ;

namespace cordon {
namespace {

// The number cordon-exec expects its socket at.
constexpr int kServeSocket = 3;

// Processes whose descriptor is closed: they take a moment to end what they served, and the thread
// they served may be gone by then. Shared by all threads; reaped whenever one of them starts or
// closes another.
std::mutex g_leaving_lock;
std::vector<pid_t> g_leaving;

void leave(pid_t pid) {
  std::lock_guard<std::mutex> guard(g_leaving_lock);
  if (pid != 0) g_leaving.push_back(pid);
  auto gone = [](pid_t each) { return waitpid(each, nullptr, WNOHANG) != 0; };
  g_leaving.erase(std::remove_if(g_leaving.begin(), g_leaving.end(), gone), g_leaving.end());
}

void reap_left() { leave(0); }

int spawn_server(const std::string& executable, const char* kind, const char* journal, int socket,
                 pid_t* pid) {
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  // dup2 onto the same number would leave close-on-exec set.
  int source = socket;
  UniqueFd moved;
  if (socket == kServeSocket) {
    moved.reset(fcntl(socket, F_DUPFD_CLOEXEC, kServeSocket + 1));
    source = moved.get();
  }
  error = posix_spawn_file_actions_adddup2(&actions, source, kServeSocket);
  const char* arguments[] = {executable.c_str(), "serve", kind, journal, nullptr};
  if (error == 0) {
    error = posix_spawn(pid, executable.c_str(), &actions, nullptr,
                        const_cast<char* const*>(arguments), environ);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

ThreadState::~ThreadState() {
  // First, so that served processes find their directories to be nobody's.
  ready.clear();
  for (const Served& each : served) {
    ::close(each.fd);
    leave(each.pid);
  }
}

void make_thread_state(Napi::Env env) { env.SetInstanceData(new ThreadState()); }

Napi::Value start_server(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::string executable;
  std::string journal;
  if (info.Length() != 3 || !read_text(info[0], &executable) || !read_text(info[1], &journal) ||
      !info[2].IsBoolean()) {
    return throw_type_error(
        env, "an executable, a journal directory and whether only confined runs are served");
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return throw_system_error(env, errno, "socketpair");
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  int on = 1;
  // Before the first request can be sent: credentials are attached when a message is sent, not when
  // it is read.
  if (setsockopt(theirs.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return throw_system_error(env, errno, "setsockopt");
  }
  pid_t pid = 0;
  int error = spawn_server(executable, info[2].As<Napi::Boolean>().Value() ? "confined" : "any",
                           journal.empty() ? "-" : journal.c_str(), theirs.get(), &pid);
  if (error != 0) return throw_system_error(env, error, "posix_spawn", executable.c_str());
  reap_left();
  thread_state(env).served.push_back({ours.get(), pid});
  Napi::Object server = Napi::Object::New(env);
  server.Set("fd", ours.release());
  server.Set("pid", pid);
  return server;
}

Napi::Value close_descriptor(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  int fd = -1;
  if (info.Length() != 1 || !read_descriptor(info[0], &fd))
    return throw_type_error(env, "a descriptor");
  std::vector<Served>& served = thread_state(env).served;
  auto found = std::find_if(served.begin(), served.end(),
                            [fd](const Served& each) { return each.fd == fd; });
  pid_t pid = 0;
  if (found != served.end()) {
    pid = found->pid;
    served.erase(found);
    forget_ready_of(&thread_state(env), fd);
  }
  // Linux has closed it, whatever it answers, but for a number that was not open.
  bool was_open = ::close(fd) == 0 || errno != EBADF;
  leave(pid);
  if (!was_open) return throw_system_error(env, EBADF, "close");
  return env.Undefined();
}

}  // namespace cordon
