// Temp directories that served processes make ahead of the runs that will have them.

#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "binding/arguments.h"
#include "binding/exports.h"
#include "binding/system_error.h"
#include "binding/thread_state.h"

namespace cordon {
namespace {

// False when there is none to be had now.
bool receive_ready(int server, ReadyDirectory* ready) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part{&ready->told, sizeof ready->told};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t length;
  do {
    length = recvmsg(server, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (length < 0 && errno == EINTR);
  cmsghdr* rights = length < 0 ? nullptr : CMSG_FIRSTHDR(&message);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    memcpy(&fd, CMSG_DATA(rights), sizeof fd);
    ready->directory.reset(fd);
  }
  ready->server = server;
  ready->told.name[kTempNameBytes - 1] = '\0';
  // Without its descriptor (none was left) it is the served process's alone.
  return length == static_cast<ssize_t>(sizeof ready->told) && ready->directory.valid();
}

bool is_untouched(const ReadyDirectory& ready) {
  struct stat found;
  return fstat(ready.directory.get(), &found) == 0 && untouched(ready.told, found);
}

template <typename Condition>
void erase_if(std::vector<ReadyDirectory>* ready, Condition condition) {
  ready->erase(std::remove_if(ready->begin(), ready->end(), condition), ready->end());
}

}  // namespace

ReadyDirectory* find_taken(ThreadState* state, const char* name) {
  for (ReadyDirectory& each : state->ready) {
    if (each.taken && strcmp(each.told.name, name) == 0) return &each;
  }
  return nullptr;
}

void forget_ready(ThreadState* state, const ReadyDirectory* ready) {
  erase_if(&state->ready, [ready](const ReadyDirectory& each) { return &each == ready; });
}

void forget_ready_of(ThreadState* state, int server) {
  erase_if(&state->ready,
           [server](const ReadyDirectory& each) { return each.server == server && !each.taken; });
  for (ReadyDirectory& each : state->ready) {
    if (each.server == server) each.server = -1;
  }
}

Napi::Value take_temp(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  int server = -1;
  std::string parent;
  if (info.Length() != 2 || !read_descriptor(info[0], &server) || !read_text(info[1], &parent)) {
    return throw_type_error(env, "a served process and a parent directory");
  }
  ThreadState& state = thread_state(env);
  for (ReadyDirectory ready{}; receive_ready(server, &ready); ready = {}) {
    state.ready.push_back(std::move(ready));
  }
  erase_if(&state.ready,
           [](const ReadyDirectory& each) { return !each.taken && !is_untouched(each); });
  struct stat found;
  if (state.ready.empty() || stat(parent.c_str(), &found) != 0) return env.Undefined();
  for (ReadyDirectory& each : state.ready) {
    if (each.taken || each.server != server || each.told.parent_device != found.st_dev ||
        each.told.parent_inode != found.st_ino)
      continue;
    each.taken = true;
    return Napi::String::New(env, each.told.name);
  }
  return env.Undefined();
}

Napi::Value return_temp(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::string name;
  if (info.Length() != 1 || !read_text(info[0], &name)) return throw_type_error(env, "a name");
  ThreadState& state = thread_state(env);
  ReadyDirectory* ready = find_taken(&state, name.c_str());
  if (ready == nullptr) return env.Undefined();
  ready->taken = false;
  if (ready->server < 0) forget_ready(&state, ready);
  return env.Undefined();
}

}  // namespace cordon
