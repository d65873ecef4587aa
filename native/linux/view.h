// What a run sees of the file system: mounts of its supervisor's own, arranged before anything else
// confines it. Landlock then keeps them as they are.
//
// The order, whatever the order of the plan:
//   1. Nothing that is mounted outside from now on appears inside.
//   2. Each root is taken as it is, to be put back later.
//   3. Everything becomes read-only.
//   4. Private directories and copies are mounted.
//   5. Pins: each is a directory mounted on itself, now, so that the root which is mounted over its
//      own directory later lies above it. No name in the root crosses a mount then, and links and
//      renames work as ever, but the kernel renames nothing that anything is mounted on.
//   6. The roots are put back, and what is kept of them is made read-only, but for what is reopened
//      in it.
//   7. Streams of what is kept or hidden are opened anew, read-only for good.
//   8. Masks.
#pragma once

#include "core/failure.h"
#include "core/plan.h"
#include "core/unique_fd.h"

namespace cordon {

class View {
 public:
  // In a mount namespace of the caller's own. `temp` is the open directory of plan.temp, or -1.
  bool arrange(const Plan& plan, int temp, Failure* failure);

  // The directory whose changes are the run's own, once it is one; else null.
  const char* temporary() const { return temporary_; }

 private:
  static constexpr size_t kMostRoots = 256;

  bool each(ViewKind kind, bool (View::*act)(const PlanView&));
  bool take_root(const PlanView& view);
  bool put_root(const PlanView& view);
  bool take_temp();
  bool make_way(const char* path);
  bool put_temp();
  bool make_read_only(const PlanView& view);
  bool make_shelf();
  bool drop_shelf();
  bool mount_temporary(const PlanView& view);
  bool mount_memory(const PlanView& view);
  bool mount_terminals(const PlanView& view);
  bool put_copy(const PlanView& view);
  bool find(const PlanView& view, UniqueFd* object);
  bool pin(const PlanView& view);
  bool check_pin(const PlanView& view);
  bool check_pins();
  bool note_pinned(int object, const char* path, uint64_t* sum);
  bool keep(const PlanView& view);
  bool covers(const char* path) const;
  bool guard_stream(int stream);
  bool guard_streams();
  bool hide(const PlanView& view);
  bool refuse(int error, const char* path);

  const Plan* plan_ = nullptr;
  Failure* failure_ = nullptr;
  int temp_ = -1;
  const char* temporary_ = nullptr;
  UniqueFd shelf_;
  uint64_t copies_ = 0;
  // Of the directories that are pinned, as they were and as they are found afterwards.
  uint64_t pinned_ = 0;
  uint64_t found_ = 0;
  UniqueFd temp_tree_;
  size_t taken_ = 0;
  size_t put_ = 0;
  UniqueFd trees_[kMostRoots];
};

}  // namespace cordon
