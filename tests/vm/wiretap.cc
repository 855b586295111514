// SPDX-License-Identifier: BSD-3-Clause
#include "tests/vm/wiretap.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/iwarp/rdmap.h"

namespace softdat::vm_test {
namespace {

constexpr int kPatienceMs = 60'000;

sockaddr_in Address(const std::string& text, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET, text.c_str(), &address.sin_addr), 1) << text;
  return address;
}

bool Readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return poll(&one, 1, kPatienceMs) == 1;
}

}  // namespace

Wiretap::Wiretap(const std::string& here, const std::string& there, uint16_t port) {
  sockaddr_in address = Address(here, 0);
  socklen_t size = sizeof address;
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listener_, 1), 0);
  EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port_ = ntohs(address.sin_port);
  relay_ = std::thread([this, there, port] { Relay(there, port); });
}

Wiretap::~Wiretap() {
  if (relay_.joinable()) relay_.join();
  close(listener_);
}

Conversation Wiretap::Finish() {
  relay_.join();
  EXPECT_TRUE(from_client_.octets.empty()) << "the client ended within a frame";
  EXPECT_TRUE(from_server_.octets.empty()) << "the server ended within a frame";
  return conversation_;
}

void Wiretap::Relay(const std::string& there, uint16_t port) {
  if (!Readable(listener_)) return;
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Address(there, port);
  if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ADD_FAILURE() << "nobody listens on port " << port << " of " << there;
  }
  pollfd ends[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
  while ((ends[0].fd >= 0 || ends[1].fd >= 0) && poll(ends, 2, kPatienceMs) > 0) {
    if (ends[0].revents != 0 && !Pass(client, server, true)) ends[0].fd = -1;
    if (ends[1].revents != 0 && !Pass(server, client, false)) ends[1].fd = -1;
  }
  close(client);
  close(server);
}

bool Wiretap::Pass(int from, int to, bool from_client) {
  uint8_t some[16'384];
  const ssize_t n = recv(from, some, sizeof some, 0);
  if (n <= 0) {
    shutdown(to, SHUT_WR);
    return false;
  }
  Direction& direction = from_client ? from_client_ : from_server_;
  direction.octets.insert(direction.octets.end(), some, some + n);
  TakeFrames(from_client);
  for (ssize_t sent = 0; sent < n;) {
    const ssize_t more = send(to, some + sent, static_cast<size_t>(n - sent), MSG_NOSIGNAL);
    if (more < 0) return false;
    sent += more;
  }
  return true;
}

void Wiretap::TakeFrames(bool from_client) {
  Direction& direction = from_client ? from_client_ : from_server_;
  size_t at = 0;
  const auto rest = [&] { return ByteSpan(direction.octets).subspan(at); };
  if (!direction.started) {
    iwarp::MpaStart start;
    const iwarp::MpaParseResult result = iwarp::ParseMpaStart(rest(), &start);
    if (result.status == iwarp::MpaParseStatus::kNeedMore) return;
    ASSERT_EQ(result.status, iwarp::MpaParseStatus::kOk);
    (from_client ? conversation_.request : conversation_.reply) = start.words;
    direction.started = true;
    at = result.bytes;
  }
  iwarp::FpduView view;
  for (; iwarp::PeekFpdu(rest(), &view) == 0; at += view.size) {
    iwarp::DdpHeader header;
    ASSERT_EQ(iwarp::ParseDdpHeader(view.ulpdu, &header), iwarp::DdpParse::kOk);
    iwarp::ReadRequest read;
    if (header.opcode == iwarp::Opcode::kReadRequest) {
      ASSERT_TRUE(iwarp::ParseReadRequest(view.ulpdu.subspan(header.size), &read));
    }
    conversation_.frames.push_back({from_client, header.opcode, header.last, read.size});
  }
  direction.octets.erase(direction.octets.begin(),
                         direction.octets.begin() + static_cast<ptrdiff_t>(at));
}

}  // namespace softdat::vm_test
