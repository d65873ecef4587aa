// The look at the writable roots before a run starts, and what is asked of it afterwards.

#include "binding/witness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "binding/arguments.h"
#include "binding/beneath.h"
#include "binding/exports.h"
#include "binding/folded_name.h"
#include "binding/system_error.h"
#include "binding/thread_state.h"
#include "linux/files.h"

namespace cordon {
namespace {

constexpr size_t kKeptBytes = 256 << 10;       // of one file
constexpr size_t kKeptBytesInAll = 4 << 20;    // of one run
constexpr size_t kRememberedBytes = 16 << 20;  // between runs
constexpr int64_t kSettledNs = 100'000'000;    // older changes than this show in the change time
constexpr size_t kMaxListed = 1024;            // files of one protected directory
constexpr int kMaxListedDepth = 8;
constexpr int kListing = O_RDONLY | O_DIRECTORY | O_NONBLOCK;

const napi_type_tag kWitnessTag = {0x636f72646f6e7769, 0x746e657373303031};
const napi_type_tag kInterestTag = {0x636f72646f6e696e, 0x7465726573743031};

int64_t now_ns(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return nanoseconds(now);
}

// The whole content of a regular file that is still what was seen; null when it is larger than
// `most` or cannot be read.
std::shared_ptr<const std::string> read_whole(int directory, const std::string& name,
                                              const struct stat& seen, size_t most) {
  if (!S_ISREG(seen.st_mode) || static_cast<uint64_t>(seen.st_size) > most) return nullptr;
  UniqueFd file = open_unnoticed(directory, name.c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  struct stat found;
  if (!file.valid() || fstat(file.get(), &found) != 0) return nullptr;
  if (found.st_dev != seen.st_dev || found.st_ino != seen.st_ino) return nullptr;
  std::string content;
  content.resize(static_cast<size_t>(seen.st_size) + 1);
  size_t length = 0;
  while (length < content.size()) {
    ssize_t got = pread(file.get(), content.data() + length, content.size() - length,
                        static_cast<off_t>(length));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return nullptr;
    if (got == 0) break;
    length += static_cast<size_t>(got);
  }
  if (length > static_cast<size_t>(seen.st_size)) return nullptr;
  content.resize(length);
  return std::make_shared<const std::string>(static_cast<std::string&&>(content));
}

class Look {
 public:
  Look(ThreadState* state, Witness* witness) : state_(state), witness_(witness) {}

  void git_directory(const Place& place) {
    UniqueFd directory(open(place));
    struct stat found;
    if (!directory.valid() || fstat(directory.get(), &found) != 0) return;
    witness_->git_dirs[place] = {found.st_dev, found.st_ino};
    struct stat known;
    bool has_one = fstatat(directory.get(), "commondir", &known, AT_SYMLINK_NOFOLLOW) == 0;
    int watch;
    UniqueFd copy(has_one ? -1 : fcntl(directory.get(), F_DUPFD_CLOEXEC, 0));
    if (state_->sentry.enter(static_cast<UniqueFd&&>(copy), &watch)) {
      witness_->posts.push_back({place, watch});
    }
    for (const char* name : {"config", "config.worktree", "commondir"}) {
      note(directory.get(), place, name, true, false);
    }
    UniqueFd info(open({place.first, join_path(place.second, "info")}));
    if (info.valid()) {
      note(info.get(), {place.first, join_path(place.second, "info")}, "attributes", false, false);
    }
    hooks({place.first, join_path(place.second, "hooks")});
  }

  // Every name in it, but for what git ships.
  void hooks(const Place& place) {
    UniqueFd directory(open(place));
    if (!directory.valid()) return;
    Directory entries(directory.get());
    while (const dirent64* entry = entries.next()) {
      if (!is_sample(folded_name(entry->d_name))) {
        note(directory.get(), place, entry->d_name, false, false);
      }
    }
  }

  // A protected object: a file, or a directory with everything in it.
  void object(const Place& place, bool keep) {
    auto [above, name] = split_path(place.second);
    UniqueFd directory(open({place.first, above}));
    struct stat found;
    if (!directory.valid()) {
      witness_->absent.insert(place);
    } else if (fstatat(directory.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) witness_->absent.insert(place);
    } else if (S_ISDIR(found.st_mode)) {
      // A repository is not an object: what counts of it is known by name.
      if (folded_name(name) != ".git") list(place, keep, 0);
    } else {
      note(directory.get(), {place.first, above}, name.c_str(), keep, keep);
    }
  }

 private:
  UniqueFd open(const Place& place) {
    return open_beneath(witness_->roots[place.first].get(), place.second, kListing);
  }

  void list(const Place& place, bool keep, int depth) {
    UniqueFd directory(open(place));
    if (!directory.valid()) return;
    Directory entries(directory.get());
    while (const dirent64* entry = entries.next()) {
      if (is_sample(folded_name(entry->d_name))) continue;
      if (++listed_ > kMaxListed) return;
      if (entry->d_type != DT_DIR) {
        note(directory.get(), place, entry->d_name, keep, keep);
      } else if (depth < kMaxListedDepth) {
        list({place.first, join_path(place.second, entry->d_name)}, keep, depth + 1);
      }
    }
  }

  void note(int directory, const Place& place, const char* name, bool keep, bool restorable) {
    Known known;
    if (fstatat(directory, name, &known.found, AT_SYMLINK_NOFOLLOW) != 0) return;
    known.restorable = restorable;
    if (keep) known.content = content_of(directory, name, known.found);
    Known& kept = witness_->known[{place.first, join_path(place.second, name)}];
    // Named twice, it is what each of the two wants.
    if (known.content == nullptr) known.content = kept.content;
    known.restorable = known.restorable || kept.restorable;
    kept = static_cast<Known&&>(known);
  }

  // From memory, when nothing of it has changed since it was read.
  std::shared_ptr<const std::string> content_of(int directory, const char* name,
                                                const struct stat& found) {
    if (kept_bytes_ + static_cast<size_t>(found.st_size) > kKeptBytesInAll) return nullptr;
    auto& memory = state_->contents;
    int64_t changed = nanoseconds(found.st_ctim);
    auto& remembered = memory[{found.st_dev, found.st_ino}];
    if (remembered.content == nullptr || remembered.changed != changed ||
        remembered.content->size() != static_cast<size_t>(found.st_size)) {
      auto content = read_whole(directory, name, found, kKeptBytes);
      bool settled = changed + kSettledNs < now_ns(CLOCK_REALTIME);
      if (content == nullptr || !settled) {
        memory.erase({found.st_dev, found.st_ino});
        kept_bytes_ += content == nullptr ? 0 : content->size();
        return content;
      }
      state_->content_bytes += content->size();
      remembered = {changed, content};
    }
    auto content = remembered.content;
    kept_bytes_ += content->size();
    if (state_->content_bytes > kRememberedBytes) {
      memory.clear();
      state_->content_bytes = 0;
    }
    return content;
  }

  ThreadState* state_;
  Witness* witness_;
  size_t kept_bytes_ = 0;
  size_t listed_ = 0;
};

// `[root, path, root, path, …]`
bool read_places(const Napi::Value& value, size_t roots, std::vector<Place>* places) {
  if (!value.IsArray()) return false;
  auto list = value.As<Napi::Array>();
  if (list.Length() % 2 != 0) return false;
  for (uint32_t i = 0; i < list.Length(); i += 2) {
    Place place;
    Napi::Value root = list.Get(i);
    if (!root.IsNumber() || !read_text(list.Get(i + 1), &place.second)) return false;
    place.first = root.As<Napi::Number>().Uint32Value();
    if (place.first >= roots) return false;
    places->push_back(static_cast<Place&&>(place));
  }
  return true;
}

std::string folded_path(const std::string& path) {
  std::string folded;
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find('/', begin), path.size());
    folded = join_path(folded, folded_name(path.substr(begin, end - begin)));
    begin = end + 1;
  }
  return folded;
}

bool read_names(const Napi::Value& value, std::vector<std::string>* names) {
  if (!value.IsArray()) return false;
  auto list = value.As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); ++i) {
    std::string name;
    if (!read_text(list.Get(i), &name)) return false;
    names->push_back(folded_path(name));
  }
  return true;
}

