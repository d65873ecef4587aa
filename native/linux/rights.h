// Descriptors handed over a UNIX socket.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstring>

namespace cordon {

// A plan, a control socket, three streams, a temp directory and its parent: nobody here sends more.
inline constexpr size_t kMostRights = 8;

// Sends the bytes of `parts` and at least one, at most kMostRights descriptors in one message.
// Result, errno and `flags` as of sendmsg.
inline ssize_t send_with_descriptors(int socket, const iovec* parts, size_t part_count,
                                     const int* descriptors, size_t count, int flags) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostRights * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts);
  message.msg_iovlen = part_count;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(count * sizeof(int));
  memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
  return sendmsg(socket, &message, flags);
}

inline ssize_t send_with_descriptors(int socket, const void* bytes, size_t size,
                                     const int* descriptors, size_t count, int flags) {
  iovec part{const_cast<void*>(bytes), size};
  return send_with_descriptors(socket, &part, 1, descriptors, count, flags);
}

}  // namespace cordon
