// Taking what a run made out of its place, and putting back what was there. Every name is looked up
// beneath a held root; what is moved is looked at again after the move, and goes back if it is not
// what was judged.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "binding/arguments.h"
#include "binding/beneath.h"
#include "binding/exports.h"
#include "binding/system_error.h"
#include "binding/witness.h"

namespace cordon {
namespace {

constexpr uint64_t kMaxCopied = 64 << 20;
constexpr int kLockAttempts = 20;
constexpr useconds_t kLockUs = 10'000;

struct Expected {
  uint64_t dev;
  uint64_t ino;
  int64_t changed;
};

bool read_expected(const Napi::Value& value, Expected* expected) {
  if (!value.IsObject()) return false;
  auto object = value.As<Napi::Object>();
  Napi::Value dev = object.Get("dev");
  Napi::Value ino = object.Get("ino");
  Napi::Value changed = object.Get("changedNs");
  if (!dev.IsBigInt() || !ino.IsBigInt() || !changed.IsBigInt()) return false;
  bool lossless;
  expected->dev = dev.As<Napi::BigInt>().Uint64Value(&lossless);
  expected->ino = ino.As<Napi::BigInt>().Uint64Value(&lossless);
  expected->changed = changed.As<Napi::BigInt>().Int64Value(&lossless);
  return true;
}

bool is_object(const struct stat& found, const Expected& expected) {
  return found.st_dev == expected.dev && found.st_ino == expected.ino;
}

// Where something lies: its directory, held, and its name there.
struct Spot {
  UniqueFd directory;
  std::string name;
};

// Makes the directories that are missing on the way, as they would be made anew.
int make_above(int root, const std::string& path) {
  constexpr mode_t kMode = 0755;
  for (size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    std::string directory = path.substr(0, slash);
    if (open_beneath(root, directory, O_PATH | O_DIRECTORY).valid()) continue;
    if (errno != ENOENT) return errno;
    auto [above, name] = split_path(directory);
    UniqueFd parent(open_beneath(root, above, O_PATH | O_DIRECTORY));
    if (!parent.valid() || mkdirat(parent.get(), name.c_str(), kMode) != 0) return errno;
  }
  return 0;
}

bool read_spot(const Napi::CallbackInfo& info, Spot* spot, int* error, bool make = false) {
  *error = 0;
  auto held = info.Length() > 2 ? read_witness(info[0]) : nullptr;
  if (held == nullptr || !info[1].IsArray()) return false;
  auto list = info[1].As<Napi::Array>();
  std::string path;
  Napi::Value root = list.Get(0u);
  if (list.Length() != 2 || !root.IsNumber() || !read_text(list.Get(1u), &path)) return false;
  size_t index = root.As<Napi::Number>().Uint32Value();
  if (index >= held->roots.size()) return false;
  auto [above, name] = split_path(path);
  int top = held->roots[index].get();
  if (make) *error = make_above(top, path);
  if (*error != 0) return true;
  spot->directory = open_beneath(top, above, O_PATH | O_DIRECTORY);
  if (!spot->directory.valid()) *error = errno;
  spot->name = name;
  return true;
}

// 0 when what lies there is what was judged, in every respect.
int check(const Spot& spot, const Expected& expected, struct stat* found) {
  if (fstatat(spot.directory.get(), spot.name.c_str(), found, AT_SYMLINK_NOFOLLOW) != 0)
    return errno;
  bool same = is_object(*found, expected) && nanoseconds(found->st_ctim) == expected.changed;
  return same ? 0 : ESTALE;
}

// Moves, and undoes it when something else had come in between.
int move_checked(const Spot& from, int to, const std::string& name, const Expected& expected) {
  if (rename_at(from.directory.get(), from.name, to, name, kRenameNoReplace) != 0) return errno;
  struct stat moved;
  if (fstatat(to, name.c_str(), &moved, AT_SYMLINK_NOFOLLOW) == 0 && is_object(moved, expected))
    return 0;
  rename_at(to, name, from.directory.get(), from.name, kRenameNoReplace);
  return ESTALE;
}

int copy_file(int from, int to) {
  char buffer[1 << 16];
  for (;;) {
    ssize_t got = read(from, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : 0;
    for (ssize_t put = 0; put < got;) {
      ssize_t wrote = write(to, buffer + put, static_cast<size_t>(got - put));
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return errno;
      put += wrote;
    }
  }
}

int copy_regular(const Spot& from, const struct stat& found, int to, const std::string& name) {
  if (static_cast<uint64_t>(found.st_size) > kMaxCopied) return EFBIG;
  UniqueFd source(openat(from.directory.get(), from.name.c_str(),
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!source.valid()) return errno;
  struct stat opened;
  if (fstat(source.get(), &opened) != 0) return errno;
  if (opened.st_dev != found.st_dev || opened.st_ino != found.st_ino) return ESTALE;
  UniqueFd target(openat(to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!target.valid()) return errno;
  int error = copy_file(source.get(), target.get());
  if (error == 0 && fchmod(target.get(), found.st_mode & 0777) != 0) error = errno;
  if (error != 0) unlinkat(to, name.c_str(), 0);
  return error;
}

int copy_link(const Spot& from, int to, const std::string& name) {
  char target[PATH_MAX];
  ssize_t length = readlinkat(from.directory.get(), from.name.c_str(), target, sizeof target - 1);
  if (length < 0) return errno;
  target[length] = '\0';
  return symlinkat(target, to, name.c_str()) == 0 ? 0 : errno;
}

// On another file system. What has a name that nobody knows is the one that was judged, so it may
// be removed once it is copied.
int copy_aside(const Spot& from, const struct stat& found, int to, const std::string& name) {
  int error = S_ISREG(found.st_mode)   ? copy_regular(from, found, to, name)
              : S_ISLNK(found.st_mode) ? copy_link(from, to, name)
                                       : EINVAL;
  if (error != 0) return error;
  return unlinkat(from.directory.get(), from.name.c_str(), 0) == 0 ? 0 : errno;
}

// Makes a file with these bytes, and gives its name: the one that git holds while it writes, for a
// moment. A run may have left that behind, so it is not waited for without end.
int write_new(int directory, const std::string& target, const uint8_t* bytes, size_t size,
              const struct stat& like, std::string* made) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  std::string name = target + ".lock";
  UniqueFd file(openat(directory, name.c_str(), kFlags, 0600));
  for (int i = 0; !file.valid() && errno == EEXIST && i < kLockAttempts; ++i) {
    usleep(kLockUs);
    file.reset(openat(directory, name.c_str(), kFlags, 0600));
  }
  if (!file.valid() && errno == EEXIST) {
    name = unforeseen_name(target);
    file.reset(openat(directory, name.c_str(), kFlags, 0600));
  }
  if (!file.valid()) return errno;
  *made = name;
  int error = 0;
  for (size_t put = 0; error == 0 && put < size;) {
    ssize_t wrote = write(file.get(), bytes + put, size - put);
    if (wrote < 0 && errno != EINTR) error = errno;
    if (wrote > 0) put += static_cast<size_t>(wrote);
  }
  bool foreign = like.st_uid != geteuid() || like.st_gid != getegid();
  if (error == 0 && foreign && fchown(file.get(), like.st_uid, like.st_gid) != 0 &&
      like.st_uid != geteuid()) {
    error = errno;
  }
  if (error == 0 && fchmod(file.get(), like.st_mode & 0777) != 0) error = errno;
  if (error != 0) unlinkat(directory, name.c_str(), 0);
  return error;
}

// In one step, so that there is no moment without the file; and back, when another one was there.
int exchange(const Spot& spot, const std::string& fresh, const Expected& expected) {
  int directory = spot.directory.get();
  if (rename_at(directory, fresh, directory, spot.name, kRenameExchange) != 0) return errno;
  struct stat old;
  if (fstatat(directory, fresh.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0 && is_object(old, expected))
    return 0;
  rename_at(directory, fresh, directory, spot.name, kRenameExchange);
  return ESTALE;
}

Napi::Value failed(Napi::Env env, int error, const Spot& spot) {
  return throw_system_error(env, error, "renameat2", spot.name.c_str());
}

}  // namespace

Napi::Value set_aside(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  Spot from;
  Expected expected;
  int to = -1;
  int error;
  std::string name;
  if (info.Length() != 5 || !read_spot(info, &from, &error) || !read_expected(info[2], &expected) ||
      !read_descriptor(info[3], &to) || !read_text(info[4], &name)) {
    return throw_type_error(env, "a witness, a place, what lies there, a directory and a name");
  }
  struct stat found;
  if (error == 0) error = check(from, expected, &found);
  if (error == 0) error = move_checked(from, to, name, expected);
  if (error == 0) return Napi::String::New(env, "moved");
  if (error != EXDEV) return failed(env, error, from);
  // First out of its place; then it may take as long as it takes.
  Spot inert{UniqueFd(fcntl(from.directory.get(), F_DUPFD_CLOEXEC, 0)), unforeseen_name(name)};
  error = move_checked(from, inert.directory.get(), inert.name, expected);
  if (error != 0) return failed(env, error, from);
  if (copy_aside(inert, found, to, name) == 0) return Napi::String::New(env, "moved");
  return Napi::String::New(env, inert.name);
}

Napi::Value replace_file(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  Spot spot;
  Expected expected;
  const uint8_t* bytes;
  size_t size;
  int error;
  if (info.Length() != 4 || !read_spot(info, &spot, &error) || !read_expected(info[2], &expected) ||
      !read_bytes(info[3], &bytes, &size)) {
    return throw_type_error(env, "a witness, a place, what lies there and bytes");
  }
  struct stat found;
  if (error == 0) error = check(spot, expected, &found);
  if (error == 0 && !S_ISREG(found.st_mode)) error = EINVAL;
  if (error != 0) return failed(env, error, spot);
  std::string fresh;
  error = write_new(spot.directory.get(), spot.name, bytes, size, found, &fresh);
  if (error != 0) return failed(env, error, spot);
  // Whoever wrote to it without a lock meanwhile is not overruled.
  error = check(spot, expected, &found);
  if (error == 0) error = exchange(spot, fresh, expected);
  unlinkat(spot.directory.get(), fresh.c_str(), 0);
  return error == 0 ? env.Undefined() : failed(env, error, spot);
}

Napi::Value put_back(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  Spot spot;
  const uint8_t* bytes;
  size_t size;
  int error;
  if (info.Length() != 4 || !read_spot(info, &spot, &error, true) ||
      !read_bytes(info[2], &bytes, &size) || !info[3].IsNumber()) {
    return throw_type_error(env, "a witness, a place, bytes and a mode");
  }
  struct stat like {};
  like.st_uid = geteuid();
  like.st_gid = getegid();
  like.st_mode = info[3].As<Napi::Number>().Uint32Value() & 0777;
  std::string fresh;
  if (error == 0) error = write_new(spot.directory.get(), spot.name, bytes, size, like, &fresh);
  if (error != 0) return failed(env, error, spot);
  int directory = spot.directory.get();
  if (rename_at(directory, fresh, directory, spot.name, kRenameNoReplace) == 0) {
    return env.Undefined();
  }
  error = errno;
  unlinkat(directory, fresh.c_str(), 0);
  return failed(env, error, spot);
}

}  // namespace cordon
