// The broker: performs on behalf of the run the calls that the filter sends to the supervisor. It
// stands inside the run's own sandbox, so it can do no more than its caller; it resolves an object
// once, judges it, and acts on the descriptor it judged. No call is ever let through to the kernel
// after a look at the caller's memory or descriptors: both can change.
#pragma once

#include <cstdint>

#include "core/plan.h"
#include "linux/caller.h"
#include "linux/connector.h"
#include "linux/decode.h"
#include "linux/denials.h"
#include "linux/mounts.h"
#include "linux/workers.h"

struct seccomp_notif;
struct stat;

namespace cordon {

class Broker {
 public:
  // `plan` outlives the broker: its writable trees and files, and its temp directory, are where
  // metadata may change. Refusals are reported on `control`, -1 for none.
  // Before the command is started.
  void begin() { connector_.begin(); }
  void start(int listener, const Plan& plan, const char* temporary, int control);

  // -1 when there is nobody to listen to.
  int listener() const { return listener_; }

  // Answers one question when there is one; without one, nobody with this filter is left and
  // listening ends.
  void answer(bool asked);

  // How long a poll may last: -1 for ever.
  int patience_ms() const { return workers_.busy() ? kSignalCheckMs : -1; }
  uint32_t denials_lost() const { return denials_.lost(); }

  void check_waiting() {
    if (workers_.busy()) workers_.interrupt_signalled();
  }

  // A child of the supervisor that is not the command ended.
  void reaped(pid_t pid) { workers_.reaped(pid); }

  // To be polled for POLLPRI, which `mounts_changed` is told of; -1 for none.
  int mounts() const { return mounts_.descriptor(); }
  void mounts_changed() { mounts_.changed(); }

  bool has_worker(pid_t pid) const { return workers_.has(pid); }

  // Ends what still works for it.
  void end() { workers_.end(); }

 private:
  // `error`, or what is said to a caller that may not be looked at, which is counted.
  int excused(const Caller& caller, int error);
  bool decode(Duty duty, const seccomp_notif& question, int* error);
  // Where nothing is `avoided` these may wait: they are a worker's.
  bool perform(Duty duty, const seccomp_notif& question, const MountTable* avoided);
  int64_t change_metadata(const seccomp_notif& question, const MountTable* avoided);
  int64_t open_truncating(const seccomp_notif& question, const MountTable* avoided);
  bool opens_slowly(const Caller& caller, const MountTable* avoided) const;
  bool observe_call(const seccomp_notif& question, const MountTable* avoided);
  bool observe(const Caller& caller, DeniedOperation operation, bool reads, const Place& at,
               const MountTable* avoided);
  void leave_to_kernel(uint64_t question) const;

  int refusal(const struct stat& found, const char* path, DeniedOperation operation) const;
  int refusal(const char* path, DeniedOperation operation) const;
  // Whether a root of the run's own is at this canonical path or above it.
  bool writable(const char* path) const;
  // Whether it is kept as it is although a root is above it, and whether it is what is kept.
  bool kept(const char* path, bool* itself) const;
  bool reopened(const char* path) const;

  int listener_ = -1;
  const Plan* plan_ = nullptr;
  const char* temporary_ = nullptr;
  Connector connector_;
  Workers workers_;
  Denials denials_;
  Mounts mounts_;
};

}  // namespace cordon
