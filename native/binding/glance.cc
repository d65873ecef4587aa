// One look at what nearly every launch depends on and hardly any finds changed.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>

#include "binding/arguments.h"
#include "binding/exports.h"
#include "binding/object_name.h"
#include "binding/system_error.h"
#include "binding/thread_state.h"
#include "core/unique_fd.h"

extern char** environ;

namespace cordon {
namespace {

constexpr size_t kMostPaths = 3;
constexpr size_t kMostVariables = 1 << 16;
constexpr size_t kPageBytes = 4096;

template <typename T>
void note(const T& value, std::string* seen) {
  seen->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// What `path` leads to, under which name, and whether that name leads there.
bool note_object(const std::string& path, UniqueFd* fd, std::string* seen) {
  fd->reset(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat found;
  if (!fd->valid() || fstat(fd->get(), &found) != 0) return false;
  std::string name = name_leading_to(fd->get(), found);
  if (name.empty()) return false;
  seen->append(path).push_back('\0');
  seen->append(name).push_back('\0');
  note(found.st_dev, seen);
  note(found.st_ino, seen);
  note(found.st_mode & S_IFMT, seen);
  note(found.st_uid, seen);
  return true;
}

void note_identity(std::string* seen) {
  note(geteuid(), seen);
  note(getegid(), seen);
  gid_t groups[NGROUPS_MAX];
  int count = getgroups(NGROUPS_MAX, groups);
  for (int i = 0; i < count; ++i) note(groups[i], seen);
}

// The list is read by the kernel, which has an answer for memory that is gone: a worker that shares
// the environment may set a variable meanwhile, and then the C library frees the list. What it
// points at is not read: glibc neither frees nor rewrites a string it once put there.
bool note_environment(std::string* seen) {
#ifndef __GLIBC__
  return false;
#endif
  const char* next = reinterpret_cast<const char*>(environ);
  for (size_t count = 0; next != nullptr && count < kMostVariables;) {
    const char* entries[kPageBytes / sizeof(char*)];
    // A page at a time: the one after the list's last may not be there.
    size_t rest = kPageBytes - reinterpret_cast<uintptr_t>(next) % kPageBytes;
    iovec here{entries, rest};
    iovec there{const_cast<char*>(next), rest};
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(rest)) {
      return false;
    }
    for (size_t i = 0; i < rest / sizeof(char*); ++i, ++count) {
      note(entries[i], seen);
      if (entries[i] == nullptr) return true;
    }
    next += rest;
  }
  return next == nullptr;
}

// Whether anything lies there is all that a policy asks.
void note_shared_memory(std::string* seen) {
  DIR* directory = opendir("/dev/shm");
  char found = directory == nullptr ? 'x' : '-';
  for (const dirent* entry = nullptr;
       directory != nullptr && found == '-' && (entry = readdir(directory)) != nullptr;) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) found = '+';
  }
  if (directory != nullptr) closedir(directory);
  seen->push_back(found);
}

uint32_t number_of(const std::string& seen, ThreadState* state) {
  for (const Glance& each : state->glances) {
    if (each.number != 0 && each.seen == seen) return each.number;
  }
  Glance& oldest = state->glances[state->glance_count % std::size(state->glances)];
  oldest = {seen, ++state->glance_count};
  return oldest.number;
}

}  // namespace

Napi::Value glance(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  bool known = info.Length() == 2 && info[0].IsArray() && info[1].IsTypedArray() &&
               info[1].As<Napi::TypedArray>().TypedArrayType() == napi_int32_array;
  size_t count = known ? info[0].As<Napi::Array>().Length() : 0;
  std::string paths[kMostPaths];
  known = known && count > 0 && count <= kMostPaths &&
          info[1].As<Napi::TypedArray>().ElementLength() >= count;
  for (size_t i = 0; known && i < count; ++i) {
    known = read_text(info[0].As<Napi::Array>().Get(static_cast<uint32_t>(i)), &paths[i]);
  }
  if (!known) return throw_type_error(env, "one to three paths and an Int32Array as long");
  std::string seen;
  UniqueFd opened[kMostPaths];
  for (size_t i = 0; i < count; ++i) {
    if (!note_object(paths[i], &opened[i], &seen)) return Napi::Number::New(env, 0);
  }
  note_identity(&seen);
  if (!note_environment(&seen)) return Napi::Number::New(env, 0);
  note_shared_memory(&seen);
  int32_t* places = info[1].As<Napi::Int32Array>().Data();
  for (size_t i = 0; i < count; ++i) places[i] = opened[i].release();
  return Napi::Number::New(env, number_of(seen, &thread_state(env)));
}

}  // namespace cordon
