// What the throw-away child says of each effect, against the world: on nothing that confines it,
// and where single calls or everything it needs fails.

#include "linux/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/unique_fd.h"
#include "test/harness.h"
#include "test/world.h"

namespace cordon::test {
namespace {

constexpr const char* kVictims[] = {"victim-open",   "victim-truncate", "victim-open-truncate",
                                    "victim-remove", "victim-rename",   "victim-link",
                                    "victim-mode",   "victim-owner",    "victim-times",
                                    "victim-xattr",  "victim-flags"};

const char* const kPlaceEffects[] = {
    "write-create",    "write-open",     "write-remove",   "write-rename",   "write-link",
    "write-directory", "write-fifo",     "write-symlink",  "truncate",       "truncate-open",
    "metadata-mode",   "metadata-owner", "metadata-times", "metadata-xattr", "metadata-flags"};

// A directory as the prober makes it.
std::string make_place(const std::string& name) {
  std::string place = scratch() + "/" + name;
  CHECK_CALL(mkdir(place.c_str(), 0777) == 0);
  for (const char* victim : kVictims) write_file(place + "/" + victim, "content");
  return place;
}

UniqueFd listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  CHECK(path.size() < sizeof address.sun_path);
  memcpy(address.sun_path, path.c_str(), path.size());
  UniqueFd server(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  CHECK_CALL(bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK_CALL(listen(server.get(), 8) == 0);
  return server;
}

// What `body` prints, and how it ends.
struct Said {
  std::string text;
  int exit_code = -1;
};

Said said_by(const std::function<int()>& body) {
  int ends[2];
  CHECK_CALL(pipe2(ends, O_CLOEXEC) == 0);
  pid_t pid = fork();
  CHECK_CALL(pid >= 0);
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    _exit(body());
  }
  close(ends[1]);
  Said said;
  char bytes[4096];
  ssize_t length = 0;
  while ((length = read(ends[0], bytes, sizeof bytes)) > 0)
    said.text.append(bytes, static_cast<size_t>(length));
  close(ends[0]);
  int status = 0;
  CHECK_CALL(waitpid(pid, &status, 0) == pid);
  if (WIFEXITED(status)) said.exit_code = WEXITSTATUS(status);
  return said;
}

using Outcomes = std::map<std::string, std::string>;

// "NAME" or "@N NAME", and what became of it. The one left behind is ended.
Outcomes outcomes_of(const std::string& text) {
  Outcomes all;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.rfind("orphan ", 0) == 0) {
      kill(atoi(line.c_str() + 7), SIGKILL);
      continue;
    }
    size_t name_ends = line.find(' ', line[0] == '@' ? line.find(' ') + 1 : 0);
    CHECK(name_ends != std::string::npos);
    CHECK(all.emplace(line.substr(0, name_ends), line.substr(name_ends + 1)).second);
  }
  return all;
}

ProbeSurroundings surroundings(const std::string& place) {
  return {place.c_str(), getppid(), "", nullptr, 0, 0, 0};
}

Said probe_at(
    const ProbeSurroundings& at, std::vector<char*> places = {},
    const std::function<void()>& first = [] {}) {
  return said_by([&] {
    first();
    return probe(at, places.data(), static_cast<int>(places.size()));
  });
}

TEST(unconfined_every_effect_on_files_takes_place_and_is_said_to) {
  needs_root();
  std::string place = make_place("outside");
  std::string other = make_place("other");
  UniqueFd server = listen_at(place + "/socket");
  std::vector<char*> places = {other.data()};
  Said said = probe_at(surroundings(place), places);
  CHECK_EQ(said.exit_code, 0);
  Outcomes all = outcomes_of(said.text);
  for (const char* effect : kPlaceEffects) {
    CHECK_EQ(all.at(effect), "took-place");
    CHECK_EQ(all.at(std::string("@1 ") + effect), "took-place");
  }
  CHECK_EQ(all.at("unix-connect"), "took-place");
  CHECK_EQ(all.at("outlive"), "took-place");
  for (const std::string& each : {place, other}) {
    for (const char* made : {"created", "renamed", "linked", "directory", "fifo"})
      CHECK(exists(each + "/" + made));
    CHECK(!exists(each + "/victim-remove") && !exists(each + "/victim-rename"));
    CHECK_EQ(read_file(each + "/victim-open"), "contentx");
    for (const char* emptied : {"victim-truncate", "victim-open-truncate"})
      CHECK_EQ(read_file(each + "/" + emptied), "");
    struct stat found;
    CHECK_CALL(stat((each + "/victim-mode").c_str(), &found) == 0);
    CHECK_EQ(found.st_mode & 07777, 0644u);
    CHECK_CALL(stat((each + "/victim-owner").c_str(), &found) == 0);
    CHECK_EQ(found.st_uid, 65534u);
    CHECK_CALL(stat((each + "/victim-times").c_str(), &found) == 0);
    CHECK_EQ(found.st_mtim.tv_sec, 1000000000L);
  }
  // Nothing to push into, no accomplice, nowhere to make a set-id file: nothing is said of these.
  for (const char* effect : {"terminal-push", "door-trace", "door-memory", "set-id-create"})
    CHECK_EQ(all.count(effect), size_t{0});
}

