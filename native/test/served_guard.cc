#include "test/served_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "linux/group_hash.h"
#include "linux/temp.h"
#include "test/world.h"

namespace cordon::test {
namespace {

constexpr int kServeSocket = 3;
constexpr int kPlanPlace = 3;
constexpr int kControlPlace = 4;

template <typename T>
T read_at(const uint8_t* payload, size_t offset) {
  T value;
  memcpy(&value, payload + offset, sizeof value);
  return value;
}

std::string text_at(const uint8_t* payload, size_t offset, size_t size) {
  CHECK(size >= offset + sizeof(uint32_t));
  uint32_t length = read_at<uint32_t>(payload, offset);
  CHECK_EQ(size, offset + sizeof(uint32_t) + length);
  return std::string(reinterpret_cast<const char*>(payload + offset + sizeof(uint32_t)), length);
}

// In the child: `places[i]` becomes descriptor i, and only those stay.
void place_descriptors(const std::vector<int>& places) {
  std::vector<int> high;
  for (int fd : places) high.push_back(fcntl(fd, F_DUPFD, 100));
  for (size_t i = 0; i < high.size(); ++i) {
    dup2(high[i], static_cast<int>(i));
    ::close(high[i]);
  }
}

[[noreturn]] void become(const std::string& executable, std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execv(executable.c_str(), pointers.data());
  fprintf(stderr, "cannot execute %s: %s\n", executable.c_str(), strerror(errno));
  _exit(112);
}

std::vector<std::string> command_line(const std::string& executable, int fail_at) {
  std::vector<std::string> words = {executable};
  if (fail_at != 0) {
    words.push_back("fail-at");
    words.push_back(std::to_string(fail_at));
  }
  return words;
}

UniqueFd null_device() {
  UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  CHECK_CALL(null.valid());
  return null;
}

void send_message(int socket, const std::string& header, const std::vector<int>& descriptors) {
  std::vector<char> control(CMSG_SPACE(descriptors.size() * sizeof(int)));
  iovec part{const_cast<char*>(header.data()), header.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
  }
  CHECK_CALL(sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(header.size()));
}

}  // namespace

void Control::take(uint32_t type, const uint8_t* payload, size_t size) {
  switch (static_cast<RecordType>(type)) {
    case RecordType::kStarted:
      CHECK_EQ(size, size_t{48});
      CHECK(!told_.started);
      told_.started = true;
      told_.pid = read_at<int32_t>(payload, 0);
      told_.supervisor = read_at<int32_t>(payload, 4);
      told_.abi = read_at<uint32_t>(payload, 8);
      told_.handled_fs = read_at<uint64_t>(payload, 16);
      told_.scoped = read_at<uint64_t>(payload, 24);
      told_.capabilities = read_at<uint64_t>(payload, 32);
      return;
    case RecordType::kFailed:
      CHECK(!told_.failed && !told_.ended);
      told_.failed = true;
      told_.stage = static_cast<Stage>(read_at<uint32_t>(payload, 0));
      told_.error = read_at<int32_t>(payload, 4);
      told_.detail = read_at<uint32_t>(payload, 8);
      told_.object = text_at(payload, 12, size);
      return;
    case RecordType::kExited:
      CHECK_EQ(size, size_t{32});
      CHECK(told_.started && !told_.exited);
      told_.exited = true;
      told_.wait_status = read_at<int32_t>(payload, 0);
      return;
    case RecordType::kSurvivor:
      told_.survivors.push_back({read_at<int32_t>(payload, 0), text_at(payload, 4, size)});
      return;
    case RecordType::kEnded:
      CHECK(size >= 8);
      CHECK(told_.exited && !told_.ended);
      told_.ended = true;
      told_.survivor_count = read_at<uint32_t>(payload, 0);
      told_.flags = read_at<uint32_t>(payload, 4);
      return;
    case RecordType::kStopped:
      told_.stops.push_back(read_at<int32_t>(payload, 0));
      return;
    case RecordType::kContinued:
      ++told_.continues;
      return;
    case RecordType::kDenied:
      ++told_.denials;
      return;
  }
  fail_at(__FILE__, __LINE__, "a record of type " + std::to_string(type));
}

bool Control::read_some(int timeout_ms) {
  pollfd ready{socket_.get(), POLLIN, 0};
  if (poll(&ready, 1, timeout_ms) <= 0) return false;
  uint8_t part[4096];
  ssize_t n = recv(socket_.get(), part, sizeof part, 0);
  if (n <= 0) {
    // A reset: the peer went while requests of this side were unread.
    told_.closed = true;
    CHECK(pending_.empty());
    return true;
  }
  pending_.insert(pending_.end(), part, part + n);
  for (;;) {
    constexpr size_t header = 2 * sizeof(uint32_t);
    if (pending_.size() < header) return true;
    size_t size = read_at<uint32_t>(pending_.data(), sizeof(uint32_t));
    if (pending_.size() < header + size) return true;
    take(read_at<uint32_t>(pending_.data(), 0), pending_.data() + header, size);
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<ssize_t>(header + size));
  }
}

