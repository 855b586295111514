// SPDX-License-Identifier: BSD-3-Clause
// IPv6: names, messages and RDMA over ::1, over a link-local address, and beside IPv4. Each of
// these runs in a network of its own, because a host may have no IPv6, and has no other addresses
// to choose from.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tests/rds/af_rds.h"
#include "tests/rds/network.h"

namespace softdat::rds_test {
namespace {

constexpr const char* kLinkLocal = "fe80::77";
constexpr const char* kGlobal = "fd00::77";
constexpr const char* kOther = "fd00::78";
constexpr const char* kIpv4 = "10.77.0.1";
constexpr size_t kSize = 50000;  // of the memory that RDMA moves

sockaddr_in6 Of(const char* address, uint16_t port = 0, uint32_t scope = 0) {
  sockaddr_in6 out{};
  out.sin6_family = AF_INET6;
  out.sin6_port = htons(port);
  out.sin6_scope_id = scope;
  EXPECT_EQ(inet_pton(AF_INET6, address, &out.sin6_addr), 1);
  return out;
}

// ---- a network ----

enum class Network : uint8_t {
  kLoopback6,     // lo has ::1 alone
  kLinkLocal6,    // lo has kLinkLocal alone
  kBothLoopback,  // lo has 127.0.0.1 and ::1
  kInterface,     // another interface has kIpv4, kGlobal, kOther and kLinkLocal
};

// The IA of another interface than lo is found by its address.
void ForgetLo() {
  const char* const ia = std::getenv("SOFTDAT_RDS_IA");
  if (ia == nullptr) return;
  const std::string name = ia;
  ASSERT_TRUE(name.ends_with("lo"));
  setenv("SOFTDAT_RDS_IA", name.substr(0, name.size() - 2).c_str(), 1);
}

bool Make(Network network) {
  if (!EnterNetwork()) return false;
  switch (network) {
    case Network::kLoopback6:
      return RemoveIpv4("lo");
    case Network::kLinkLocal6:
      return RemoveIpv4("lo") && AddIpv6("lo", kLinkLocal, 64) && RemoveIpv6("lo", "::1", 128);
    case Network::kBothLoopback:
      return true;
    case Network::kInterface:
      ForgetLo();
      return MakeInterface("both", kIpv4) && AddIpv6("both", kGlobal, 64) &&
             AddIpv6("both", kOther, 64) && AddIpv6("both", kLinkLocal, 64);
  }
  return false;
}

// In another process, because a network cannot be left.
void InNetwork(Network network, const std::function<void()>& what) {
  if (KernelDiffers("networks")) GTEST_SKIP();
  Process process([&](int line) {
    const bool made = Make(network);
    Tell(line, made ? 1 : 0);
    if (made) what();
  });
  if (Hear(process.line()) == 0) GTEST_SKIP() << "no network of its own";
}

// ---- calls ----

int Bind(int fd, const sockaddr_in6& name, socklen_t length = sizeof(sockaddr_in6)) {
  return bind(fd, reinterpret_cast<const sockaddr*>(&name), length) == 0 ? 0 : errno;
}
int Bind4(int fd, const sockaddr_in& name) {
  return bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 ? 0 : errno;
}
int Connect(int fd, const sockaddr_in6& name, socklen_t length = sizeof(sockaddr_in6)) {
  return connect(fd, reinterpret_cast<const sockaddr*>(&name), length) == 0 ? 0 : errno;
}
sockaddr_in6 NameOf(int fd) {
  sockaddr_in6 name{};
  socklen_t length = sizeof name;
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&name), &length), 0);
  EXPECT_EQ(length, sizeof name);
  return name;
}

ssize_t SendTo(int fd, const sockaddr_in6& to, const std::string& payload,
               const Controls& controls = {}, socklen_t length = sizeof(sockaddr_in6)) {
  iovec part{const_cast<char*>(payload.data()), payload.size()};
  msghdr message{};
  message.msg_name = const_cast<sockaddr_in6*>(&to);
  message.msg_namelen = length;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = const_cast<uint8_t*>(controls.octets().data());
  message.msg_controllen = controls.octets().size();
  const ssize_t sent = sendmsg(fd, &message, 0);
  return sent < 0 ? -errno : sent;
}

struct Got6 {
  std::string payload;
  sockaddr_in6 from{};
  rds_rdma_cookie_t cookie = 0;
};
Got6 ReceiveFrom(int fd) {
  Got6 got;
  std::string buffer(1 << 17, 0);
  alignas(cmsghdr) char control[512];
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_name = &got.from;
  message.msg_namelen = sizeof got.from;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(fd, &message, 0);
  EXPECT_GE(size, 0) << std::strerror(errno);
  EXPECT_EQ(message.msg_namelen, sizeof got.from);
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_type == RDS_CMSG_RDMA_DEST)
      std::memcpy(&got.cookie, CMSG_DATA(c), sizeof got.cookie);
  }
  got.payload = buffer.substr(0, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return got;
}

