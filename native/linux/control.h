// The supervisor's end of the control socket.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>

#include "core/denial.h"
#include "core/failure.h"
#include "core/record.h"

namespace cordon {

struct StartedFacts {
  pid_t pid;
  pid_t supervisor;
  uint32_t abi;
  uint32_t layers;
  uint64_t handled_fs;
  uint64_t scoped;
  uint64_t capabilities;
  bool no_new_privs;
};

struct Denied {
  DeniedOperation operation;
  DenialSource source;
  int error;
  pid_t thread;
  const char* command;
  const char* path;
};

void send_started(int control, const StartedFacts& facts);
void send_failed(int control, const Failure& failure);
void send_exited(int control, int wait_status, const rusage& usage);
// Both at once, for a command that left nothing behind: the owner wakes once.
void send_exited_and_ended(int control, int wait_status, const rusage& usage, uint32_t flags,
                           uint32_t lost);
// Those that must not wait for a slow owner: false when they could not be sent at once.
bool try_exited(int control, int wait_status, const rusage& usage);
bool try_survivor(int control, pid_t pid, const char* command);
// `lost`: denials that could not be told.
void send_ended(int control, uint32_t survivors, uint32_t flags, uint32_t lost);
// False when the owner is slow; never waits for it.
bool send_denial(int control, const Denied& denied);
// Dropped rather than waited for: a program may stop and go on without end while its owner is away.
void send_stopped(int control, int signal);
void send_continued(int control);

}  // namespace cordon