const Told& Control::until_started() {
  while (!told_.started) {
    bool heard = !told_.closed && read_some(kPatienceMs);
    if (heard && !told_.failed && !told_.closed) continue;
    if (told_.started) break;
    fail_at(__FILE__, __LINE__,
            told_.failed ? std::string("failed at ") + stage_name(told_.stage) + ": " +
                               strerror(told_.error) + " " + told_.object
                         : std::string("the run did not start"));
  }
  return told_;
}

const Told& Control::until_exited() {
  while (!told_.exited) CHECK(!told_.closed && read_some(kPatienceMs));
  return told_;
}

const Told& Control::until_closed(int within_ms) {
  int64_t until = test::now_ms() + within_ms;
  while (!told_.closed)
    CHECK(read_some(static_cast<int>(std::max<int64_t>(0, until - test::now_ms()))));
  return told_;
}

const Told& Control::listen(int for_ms) {
  int64_t until = test::now_ms() + for_ms;
  for (;;) {
    int64_t left = until - test::now_ms();
    if (left <= 0 || told_.closed) return told_;
    read_some(static_cast<int>(left));
  }
}

void Control::ask(ControlType type, uint32_t signal) {
  ControlRequest request{static_cast<uint32_t>(type), signal};
  CHECK_CALL(::send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) == sizeof request);
}

ServedGuard::ServedGuard(const ServeSpec& spec) {
  int ends[2];
  CHECK_CALL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  int on = 1;
  CHECK_CALL(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0);
  socket_.reset(ends[0]);
  UniqueFd theirs(ends[1]);
  std::vector<std::string> words = command_line(spec.executable, spec.fail_at);
  words.insert(words.end(), {"serve", spec.kind, spec.journal});
  pid_ = fork();
  CHECK_CALL(pid_ >= 0);
  if (pid_ == 0) {
    std::vector<int> places = {0, 1, 2, theirs.get()};
    places.insert(places.end(), spec.inherit.begin(), spec.inherit.end());
    place_descriptors(places);
    if (spec.most_descriptors != 0) {
      rlimit limit{static_cast<rlim_t>(spec.most_descriptors),
                   static_cast<rlim_t>(spec.most_descriptors)};
      setrlimit(RLIMIT_NOFILE, &limit);
    }
    become(spec.executable, words);
  }
  static_assert(kServeSocket == 3);
}

ServedGuard::~ServedGuard() {
  socket_.reset();
  if (pid_ > 0) end();
}

End ServedGuard::end(int within_ms) {
  pid_t pid = std::exchange(pid_, -1);
  CHECK(pid > 0);
  return end_of_pid(pid, within_ms);
}

End end_of_pid(pid_t pid, int within_ms) {
  int status = 0;
  bool ended = eventually(within_ms, [&] { return waitpid(pid, &status, WNOHANG) == pid; });
  if (!ended) fail_at(__FILE__, __LINE__, "process " + std::to_string(pid) + " does not end");
  return WIFSIGNALED(status) ? signalled(WTERMSIG(status)) : exited(WEXITSTATUS(status));
}

Control ServedGuard::launch(const PlanSpec& plan, const LaunchSpec& spec) {
  return launch_bytes(encode(plan), spec);
}

