#include "linux/control.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace cordon {
namespace {

// A path of the longest kind, and what goes with it.
constexpr size_t kLargestRecord = 4096 + 128;

// Records under construction, sent together; payloads are small and bounded by their senders.
class Record {
 public:
  explicit Record(RecordType type) { begin(type); }

  // Another record behind this one.
  Record& then(RecordType type) {
    seal();
    begin(type);
    return *this;
  }

  Record& u32(uint32_t value) { return bytes(&value, sizeof value); }
  Record& u64(uint64_t value) { return bytes(&value, sizeof value); }
  Record& i32(int32_t value) { return bytes(&value, sizeof value); }
  Record& text(const char* value) {
    size_t length = strnlen(value, kLargestRecord - length_ - sizeof(uint32_t));
    u32(static_cast<uint32_t>(length));
    return bytes(value, length);
  }

  // False when nothing could be sent without waiting, which is not done with MSG_DONTWAIT.
  bool send_to(int control, int flags) {
    seal();
    size_t sent = 0;
    while (sent < length_) {
      ssize_t n = send(control, buffer_ + sent, length_ - sent, MSG_NOSIGNAL | flags);
      if (n < 0 && errno == EINTR) continue;
      // The owner is gone: the end of file on this socket ends the run, there is nobody to tell.
      if (n < 0) return false;
      sent += static_cast<size_t>(n);
      // What has begun is finished.
      flags = 0;
    }
    return true;
  }

 private:
  void begin(RecordType type) {
    start_ = length_;
    u32(static_cast<uint32_t>(type));
    u32(0);
  }

  void seal() {
    uint32_t payload = static_cast<uint32_t>(length_ - start_ - 2 * sizeof(uint32_t));
    memcpy(buffer_ + start_ + sizeof(uint32_t), &payload, sizeof payload);
  }

  Record& bytes(const void* from, size_t count) {
    if (length_ + count > kLargestRecord) return *this;
    memcpy(buffer_ + length_, from, count);
    length_ += count;
    return *this;
  }

  unsigned char buffer_[kLargestRecord];
  size_t start_ = 0;
  size_t length_ = 0;
};

uint64_t microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1000000 + static_cast<uint64_t>(time.tv_usec);
}

}  // namespace

void send_started(int control, const StartedFacts& facts) {
  Record(RecordType::kStarted)
      .i32(facts.pid)
      .i32(facts.supervisor)
      .u32(facts.abi)
      .u32(facts.layers)
      .u64(facts.handled_fs)
      .u64(facts.scoped)
      .u64(facts.capabilities)
      .u32(facts.no_new_privs ? 1 : 0)
      .u32(0)
      .send_to(control, 0);
}

void send_failed(int control, const Failure& failure) {
  Record(RecordType::kFailed)
      .u32(static_cast<uint32_t>(failure.stage))
      .i32(failure.error)
      .u32(failure.detail)
      .text(failure.object)
      .send_to(control, 0);
}

namespace {

Record exited(int wait_status, const rusage& usage) {
  return Record(RecordType::kExited)
      .i32(wait_status)
      .u32(0)
      .u64(microseconds(usage.ru_utime))
      .u64(microseconds(usage.ru_stime))
      .u64(static_cast<uint64_t>(usage.ru_maxrss));
}

}  // namespace

void send_exited(int control, int wait_status, const rusage& usage) {
  exited(wait_status, usage).send_to(control, 0);
}

void send_exited_and_ended(int control, int wait_status, const rusage& usage, uint32_t flags,
                           uint32_t lost) {
  exited(wait_status, usage)
      .then(RecordType::kEnded)
      .u32(0)
      .u32(flags)
      .u32(lost)
      .send_to(control, 0);
}

bool try_exited(int control, int wait_status, const rusage& usage) {
  return exited(wait_status, usage).send_to(control, MSG_DONTWAIT);
}

bool try_survivor(int control, pid_t pid, const char* command) {
  return Record(RecordType::kSurvivor).i32(pid).text(command).send_to(control, MSG_DONTWAIT);
}

void send_ended(int control, uint32_t survivors, uint32_t flags, uint32_t lost) {
  Record(RecordType::kEnded).u32(survivors).u32(flags).u32(lost).send_to(control, 0);
}

bool send_denial(int control, const Denied& denied) {
  return Record(RecordType::kDenied)
      .i32(denied.thread)
      .i32(denied.error)
      .u32(static_cast<uint32_t>(denied.operation))
      .u32(static_cast<uint32_t>(denied.source))
      .text(denied.command)
      .text(denied.path)
      .send_to(control, MSG_DONTWAIT);
}

void send_stopped(int control, int signal) {
  Record(RecordType::kStopped).i32(signal).send_to(control, MSG_DONTWAIT);
}

void send_continued(int control) { Record(RecordType::kContinued).send_to(control, MSG_DONTWAIT); }

}  // namespace cordon
