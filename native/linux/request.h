// A request for a run as it arrives on the pair to the owner: a fixed header and descriptors,
// nothing to parse.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/record.h"
#include "core/unique_fd.h"

namespace cordon {

// What a request brought; closed again unless a run takes it over.
struct Received {
  RunRequest header{};
  // In memory of this process that the next request overwrites; null when it came as a descriptor.
  const uint8_t* inline_plan = nullptr;
  size_t inline_size = 0;
  UniqueFd plan;
  UniqueFd control;
  UniqueFd stdio[3];
  UniqueFd daemon;
  UniqueFd temp_parent;
  UniqueFd temp_directory;
};

enum class Receipt {
  kWhole,
  kNothing,  // only with MSG_DONTWAIT
  kGone,     // the owner closed its end
  kNoRoom,   // this process has no descriptors left; `received` has what it could take
  kForeign,  // not a request of this owner's: it has changed its user, or it is no Cordon
};

// Touches what a request is read into, so that no start waits for a page of it.
void expect_request();

// Receives one request from an owner with this process's user and groups (`groups`: group_hash).
// `flags` as of recvmsg.
Receipt receive_request(int socket, uint64_t groups, int flags, Received* received);

}  // namespace cordon
