// SPDX-License-Identifier: BSD-3-Clause
// Whole messages over a blocking TCP socket.
#include "tools/raw/socket_io.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace softdat::tools {

Outcome RawErrno(const char* what) {
  return Outcome::Fail(fmt::format("raw: {}: {}", what, strerror(errno)));
}

Outcome RawClosed() { return Outcome::Fail("raw: the other side has closed"); }

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

Outcome SendAll(int fd, const void* data, size_t bytes) {
  const auto* at = static_cast<const uint8_t*>(data);
  while (bytes > 0) {
    const ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return RawErrno("send");
    }
    at += sent;
    bytes -= static_cast<size_t>(sent);
  }
  return {};
}

Outcome ReceiveAll(int fd, void* data, size_t bytes, int flags) {
  auto* at = static_cast<uint8_t*>(data);
  while (bytes > 0) {
    const ssize_t got = recv(fd, at, bytes, flags);
    if (got == 0) return RawClosed();
    if (got < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return RawErrno("recv");
    }
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return {};
}

}  // namespace softdat::tools
