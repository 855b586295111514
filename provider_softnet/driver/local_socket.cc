// SPDX-License-Identifier: BSD-3-Clause
// System calls on local sockets.
#include "provider_softnet/driver/local_socket.h"

#include <errno.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "provider_softnet/driver/descriptor_limit.h"

namespace softdat::softnet {

LocalName AbstractName(std::string_view name) {
  LocalName out;
  out.address.sun_family = AF_UNIX;
  // The first byte of an abstract name is zero, and the name has no terminator.
  if (name.size() + 1 > sizeof(out.address.sun_path)) return out;
  std::memcpy(out.address.sun_path + 1, name.data(), name.size());
  out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return out;
}

UniqueFd OpenLocalSocket() {
  UniqueFd fd;
  do {
    fd = UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  } while (!fd.valid() && errno == EMFILE && RaiseDescriptorLimit());
  return fd;
}

int ListenAt(int fd, const LocalName& name, int backlog) {
  if (name.size == 0) return ENAMETOOLONG;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0) return errno;
  return listen(fd, backlog) == 0 ? 0 : errno;
}

int ConnectTo(int fd, const LocalName& name) {
  if (name.size == 0) return ECONNREFUSED;
  int rc;
  do {
    rc = connect(fd, reinterpret_cast<const sockaddr*>(&name.address), name.size);
  } while (rc != 0 && errno == EINTR);
  if (rc != 0) return errno;
  return IsOwnUsersSocket(fd) ? 0 : ECONNREFUSED;
}

bool IsOwnUsersSocket(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

int SendWithDescriptor(int fd, std::span<const uint8_t> bytes, int descriptor) {
  iovec iov{const_cast<uint8_t*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr m{};
  m.msg_iov = &iov;
  m.msg_iovlen = 1;
  m.msg_control = control;
  m.msg_controllen = sizeof(control);
  cmsghdr* const c = CMSG_FIRSTHDR(&m);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(c), &descriptor, sizeof(int));
  ssize_t n;
  do {
    n = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return errno;
  return n == static_cast<ssize_t>(bytes.size()) ? 0 : EMSGSIZE;
}

ReceivedMessage ReceiveWithDescriptors(int fd, std::span<uint8_t> bytes) {
  constexpr size_t kRoom = 8;  // one is expected; any others are closed
  iovec iov{bytes.data(), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kRoom * sizeof(int))];
  msghdr m{};
  m.msg_iov = &iov;
  m.msg_iovlen = 1;
  m.msg_control = control;
  m.msg_controllen = sizeof(control);
  ReceivedMessage out;
  do {
    out.size = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (out.size < 0 && errno == EINTR);
  if (out.size < 0) return out;
  out.cut = (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int passed = -1;
      std::memcpy(&passed, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      out.descriptors.emplace_back(passed);
    }
  }
  return out;
}

}  // namespace softdat::softnet