TEST(a_set_id_file_counts_when_the_bit_is_on_it) {
  std::string place = make_place("outside");
  std::string inside = scratch() + "/inside";
  CHECK_CALL(mkdir(inside.c_str(), 0777) == 0);
  ProbeSurroundings at = surroundings(place);
  at.inside = inside.c_str();
  Outcomes all = outcomes_of(probe_at(at).text);
  for (const char* effect : {"set-id-create", "set-id-mode"})
    CHECK_EQ(all.at(effect), "took-place");
  // Success that did nothing is not the effect.
  std::string again = scratch() + "/again";
  CHECK_CALL(mkdir(again.c_str(), 0777) == 0);
  at.inside = again.c_str();
  all = outcomes_of(probe_at(at, {}, [] {
                      refuse_call(SYS_fchmodat, 0);
#ifdef SYS_chmod
                      refuse_call(SYS_chmod, 0);
#endif
                    }).text);
  CHECK_EQ(all.at("set-id-create"), "took-place");
  CHECK_EQ(all.at("set-id-mode"), "stopped EPERM");
}

TEST(what_stops_an_effect_is_named) {
  std::string place = make_place("outside");
  struct {
    long call;
    int error;
    const char* effect;
    const char* says;
  } faults[] = {
#ifdef SYS_rename  // newer architectures have the longer forms alone
      {SYS_rename, EXDEV, "write-rename", "stopped EXDEV"},
      {SYS_link, EPERM, "write-link", "stopped EPERM"},
#endif
      {SYS_truncate, EACCES, "truncate", "stopped EACCES"},
      {SYS_fchownat, EACCES, "metadata-owner", "stopped EACCES"},
      {SYS_utimensat, EACCES, "metadata-times", "stopped EACCES"},
      {SYS_setxattr, EOPNOTSUPP, "metadata-xattr", "stopped EOPNOTSUPP"},
      {SYS_ioctl, ENOTTY, "metadata-flags", "stopped ENOTTY"},
      {SYS_kill, EPERM, "signal", "stopped EPERM"},
      {SYS_socket, EAFNOSUPPORT, "door-vsock", "stopped EAFNOSUPPORT"},
      {SYS_socket, EACCES, "unix-datagram", "stopped EACCES"},
      {SYS_connect, EACCES, "abstract-connect", "stopped EACCES"},
      {SYS_mount, EPERM, "door-mount", "stopped EPERM"},
      // The kernel has looked at the arguments: the door is open.
      {SYS_mount, EFAULT, "door-mount", "took-place"},
      {SYS_swapon, EPERM, "door-swap", "stopped EPERM"},
      {SYS_init_module, ENOSYS, "door-module", "stopped ENOSYS"},
      {SYS_keyctl, ENOSYS, "door-keyring", "stopped ENOSYS"},
      {SYS_keyctl, ENOKEY, "door-keyring", "took-place"},
      {SYS_unshare, EPERM, "door-namespace", "stopped EPERM"},
      {SYS_mq_open, ENOSYS, "message-queue", "stopped ENOSYS"},
  };
  for (const auto& fault : faults) {
    Said said = probe_at(surroundings(place), {}, [&] { refuse_call(fault.call, fault.error); });
    CHECK_EQ(said.exit_code, 0);
    CHECK_EQ(outcomes_of(said.text).at(fault.effect), fault.says);
  }
}

TEST(what_cannot_be_looked_at_counts_as_open) {
  std::string place = make_place("outside");
  // No descriptor can be opened: neither the own ones nor the own record can be read.
  Said said = probe_at(surroundings(place), {}, [] {
    rlimit none = {3, 3};
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) _exit(9);
    if (close_range(3, ~0u, 0) != 0) _exit(9);
  });
  CHECK_EQ(said.exit_code, 0);
  Outcomes all = outcomes_of(said.text);
  CHECK_EQ(all.at("descriptors"), "took-place");
  CHECK_EQ(all.at("privilege"), "took-place");
  for (const char* effect : {"write-create", "write-open", "unix-connect", "door-vsock"})
    CHECK_EQ(all.at(effect), "stopped EMFILE");
  CHECK(!exists(place + "/created"));
}

