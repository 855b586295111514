// SPDX-License-Identifier: BSD-3-Clause
// Calls that send and receive.
#include <fcntl.h>
#include <limits.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "rds/api/call.h"
#include "rds/socket/control_messages.h"
#include "rds/socket/receive.h"
#include "softdat/rds.h"

using namespace softdat::rds;

namespace {

constexpr size_t kMaxPayload = 1 << 20;
constexpr uint64_t kMaxRdma = 1 << 20;

bool IsNonBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

std::optional<Time> Deadline(uint64_t timeout_us) {
  if (timeout_us == 0) return std::nullopt;
  return Now() + std::chrono::microseconds(timeout_us);
}

// Octets in all parts, or more than any socket sends.
size_t SizeOf(const msghdr& message) {
  size_t size = 0;
  for (size_t i = 0; i < message.msg_iovlen; ++i) {
    if (message.msg_iov[i].iov_len > kMaxPayload) return kMaxPayload + 1;
    size += message.msg_iov[i].iov_len;
    if (size > kMaxPayload) return size;
  }
  return size;
}

std::vector<uint8_t> Gather(const msghdr& message, size_t size) {
  std::vector<uint8_t> out;
  out.reserve(size);
  for (size_t i = 0; i < message.msg_iovlen; ++i) {
    const auto* const from = static_cast<const uint8_t*>(message.msg_iov[i].iov_base);
    out.insert(out.end(), from, from + message.msg_iov[i].iov_len);
  }
  return out;
}

struct Prepared {
  SocketName to;
  size_t size = 0;
  SendRequests requests;
};

// The checks of sendmsg, in Linux's order. (rds.md 2) Flags that programs for other sockets give
// are taken, although Linux refuses them.
int Prepare(const Socket& socket, const msghdr& message, int flags, Prepared* out) {
  constexpr int kTaken = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_ZEROCOPY;
  if ((flags & ~kTaken) != 0) return EOPNOTSUPP;
  if (message.msg_namelen > 0) {
    const auto* const name = static_cast<const sockaddr*>(message.msg_name);
    const int error = ParseDestination(name, message.msg_namelen, &out->to);
    if (error != 0) return error;
  } else if (socket.peer()) {
    out->to = *socket.peer();
  } else {
    return ENOTCONN;
  }
  if (!socket.bound()) return ENOTCONN;
  if (socket.name().address.ipv6 != out->to.address.ipv6) return EOPNOTSUPP;
  out->size = SizeOf(message);
  if (out->size > kMaxPayload || RemoteBytes(message) > kMaxRdma) return EMSGSIZE;
  if (out->size > socket.options().send_limit) return EMSGSIZE;
  if ((flags & MSG_ZEROCOPY) != 0) return EOPNOTSUPP;
  const int error = ParseSendRequests(message, &out->requests);
  if (error != 0) return error;
  // Only MSG_ZEROCOPY has cookies.
  return out->requests.zero_copy_cookie ? EINVAL : 0;
}

}  // namespace

ssize_t rds_sendmsg(int fd, const msghdr* message, int flags) {
  return Guarded([&]() -> ssize_t {
    if (!Library::IsSocket(fd)) return Failed(EBADF);
    Library& library = Library::Get();
    auto lock = library.Lock();
    const std::shared_ptr<OpenSocket> open = library.Find(fd);
    if (open == nullptr || open->socket == nullptr) return Failed(EBADF);
    Prepared prepared;
    const int refused = Prepare(*open->socket, *message, flags, &prepared);
    if (refused != 0) return Failed(refused);
    std::vector<uint8_t> payload = Gather(*message, prepared.size);
    const std::optional<Time> until = Deadline(open->socket->options().send_timeout_us);
    while (true) {
      const Time now = Now();
      const int error =
          library.node().Send(*open->socket, prepared.to, prepared.requests, &payload, now);
      library.Settle(now);
      if (error == 0) return static_cast<ssize_t>(prepared.size);
      const bool full = error == EAGAIN, congested = error == ENOBUFS;
      if ((!full && !congested) || (flags & MSG_DONTWAIT) != 0 || IsNonBlocking(fd)) {
        return Failed(error);
      }
      // Congestion is waited for without a limit.
      const int waited =
          library.Wait(lock, *open, full ? Library::For::kRoom : Library::For::kCongestion,
                       full ? until : std::nullopt);
      if (waited != 0) return Failed(waited == EAGAIN ? ETIMEDOUT : waited);
    }
  });
}

ssize_t rds_sendto(int fd, const void* data, size_t size, int flags, const sockaddr* to,
                   socklen_t length) {
  iovec part{const_cast<void*>(data), size};
  msghdr message{};
  message.msg_name = const_cast<sockaddr*>(to);
  message.msg_namelen = to == nullptr ? 0 : length;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  return rds_sendmsg(fd, &message, flags);
}

ssize_t rds_send(int fd, const void* data, size_t size, int flags) {
  return rds_sendto(fd, data, size, flags, nullptr, 0);
}

ssize_t rds_recvmsg(int fd, msghdr* message, int flags) {
  return Guarded([&]() -> ssize_t {
    if (!Library::IsSocket(fd)) return Failed(EBADF);
    Library& library = Library::Get();
    auto lock = library.Lock();
    const std::shared_ptr<OpenSocket> open = library.Find(fd);
    if (open == nullptr || open->socket == nullptr) return Failed(EBADF);
    const std::optional<Time> until = Deadline(open->socket->options().receive_timeout_us);
    while (true) {
      const Time now = Now();
      const ssize_t got = Receive(library.node(), *open->socket, message, flags, now);
      if (got != -EAGAIN) {
        open->looks = 0;
        library.Touch(*open);
        library.Settle(now);
        return got < 0 ? Failed(static_cast<int>(-got)) : got;
      }
      if ((flags & MSG_DONTWAIT) != 0 || IsNonBlocking(fd)) {
        if (!library.Look(lock, *open)) return Failed(EAGAIN);
        continue;
      }
      const int waited = library.Wait(lock, *open, Library::For::kReceive, until);
      if (waited != 0) return Failed(waited == EAGAIN ? ETIMEDOUT : waited);
    }
  });
}

ssize_t rds_recvfrom(int fd, void* data, size_t size, int flags, sockaddr* from,
                     socklen_t* length) {
  iovec part{data, size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (from != nullptr && length != nullptr) {
    message.msg_name = from;
    message.msg_namelen = *length;
  }
  const ssize_t got = rds_recvmsg(fd, &message, flags);
  if (got >= 0 && from != nullptr && length != nullptr) *length = message.msg_namelen;
  return got;
}

ssize_t rds_recv(int fd, void* data, size_t size, int flags) {
  return rds_recvfrom(fd, data, size, flags, nullptr, nullptr);
}
