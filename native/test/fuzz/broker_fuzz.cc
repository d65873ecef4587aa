// The broker's decoding on any registers and any memory of a caller that changes between two looks:
// what it hands on must keep the bounds that resolving and acting rely on, and nothing that the
// filter sends for a decision may be left to the kernel.

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "linux/decode.h"
#include "linux/resolve.h"
#include "linux/seccomp_filter.h"
#include "test/filter_rows.h"
#include "test/fuzz/broker_question.h"

namespace {

using cordon::CallerMemory;
using cordon::ConnectRequest;
using cordon::Duty;
using cordon::MetadataRequest;
using cordon::ObservedRequest;
using cordon::OpenRequest;
using cordon::Place;

constexpr int kHighestErrno = 4095;
constexpr unsigned char kUntouched = 0xa5;

void require(bool right) {
  if (!right) abort();
}

// Memory to decode into, each part of which a write must stay within.
struct Window {
  const void* first;
  size_t size;
};

class Memory {
 public:
  Memory(const uint8_t* first, size_t size, uint64_t change)
      : first_(first), size_(size), change_(change) {}

  // The parts of the request that `object` spans. Elsewhere, the sanitizers watch.
  template <size_t N>
  void watch(const void* object, size_t size, const Window (&parts)[N]) {
    object_ = {object, size};
    parts_ = parts;
    count_ = N;
  }

  static ssize_t copy(const void* self, uint64_t address, void* out, size_t size) {
    return static_cast<const Memory*>(self)->copy_now(address, static_cast<uint8_t*>(out), size);
  }

 private:
  static bool within(const Window& window, const uint8_t* at, size_t size) {
    const auto* first = static_cast<const uint8_t*>(window.first);
    return at >= first && at + size <= first + window.size;
  }

  ssize_t copy_now(uint64_t address, uint8_t* out, size_t size) const {
    require(size > 0 && size <= cordon::kXattrValueBytes);
    bool watched = within(object_, out, 1);
    for (size_t i = 0; i < count_ && watched; ++i) {
      if (within(parts_[i], out, size)) watched = false;
    }
    require(!watched);
    if (address < cordon::test::kQuestionMemory) return -1;
    uint64_t offset = address - cordon::test::kQuestionMemory;
    if (offset >= size_) return -1;
    size_t there = size < size_ - offset ? size : static_cast<size_t>(size_ - offset);
    for (size_t i = 0; i < there; ++i) {
      out[i] = static_cast<uint8_t>(first_[offset + i] + looks_ * (change_ >> (i % 8 * 8)));
    }
    ++looks_;
    return static_cast<ssize_t>(there);
  }

