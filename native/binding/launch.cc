// Handing a plan over: a sealed memfd, and a fixed header with descriptors to the served process.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "binding/arguments.h"
#include "binding/exports.h"
#include "binding/system_error.h"
#include "binding/thread_state.h"
#include "core/record.h"
#include "core/unique_fd.h"
#include "linux/group_hash.h"
#include "linux/rights.h"

namespace cordon {
namespace {

constexpr int kMostDescriptors = kRequestDescriptors + 3;
static_assert(kMostDescriptors <= kMostRights);

struct Request {
  int server = -1;
  const uint8_t* plan = nullptr;
  size_t plan_size = 0;
  int stdio[3] = {-1, -1, -1};
  int daemon = -1;
  bool has_temp = false;
  std::string temp_parent;
  std::string temp_name;
};

bool read_temp(const Napi::Value& value, Request* request) {
  if (value.IsUndefined()) return true;
  if (!value.IsObject()) return false;
  auto temp = value.As<Napi::Object>();
  request->has_temp = true;
  return read_text(temp.Get("parent"), &request->temp_parent) &&
         read_text(temp.Get("name"), &request->temp_name) && !request->temp_name.empty() &&
         request->temp_name.size() < kTempNameBytes;
}

// -1, which stays what the place is without a descriptor.
bool is_nothing(const Napi::Value& value) {
  return value.IsNumber() && value.As<Napi::Number>().DoubleValue() == -1;
}

bool read_request(const Napi::CallbackInfo& info, Request* request) {
  if (info.Length() != 1 || !info[0].IsObject()) return false;
  auto object = info[0].As<Napi::Object>();
  Napi::Value stdio = object.Get("stdio");
  if (!stdio.IsArray() || stdio.As<Napi::Array>().Length() != 3) return false;
  for (uint32_t i = 0; i < 3; ++i) {
    Napi::Value place = stdio.As<Napi::Array>().Get(i);
    if (!read_descriptor(place, &request->stdio[i]) && !is_nothing(place)) return false;
  }
  Napi::Value daemon = object.Get("daemon");
  if (!daemon.IsUndefined() && !read_descriptor(daemon, &request->daemon)) return false;
  return read_descriptor(object.Get("server"), &request->server) &&
         read_bytes(object.Get("plan"), &request->plan, &request->plan_size) &&
         read_temp(object.Get("temp"), request);
}

// Sealed, so that the reader may map it: nobody can change or shorten it any more.
int make_plan(const uint8_t* bytes, size_t size, UniqueFd* plan) {
  plan->reset(
      static_cast<int>(syscall(SYS_memfd_create, "cordon-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (!plan->valid()) return errno;
  size_t written = 0;
  while (written < size) {
    ssize_t n = write(plan->get(), bytes + written, size - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    written += static_cast<size_t>(n);
  }
  int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  return fcntl(plan->get(), F_ADD_SEALS, seals) == 0 ? 0 : errno;
}

bool goes_inline(const Request& request) {
  return request.plan_size > 0 && request.plan_size <= kMostInlineBytes;
}

int send_request(const Request& request, const RunRequest& header, const int* descriptors,
                 size_t count) {
  iovec parts[] = {{const_cast<RunRequest*>(&header), sizeof header},
                   {const_cast<uint8_t*>(request.plan), request.plan_size}};
  size_t part_count = goes_inline(request) ? 2 : 1;
  size_t size = sizeof header + (part_count == 2 ? request.plan_size : 0);
  ssize_t sent;
  do {
    sent = send_with_descriptors(request.server, parts, part_count, descriptors, count,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(size) ? 0 : sent < 0 ? errno : EIO;
}

}  // namespace

Napi::Value launch(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  Request request;
  if (!read_request(info, &request)) {
    return throw_type_error(
        env, "{server, plan, stdio: [fd, fd, fd], daemon?: fd, temp?: {parent, name}}");
  }
  UniqueFd plan;
  if (!goes_inline(request)) {
    if (int error = make_plan(request.plan, request.plan_size, &plan))
      return throw_system_error(env, error, "memfd_create");
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return throw_system_error(env, errno, "socketpair");
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  UniqueFd parent;
  UniqueFd nothing;
  for (int& place : request.stdio) {
    if (place >= 0) continue;
    if (!nothing.valid()) nothing.reset(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!nothing.valid()) return throw_system_error(env, errno, "open", "/dev/null");
    place = nothing.get();
  }
  const ReadyDirectory* ready = nullptr;
  RunRequest header{};
  header.magic = kRequestMagic;
  header.version = kRequestVersion;
  header.groups = group_hash();
  int descriptors[kMostDescriptors];
  size_t count = 0;
  if (plan.valid()) {
    descriptors[count++] = plan.get();
  } else {
    header.flags |= kRequestPlanInline;
  }
  for (int fd : {theirs.get(), request.stdio[0], request.stdio[1], request.stdio[2]}) {
    descriptors[count++] = fd;
  }
  if (request.daemon >= 0) {
    header.flags |= kRequestDaemon;
    descriptors[count++] = request.daemon;
  }
  if (request.has_temp) {
    parent.reset(open(request.temp_parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!parent.valid()) return throw_system_error(env, errno, "open", request.temp_parent.c_str());
    memcpy(header.temp_name, request.temp_name.c_str(), request.temp_name.size());
    descriptors[count++] = parent.get();
    ready = find_taken(&thread_state(env), header.temp_name);
  }
  if (ready != nullptr) {
    header.flags |= kRequestTempMade;
    descriptors[count++] = ready->directory.get();
  }
  if (int error = send_request(request, header, descriptors, count)) {
    return throw_system_error(env, error, "sendmsg");
  }
  if (ready != nullptr) forget_ready(&thread_state(env), ready);
  return Napi::Number::New(env, ours.release());
}

Napi::Value plan_descriptor(const Napi::CallbackInfo& info) {
  const uint8_t* bytes = nullptr;
  size_t size = 0;
  if (info.Length() != 1 || !read_bytes(info[0], &bytes, &size)) {
    return throw_type_error(info.Env(), "a Uint8Array");
  }
  UniqueFd plan;
  if (int error = make_plan(bytes, size, &plan))
    return throw_system_error(info.Env(), error, "memfd_create");
  return Napi::Number::New(info.Env(), plan.release());
}

}  // namespace cordon
