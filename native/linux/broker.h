// The broker: performs on behalf of the run the calls that the filter sends to the supervisor. It
// stands inside the run's own sandbox, so it can do no more than its caller; it resolves an object
// once, judges it, and acts on the descriptor it judged. No call is ever let through to the kernel
// after a look at the caller's memory or descriptors: both can change.
#pragma once

#include <cstdint>

#include "core/plan.h"
#include "linux/caller.h"
#include "linux/connector.h"
#include "linux/denials.h"
#include "linux/workers.h"

struct seccomp_notif;

namespace cordon {

struct Place;

class Broker {
 public:
  // `plan` outlives the broker: its writable trees and files, and its temp directory, are where
  // metadata may change. Refusals are reported on `control`, -1 for none.
  void start(int listener, const Plan& plan, int control);

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

  // Ends what still works for it.
  void end() { workers_.end(); }

 private:
  int64_t change_metadata(const seccomp_notif& question);
  void observe_call(const seccomp_notif& question);
  // These are true when the caller has been answered already, or will be by a worker.
  bool connect(const seccomp_notif& question, int64_t* result);
  bool open_truncating(const seccomp_notif& question, int64_t* result);

  bool allowed(int object) const;
  // Whether the policy lets a program write what has this canonical path.
  bool writable(const char* path) const;
  void observe(const Caller& caller, DeniedOperation operation, bool reads, Place* at);

  int listener_ = -1;
  const Plan* plan_ = nullptr;
  Connector connector_;
  Workers workers_;
  Denials denials_;
};

}  // namespace cordon
