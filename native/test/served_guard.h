// The owner's side of cordon-exec: starts it, asks for runs, reads what is told of them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/record.h"
#include "core/stage.h"
#include "core/unique_fd.h"
#include "test/harness.h"
#include "test/plan_bytes.h"

namespace cordon::test {

// Long enough for anything but a hang.
inline constexpr int kPatienceMs = 20000;

struct Survivor {
  pid_t pid;
  std::string command;
};

// Everything that was told of one run.
struct Told {
  bool started = false;
  pid_t pid = 0;
  pid_t supervisor = 0;
  uint32_t abi = 0;
  uint64_t handled_fs = 0;
  uint64_t scoped = 0;
  uint64_t capabilities = 0;
  bool failed = false;
  Stage stage = Stage::kDescriptors;
  int error = 0;
  uint32_t detail = 0;
  std::string object;
  bool exited = false;
  int wait_status = 0;
  std::vector<Survivor> survivors;
  bool ended = false;
  uint32_t survivor_count = 0;
  uint32_t flags = 0;
  std::vector<int> stops;
  int continues = 0;
  int denials = 0;
  bool closed = false;  // end of file
};

// One run's control socket.
class Control {
 public:
  Control() = default;
  explicit Control(UniqueFd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  const Told& told() const { return told_; }
  // Each reads until it has happened; the test fails when it does not.
  const Told& until_started();
  const Told& until_exited();
  const Told& until_closed(int within_ms = kPatienceMs);
  // Reads what there is within the time.
  const Told& listen(int for_ms);
  void ask(ControlType type, uint32_t signal = 0);
  void close() { socket_.reset(); }

 private:
  bool read_some(int timeout_ms);
  void take(uint32_t type, const uint8_t* payload, size_t size);

  UniqueFd socket_;
  std::vector<uint8_t> pending_;
  Told told_;
};

struct ServeSpec {
  std::string executable = CORDON_EXEC_PATH;
  std::string kind = "confined";
  std::string journal = "-";
  int fail_at = 0;           // a stage, for builds with fault injection
  std::vector<int> inherit;  // descriptors that it starts with
  int most_descriptors = 0;  // its RLIMIT_NOFILE; 0: this process'
};

struct LaunchSpec {
  int stdio[3] = {-1, -1, -1};  // -1: /dev/null
  std::string temp_parent;
  std::string temp_name;
  int temp_directory = -1;  // made ahead
  // As what is too long for a message; else the plan follows the header.
  bool plan_by_descriptor = false;
};

// A temp directory that the guard made ahead.
struct Ready {
  ReadyTemp told{};
  UniqueFd directory;
};

// A raw request, for what no owner sends.
struct RawRequest {
  std::string header;
  std::vector<int> descriptors;
};

class ServedGuard {
 public:
  explicit ServedGuard(const ServeSpec& spec = {});
  ~ServedGuard();

  pid_t pid() const { return pid_; }
  int socket() const { return socket_.get(); }
  Control launch(const PlanSpec& plan, const LaunchSpec& spec = {});
  Control launch_bytes(const Bytes& plan, const LaunchSpec& spec = {});
  void send(const RawRequest& request);
  // What it made ahead, once it has; the test fails when it does not.
  Ready ready();
  bool has_told(int within_ms) const;
  void close_socket() { socket_.reset(); }
  // Its end, once it has come; the test fails when it does not.
  End end(int within_ms = kPatienceMs);

 private:
  pid_t pid_ = -1;
  UniqueFd socket_;
};

RunRequest request_header(const std::string& temp_name = "");
std::string bytes_of(const RunRequest& header);
UniqueFd sealed_plan(const Bytes& bytes);

// A name that Cordon could have made.
std::string temp_name(int serial = 1);

struct OneShotSpec {
  std::string executable = CORDON_EXEC_PATH;
  std::string temp_parent;
  std::string temp_name;
  int fail_at = 0;
  bool with_control = false;
  int stdio[3] = {-1, -1, -1};  // -1: as this process has it
};

struct OneShot {
  pid_t pid;
  Control control;
};

// Starts `cordon-exec run`; the caller waits for its pid.
OneShot start_one_shot(const PlanSpec& plan, const OneShotSpec& spec = {});
End end_of_pid(pid_t pid, int within_ms = kPatienceMs);

}  // namespace cordon::test
