// Looks over trees and at single paths, and whether what they saw is still so.

#include "linux/survey.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binding/arguments.h"
#include "binding/exports.h"
#include "binding/object_kind.h"
#include "binding/system_error.h"
#include "binding/thread_state.h"

namespace cordon {
namespace {

bool read_texts(const Napi::Value& value, std::vector<std::string>* texts) {
  if (!value.IsArray()) return false;
  auto array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) {
    std::string text;
    if (!read_text(array.Get(i), &text) || text.empty()) return false;
    texts->push_back(std::move(text));
  }
  return true;
}

bool read_count(const Napi::Value& value, size_t* count) {
  int number = 0;
  if (!read_descriptor(value, &number)) return false;
  *count = static_cast<size_t>(number);
  return true;
}

bool read_start(const Napi::Value& value, SurveyStart* start) {
  std::string word;
  if (!read_text(value, &word)) return false;
  if (word == "tree") *start = SurveyStart::kTree;
  if (word == "git-dir") *start = SurveyStart::kGitDir;
  if (word == "modules") *start = SurveyStart::kModules;
  return word == "tree" || word == "git-dir" || word == "modules";
}

// Where the object has to be a certain one.
bool read_identity(const Napi::Value& value, SurveyRequest* request) {
  if (value.IsUndefined()) return true;
  if (!value.IsObject()) return false;
  auto object = value.As<Napi::Object>();
  Napi::Value device = object.Get("dev");
  Napi::Value inode = object.Get("ino");
  if (!device.IsBigInt() || !inode.IsBigInt()) return false;
  bool whole = false;
  request->has_identity = true;
  request->device = device.As<Napi::BigInt>().Uint64Value(&whole);
  request->inode = inode.As<Napi::BigInt>().Uint64Value(&whole);
  return true;
}

bool read_request(const Napi::Value& root, const Napi::Value& value, SurveyRequest* request) {
  if (!read_text(root, &request->root) || !value.IsObject()) return false;
  auto object = value.As<Napi::Object>();
  size_t depth = 0;
  bool known = read_start(object.Get("start"), &request->start) &&
               read_texts(object.Get("names"), &request->names) &&
               read_texts(object.Get("suffixes"), &request->suffixes) &&
               read_texts(object.Get("places"), &request->places) &&
               read_texts(object.Get("closed"), &request->closed) &&
               read_count(object.Get("depth"), &depth) &&
               read_count(object.Get("directories"), &request->directories) &&
               read_count(object.Get("entries"), &request->entries) &&
               read_identity(object.Get("identity"), request);
  request->depth = static_cast<uint32_t>(depth);
  return known;
}

const char* word_of(SurveyStop stop) {
  switch (stop) {
    case SurveyStop::kDirectories:
      return "directories";
    case SurveyStop::kEntries:
      return "entries";
    case SurveyStop::kUnread:
      return "unread";
    default:
      return "unreadable";
  }
}

Napi::Object object_of(Napi::Env env, const SurveyedObject& found) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("path", found.path);
  bool is_link = S_ISLNK(found.facts.st_mode);
  object.Set("kind", is_link ? "symlink" : kind_of(found.facts.st_mode));
  object.Set("dev", Napi::BigInt::New(env, static_cast<uint64_t>(found.facts.st_dev)));
  object.Set("ino", Napi::BigInt::New(env, static_cast<uint64_t>(found.facts.st_ino)));
  object.Set("links", static_cast<double>(found.facts.st_nlink));
  if (found.is_git_dir) object.Set("isGitDir", true);
  if (found.has_text) object.Set("text", found.text);
  return object;
}

KeptSurvey* memory_of(double number, ThreadState* state) {
  for (KeptSurvey& kept : state->surveys) {
    if (kept.memory.number != 0 && kept.memory.number == number) return &kept;
  }
  return nullptr;
}

// A look that goes on where another one began: one memory for both, which is a new one where there
// is none.
uint32_t keep(Sight sight, std::optional<Followed> followed, const Napi::Value& before,
              ThreadState* state) {
  KeptSurvey* kept =
      before.IsNumber() ? memory_of(before.As<Napi::Number>().DoubleValue(), state) : nullptr;
  if (kept == nullptr) {
    // Of one that is gone by now, nothing may be taken to be as it was.
    if (before.IsNumber()) sight.can_tell = false;
    uint32_t number = ++state->survey_count;
    kept = &state->surveys[number % std::size(state->surveys)];
    *kept = {{number, {}}, {}};
  }
  kept->memory.sights.push_back(std::move(sight));
  if (followed) kept->followed.push_back(*std::move(followed));
  return kept->memory.number;
}

