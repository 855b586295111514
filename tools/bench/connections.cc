// SPDX-License-Identifier: BSD-3-Clause
// Connections that are made and ended, in turns.
#include "tools/bench/connections.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <vector>

#include "tools/common/address.h"
#include "tools/common/cpu.h"
#include "tools/common/unique_fd.h"
#include "tools/raw/socket_io.h"
#include "tools/traffic/link.h"

namespace softdat::tools {
namespace {

constexpr uint32_t kBacklog = 16;  // plus the connections of a turn
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
  RawConnections(uint32_t at_once, uint32_t exchanges) : exchanges_(exchanges), fds_(at_once) {}

  Outcome Listen(uint64_t* port) override {
    listener_ = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = Loopback(0);
    socklen_t length = sizeof address;
    const int fd = listener_.get();
    if (!listener_ || bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        listen(fd, static_cast<int>(kBacklog + fds_.size())) != 0 ||
        getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0)
      return RawErrno("cannot listen");
    *port = ntohs(address.sin_port);
    return {};
  }

  Outcome AcceptTurn() override {
    for (UniqueFd& fd : fds_) {
      fd = UniqueFd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd) return RawErrno("accept");
    }
    for (uint32_t i = 0; i < exchanges_; ++i) SOFTDAT_TRY(AnswerTurn());
    return CloseTurn();
  }

  Outcome PrepareToConnect(uint64_t port) override {
    port_ = static_cast<uint16_t>(port);
    return {};
  }

  Outcome ConnectTurn() override {
    const sockaddr_in address = Loopback(port_);
    for (UniqueFd& fd : fds_) {
      fd = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (!fd) return RawErrno("socket");
      if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return RawErrno("connect");
    }
    for (uint32_t i = 0; i < exchanges_; ++i) SOFTDAT_TRY(AskTurn());
    for (const UniqueFd& fd : fds_) {
      if (shutdown(fd.get(), SHUT_WR) != 0) return RawErrno("shutdown");
    }
    return CloseTurn();
  }

 private:
  // An MPA frame without private data, or an FPDU without payload.
  static constexpr size_t kFrame = 20;

  Outcome AskTurn() {
    uint8_t frame[kFrame] = {};
    for (const UniqueFd& fd : fds_) SOFTDAT_TRY(SendAll(fd.get(), frame, kFrame));
    for (const UniqueFd& fd : fds_) SOFTDAT_TRY(ReceiveAll(fd.get(), frame, kFrame));
    return {};
  }
  Outcome AnswerTurn() {
    uint8_t frame[kFrame] = {};
    for (const UniqueFd& fd : fds_) {
      SOFTDAT_TRY(ReceiveAll(fd.get(), frame, kFrame));
      SOFTDAT_TRY(SendAll(fd.get(), frame, kFrame));
    }
    return {};
  }

  // Closes each connection when its peer has done so, or has said that it will.
  Outcome CloseTurn() {
    for (UniqueFd& fd : fds_) {
      SOFTDAT_TRY(AwaitClose(fd.get()));
      fd = UniqueFd();
    }
    return {};
  }

  const uint32_t exchanges_;  // before the end
  UniqueFd listener_;
  std::vector<UniqueFd> fds_;  // of this turn
  uint16_t port_ = 0;
};

class DatConnections : public Connections {
 public:
  DatConnections(const std::string& ia, uint32_t at_once) : ia_(ia), at_once_(at_once) {}

  Outcome Listen(uint64_t* port) override {
    SOFTDAT_TRY(link_.Open(ia_, kDepths, at_once_));
    SOFTDAT_TRY(link_.Listen(0));
    *port = link_.conn_qual();
    return {};
  }

  Outcome AcceptTurn() override {
    SOFTDAT_TRY(link_.Accept(Link::Order::kAtOnce));
    return link_.AwaitDisconnect();
  }

  Outcome PrepareToConnect(uint64_t port) override {
    SOFTDAT_TRY(link_.Open(ia_, kDepths, at_once_));
    conn_qual_ = port;
    // The server is on the same adapter.
    return ResolveHost(FormatAddress(link_.ia().attributes().ia_address_ptr), AF_UNSPEC, &address_);
  }

  Outcome ConnectTurn() override {
    SOFTDAT_TRY(link_.Connect(reinterpret_cast<const sockaddr*>(&address_), conn_qual_,
                              kConnectTimeoutUs, Link::Order::kAtOnce));
    return link_.Disconnect();
  }

 private:
  static constexpr LinkDepths kDepths = {.receives = 16, .requests = 16};

  const std::string ia_;
  const uint32_t at_once_;
  Link link_;
  sockaddr_storage address_{};
  uint64_t conn_qual_ = 0;
};

}  // namespace

std::unique_ptr<Connections> MakeRawConnections(uint32_t at_once) {
  return std::make_unique<RawConnections>(at_once, 0);
}

std::unique_ptr<Connections> MakeHandshakeConnections(uint32_t at_once) {
  return std::make_unique<RawConnections>(at_once, 2);
}

std::unique_ptr<Connections> MakeDatConnections(const std::string& ia, uint32_t at_once) {
  return std::make_unique<DatConnections>(ia, at_once);
}

Outcome TimeConnections(Connections* client, uint64_t count, uint32_t at_once, JobResult* result) {
  const uint64_t turns = (count + at_once - 1) / at_once;
  const double cpu = ProcessSeconds();
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < turns; ++i) SOFTDAT_TRY(client->ConnectTurn());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const double share = static_cast<double>(count) / static_cast<double>(turns * at_once);
  result->seconds = took.count() * share;
  result->client_cpu = (ProcessSeconds() - cpu) * share;
  return {};
}

}  // namespace softdat::tools
