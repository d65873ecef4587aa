// What a thread has running. Node destroys it with the thread, also one that is terminated.
#pragma once

#include <napi.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binding/sentry.h"
#include "binding/witness.h"
#include "core/record.h"
#include "core/unique_fd.h"
#include "linux/survey.h"

namespace cordon {

struct Served {
  int fd;
  pid_t pid;
};

// A temp directory that a served process made ahead.
struct ReadyDirectory {
  int server;  // -1: let go since
  ReadyTemp told;
  UniqueFd directory;
  bool taken;  // a run that is being prepared has its name
};

// What was seen, and its number.
struct Glance {
  std::string seen;
  uint32_t number = 0;
};

// A file's content, read when its change time was this.
struct Remembered {
  int64_t changed = 0;
  std::shared_ptr<const std::string> content;
};

// A tree as it was at a look; without a version when nothing followed its changes.
struct Followed {
  std::string root;
  std::shared_ptr<SweptTree> tree;
  std::optional<uint64_t> version;
};

// What a look at trees and paths stands on.
struct KeptSurvey {
  SurveyMemory memory;
  std::vector<Followed> followed;
};

struct ThreadState {
  Sentry sentry;
  std::vector<ReadyDirectory> ready;
  std::vector<Served> served;
  // What the last glances saw, by turns: one caller runs its commands in several places.
  Glance glances[4];
  uint32_t glance_count = 0;  // of different ones
  // What the last looks at trees stood on, by turns.
  KeptSurvey surveys[16];
  uint32_t survey_count = 0;
  // What was read before earlier runs, by device and inode.
  std::map<std::pair<dev_t, ino_t>, Remembered> contents;
  size_t content_bytes = 0;
  // Shared with looks that are under way.
  std::shared_ptr<SweepMemory> sweeps = std::make_shared<SweepMemory>();

  ~ThreadState();
};

inline ThreadState& thread_state(Napi::Env env) { return *env.GetInstanceData<ThreadState>(); }

// The directory with this name that `take_temp` promised; null when it was none of those.
ReadyDirectory* find_taken(ThreadState* state, const char* name);

// It belongs to a run now.
void forget_ready(ThreadState* state, const ReadyDirectory* ready);

// Lets go of what a served process made, but for what is taken.
void forget_ready_of(ThreadState* state, int server);

}  // namespace cordon
