// A request for a run as it arrives on the pair to the owner: a fixed header and descriptors,
// nothing to parse.
#pragma once

#include "core/record.h"
#include "core/unique_fd.h"

namespace cordon {

// What a request brought; closed again unless a run takes it over.
struct Received {
  RunRequest header{};
  UniqueFd plan;
  UniqueFd control;
  UniqueFd stdio[3];
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

// Receives one request from an owner with this process's user and groups (`groups`: group_hash).
// `flags` as of recvmsg.
Receipt receive_request(int socket, uint64_t groups, int flags, Received* received);

}  // namespace cordon