Control ServedGuard::launch_bytes(const Bytes& plan, const LaunchSpec& spec) {
  bool goes_inline = !spec.plan_by_descriptor && !plan.empty() && plan.size() <= kMostInlineBytes;
  UniqueFd memory;
  if (!goes_inline) memory = sealed_plan(plan);
  int ends[2];
  CHECK_CALL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  UniqueFd null = null_device();
  std::vector<int> descriptors;
  if (!goes_inline) descriptors.push_back(memory.get());
  descriptors.push_back(theirs.get());
  for (int fd : spec.stdio) descriptors.push_back(fd < 0 ? null.get() : fd);
  UniqueFd parent;
  if (!spec.temp_name.empty()) {
    parent.reset(open(spec.temp_parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    CHECK_CALL(parent.valid());
    descriptors.push_back(parent.get());
  }
  RunRequest header = request_header(spec.temp_name);
  if (spec.temp_directory >= 0) {
    header.flags |= kRequestTempMade;
    descriptors.push_back(spec.temp_directory);
  }
  if (goes_inline) header.flags |= kRequestPlanInline;
  std::string message = bytes_of(header);
  if (goes_inline) message.append(plan.begin(), plan.end());
  send({message, descriptors});
  return Control(std::move(ours));
}

bool ServedGuard::has_told(int within_ms) const {
  pollfd ready{socket_.get(), POLLIN, 0};
  return poll(&ready, 1, within_ms) == 1 && (ready.revents & POLLIN) != 0;
}

Ready ServedGuard::ready() {
  CHECK(has_told(kPatienceMs));
  Ready ready;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part{&ready.told, sizeof ready.told};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  CHECK_EQ(recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC),
           static_cast<ssize_t>(sizeof ready.told));
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  CHECK(rights != nullptr && rights->cmsg_type == SCM_RIGHTS);
  int fd = -1;
  memcpy(&fd, CMSG_DATA(rights), sizeof fd);
  ready.directory.reset(fd);
  return ready;
}

void ServedGuard::send(const RawRequest& request) {
  send_message(socket_.get(), request.header, request.descriptors);
}

RunRequest request_header(const std::string& temp_name) {
  RunRequest header{};
  header.magic = kRequestMagic;
  header.version = kRequestVersion;
  header.groups = group_hash();
  CHECK(temp_name.size() < sizeof header.temp_name);
  memcpy(header.temp_name, temp_name.data(), temp_name.size());
  return header;
}

std::string bytes_of(const RunRequest& header) {
  return std::string(reinterpret_cast<const char*>(&header), sizeof header);
}

UniqueFd sealed_plan(const Bytes& bytes) {
  UniqueFd plan(memfd_create("plan", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  CHECK_CALL(plan.valid());
  CHECK_CALL(write(plan.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  CHECK_CALL(fcntl(plan.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) == 0);
  return plan;
}

std::string temp_name(int serial) {
  constexpr char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr uint32_t letters = sizeof alphabet - 1;
  std::string unique(10, 'a');
  for (size_t i = 0; serial > 0; serial /= 10, ++i) unique[i] = alphabet[26 + serial % 10];
  // FNV-1a in base 36, the lowest digit first, as platform/temp-name.ts has it.
  uint32_t hash = 2166136261;
  for (char letter : unique) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619;
  std::string check;
  for (; check.size() < 6; hash /= letters) check += alphabet[hash % letters];
  return kTempPrefix + unique + check;
}

OneShot start_one_shot(const PlanSpec& plan, const OneShotSpec& spec) {
  UniqueFd memory = sealed_plan(encode(plan));
  UniqueFd null = null_device();
  int ends[2];
  CHECK_CALL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  std::vector<std::string> words = command_line(spec.executable, spec.fail_at);
  words.insert(words.end(), {"run", std::to_string(kPlanPlace),
                             spec.with_control ? std::to_string(kControlPlace) : "-"});
  if (!spec.temp_name.empty()) words.insert(words.end(), {spec.temp_parent, spec.temp_name});
  pid_t pid = fork();
  CHECK_CALL(pid >= 0);
  if (pid == 0) {
    std::vector<int> places;
    for (int fd = 0; fd <= 2; ++fd) places.push_back(spec.stdio[fd] < 0 ? fd : spec.stdio[fd]);
    places.push_back(memory.get());
    if (spec.with_control) places.push_back(theirs.get());
    place_descriptors(places);
    become(spec.executable, words);
  }
  if (!spec.with_control) return {pid, Control()};
  return {pid, Control(std::move(ours))};
}

}  // namespace cordon::test
