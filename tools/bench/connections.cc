// SPDX-License-Identifier: BSD-3-Clause
// Connections that are made and ended, one after the other.
#include "tools/bench/connections.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>

#include "tools/common/address.h"
#include "tools/common/cpu.h"
#include "tools/common/unique_fd.h"
#include "tools/raw/socket_io.h"
#include "tools/traffic/link.h"

namespace softdat::tools {
namespace {

constexpr int kBacklog = 16;
constexpr uint32_t kConnectTimeoutUs = 10'000'000;

// Waits until the peer has closed.
Outcome AwaitClose(int fd) {
  uint8_t byte = 0;
  while (true) {
    const ssize_t got = recv(fd, &byte, 1, 0);
    if (got == 0) return {};
    if (got < 0 && errno != EINTR) return RawErrno("recv");
    if (got > 0) return Outcome::Fail("raw: data on a connection without any");
  }
}

class RawConnections : public Connections {
 public:
  Outcome Listen(uint64_t* port) override {
    listener_ = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = Loopback(0);
    socklen_t length = sizeof address;
    const int fd = listener_.get();
    if (!listener_ || bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        listen(fd, kBacklog) != 0 ||
        getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0)
      return RawErrno("cannot listen");
    *port = ntohs(address.sin_port);
    return {};
  }

  Outcome AcceptOne() override {
    const UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    return fd ? AwaitClose(fd.get()) : RawErrno("accept");
  }

  Outcome PrepareToConnect(uint64_t port) override {
    port_ = static_cast<uint16_t>(port);
    return {};
  }

  Outcome ConnectOne() override {
    const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = Loopback(port_);
    if (!fd) return RawErrno("socket");
    if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return RawErrno("connect");
    if (shutdown(fd.get(), SHUT_WR) != 0) return RawErrno("shutdown");
    return AwaitClose(fd.get());
  }

 private:
  UniqueFd listener_;
  uint16_t port_ = 0;
};

class DatConnections : public Connections {
 public:
  explicit DatConnections(const std::string& ia) : ia_(ia) {}

  Outcome Listen(uint64_t* port) override {
    SOFTDAT_TRY(link_.Open(ia_, kDepths));
    SOFTDAT_TRY(link_.Listen(0));
    *port = link_.conn_qual();
    return {};
  }

  Outcome AcceptOne() override {
    SOFTDAT_TRY(link_.Accept());
    return link_.AwaitDisconnect();
  }

  Outcome PrepareToConnect(uint64_t port) override {
    SOFTDAT_TRY(link_.Open(ia_, kDepths));
    conn_qual_ = port;
    // The server is on the same adapter.
    return ResolveHost(FormatAddress(link_.ia().attributes().ia_address_ptr), AF_UNSPEC, &address_);
  }

  Outcome ConnectOne() override {
    SOFTDAT_TRY(
        link_.Connect(reinterpret_cast<const sockaddr*>(&address_), conn_qual_, kConnectTimeoutUs));
    return link_.Disconnect();
  }

 private:
  static constexpr LinkDepths kDepths = {.receives = 16, .requests = 16};

  const std::string ia_;
  Link link_;
  sockaddr_storage address_{};
  uint64_t conn_qual_ = 0;
};

}  // namespace

std::unique_ptr<Connections> MakeRawConnections() { return std::make_unique<RawConnections>(); }

std::unique_ptr<Connections> MakeDatConnections(const std::string& ia) {
  return std::make_unique<DatConnections>(ia);
}

Outcome TimeConnections(Connections* client, uint64_t count, JobResult* result) {
  const double cpu = ProcessSeconds();
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < count; ++i) SOFTDAT_TRY(client->ConnectOne());
  result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result->client_cpu = ProcessSeconds() - cpu;
  return {};
}

}  // namespace softdat::tools
