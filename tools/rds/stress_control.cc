// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_control.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

#include "tools/common/address.h"
#include "tools/rds/calls.h"

namespace softdat::tools {
namespace {

Outcome Failed(const std::string& what, int error) {
  return Outcome::Fail(fmt::format("{}: {}", what, strerrordesc_np(error)));
}

std::string Name(const sockaddr_storage& address) {
  return fmt::format("{} port {}", FormatAddress(reinterpret_cast<const sockaddr*>(&address)),
                     PortOf(address));
}

// An IPv4 address that an IPv6 socket shows, as an IPv4 address.
sockaddr_storage Unmapped(const sockaddr_storage& address) {
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  if (address.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) return address;
  sockaddr_storage plain{};
  auto& four = reinterpret_cast<sockaddr_in&>(plain);
  four.sin_family = AF_INET;
  four.sin_port = six.sin6_port;
  std::memcpy(&four.sin_addr, six.sin6_addr.s6_addr + 12, sizeof four.sin_addr);
  return plain;
}

sockaddr_storage NameOf(int fd, int (*get)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  get(fd, reinterpret_cast<sockaddr*>(&address), &length);
  return Unmapped(address);
}

}  // namespace

std::optional<std::string> LineBuffer::Next() {
  const size_t end = text_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

Outcome StressControl::Listen(const std::string& address, uint16_t port) {
  sockaddr_storage local{};
  if (!address.empty()) {
    SOFTDAT_TRY(ResolveHost(address, AF_UNSPEC, &local));
  } else {
    // This takes IPv4 connections, too.
    local.ss_family = AF_INET6;
  }
  SetPort(&local, port);
  listener_ = UniqueFd(socket(local.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener_ && address.empty()) {
    local.ss_family = AF_INET;  // a host without IPv6
    listener_ = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  const int on = 1;
  const int off = 0;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.empty()) setsockopt(listener_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (!listener_ ||
      bind(listener_.get(), reinterpret_cast<sockaddr*>(&local), AddressLength(local)) != 0 ||
      listen(listener_.get(), 1) != 0) {
    return Failed(fmt::format("cannot listen on TCP port {}", port), errno);
  }
  own_ = NameOf(listener_.get(), getsockname);
  return {};
}

Outcome StressControl::Accept() {
  do {
    connection_ = UniqueFd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  } while (!connection_ && errno == EINTR);
  if (!connection_) return Failed("accept", errno);
  listener_ = UniqueFd();
  own_ = NameOf(connection_.get(), getsockname);
  peer_ = NameOf(connection_.get(), getpeername);
  return {};
}

Outcome StressControl::Connect(const std::string& address, uint16_t port, const std::string& own,
                               uint32_t retries) {
  sockaddr_storage to{};
  sockaddr_storage from{};
  SOFTDAT_TRY(ResolveHost(address, AF_UNSPEC, &to));
  SetPort(&to, port);
  if (!own.empty()) SOFTDAT_TRY(ResolveHost(own, to.ss_family, &from));
  for (;; --retries) {
    connection_ = UniqueFd(socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!own.empty() &&
        bind(connection_.get(), reinterpret_cast<sockaddr*>(&from), AddressLength(from)) != 0)
      return Failed(fmt::format("{} is no address of this host (-r)", own), errno);
    if (connect(connection_.get(), reinterpret_cast<sockaddr*>(&to), AddressLength(to)) == 0) break;
    if (retries == 0)
      return Outcome::Fail(fmt::format(
          "cannot connect to {}: {}\n  start the passive end there first: rds-softstress -p {}",
          Name(to), strerrordesc_np(errno), port));
    poll(nullptr, 0, 1000);
  }
  const int on = 1;
  setsockopt(connection_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  own_ = NameOf(connection_.get(), getsockname);
  peer_ = NameOf(connection_.get(), getpeername);
  return {};
}

Outcome StressControl::Send(const std::string& line) {
  const std::string text = line + "\n";
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t size = send(fd(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Failed("the other end has ended", errno);
    sent += static_cast<size_t>(size);
  }
  return {};
}

bool StressControl::Fill() {
  char buffer[4096];
  const ssize_t size = recv(fd(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (size > 0) lines_.Add(buffer, static_cast<size_t>(size));
  if (lines_.TooLong()) return false;
  return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

Outcome StressControl::Await(std::string* line) {
  while (true) {
    if (auto next = Line()) {
      *line = *std::move(next);
      return {};
    }
    pollfd polled = {fd(), POLLIN, 0};
    if (poll(&polled, 1, -1) < 0 && errno != EINTR) return Failed("poll", errno);
    if (polled.revents != 0 && !Fill())
      return Outcome::Fail(
          "the other end has closed the connection\n  is it a rds-softstress of "
          "the same version?");
  }
}

}  // namespace softdat::tools