// A server reads the memory of the one who has sent the request, and then writes it.
void ServeRdma(int socket, const Got6& request) {
  EXPECT_NE(request.cookie, 0u);
  std::vector<uint8_t> data(kSize);
  for (const uint64_t flags : {uint64_t{RDS_RDMA_FENCE}, uint64_t{RDS_RDMA_READWRITE}}) {
    EXPECT_EQ(SendTo(socket, request.from, std::string(10000, 'x'),
                     Controls().Rdma(request.cookie, 0, kSize, {Piece(data.data(), kSize)},
                                     flags | RDS_RDMA_NOTIFY_ME)),
              10000);
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
    EXPECT_EQ(data, std::vector<uint8_t>(kSize, flags == RDS_RDMA_FENCE ? 1 : 2));
    data.assign(kSize, 2);
  }
}

void AskForRdma(int socket, const sockaddr_in6& to) {
  std::vector<uint8_t> memory(kSize, 1);
  rds_rdma_cookie_t cookie = 0;
  EXPECT_EQ(SendTo(socket, to, "request", Controls().Map(memory.data(), memory.size(), &cookie)),
            7);
  for (int answer = 0; answer < 2; ++answer) {
    const Got6 got = ReceiveFrom(socket);
    EXPECT_EQ(got.payload, std::string(10000, 'x'));
    EXPECT_EQ(got.from.sin6_port, to.sin6_port);
    EXPECT_EQ(std::memcmp(&got.from.sin6_addr, &to.sin6_addr, 16), 0);
    EXPECT_EQ(got.from.sin6_scope_id, to.sin6_scope_id);
  }
  EXPECT_EQ(memory, std::vector<uint8_t>(kSize, 2));
}

// Fills a port until it is congested, and hears when it is free again. `line`: to its process,
// which receives as many messages as it is told.
void Congest(int socket, const sockaddr_in6& to, int line) {
  const int on = 1, size = 1 << 20;
  EXPECT_EQ(setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size), 0);
  EXPECT_EQ(setsockopt(socket, SOL_RDS, RDS_CONG_MONITOR, &on, sizeof on), 0);
  EXPECT_EQ(fcntl(socket, F_SETFL, O_NONBLOCK), 0);
  uint64_t sent = 0;
  ssize_t result = 0;
  while (result != -ENOBUFS && sent < 100000) {
    result = SendTo(socket, to, std::string(1000, 'x'));
    if (result == 1000) ++sent;
    if (result == -EAGAIN) Poll(socket, POLLOUT, 10);
  }
  EXPECT_EQ(result, -ENOBUFS);
  Tell(line, sent);
  EXPECT_EQ(Poll(socket, POLLIN, 10000), POLLIN);
  EXPECT_EQ(Receive(socket).freed, uint64_t{1} << ntohs(to.sin6_port) % 64);
  EXPECT_EQ(fcntl(socket, F_SETFL, 0), 0);
  Hear(line);
}

// All that sockets do, between an address of this process and one of another.
void Exchange(const sockaddr_in6& own, const sockaddr_in6& other) {
  Process server([&](int line) {
    const Rds socket;
    const int size = 20000;
    EXPECT_EQ(setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size), 0);
    EXPECT_EQ(Bind(socket, other), 0);
    Tell(line, ntohs(NameOf(socket).sin6_port));
    const Got6 request = ReceiveFrom(socket);
    EXPECT_EQ(std::memcmp(&request.from.sin6_addr, &own.sin6_addr, 16), 0);
    ServeRdma(socket, request);
    for (uint64_t left = Hear(line); left > 0; --left) ReceiveFrom(socket);
    Tell(line, 0);
    Hear(line);
  });
  const Rds client;
  ASSERT_EQ(Bind(client, own), 0);
  sockaddr_in6 to = other;
  to.sin6_port = htons(static_cast<uint16_t>(Hear(server.line())));
  AskForRdma(client, to);
  // A ping, and a message to itself.
  sockaddr_in6 ping = other;
  ping.sin6_port = 0;
  EXPECT_EQ(SendTo(client, ping, ""), 0);
  EXPECT_EQ(ReceiveFrom(client).from.sin6_port, 0);
  EXPECT_EQ(SendTo(client, NameOf(client), "self"), 4);
  EXPECT_EQ(ReceiveFrom(client).payload, "self");
  Congest(client, to, server.line());
  Tell(server.line(), 0);
}

