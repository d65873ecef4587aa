// What tests arrange and look at: files, processes, time.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cordon::test {

int64_t now_ms();

// Asks `condition` again and again; false when it never held.
bool eventually(int within_ms, const std::function<bool()>& condition);

bool exists(const std::string& path);
void write_file(const std::string& path, const std::string& text);
std::string read_file(const std::string& path);
std::vector<std::string> names_in(const std::string& directory);

// Pids of this or another process' children, zombies included.
std::vector<pid_t> children();
std::vector<pid_t> children_of(pid_t pid);

// Reaps until this process, which adopts orphans, has no child; false when it still has one.
bool all_gone(int within_ms);

bool is_alive(pid_t pid);

// An RLIMIT_NPROC with which this user can have so many processes more.
rlimit room_for_processes(int more);

// How many living descendants of this process have that name.
int count_named(const std::string& name);

// Pid that a script wrote into a file, once it is there.
pid_t pid_from(const std::string& path);

int count_of_descriptors(pid_t pid);

// A uid that is not root and a directory of the scratch that it owns: becomes it for good.
void become_ordinary_user();

// From here on a system call answers `error` in this process and what it starts. `first_argument`
// narrows it to calls that begin with that value.
void refuse_call(long number, int error, std::optional<uint32_t> first_argument = std::nullopt);

// Path of a program that stands next to this test's.
std::string beside_this_test(const std::string& name);

}  // namespace cordon::test
