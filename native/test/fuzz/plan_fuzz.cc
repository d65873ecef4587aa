// The decoder on any bytes: what it accepts must lie in them, view for view, as a supervisor walks
// it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/plan_codec.h"

namespace {

void require(bool right) {
  if (!right) abort();
}

class Input {
 public:
  Input(const uint8_t* first, size_t size) : first_(first), size_(size) {}

  void expect_text(const char* text) const {
    const auto* at = reinterpret_cast<const uint8_t*>(text);
    require(at >= first_ && at < first_ + size_);
    size_t most = static_cast<size_t>(first_ + size_ - at);
    require(strnlen(text, most) < most);
  }

  void expect_texts(const cordon::PlanList& list) const {
    require(list.count <= size_);
    std::vector<const char*> pointers(list.count);
    cordon::list_pointers(list, pointers.data());
    for (const char* text : pointers) expect_text(text);
  }

 private:
  const uint8_t* first_;
  size_t size_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cordon::Plan plan{};
  size_t fault = SIZE_MAX;
  if (!cordon::decode_plan(data, size, &plan, &fault)) {
    require(fault <= size);
    return 0;
  }
  Input input(data, size);
  for (const char* text : {plan.cwd, plan.program, plan.temp}) input.expect_text(text);
  input.expect_texts(plan.arguments);
  input.expect_texts(plan.environment);
  cordon::PlanReader rules = cordon::read_list(plan.rules);
  for (uint32_t i = 0; i < plan.rules.count; ++i) input.expect_text(rules.rule().path);
  cordon::PlanReader limits = cordon::read_list(plan.limits);
  for (uint32_t i = 0; i < plan.limits.count; ++i) limits.limit();
  cordon::PlanReader views = cordon::read_list(plan.views);
  for (uint32_t i = 0; i < plan.views.count; ++i) input.expect_text(views.view().path);
  require(!rules.faulted() && !limits.faulted() && !views.faulted());
  require(plan.arguments.count > 0 && plan.confined() == (plan.landlock_abi > 0));
  return 0;
}