// The same port of an IPv4 and of an IPv6 address is two. A process has both, and so has the one
// that sends to them.
void SendToBoth(const char* address4, const char* address6) {
  sockaddr_in own4 = AddressOf(0);
  inet_pton(AF_INET, address4, &own4.sin_addr);
  Process server([&](int line) {
    const Rds four, six;
    EXPECT_EQ(Bind4(four, own4), 0);
    EXPECT_EQ(Bind(six, Of(address6, four.port())), 0);
    Tell(line, four.port());
    for (int round = 0; round < 3; ++round) {
      const Got got = Receive(four);
      EXPECT_EQ(got.payload, "four");
      EXPECT_EQ(Send(four, got.from, "4"), 1);
      const Got6 got6 = ReceiveFrom(six);
      EXPECT_EQ(got6.payload, "six");
      EXPECT_EQ(SendTo(six, got6.from, "6"), 1);
    }
    Hear(line);
  });
  const Rds six, four;
  EXPECT_EQ(Bind(six, Of(address6)), 0);
  EXPECT_EQ(Bind4(four, own4), 0);
  sockaddr_in to = own4;
  to.sin_port = htons(static_cast<uint16_t>(Hear(server.line())));
  const sockaddr_in6 to6 = Of(address6, ntohs(to.sin_port));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(SendTo(six, to6, "six"), 3);
    EXPECT_EQ(Send(four, to, "four"), 4);
    EXPECT_EQ(Receive(four).payload, "4");
    EXPECT_EQ(ReceiveFrom(six).payload, "6");
  }
  EXPECT_EQ(Send(six, to, "x"), -EOPNOTSUPP);
  EXPECT_EQ(SendTo(four, to6, "x"), -EOPNOTSUPP);
  Tell(server.line(), 0);
}

// Each in a process of its own, which makes another one before it has threads.
void ExchangeAlone(const sockaddr_in6& own, const sockaddr_in6& other) {
  Process process([&](int) { Exchange(own, other); });
}
void SendToBothAlone(const char* address4, const char* address6) {
  Process process([&](int) { SendToBoth(address4, address6); });
}

// ---- tests ----

TEST(Ipv6Test, NamesThatCannotBeBound) {
  InNetwork(Network::kLoopback6, [] {
    const Rds socket;
    EXPECT_EQ(Bind(socket, Of("::1"), sizeof(sockaddr_in6) - 1), EINVAL);
    EXPECT_EQ(Bind(socket, Of("::")), EINVAL);
    EXPECT_EQ(Bind(socket, Of("ff02::1")), EINVAL);
    EXPECT_EQ(Bind(socket, Of("::ffff:0.0.0.0")), EINVAL);
    EXPECT_EQ(Bind(socket, Of("::ffff:224.0.0.1")), EINVAL);
    EXPECT_EQ(Bind(socket, Of("fe80::1")), EINVAL);
    EXPECT_EQ(Bind(socket, Of("fe80::1", 0, if_nametoindex("lo"))), EADDRNOTAVAIL);
    EXPECT_EQ(Bind(socket, Of("2001:db8::1")), EADDRNOTAVAIL);
    EXPECT_EQ(Bind(socket, Of("::1", 1)), EINVAL);
    EXPECT_EQ(Bind(socket, Of("::1")), 0);
    EXPECT_EQ(Bind(socket, Of("::1")), EINVAL);
    const sockaddr_in6 name = NameOf(socket);
    EXPECT_EQ(name.sin6_family, AF_INET6);
    EXPECT_GE(ntohs(name.sin6_port), 2);
    const Rds other;
    EXPECT_EQ(Bind(other, name), EADDRINUSE);
  });
}

TEST(Ipv6Test, WhereSendsCannotGo) {
  InNetwork(Network::kLoopback6, [] {
    const Rds socket;
    EXPECT_EQ(Connect(socket, Of("::", 4000)), EPROTOTYPE);
    EXPECT_EQ(Connect(socket, Of("ff02::1", 4000)), EPROTOTYPE);
    EXPECT_EQ(Connect(socket, Of("::ffff:224.0.0.1", 4000)), EPROTOTYPE);
    EXPECT_EQ(Connect(socket, Of("fe80::1", 4000)), EINVAL);
    EXPECT_EQ(Connect(socket, Of("::1", 4000), sizeof(sockaddr_in6) - 1), EINVAL);
    EXPECT_EQ(Connect(socket, Of("::1", 4000)), 0);
    const sockaddr_in6 unbound = NameOf(socket);
    EXPECT_EQ(unbound.sin6_family, AF_INET6);
    EXPECT_EQ(unbound.sin6_port, 0);
    EXPECT_EQ(SendTo(socket, Of("::1", 4000), "x"), -ENOTCONN);
    EXPECT_EQ(Bind(socket, Of("::1")), 0);
    EXPECT_EQ(SendTo(socket, Of("::", 4000), "x"), -EINVAL);
    EXPECT_EQ(SendTo(socket, Of("ff02::1", 4000), "x"), -EINVAL);
    EXPECT_EQ(SendTo(socket, Of("fe80::1", 4000), "x"), -EINVAL);
    EXPECT_EQ(SendTo(socket, Of("::1", 4000), "x", {}, sizeof(sockaddr_in6) - 1), -EINVAL);
    EXPECT_EQ(Send(socket, AddressOf(4000), "x"), -EOPNOTSUPP);
    EXPECT_EQ(SendTo(socket, Of("::ffff:127.0.0.1", 4000), "x"), -EOPNOTSUPP);
  });
}

