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
#include "rds/socket/program_memory.h"
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

void Gather(const msghdr& message, size_t size, std::vector<uint8_t>* out) {
  out->reserve(size);
  for (size_t i = 0; i < message.msg_iovlen; ++i) {
    const auto* const from = static_cast<const uint8_t*>(message.msg_iov[i].iov_base);
    out->insert(out->end(), from, from + message.msg_iov[i].iov_len);
  }
}

// What points nowhere. Payload and name are no system call worth, so what can be memory is taken
// for memory; control messages are.
struct Arguments {
  msghdr message{};
  std::vector<uint8_t> controls;  // to which `message` points
};

int ReadArguments(const msghdr* message, Arguments* out) {
  constexpr size_t kMostControls = 131072;  // net.core.optmem_max
  if (!CanBeMemory(message, sizeof *message)) return EFAULT;
  out->message = *message;
  msghdr& copy = out->message;
  if (copy.msg_name == nullptr) copy.msg_namelen = 0;
  if (copy.msg_namelen > INT_MAX) return EINVAL;
  if (!CanBeMemory(copy.msg_name, copy.msg_namelen)) return EFAULT;
  if (copy.msg_iovlen > IOV_MAX) return EMSGSIZE;
  if (!CanBeMemory(copy.msg_iov, copy.msg_iovlen * sizeof(iovec))) return EFAULT;
  if (copy.msg_controllen == 0) return 0;
  if (copy.msg_controllen > kMostControls) return ENOBUFS;
  out->controls.resize(copy.msg_controllen);
  if (!CopyFromProgram(reinterpret_cast<uintptr_t>(copy.msg_control), out->controls.data(),
                       out->controls.size())) {
    return EFAULT;
  }
  copy.msg_control = out->controls.data();
  return 0;
}

bool CanBeGathered(const msghdr& message) {
  return std::all_of(message.msg_iov, message.msg_iov + message.msg_iovlen,
                     [](const iovec& part) { return CanBeMemory(part.iov_base, part.iov_len); });
}

struct Prepared {
  SocketName to;
  size_t size = 0;
  SendRequests requests;
};

int Destination(const Socket& socket, const msghdr& message, SocketName* to) {
  if (message.msg_namelen > 0) {
    const auto* const name = static_cast<const sockaddr*>(message.msg_name);
    const int error = ParseDestination(name, message.msg_namelen, to);
    if (error != 0) return error;
  } else if (socket.peer()) {
    *to = *socket.peer();
  } else {
    return ENOTCONN;
  }
  if (!socket.bound()) return ENOTCONN;
  const Address& own = socket.name().address;
  if (own.ipv6 != to->address.ipv6) return EOPNOTSUPP;
  return AreOfOneLink(own, to->address) ? 0 : EINVAL;
}

// The checks of sendmsg, in Linux's order. (rds.md 2) Flags that programs for other sockets give
// are taken, although Linux refuses them.
int Prepare(const Socket& socket, const msghdr& message, int flags, Prepared* out) {
  constexpr int kTaken = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_ZEROCOPY;
  if ((flags & ~kTaken) != 0) return EOPNOTSUPP;
  if (const int error = Destination(socket, message, &out->to); error != 0) return error;
  out->size = SizeOf(message);
  if (!AreWhole(message)) return EINVAL;
  if (out->size > kMaxPayload || RemoteBytes(message) > kMaxRdma) return EMSGSIZE;
  if (out->size > socket.options().send_limit) return EMSGSIZE;
  if (const int error = ParseSendRequests(message, &out->requests); error != 0) return error;
  // MSG_ZEROCOPY and a cookie need each other. Without SO_ZEROCOPY the flag does nothing.
  const bool cookie = out->requests.zero_copy_cookie.has_value();
  const bool zero_copy = (flags & MSG_ZEROCOPY) != 0;
  if (zero_copy && !cookie) return EINVAL;
  if (cookie && (!zero_copy || !socket.options().zero_copy || out->size == 0)) return EINVAL;
  return CanBeGathered(message) ? 0 : EFAULT;
}

}  // namespace

ssize_t rds_sendmsg(int fd, const msghdr* message, int flags) {
  return Guarded([&]() -> ssize_t {
    if (!Library::IsSocket(fd)) return Failed(EBADF);
    Arguments arguments;
    if (const int error = ReadArguments(message, &arguments); error != 0) return Failed(error);
    Library& library = Library::Get();
    auto lock = library.Lock();
    const std::shared_ptr<OpenSocket> open = library.Find(fd);
    if (open == nullptr || open->socket == nullptr) return Failed(EBADF);
    Prepared prepared;
    const int refused = Prepare(*open->socket, arguments.message, flags, &prepared);
    if (refused != 0) return Failed(refused);
    std::vector<uint8_t> payload = library.node().TakePayload();
    Gather(arguments.message, prepared.size, &payload);
    const std::optional<Time> until = Deadline(open->socket->options().send_timeout_us);
    while (true) {
      const Time now = Now();
      const int error =
          library.node().Send(*open->socket, prepared.to, prepared.requests, &payload, now);
      // Too much memory is open: EAGAIN, too, but nothing to wait for.
      const bool full = error == EAGAIN && !open->socket->HasRoom(), congested = error == ENOBUFS;
      library.Settle(now);
      if (error == 0) return static_cast<ssize_t>(prepared.size);
      if ((!full && !congested) || (flags & MSG_DONTWAIT) != 0 || IsNonBlocking(fd)) {
        if (congested) open->socket->MetCongestion(prepared.to.port);
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
    if ((flags & MSG_ERRQUEUE) != 0) return Failed(EAGAIN);
    const std::optional<Time> until = Deadline(open->socket->options().receive_timeout_us);
    bool looked = false;
    while (true) {
      const Time now = Now();
      ssize_t got = Receive(library.node(), *open->socket, message, flags, /*waits=*/true, now);
      const bool waits = got == -EAGAIN && (flags & MSG_DONTWAIT) == 0 && !IsNonBlocking(fd);
      if (got == -EAGAIN && !waits && open->socket->readable()) {
        got = Receive(library.node(), *open->socket, message, flags, waits, now);
      }
      if (got != -EAGAIN) {
        open->looks = 0;
        library.node().MarkChanged(*open->socket);
        library.Settle(now);
        return got < 0 ? Failed(static_cast<int>(-got)) : got;
      }
      if (!waits) {
        if (looked || !library.Look(lock, *open)) return Failed(EAGAIN);
        looked = true;
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
  if (from != nullptr && !CanBeMemory(length, sizeof *length)) return Failed(EFAULT);
  if (from != nullptr) {
    message.msg_name = from;
    message.msg_namelen = *length;
  }
  const ssize_t got = rds_recvmsg(fd, &message, flags);
  if (got >= 0 && from != nullptr) *length = message.msg_namelen;
  return got;
}

ssize_t rds_recv(int fd, void* data, size_t size, int flags) {
  return rds_recvfrom(fd, data, size, flags, nullptr, nullptr);
}
