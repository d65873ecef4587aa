// Looks over trees and at single paths, and whether what they saw is still so.

#include "linux/survey.h"

#include <cerrno>
#include <iterator>
#include <string>
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

SurveyMemory* memory_of(double number, ThreadState* state) {
  for (SurveyMemory& memory : state->memories) {
    if (memory.number != 0 && memory.number == number) return &memory;
  }
  return nullptr;
}

// A look that goes on where another one began: one memory for both, which is a new one where there
// is none.
uint32_t keep(Sight sight, const Napi::Value& before, ThreadState* state) {
  SurveyMemory* memory =
      before.IsNumber() ? memory_of(before.As<Napi::Number>().DoubleValue(), state) : nullptr;
  if (memory == nullptr) {
    // Of one that is gone by now, nothing may be taken to be as it was.
    if (before.IsNumber()) sight.can_tell = false;
    uint32_t number = ++state->memory_count;
    memory = &state->memories[number % std::size(state->memories)];
    *memory = {number, {}};
  }
  memory->sights.push_back(std::move(sight));
  return memory->number;
}

bool is_memory(const Napi::Value& value) { return value.IsUndefined() || value.IsNumber(); }

}  // namespace

Napi::Value survey(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  SurveyRequest request;
  if (!is_memory(info[2]) || !read_request(info[0], info[1], &request))
    return throw_type_error(env, "a path, what to look for, and a memory or nothing");
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
  object.Set("memory", keep(std::move(result.sight), info[2], &thread_state(env)));
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
  object.Set("memory", keep(std::move(result.sight), info[1], &thread_state(env)));
  return object;
}

Napi::Value is_as_remembered(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (info.Length() != 1 || !info[0].IsNumber()) return throw_type_error(env, "a memory");
  const SurveyMemory* memory =
      memory_of(info[0].As<Napi::Number>().DoubleValue(), &thread_state(env));
  return Napi::Boolean::New(env, memory != nullptr && is_unchanged(*memory));
}

}  // namespace cordon