  const uint8_t* first_;
  size_t size_;
  uint64_t change_;
  Window object_{};
  const Window* parts_ = nullptr;
  size_t count_ = 0;
  mutable uint64_t looks_ = 0;
};

bool ends(const char* text, size_t size) { return strnlen(text, size) < size; }

void require_errno(int error) { require(error >= 0 && error <= kHighestErrno); }

// What resolving makes of it without asking the kernel.
void expect_place(const Place& place) {
  require(ends(place.path, sizeof place.path));
  // An empty path stands for the directory only where the call says so.
  require(!place.itself || place.path[0] == '\0');
  cordon::OwnDescriptor own{};
  if (!cordon::names_own_descriptor(place.path, &own)) return;
  require(own.number >= 0 && own.process >= 0);
  bool inside = own.rest >= place.path && own.rest < place.path + sizeof place.path;
  require(own.rest[0] == '\0' || (inside && own.rest[0] != '/'));
}

template <typename Request>
std::unique_ptr<Request> untouched() {
  std::unique_ptr<Request> request(new Request);
  memset(static_cast<void*>(request.get()), kUntouched, sizeof(Request));
  return request;
}

void expect_metadata(const seccomp_data& call, Memory memory) {
  auto request = untouched<MetadataRequest>();
  const Window parts[] = {{request->place.path, sizeof request->place.path},
                          {request->times, sizeof request->times},
                          {request->name, sizeof request->name},
                          {request->value, sizeof request->value}};
  memory.watch(request.get(), sizeof *request, parts);
  int error = cordon::decode_metadata(call, {Memory::copy, &memory}, request.get());
  require_errno(error);
  if (error != 0) return;
  cordon::Operation operation = request->call->operation;
  require(operation != cordon::Operation::kOpenTruncating);
  // The one form that succeeds without a look at its object changes nothing.
  if (request->idle) {
    require(operation == cordon::Operation::kTimespecs && !request->now);
    require(request->times[0].tv_nsec == UTIME_OMIT && request->times[1].tv_nsec == UTIME_OMIT);
    return;
  }
  expect_place(request->place);
  require_errno(request->value_error);
  require(ends(request->name, sizeof request->name));
  require(request->value_size <= sizeof request->value);
  if (request->value_error != 0) return;
  bool xattr = operation == cordon::Operation::kSetXattr ||
               operation == cordon::Operation::kSetXattrAt ||
               operation == cordon::Operation::kRemoveXattr;
  require(xattr || request->name[0] == '\0');
  if (operation == cordon::Operation::kIoctl) require(request->value_size >= sizeof(int));
  if (operation == cordon::Operation::kTimevals && !request->now) {
    for (const timespec& time : request->times)
      require(time.tv_nsec >= 0 && time.tv_nsec < 1000000000);
  }
}

void expect_open(const seccomp_data& call, Memory memory) {
  auto request = untouched<OpenRequest>();
  const Window parts[] = {{request->place.path, sizeof request->place.path}};
  memory.watch(request.get(), sizeof *request, parts);
  int error = cordon::decode_open(call, {Memory::copy, &memory}, request.get());
  require_errno(error);
  if (error != 0) return;
  expect_place(request->place);
  require(!request->place.itself && !request->place.may_be_empty);
}

void expect_observed(const seccomp_data& call, Memory memory) {
  auto request = untouched<ObservedRequest>();
  const Window parts[] = {{request->places[0].path, sizeof request->places[0].path},
                          {request->places[1].path, sizeof request->places[1].path}};
  memory.watch(request.get(), sizeof *request, parts);
  cordon::decode_observed(call, {Memory::copy, &memory}, request.get());
  require(request->count <= cordon::kMostObservedPaths);
  for (size_t i = 0; i < request->count; ++i) expect_place(request->places[i]);
}

void expect_connect(const seccomp_data& call, Memory memory) {
  auto request = untouched<ConnectRequest>();
  const Window parts[] = {{request->address, sizeof request->address}};
  memory.watch(request.get(), sizeof *request, parts);
  int error = cordon::decode_connect(call, {Memory::copy, &memory}, request.get());
  require_errno(error);
  require(ends(request->path, sizeof request->path));
  if (error != 0) return;
  require(request->length <= sizeof request->address);
  sa_family_t family = 0;
  memcpy(&family, request->address, sizeof family);
  // A path is judged for what the kernel would connect to by it, and for nothing else.
  if (request->path[0] == '\0') return;
  require(family == AF_UNIX && request->length > sizeof family);
  size_t shown = strlen(request->path);
  require(shown <= request->length - sizeof family);
  require(memcmp(request->path, request->address + sizeof family, shown) == 0);
}

// The filter's table is the other opinion.
void expect_duty(const seccomp_data& call, uint32_t features, Duty duty) {
  constexpr bool kX86 = cordon::kThisArchitecture == cordon::Architecture::kX8664;
  const cordon::FilterRow* row = cordon::test::row_of(features, kX86, call.nr, call.args);
  if (row == nullptr) return;
  if (row->judgement == cordon::Judgement::kObserve) require(duty == Duty::kObserve);
  if (row->judgement == cordon::Judgement::kBroker)
    require(duty == Duty::kConnect || duty == Duty::kChange || duty == Duty::kOpen);
}

// Whatever was asked for: no call that changes metadata is ever left to the kernel.
void expect_decided(const seccomp_data& call, Duty duty) {
  for (const cordon::FilterRow& row : cordon::kFilterRows) {
    bool x86 = cordon::kThisArchitecture == cordon::Architecture::kX8664;
    bool metadata = (row.features & cordon::kFilterBrokerMetadata) != 0 &&
                    row.judgement == cordon::Judgement::kBroker;
    if (metadata && (x86 ? row.x86_64 : row.arm64) == call.nr) require(duty == Duty::kChange);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cordon::test::QuestionHeader header;
  if (size < sizeof header) return 0;
  memcpy(&header, data, sizeof header);
  Memory memory(data + sizeof header, size - sizeof header, header.change);
  seccomp_data call{};
  call.nr = header.number;
  for (size_t i = 0; i < 6; ++i) call.args[i] = header.words[i];
  Duty duty = cordon::duty_of(call, header.features);
  expect_duty(call, header.features, duty);
  expect_decided(call, duty);
  // Each form on every call, whatever its duty: a later mistake in one is not to be one of all.
  expect_metadata(call, memory);
  expect_open(call, memory);
  expect_observed(call, memory);
  expect_connect(call, memory);
  return 0;
}