const char* const kKinds[] = {"file", "directory", "symlink", "other", "missing"};
const char* const kBefore[] = {"missing", "changed", "unknown"};

void set_identity(Napi::Object* object, const struct stat& found) {
  Napi::Env env = object->Env();
  object->Set("dev", Napi::BigInt::New(env, static_cast<uint64_t>(found.st_dev)));
  object->Set("ino", Napi::BigInt::New(env, static_cast<uint64_t>(found.st_ino)));
  object->Set("changedNs", Napi::BigInt::New(env, nanoseconds(found.st_ctim)));
}

Napi::Object sighting_object(Napi::Env env, const Sighting& seen) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("root", static_cast<double>(seen.place.first));
  object.Set("path", seen.place.second);
  object.Set("folded", folded_path(seen.place.second));
  if (seen.in_git) object.Set("gitDir", seen.git_dir);
  object.Set("isHook", seen.hook);
  object.Set("kind", kKinds[static_cast<int>(seen.kind)]);
  object.Set("before", kBefore[static_cast<int>(seen.before)]);
  object.Set("isFresh", seen.fresh);
  object.Set("isBorn", seen.born);
  set_identity(&object, seen.found);
  object.Set("mode", static_cast<double>(seen.found.st_mode & 07777));
  object.Set("uid", static_cast<double>(seen.found.st_uid));
  object.Set("size", static_cast<double>(seen.found.st_size));
  return object;
}

