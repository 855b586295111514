// SPDX-License-Identifier: BSD-3-Clause
// Pairs of local sockets.
#include "provider_softnet/udp/handoff_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "provider_softnet/driver/descriptor_limit.h"
#include "provider_softnet/udp/datagram_calls.h"

namespace softdat::softnet {
namespace {

// Anybody may have taken the name that the offer was sent to.
bool IsTrusted(msghdr* m) {
  for (cmsghdr* c = CMSG_FIRSTHDR(m); c != nullptr; c = CMSG_NXTHDR(m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS) continue;
    ucred peer{};
    memcpy(&peer, CMSG_DATA(c), sizeof(peer));
    return peer.uid == geteuid() || peer.uid == 0;
  }
  return false;
}

}  // namespace

Result<LocalPair> OpenLocalPair() {
  int fds[2];
  while (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) {
    const int error = errno;
    if (error == EMFILE && RaiseDescriptorLimit()) continue;
    return Status(Code::kNoResources, fmt::format("no local sockets: {}", strerror(error)));
  }
  LocalPair pair{UniqueFd(fds[0]), UniqueFd(fds[1])};
  if (!pair.own.valid() || !pair.other.valid()) {
    return Status(Code::kNoResources, "no descriptor is left for local sockets");
  }
  const int on = 1;
  for (const UniqueFd* const fd : {&pair.own, &pair.other}) {
    setsockopt(fd->get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
  }
  return pair;
}

UniqueFd Duplicate(int fd) {
  int copy;
  do {
    copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  } while (copy < 0 && errno == EMFILE && RaiseDescriptorLimit());
  return UniqueFd(copy);
}

bool SayOn(int fd, std::span<const uint8_t> message) {
  iovec iov{const_cast<uint8_t*>(message.data()), message.size()};
  mmsghdr m{};
  m.msg_hdr.msg_iov = &iov;
  m.msg_hdr.msg_iovlen = 1;
  return SendMany(fd, &m, 1) == 1;
}

Heard HearOn(int fd, std::span<uint8_t> room) {
  iovec iov{room.data(), room.size()};
  // No room for descriptors, which nobody sends.
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  mmsghdr m{};
  m.msg_hdr.msg_iov = &iov;
  m.msg_hdr.msg_iovlen = 1;
  m.msg_hdr.msg_control = control;
  m.msg_hdr.msg_controllen = sizeof(control);
  // An end that closed with something unread says so once, in front of what it has sent.
  int n;
  do {
    n = ReceiveMany(fd, &m, 1);
  } while (n < 0 && errno == ECONNRESET);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
  // The end is read as a message of no length.
  if (n <= 0 || m.msg_len == 0 || !IsTrusted(&m.msg_hdr)) return {Heard::What::kGone};
  return {Heard::What::kMessage, m.msg_len};
}

}  // namespace softdat::softnet
