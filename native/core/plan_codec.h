// Bytes to Plan. Total: any input gives a plan whose every view lies in the input, or the offset of
// the first fault.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/plan.h"

namespace cordon {

// Walks encoded items. After a fault every read gives zero and `offset` stays where the fault is.
class PlanReader {
 public:
  PlanReader(const uint8_t* first, size_t size) : first_(first), size_(size) {}

  uint32_t u32();
  uint64_t u64();
  const char* text();
  PlanList texts();
  PlanRule rule();
  PlanView view();
  PlanLimit limit();

  bool faulted() const { return faulted_; }
  size_t offset() const { return offset_; }
  size_t left() const { return size_ - offset_; }
  const uint8_t* here() const { return first_ + offset_; }
  void fail(size_t at);

 private:
  bool take(size_t bytes);
  // Rules and views have the same form.
  template <typename Object>
  Object object();

  const uint8_t* first_;
  size_t size_;
  size_t offset_ = 0;
  bool faulted_ = false;
};

// Decodes and checks a whole plan. On failure `*fault` is the offset of the first byte that is
// wrong.
bool decode_plan(const uint8_t* data, size_t size, Plan* plan, size_t* fault);

// A reader over the items of a list of a decoded plan.
PlanReader read_list(const PlanList& list);

// Writes `list` (of texts) as pointers into `out`, which has room for `list.count`.
void list_pointers(const PlanList& list, const char** out);

}  // namespace cordon
