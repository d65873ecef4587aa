#include "linux/request.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cordon {
namespace {

// More than a request has: what does not belong is closed, not left open.
constexpr size_t kMostReceived = 16;

bool from_owner(const Received& received, uint64_t groups, const ucred& sender) {
  return received.header.magic == kRequestMagic && received.header.version == kRequestVersion &&
         received.header.groups == groups && sender.uid == getuid() && sender.gid == getgid();
}

uint8_t g_inline[kMostInlineBytes];

bool has(const Received& received, uint32_t flag) { return (received.header.flags & flag) != 0; }

// Takes every descriptor of the message over, wanted or not. Returns how many there were.
size_t take_descriptors(msghdr* message, ucred* sender, Received* received) {
  UniqueFd* places[8];
  size_t most = 0;
  if (!has(*received, kRequestPlanInline)) places[most++] = &received->plan;
  places[most++] = &received->control;
  for (UniqueFd& each : received->stdio) places[most++] = &each;
  if (has(*received, kRequestDaemon)) places[most++] = &received->daemon;
  places[most++] = &received->temp_parent;
  places[most++] = &received->temp_directory;
  size_t count = 0;
  for (cmsghdr* item = CMSG_FIRSTHDR(message); item != nullptr; item = CMSG_NXTHDR(message, item)) {
    if (item->cmsg_level != SOL_SOCKET) continue;
    if (item->cmsg_type == SCM_CREDENTIALS) memcpy(sender, CMSG_DATA(item), sizeof *sender);
    if (item->cmsg_type != SCM_RIGHTS) continue;
    size_t brought = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < brought; ++i, ++count) {
      int fd = -1;
      memcpy(&fd, CMSG_DATA(item) + i * sizeof fd, sizeof fd);
      if (count < most) {
        places[count]->reset(fd);
      } else {
        close(fd);
      }
    }
  }
  return count;
}

}  // namespace

void expect_request() {
  volatile uint8_t* pages = g_inline;
  pages[0] = 0;
}

Receipt receive_request(int socket, uint64_t groups, int flags, Received* received) {
  alignas(
      cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(kMostReceived * sizeof(int))];
  iovec parts[] = {{&received->header, sizeof received->header}, {g_inline, sizeof g_inline}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
  if (length < 0) return errno == EAGAIN || errno == EINTR ? Receipt::kNothing : Receipt::kGone;
  ucred sender{0, static_cast<uid_t>(-1), static_cast<gid_t>(-1)};
  size_t count = take_descriptors(&message, &sender, received);
  // A message without a byte cannot be told from the end, and is none of ours either way.
  if (length == 0) return Receipt::kGone;
  bool whole = length >= static_cast<ssize_t>(sizeof received->header) &&
               (message.msg_flags & MSG_TRUNC) == 0;
  if (!whole || !from_owner(*received, groups, sender)) return Receipt::kForeign;
  bool has_inline = has(*received, kRequestPlanInline);
  size_t beyond = static_cast<size_t>(length) - sizeof received->header;
  if (has_inline != (beyond > 0)) return Receipt::kForeign;
  if (has_inline) {
    received->inline_plan = g_inline;
    received->inline_size = beyond;
  }
  received->header.temp_name[kTempNameBytes - 1] = '\0';
  bool temp = received->header.temp_name[0] != '\0';
  bool made = has(*received, kRequestTempMade);
  if (made && !temp) return Receipt::kForeign;
  size_t wanted = kRequestDescriptors - (has_inline ? 1 : 0) + (temp ? 1 : 0) + (made ? 1 : 0) +
                  (has(*received, kRequestDaemon) ? 1 : 0);
  if ((message.msg_flags & MSG_CTRUNC) != 0 && count < wanted) return Receipt::kNoRoom;
  return count == wanted ? Receipt::kWhole : Receipt::kForeign;
}

}  // namespace cordon
