// SPDX-License-Identifier: BSD-3-Clause
// System calls on local sockets.
#include "provider_softnet/shm/local_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "provider_softnet/driver/descriptor_limit.h"

namespace softdat::softnet {
namespace {

constexpr int kBacklog = 4096;

}  // namespace

UniqueFd OpenLocalSocket() {
  UniqueFd fd;
  do {
    fd = UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  } while (!fd.valid() && errno == EMFILE && RaiseDescriptorLimit());
  return fd;
}

int ListenAt(int fd, const MeetingPlace& place) {
  if (place.size == 0) return ENAMETOOLONG;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&place.address), place.size) != 0) return errno;
  return listen(fd, kBacklog) == 0 ? 0 : errno;
}

int ConnectTo(int fd, const MeetingPlace& place) {
  if (place.size == 0) return ECONNREFUSED;
  int rc;
  do {
    rc = connect(fd, reinterpret_cast<const sockaddr*>(&place.address), place.size);
  } while (rc != 0 && errno == EINTR);
  if (rc != 0) return errno == EAGAIN ? ECONNREFUSED : errno;  // EAGAIN: too many wait already
  // Anybody can take a name, but only this user's programs may have this user's connections.
  return IsOwnUsersSocket(fd) ? 0 : ECONNREFUSED;
}

bool IsOwnUsersSocket(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

int SendHello(int fd, std::span<const uint8_t> hello, int memory) {
  iovec iov{const_cast<uint8_t*>(hello.data()), hello.size()};
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
  memcpy(CMSG_DATA(c), &memory, sizeof(int));
  ssize_t n;
  do {
    n = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  return n < 0 ? errno : 0;
}

ssize_t ReceiveHello(int fd, std::span<uint8_t> hello, UniqueFd* memory) {
  constexpr size_t kRoom = 8;  // one is expected; any others are closed
  iovec iov{hello.data(), hello.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kRoom * sizeof(int))];
  msghdr m{};
  m.msg_iov = &iov;
  m.msg_iovlen = 1;
  m.msg_control = control;
  m.msg_controllen = sizeof(control);
  ssize_t size;
  do {
    size = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return size;
  std::vector<UniqueFd> descriptors;
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int passed = -1;
      memcpy(&passed, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      descriptors.emplace_back(passed);
    }
  }
  if ((m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || descriptors.size() != 1) {
    errno = EPROTO;
    return -1;
  }
  *memory = std::move(descriptors.front());
  return size;
}

void RingBell(int fd) {
  const uint8_t bell = 1;
  [[maybe_unused]] const ssize_t n = send(fd, &bell, sizeof(bell), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool SilenceBell(int fd) {
  // A peer that rings without end keeps nobody here.
  constexpr int kMost = 16;
  for (int i = 0; i < kMost; ++i) {
    uint8_t bells[8];
    const ssize_t n = recv(fd, bells, sizeof(bells), MSG_DONTWAIT);
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
  return true;
}

}  // namespace softdat::softnet
