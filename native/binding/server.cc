// The served process: started once, reaped when it ends.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>

#include "binding/arguments.h"
#include "binding/exports.h"
#include "binding/system_error.h"
#include "core/unique_fd.h"

extern char** environ;

namespace cordon {
namespace {

// The number cordon-exec expects its socket at.
constexpr int kServeSocket = 3;

int spawn_server(const std::string& executable, const char* kind, const char* journal, int socket, pid_t* pid) {
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
    error = posix_spawn(pid, executable.c_str(), &actions, nullptr, const_cast<char* const*>(arguments), environ);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Napi::Value start_server(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::string executable;
  std::string journal;
  if (info.Length() != 3 || !read_text(info[0], &executable) || !read_text(info[1], &journal) || !info[2].IsBoolean()) {
    return throw_type_error(env, "an executable, a journal directory and whether only confined runs are served");
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return throw_system_error(env, errno, "socketpair");
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  int on = 1;
  // Before the first request can be sent: credentials are attached when a message is sent, not when it is read.
  if (setsockopt(theirs.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return throw_system_error(env, errno, "setsockopt");
  }
  pid_t pid = 0;
  int error = spawn_server(executable, info[2].As<Napi::Boolean>().Value() ? "confined" : "any",
                           journal.empty() ? "-" : journal.c_str(), theirs.get(), &pid);
  if (error != 0) return throw_system_error(env, error, "posix_spawn", executable.c_str());
  Napi::Object server = Napi::Object::New(env);
  server.Set("fd", ours.release());
  server.Set("pid", pid);
  return server;
}

Napi::Value reap(const Napi::CallbackInfo& info) {
  int pid = 0;
  if (info.Length() != 1 || !read_descriptor(info[0], &pid) || pid == 0) {
    return throw_type_error(info.Env(), "a process id");
  }
  pid_t reaped = waitpid(pid, nullptr, WNOHANG);
  return Napi::Boolean::New(info.Env(), reaped == pid || (reaped < 0 && errno == ECHILD));
}

}  // namespace cordon