TEST(a_descriptor_that_was_inherited_is_seen) {
  std::string place = make_place("outside");
  auto only_stdio = [] {
    if (close_range(3, ~0u, 0) != 0) _exit(9);
  };
  auto one_more = [&] {
    only_stdio();
    if (dup(0) < 0) _exit(9);
  };
  CHECK_EQ(outcomes_of(probe_at(surroundings(place), {}, only_stdio).text).at("descriptors"),
           "stopped EBADF");
  CHECK_EQ(outcomes_of(probe_at(surroundings(place), {}, one_more).text).at("descriptors"),
           "took-place");
}

TEST(files_that_are_not_there_stop_nothing_and_harm_nothing) {
  std::string gone = scratch() + "/gone";
  Outcomes all = outcomes_of(probe_at(surroundings(gone)).text);
  for (const char* effect : kPlaceEffects) CHECK_EQ(all.at(effect), "stopped ENOENT");
  // A path too long for a socket is not cut.
  std::string deep = scratch() + "/" + std::string(120, 'd');
  CHECK_CALL(mkdir(deep.c_str(), 0777) == 0);
  CHECK_EQ(outcomes_of(probe_at(surroundings(deep)).text).at("unix-connect"),
           "stopped ENAMETOOLONG");
}

// What stands at 1 is not for writing.
void lose_voice() {
  int deaf = open("/dev/null", O_RDONLY | O_CLOEXEC);
  CHECK_CALL(deaf >= 0 && dup2(deaf, STDOUT_FILENO) == STDOUT_FILENO);
}

TEST(who_cannot_speak_fails) {
  std::string place = make_place("outside");
  EXPECT_EXIT(1, [&] {
    lose_voice();
    _exit(probe(surroundings(place), nullptr, 0));
  });
  EXPECT_EXIT(1, [] {
    lose_voice();
    _exit(accomplice());
  });
}

// --- the accomplice

struct Accomplice {
  pid_t pid = -1;
  UniqueFd to;
  UniqueFd from;
  uint64_t address = 0;

  Accomplice() {
    int in[2];
    int out[2];
    CHECK_CALL(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    pid = fork();
    CHECK_CALL(pid >= 0);
    if (pid == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      // Else it would wait for itself.
      close(in[1]);
      _exit(accomplice());
    }
    close(in[0]);
    close(out[1]);
    to.reset(in[1]);
    from.reset(out[0]);
    char terminal[16];
    std::string ready = line();
    CHECK_EQ(sscanf(ready.c_str(), "ready %lu %15s", &address, terminal), 2);
  }

  std::string line() {
    std::string text;
    char c;
    while (read(from.get(), &c, 1) == 1 && c != '\n') text += c;
    return text;
  }

  std::vector<std::string> seen() {
    to.reset();
    std::vector<std::string> all;
    for (std::string each = line(); each != "." && !each.empty(); each = line())
      all.push_back(each);
    int status = 0;
    CHECK_CALL(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return all;
  }
};

TEST(an_accomplice_sees_what_was_done_to_it) {
  std::string place = make_place("outside");
  Accomplice victim;
  ProbeSurroundings at = surroundings(place);
  at.outside_pid = victim.pid;
  at.accomplice_address = victim.address;
  Outcomes all = outcomes_of(probe_at(at).text);
  for (const char* effect : {"signal", "door-memory", "door-trace"})
    CHECK_EQ(all.at(effect), "took-place");
  std::vector<std::string> seen = victim.seen();
  CHECK_EQ(seen.size(), size_t{2});
  CHECK_EQ(seen[0], "signal");
  CHECK_EQ(seen[1], "door-memory");
}

TEST(an_accomplice_that_nobody_reached_saw_nothing) {
  std::string place = make_place("outside");
  Accomplice victim;
  ProbeSurroundings at = surroundings(place);
  at.outside_pid = victim.pid;
  at.accomplice_address = victim.address;
  Outcomes all = outcomes_of(probe_at(at, {}, [] {
                               refuse_call(SYS_kill, EPERM);
                               refuse_call(SYS_process_vm_writev, EPERM);
                               refuse_call(SYS_ptrace, EPERM);
                             }).text);
  for (const char* effect : {"signal", "door-memory", "door-trace"})
    CHECK_EQ(all.at(effect), "stopped EPERM");
  CHECK(victim.seen().empty());
}

}  // namespace
}  // namespace cordon::test