TEST(Ipv6Test, MessagesAndRdma) {
  InNetwork(Network::kLoopback6, [] { Exchange(Of("::1"), Of("::1")); });
}

TEST(Ipv6Test, BothFamiliesOfLo) {
  InNetwork(Network::kBothLoopback, [] {
    ExchangeAlone(Of("::1"), Of("::1"));
    SendToBothAlone("127.0.0.1", "::1");
  });
}

TEST(Ipv6Test, EachAddressOfAnInterface) {
  InNetwork(Network::kInterface, [] {
    const uint32_t both = if_nametoindex("both");
    ExchangeAlone(Of(kGlobal), Of(kGlobal));
    ExchangeAlone(Of(kOther), Of(kGlobal));
    ExchangeAlone(Of(kLinkLocal, 0, both), Of(kLinkLocal, 0, both));
    ExchangeAlone(Of(kOther), Of(kLinkLocal, 0, both));
    ExchangeAlone(Of(kLinkLocal, 0, both), Of(kOther));
    SendToBothAlone(kIpv4, kOther);
    const Rds socket;
    EXPECT_EQ(Bind(socket, Of(kLinkLocal, 0, if_nametoindex("lo"))), EADDRNOTAVAIL);
  });
}

// One process listens for all at first, and does not have the others' addresses.
TEST(Ipv6Test, ProcessesThatShareNoAddress) {
  InNetwork(Network::kInterface, [] {
    const uint32_t both = if_nametoindex("both");
    Process first([&](int line) {
      const Rds socket;
      EXPECT_EQ(Bind(socket, Of(kGlobal)), 0);
      Tell(line, 0);
      Hear(line);
    });
    Hear(first.line());
    for (const sockaddr_in6& to : {Of(kLinkLocal, 0, both), Of(kGlobal)}) {
      ExchangeAlone(Of(kOther), to);
    }
    ExchangeAlone(Of(kLinkLocal, 0, both), Of(kOther));
    Tell(first.line(), 0);
  });
}

TEST(Ipv6Test, LinkLocal) {
  InNetwork(Network::kLinkLocal6, [] {
    const uint32_t lo = if_nametoindex("lo");
    Exchange(Of(kLinkLocal, 0, lo), Of(kLinkLocal, 0, lo));
    const Rds socket;
    EXPECT_EQ(Bind(socket, Of(kLinkLocal)), EINVAL);
    EXPECT_EQ(Bind(socket, Of(kLinkLocal, 0, lo)), 0);
    EXPECT_EQ(NameOf(socket).sin6_scope_id, lo);
    // What is on another link cannot be reached.
    EXPECT_EQ(SendTo(socket, Of("fe80::1", 4000, lo + 1), "x"), -EINVAL);
    EXPECT_EQ(Connect(socket, Of("fe80::1", 4000, lo + 1)), EINVAL);
    EXPECT_EQ(Connect(socket, Of("fe80::1", 4000, lo)), 0);
  });
}

// An IPv4 address in the clothes of IPv6 is one.
TEST(Ipv6Test, MappedAddresses) {
  const Rds socket, other = Rds::Bound();
  char text[INET_ADDRSTRLEN];
  const sockaddr_in own = AddressOf(0);
  inet_ntop(AF_INET, &own.sin_addr, text, sizeof text);
  const std::string mapped = std::string("::ffff:") + text;
  ASSERT_EQ(Bind(socket, Of(mapped.c_str())), 0);
  EXPECT_NE(socket.port(), 0);
  EXPECT_EQ(SendTo(socket, Of(mapped.c_str(), other.port()), "x"), 1);
  const Got got = Receive(other);
  EXPECT_EQ(got.name_length, sizeof(sockaddr_in));
  EXPECT_EQ(got.from.sin_family, AF_INET);
  EXPECT_EQ(got.port(), socket.port());
}

}  // namespace
}  // namespace softdat::rds_test
