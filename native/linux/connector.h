// connect on behalf of the run: a UNIX socket by path only where the run or its policy made it,
// everything else as the kernel says. The filter cannot tell the families apart, so every connect
// comes here and keeps its own semantics: what may block is done by a worker process, one slow peer
// never holds up another call.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#include "core/plan.h"
#include "linux/caller.h"
#include "linux/denials.h"
#include "linux/mounts.h"
#include "linux/workers.h"

namespace cordon {

class Connector {
 public:
  // Before the command is started: what it makes in its first moment is the run's own.
  void begin();
  void start(int listener, const Plan& plan, const char* temporary, Workers* workers,
             Denials* denials);

  enum class Done : uint8_t { kAnswered, kPending };

  // Result of one call, or kPending when a worker will answer it.
  Done connect(const seccomp_notif& question, const MountTable& avoided, int64_t* result);

 private:
  int permitted_path(const Caller& caller, const char* path, const MountTable* avoided,
                     UniqueFd* object);
  bool born_in_run(int object) const;
  bool permitted(const char* path, int object);
  // Of a worker: it asks its parent who descends from it.
  int64_t connect_to_path(int socket, const UniqueFd& object);

  int listener_ = -1;
  const Plan* plan_ = nullptr;
  const char* temporary_ = nullptr;
  timespec began_{};
  bool granted_ = false;  // by the policy, whoever serves it
  Workers* workers_ = nullptr;
  Denials* denials_ = nullptr;
};

}  // namespace cordon
