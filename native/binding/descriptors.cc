// Channels to a run, and what a descriptor is.

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <vector>

#include "binding/arguments.h"
#include "binding/exports.h"
#include "binding/object_kind.h"
#include "binding/object_name.h"
#include "binding/system_error.h"
#include "core/unique_fd.h"

namespace cordon {
namespace {

bool make_channel(const std::string& kind, int ends[2]) {
  if (kind == "duplex") return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return false;
  bool parent_reads = kind == "read";
  ends[0] = pipe_ends[parent_reads ? 0 : 1];
  ends[1] = pipe_ends[parent_reads ? 1 : 0];
  return true;
}

const char* access_of(int flags) {
  if ((flags & O_PATH) != 0) return "path";
  switch (flags & O_ACCMODE) {
    case O_RDONLY:
      return "read";
    case O_WRONLY:
      return "write";
    default:
      return "read-write";
  }
}

}  // namespace

Napi::Value open_object(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::string path;
  if (info.Length() != 1 || !read_text(info[0], &path)) return throw_type_error(env, "a path");
  UniqueFd fd(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) return throw_system_error(env, errno, "open", path.c_str());
  struct stat found;
  if (fstat(fd.get(), &found) != 0) return throw_system_error(env, errno, "fstat", path.c_str());
  std::string name = name_leading_to(fd.get(), found);
  Napi::Object object = Napi::Object::New(env);
  object.Set("kind", kind_of(found.st_mode));
  object.Set("dev", Napi::BigInt::New(env, static_cast<uint64_t>(found.st_dev)));
  object.Set("ino", Napi::BigInt::New(env, static_cast<uint64_t>(found.st_ino)));
  object.Set("uid", static_cast<double>(found.st_uid));
  object.Set("links", static_cast<double>(found.st_nlink));
  if (!name.empty() && is_utf8(env, name)) object.Set("path", name);
  object.Set("fd", fd.release());
  return object;
}

Napi::Value lock(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  int fd = -1;
  if (info.Length() != 1 || !read_descriptor(info[0], &fd)) {
    return throw_type_error(env, "a descriptor");
  }
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return Napi::Boolean::New(env, true);
  if (errno == EWOULDBLOCK) return Napi::Boolean::New(env, false);
  return throw_system_error(env, errno, "flock");
}

Napi::Value channel(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::string kind;
  bool known = info.Length() == 1 && read_text(info[0], &kind) &&
               (kind == "duplex" || kind == "read" || kind == "write");
  if (!known) return throw_type_error(env, "'duplex', 'read' or 'write'");
  int ends[2];
  if (!make_channel(kind, ends))
    return throw_system_error(env, errno, kind == "duplex" ? "socketpair" : "pipe2");
  UniqueFd parent(ends[0]);
  UniqueFd child(ends[1]);
  if (fcntl(parent.get(), F_SETFL, fcntl(parent.get(), F_GETFL) | O_NONBLOCK) != 0) {
    return throw_system_error(env, errno, "fcntl");
  }
  Napi::Object pair = Napi::Object::New(env);
  pair.Set("parent", parent.release());
  pair.Set("child", child.release());
  return pair;
}

Napi::Value duplicate(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  int fd = -1;
  if (info.Length() != 1 || !read_descriptor(info[0], &fd))
    return throw_type_error(env, "a descriptor");
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return throw_system_error(env, errno, "fcntl");
  return Napi::Number::New(env, copy);
}

Napi::Value describe(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  int fd = -1;
  if (info.Length() != 1 || !read_descriptor(info[0], &fd))
    return throw_type_error(env, "a descriptor");
  struct stat found;
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return throw_system_error(env, errno, "fcntl");
  if (fstat(fd, &found) != 0) return throw_system_error(env, errno, "fstat");
  Napi::Object facts = Napi::Object::New(env);
  bool terminal = (flags & O_PATH) == 0 && isatty(fd) == 1;
  facts.Set("kind", kind_of(found.st_mode));
  facts.Set("access", access_of(flags));
  facts.Set("append", (flags & O_APPEND) != 0);
  facts.Set("terminal", terminal);
  char name[PATH_MAX];
  if (terminal && ttyname_r(fd, name, sizeof name) == 0) facts.Set("terminalPath", name);
  return facts;
}

// What stat does not tell. A file system without one of them leaves it out.
Napi::Value attributes(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  int fd = -1;
  if (info.Length() != 1 || !read_descriptor(info[0], &fd))
    return throw_type_error(env, "a descriptor");
  if (fcntl(fd, F_GETFD) < 0) return throw_system_error(env, errno, "fcntl");
  Napi::Object found = Napi::Object::New(env);
  std::vector<char> list(XATTR_LIST_MAX);
  ssize_t length = flistxattr(fd, list.data(), list.size());
  if (length >= 0) {
    Napi::Array names = Napi::Array::New(env);
    const char* end = list.data() + length;
    for (const char* at = list.data(); at < end; at += strlen(at) + 1)
      names.Set(names.Length(), Napi::String::New(env, at));
    found.Set("names", names);
  }
  int flags = 0;
  if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) found.Set("flags", flags);
  return found;
}

}  // namespace cordon