class SweepWorker : public Napi::AsyncWorker {
 public:
  SweepWorker(Napi::Env env, std::shared_ptr<const Witness> witness,
              std::shared_ptr<const Interest> interest, std::shared_ptr<SweepMemory> memory)
      : Napi::AsyncWorker(env),
        deferred_(Napi::Promise::Deferred::New(env)),
        witness_(static_cast<std::shared_ptr<const Witness>&&>(witness)),
        interest_(static_cast<std::shared_ptr<const Interest>&&>(interest)),
        memory_(static_cast<std::shared_ptr<SweepMemory>&&>(memory)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 protected:
  void Execute() override { swept_ = sweep_roots(*witness_, interest_, memory_.get()); }

  void OnOK() override {
    Napi::Env env = Env();
    Napi::Array list = Napi::Array::New(env, swept_.sightings.size());
    for (size_t i = 0; i < swept_.sightings.size(); ++i) {
      list.Set(static_cast<uint32_t>(i), sighting_object(env, swept_.sightings[i]));
    }
    Napi::Object result = Napi::Object::New(env);
    result.Set("sightings", list);
    Napi::Array repositories = Napi::Array::New(env, swept_.repositories.size());
    for (size_t i = 0; i < swept_.repositories.size(); ++i) {
      const NewRepository& each = swept_.repositories[i];
      Napi::Object object = Napi::Object::New(env);
      object.Set("root", static_cast<double>(each.place.first));
      object.Set("gitDir", each.place.second);
      object.Set("isBorn", each.born);
      object.Set("isInNewDirectory", each.in_new_directory);
      repositories.Set(static_cast<uint32_t>(i), object);
    }
    result.Set("repositories", repositories);
    result.Set("isComplete", swept_.complete);
    result.Set("endedNs", Napi::BigInt::New(env, swept_.ended));
    deferred_.Resolve(result);
  }

  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  Napi::Promise::Deferred deferred_;
  std::shared_ptr<const Witness> witness_;
  std::shared_ptr<const Interest> interest_;
  std::shared_ptr<SweepMemory> memory_;
  Swept swept_;
};

using Held = std::shared_ptr<const Witness>;
using HeldInterest = std::shared_ptr<const Interest>;

// Null for any other value.
HeldInterest read_interest(const Napi::Value& value) {
  if (!value.IsExternal()) return nullptr;
  auto external = value.As<Napi::External<HeldInterest>>();
  if (!external.CheckTypeTag(&kInterestTag)) return nullptr;
  return *external.Data();
}

Napi::Value bytes_of(Napi::Env env, const std::string& content) {
  return Napi::Buffer<uint8_t>::Copy(env, reinterpret_cast<const uint8_t*>(content.data()),
                                     content.size());
}

// What lies at a place now, and the directory that holds it.
struct Spotted {
  UniqueFd directory;
  std::string name;
  struct stat found;
};

bool spot(const Witness& witness, const Place& place, Spotted* spotted) {
  auto [above, name] = split_path(place.second);
  spotted->directory = open_beneath(witness.roots[place.first].get(), above, O_PATH | O_DIRECTORY);
  spotted->name = name;
  return spotted->directory.valid() &&
         fstatat(spotted->directory.get(), name.c_str(), &spotted->found, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

std::shared_ptr<const Witness> read_witness(const Napi::Value& value) {
  if (!value.IsExternal()) return nullptr;
  auto external = value.As<Napi::External<Held>>();
  if (!external.CheckTypeTag(&kWitnessTag)) return nullptr;
  return *external.Data();
}

Napi::Value witness(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  const char* expected = "roots, git directories, hook directories, objects, and whether to keep";
  if (info.Length() != 5 || !info[0].IsArray() || !info[4].IsBoolean()) {
    return throw_type_error(env, expected);
  }
  auto made = std::make_shared<Witness>();
  // The coarse clock is the one that inode times are taken from.
  made->since = now_ns(CLOCK_REALTIME_COARSE);
  auto roots = info[0].As<Napi::Array>();
  for (uint32_t i = 0; i < roots.Length(); ++i) {
    std::string path;
    if (!read_text(roots.Get(i), &path)) return throw_type_error(env, expected);
    made->roots.emplace_back(open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made->roots.back().valid()) return throw_system_error(env, errno, "open", path.c_str());
  }
  std::vector<Place> git_dirs;
  std::vector<Place> hooks;
  std::vector<Place> objects;
  size_t count = made->roots.size();
  if (!read_places(info[1], count, &git_dirs) || !read_places(info[2], count, &hooks) ||
      !read_places(info[3], count, &objects)) {
    return throw_type_error(env, expected);
  }
  Look look(&thread_state(env), made.get());
  for (const Place& place : git_dirs) look.git_directory(place);
  for (const Place& place : hooks) {
    made->hooks.insert(place);
    look.hooks(place);
  }
  bool keep = info[4].As<Napi::Boolean>().Value();
  for (const Place& place : objects) look.object(place, keep);
  auto external = Napi::External<Held>::New(env, new Held(static_cast<Held&&>(made)),
                                            [](Napi::Env, Held* held) { delete held; });
  external.TypeTag(&kWitnessTag);
  return external;
}

Napi::Value interest(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  auto made = std::make_shared<Interest>();
  std::vector<std::string> names;
  std::vector<std::string> places;
  if (info.Length() != 3 || !read_names(info[0], &names) || !read_names(info[1], &places) ||
      !read_names(info[2], &made->suffixes)) {
    return throw_type_error(env, "names, paths and ends of names");
  }
  made->names.insert(names.begin(), names.end());
  made->places.insert(places.begin(), places.end());
  for (const std::string& place : places) made->above_places.insert(split_path(place).first);
  auto external =
      Napi::External<HeldInterest>::New(env, new HeldInterest(static_cast<HeldInterest&&>(made)),
                                        [](Napi::Env, HeldInterest* held) { delete held; });
  external.TypeTag(&kInterestTag);
  return external;
}

Napi::Value sweep(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  auto held = info.Length() == 2 ? read_witness(info[0]) : nullptr;
  auto interest = info.Length() == 2 ? read_interest(info[1]) : nullptr;
  if (held == nullptr || interest == nullptr) {
    return throw_type_error(env, "a witness and an interest");
  }
  auto* worker = new SweepWorker(env, static_cast<Held&&>(held),
                                 static_cast<HeldInterest&&>(interest), thread_state(env).sweeps);
  worker->Queue();
  return worker->promise();
}

Napi::Value dismiss(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  auto held = info.Length() == 1 ? read_witness(info[0]) : nullptr;
  if (held == nullptr) return throw_type_error(env, "a witness");
  Napi::Array taken = Napi::Array::New(env);
  for (const auto& [place, watch] : held->posts) {
    for (const std::string& name : thread_state(env).sentry.leave(watch)) {
      taken.Set(taken.Length(), Napi::Number::New(env, static_cast<double>(place.first)));
      taken.Set(taken.Length(), Napi::String::New(env, join_path(place.second, name)));
    }
  }
  return taken;
}

Napi::Value identify(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::vector<Place> place;
  auto held = info.Length() == 2 ? read_witness(info[0]) : nullptr;
  if (held == nullptr || !read_places(info[1], held->roots.size(), &place) || place.size() != 1) {
    return throw_type_error(env, "a witness and a place");
  }
  Spotted spotted;
  if (!spot(*held, place[0], &spotted)) return env.Undefined();
  Napi::Object object = Napi::Object::New(env);
  set_identity(&object, spotted.found);
  return object;
}

Napi::Value content_before(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::vector<Place> place;
  auto held = info.Length() == 2 ? read_witness(info[0]) : nullptr;
  if (held == nullptr || !read_places(info[1], held->roots.size(), &place) || place.size() != 1) {
    return throw_type_error(env, "a witness and a place");
  }
  auto known = held->known.find(place[0]);
  if (known == held->known.end() || known->second.content == nullptr) return env.Undefined();
  Napi::Object found = Napi::Object::New(env);
  found.Set("bytes", bytes_of(env, *known->second.content));
  found.Set("mode", static_cast<double>(known->second.found.st_mode & 07777));
  return found;
}

Napi::Value read_beneath(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::vector<Place> place;
  auto held = info.Length() == 3 ? read_witness(info[0]) : nullptr;
  if (held == nullptr || !read_places(info[1], held->roots.size(), &place) || place.size() != 1 ||
      !info[2].IsNumber()) {
    return throw_type_error(env, "a witness, a place and a number of bytes");
  }
  Spotted spotted;
  if (!spot(*held, place[0], &spotted)) return env.Undefined();
  auto content = read_whole(spotted.directory.get(), spotted.name, spotted.found,
                            static_cast<size_t>(info[2].As<Napi::Number>().Int64Value()));
  return content == nullptr ? env.Undefined() : bytes_of(env, *content);
}

}  // namespace cordon