// The index of a tree, brought up to date; null where no look follows it, or one has it now: nobody
// waits for that here.
const TreeIndex* current_index(SweptTree* tree, const std::string& root,
                               std::unique_lock<std::mutex>* lock) {
  *lock = std::unique_lock<std::mutex>(tree->mutex, std::try_to_lock);
  if (!lock->owns_lock() || tree->index == nullptr) return nullptr;
  UniqueFd directory(open(root.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found;
  if (!directory.valid() || fstat(directory.get(), &found) != 0 || found.st_dev != tree->dev ||
      found.st_ino != tree->ino) {
    return nullptr;
  }
  return tree->refresh(directory.get()) ? tree->index.get() : nullptr;
}

// Has the look go only to where there is something, if the tree's changes are followed.
std::optional<Followed> follow(SurveyRequest* request, ThreadState* state) {
  if (request->start != SurveyStart::kTree || !request->has_identity) return std::nullopt;
  std::shared_ptr<SweptTree> tree = state->sweeps->tree(request->device, request->inode);
  std::unique_lock<std::mutex> lock;
  const TreeIndex* index = current_index(tree.get(), request->root, &lock);
  if (index == nullptr) return Followed{request->root, tree, std::nullopt};
  if (index->size() > request->directories ||
      !index->list_stops(request->closed, static_cast<int>(request->depth), &request->stops)) {
    return std::nullopt;
  }
  request->has_stops = true;
  return Followed{request->root, tree, index->version()};
}

// A look that went everywhere is done again once there is an index to go by.
bool is_as_followed(const Followed& followed) {
  std::unique_lock<std::mutex> lock;
  const TreeIndex* index = current_index(followed.tree.get(), followed.root, &lock);
  return followed.version ? index != nullptr && index->version() == *followed.version
                          : index == nullptr;
}

bool is_memory(const Napi::Value& value) { return value.IsUndefined() || value.IsNumber(); }

}  // namespace

Napi::Value survey(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  SurveyRequest request;
  if (!is_memory(info[2]) || !read_request(info[0], info[1], &request))
    return throw_type_error(env, "a path, what to look for, and a memory or nothing");
  std::optional<Followed> followed = follow(&request, &thread_state(env));
  Survey result;
  if (!survey_tree(request, &result))
    return throw_system_error(env, errno, "open", request.root.c_str());
  Napi::Array found = Napi::Array::New(env);
  bool is_nameable = true;
  for (const SurveyedObject& each : result.found) {
    // It has a name that JavaScript cannot hold.
    if (!is_utf8(env, each.path))
      is_nameable = false;
    else
      found.Set(found.Length(), object_of(env, each));
  }
  Napi::Object object = Napi::Object::New(env);
  object.Set("found", found);
  if (result.stop != SurveyStop::kNone)
    object.Set("stopped", word_of(result.stop));
  else if (!is_nameable)
    object.Set("stopped", "unnameable");
  object.Set("memory",
             keep(std::move(result.sight), std::move(followed), info[2], &thread_state(env)));
  return object;
}

Napi::Value look(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::vector<std::string> paths;
  if (!is_memory(info[1]) || !read_texts(info[0], &paths))
    return throw_type_error(env, "paths, and a memory or nothing");
  Survey result;
  look_at(paths, &result);
  Napi::Array found = Napi::Array::New(env);
  for (const SurveyedObject& each : result.found) {
    if (each.path.empty())
      found.Set(found.Length(), env.Undefined());
    else
      found.Set(found.Length(), object_of(env, each));
  }
  Napi::Object object = Napi::Object::New(env);
  object.Set("found", found);
  object.Set("memory", keep(std::move(result.sight), std::nullopt, info[1], &thread_state(env)));
  return object;
}

Napi::Value is_as_remembered(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (info.Length() != 1 || !info[0].IsNumber()) return throw_type_error(env, "a memory");
  const KeptSurvey* kept = memory_of(info[0].As<Napi::Number>().DoubleValue(), &thread_state(env));
  bool same = kept != nullptr &&
              std::all_of(kept->followed.begin(), kept->followed.end(), is_as_followed) &&
              is_unchanged(kept->memory);
  return Napi::Boolean::New(env, same);
}

}  // namespace cordon
