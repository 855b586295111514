// SPDX-License-Identifier: BSD-3-Clause
// IPv6: names, messages and RDMA over ::1, and over a link-local address. An adapter has the IPv4
// address of its interface, if there is one. So each of these runs in a network of its own, in
// which the loopback interface has none.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/rds/af_rds.h"
#include "tests/rds/network.h"

namespace softdat::rds_test {
namespace {

constexpr const char* kLinkLocal = "fe80::77";

sockaddr_in6 Of(const char* address, uint16_t port = 0, uint32_t scope = 0) {
  sockaddr_in6 out{};
  out.sin6_family = AF_INET6;
  out.sin6_port = htons(port);
  out.sin6_scope_id = scope;
  EXPECT_EQ(inet_pton(AF_INET6, address, &out.sin6_addr), 1);
  return out;
}

// ---- a network ----

// In another process, because a network cannot be left.
void InNetwork(bool link_local, const std::function<void()>& what) {
  if (KernelDiffers("networks")) GTEST_SKIP();
  Process process([&](int line) {
    const bool made =
        EnterNetwork() && RemoveIpv4("lo") &&
        (!link_local || (AddIpv6("lo", kLinkLocal, 64) && RemoveIpv6("lo", "::1", 128)));
    Tell(line, made ? 1 : 0);
    if (made) what();
  });
  if (Hear(process.line()) == 0) GTEST_SKIP() << "no network of its own";
}

// ---- calls ----

int Bind(int fd, const sockaddr_in6& name, socklen_t length = sizeof(sockaddr_in6)) {
  return bind(fd, reinterpret_cast<const sockaddr*>(&name), length) == 0 ? 0 : errno;
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

// A client opens memory, and a server in another process reads it and then writes it.
void Exchange(const sockaddr_in6& own) {
  constexpr size_t kSize = 50000;
  Process server([&](int line) {
    const Rds socket;
    EXPECT_EQ(Bind(socket, own), 0);
    Tell(line, ntohs(NameOf(socket).sin6_port));
    const Got6 request = ReceiveFrom(socket);
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
    Hear(line);
  });
  const Rds client;
  ASSERT_EQ(Bind(client, own), 0);
  sockaddr_in6 to = own;
  to.sin6_port = htons(static_cast<uint16_t>(Hear(server.line())));
  std::vector<uint8_t> memory(kSize, 1);
  rds_rdma_cookie_t cookie = 0;
  EXPECT_EQ(SendTo(client, to, "request", Controls().Map(memory.data(), memory.size(), &cookie)),
            7);
  Got6 got = ReceiveFrom(client);
  EXPECT_EQ(got.payload, std::string(10000, 'x'));
  EXPECT_EQ(got.from.sin6_port, to.sin6_port);
  EXPECT_EQ(std::memcmp(&got.from.sin6_addr, &to.sin6_addr, 16), 0);
  EXPECT_EQ(got.from.sin6_scope_id, own.sin6_scope_id);
  got = ReceiveFrom(client);
  EXPECT_EQ(memory, std::vector<uint8_t>(kSize, 2));
  // A ping, and a message to itself.
  sockaddr_in6 ping = own;
  ping.sin6_port = 0;
  EXPECT_EQ(SendTo(client, ping, ""), 0);
  EXPECT_EQ(ReceiveFrom(client).from.sin6_port, 0);
  EXPECT_EQ(SendTo(client, NameOf(client), "self"), 4);
  EXPECT_EQ(ReceiveFrom(client).payload, "self");
  Tell(server.line(), 0);
}

// ---- tests ----

TEST(Ipv6Test, NamesThatCannotBeBound) {
  InNetwork(false, [] {
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
  InNetwork(false, [] {
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
  InNetwork(false, [] { Exchange(Of("::1")); });
}

TEST(Ipv6Test, LinkLocal) {
  InNetwork(true, [] {
    const uint32_t lo = if_nametoindex("lo");
    Exchange(Of(kLinkLocal, 0, lo));
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
