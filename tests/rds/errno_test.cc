// SPDX-License-Identifier: BSD-3-Clause
// Which call fails with what: options, ioctls, names and arguments that point nowhere, as tables.
// Where Linux gives something else, a row says so, and docs/rds.md lists why.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <variant>

#include "tests/rds/af_rds.h"

namespace softdat::rds_test {
namespace {

constexpr int kZeroCopy = 60;      // SO_ZEROCOPY
constexpr int kTimestampNew = 63;  // SO_TIMESTAMP_NEW
constexpr int kNobody = 9999;      // a level, or an option, that there is not
constexpr socklen_t kNegative = ~socklen_t{0};
void* const kNowhere = reinterpret_cast<void*>(8);

// AddressSanitizer looks at the arguments of calls, too, before they are made.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

int ErrnoOf(ssize_t result) { return result < 0 ? errno : 0; }

// ---- setsockopt ----

struct SetRow {
  int line;
  int level, name;
  std::vector<uint8_t> value;
  int unbound, bound;                          // errno
  int kernel_unbound = -1, kernel_bound = -1;  // where it differs
  const char* difference = nullptr;
};

template <typename T>
std::vector<uint8_t> Octets(const T& value, size_t size = sizeof(T)) {
  std::vector<uint8_t> out(std::max(size, sizeof value));
  std::memcpy(out.data(), &value, sizeof value);
  out.resize(size);
  return out;
}

sockaddr_in Of(const char* address, uint16_t port, sa_family_t family = AF_INET) {
  sockaddr_in out{};
  out.sin_family = family;
  out.sin_port = htons(port);
  inet_pton(AF_INET, address, &out.sin_addr);
  return out;
}

const SetRow kSetRows[] = {
    {__LINE__, kNobody, 1, Octets(1), ENOPROTOOPT, ENOPROTOOPT},
    {__LINE__, SOL_RDS, kNobody, Octets(1), ENOPROTOOPT, ENOPROTOOPT},
    {__LINE__, SOL_RDS, 4, Octets(1), ENOPROTOOPT, ENOPROTOOPT},
    {__LINE__, SOL_RDS, 9, Octets(1), ENOPROTOOPT, ENOPROTOOPT},
    {__LINE__, SOL_RDS, RDS_INFO_COUNTERS, Octets(1), ENOPROTOOPT, ENOPROTOOPT},
    // A list of everything that was sent, or a destination; what that is, does not matter.
    {__LINE__, SOL_RDS, RDS_CANCEL_SENT_TO, {}, ENOTCONN, 0, -1, EINVAL, "canceling everything"},
    {__LINE__, SOL_RDS, RDS_CANCEL_SENT_TO, Octets(1, 1), ENOTCONN, EINVAL},
    {__LINE__, SOL_RDS, RDS_CANCEL_SENT_TO, Octets(1, 15), ENOTCONN, EINVAL},
    {__LINE__, SOL_RDS, RDS_CANCEL_SENT_TO, Octets(Of("127.0.0.1", 9)), ENOTCONN, 0},
    {__LINE__, SOL_RDS, RDS_CANCEL_SENT_TO, Octets(Of("127.0.0.1", 9), 27), ENOTCONN, 0},
    {__LINE__, SOL_RDS, RDS_CANCEL_SENT_TO, Octets(Of("0.0.0.0", 9)), ENOTCONN, 0},
    {__LINE__, SOL_RDS, RDS_CANCEL_SENT_TO, Octets(Of("1.2.3.4", 9, AF_UNIX)), ENOTCONN, 0},
    {__LINE__, SOL_RDS, RDS_CANCEL_SENT_TO, Octets(sockaddr_in6{}), ENOTCONN, 0},
    {__LINE__, SOL_RDS, RDS_GET_MR, Octets(rds_get_mr_args{}, 31), EINVAL, EINVAL},
    {__LINE__, SOL_RDS, RDS_GET_MR, Octets(rds_get_mr_args{}, 33), EINVAL, EINVAL},
    {__LINE__, SOL_RDS, RDS_GET_MR, Octets(rds_get_mr_args{}), ENOTCONN, EINVAL},
    {__LINE__, SOL_RDS, RDS_GET_MR_FOR_DEST, Octets(rds_get_mr_for_dest_args{}, 159), EINVAL,
     EINVAL},
    {__LINE__, SOL_RDS, RDS_GET_MR_FOR_DEST, Octets(rds_get_mr_for_dest_args{}, 161), EINVAL,
     EINVAL},
    {__LINE__, SOL_RDS, RDS_GET_MR_FOR_DEST, Octets(rds_get_mr_for_dest_args{}), ENOTCONN, EINVAL},
    {__LINE__, SOL_RDS, RDS_FREE_MR, Octets(rds_free_mr_args{}, 15), EINVAL, EINVAL},
    {__LINE__, SOL_RDS, RDS_FREE_MR, Octets(rds_free_mr_args{}, 17), EINVAL, EINVAL},
    {__LINE__, SOL_RDS, RDS_FREE_MR, Octets(rds_free_mr_args{}), EINVAL, 0},
    {__LINE__, SOL_RDS, RDS_FREE_MR, Octets(rds_free_mr_args{77, 0}), EINVAL, EINVAL},
    {__LINE__, SOL_RDS, RDS_RECVERR, Octets(1, 3), EINVAL, EINVAL},
    {__LINE__, SOL_RDS, RDS_RECVERR, Octets(1), 0, 0},
    {__LINE__, SOL_RDS, RDS_RECVERR, Octets(1, 8), 0, 0},
    {__LINE__, SOL_RDS, RDS_CONG_MONITOR, Octets(1, 3), EINVAL, EINVAL},
    {__LINE__, SOL_RDS, RDS_CONG_MONITOR, Octets(1), 0, 0},
    {__LINE__, SOL_RDS, RDS_CONG_MONITOR, Octets(1, 8), 0, 0},
    // A socket that is bound has a transport.
    {__LINE__, SOL_RDS, SO_RDS_TRANSPORT, Octets(0, 3), EINVAL, EOPNOTSUPP},
    {__LINE__, SOL_RDS, SO_RDS_TRANSPORT, Octets(0, 8), EINVAL, EOPNOTSUPP},
    {__LINE__, SOL_RDS, SO_RDS_TRANSPORT, Octets(-1), EINVAL, EOPNOTSUPP},
    {__LINE__, SOL_RDS, SO_RDS_TRANSPORT, Octets(3), EINVAL, EOPNOTSUPP},
    {__LINE__, SOL_RDS, SO_RDS_TRANSPORT, Octets(RDS_TRANS_GAP), ENOPROTOOPT, EOPNOTSUPP},
    {__LINE__, SOL_RDS, SO_RDS_TRANSPORT, Octets(RDS_TRANS_TCP), ENOPROTOOPT, EOPNOTSUPP, 0, -1,
     "transports"},
    {__LINE__, SOL_RDS, SO_RDS_TRANSPORT, Octets(RDS_TRANS_IB), 0, EOPNOTSUPP},
    // RDS_CONN_RESET of Oracle's kernels.
    {__LINE__, SOL_RDS, SO_RDS_TRANSPORT, Octets(0, 12), 0, 0, EINVAL, EOPNOTSUPP,
     "RDS_CONN_RESET"},
    {__LINE__, SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, Octets(0, 3), EFAULT, EFAULT},
    {__LINE__, SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, Octets(0, 5), EFAULT, EFAULT},
    {__LINE__, SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, Octets(rds_rx_trace_so{3, {0, 1, 2}}), 0, 0},
    {__LINE__, SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, Octets(rds_rx_trace_so{4, {0, 1, 2}}), EFAULT,
     EFAULT},
    {__LINE__, SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, Octets(rds_rx_trace_so{1, {3, 0, 0}}), EFAULT,
     EFAULT},
    {__LINE__, SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, Octets(rds_rx_trace_so{0, {}}), 0, 0},
    {__LINE__, SOL_RDS, SO_TIMESTAMP, Octets(1), 0, 0},
    {__LINE__, SOL_RDS, SO_TIMESTAMP, Octets(1, 3), EFAULT, EFAULT},
    {__LINE__, SOL_RDS, SO_TIMESTAMP, Octets(1, 8), EFAULT, EFAULT},
    {__LINE__, SOL_RDS, kTimestampNew, Octets(1), 0, 0},
    {__LINE__, SOL_SOCKET, SO_SNDBUF, Octets(1, 3), EINVAL, EINVAL},
    {__LINE__, SOL_SOCKET, SO_SNDBUF, Octets(1), 0, 0},
    {__LINE__, SOL_SOCKET, SO_RCVBUF, Octets(1), 0, 0},
    {__LINE__, SOL_SOCKET, SO_SNDTIMEO, Octets(timeval{}, 15), EINVAL, EINVAL},
    {__LINE__, SOL_SOCKET, SO_SNDTIMEO, Octets(timeval{1, 1000000}), EDOM, EDOM},
    {__LINE__, SOL_SOCKET, SO_RCVTIMEO, Octets(timeval{0, -1}), EDOM, EDOM},
    {__LINE__, SOL_SOCKET, SO_RCVTIMEO, Octets(timeval{}), 0, 0},
    {__LINE__, SOL_SOCKET, SO_REUSEADDR, Octets(1), 0, 0},
    {__LINE__, SOL_SOCKET, SO_TIMESTAMP, Octets(1), 0, 0},
    {__LINE__, SOL_SOCKET, kZeroCopy, Octets(1), 0, 0},
    {__LINE__, SOL_SOCKET, kZeroCopy, Octets(2), EINVAL, EINVAL},
    {__LINE__, SOL_SOCKET, kZeroCopy, Octets(-1), EINVAL, EINVAL},
    {__LINE__, SOL_SOCKET, kNobody, Octets(1), ENOPROTOOPT, ENOPROTOOPT},
};

int Expected(int here, int kernel, const char* difference) {
  return kernel >= 0 && KernelDiffers(difference) ? kernel : here;
}

TEST(ErrnoTest, Setsockopt) {
  for (const SetRow& row : kSetRows) {
    const Rds unbound, bound = Rds::Bound();
    const auto set = [&](int fd) {
      return ErrnoOf(setsockopt(fd, row.level, row.name, row.value.data(),
                                static_cast<socklen_t>(row.value.size())));
    };
    EXPECT_EQ(set(unbound), Expected(row.unbound, row.kernel_unbound, row.difference))
        << "line " << row.line;
    EXPECT_EQ(set(bound), Expected(row.bound, row.kernel_bound, row.difference))
        << "line " << row.line;
  }
}

TEST(ErrnoTest, ValuesOfOptionsThatPointNowhere) {
  if (kSanitized) GTEST_SKIP();
  const struct {
    int level, name;
    socklen_t size;
  } options[] = {
      {SOL_RDS, RDS_CANCEL_SENT_TO, sizeof(sockaddr_in)},
      {SOL_RDS, RDS_CANCEL_SENT_TO, sizeof(sockaddr_in6)},
      {SOL_RDS, RDS_GET_MR, sizeof(rds_get_mr_args)},
      {SOL_RDS, RDS_GET_MR_FOR_DEST, sizeof(rds_get_mr_for_dest_args)},
      {SOL_RDS, RDS_FREE_MR, sizeof(rds_free_mr_args)},
      {SOL_RDS, RDS_RECVERR, sizeof(int)},
      {SOL_RDS, RDS_CONG_MONITOR, sizeof(int)},
      {SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, sizeof(rds_rx_trace_so)},
      {SOL_RDS, SO_TIMESTAMP, sizeof(int)},
      {SOL_SOCKET, SO_SNDBUF, sizeof(int)},
      {SOL_SOCKET, SO_SNDTIMEO, sizeof(timeval)},
  };
  const Rds socket = Rds::Bound(), unbound;
  for (const auto& option : options) {
    for (void* const at : {kNowhere, static_cast<void*>(nullptr)}) {
      EXPECT_EQ(ErrnoOf(setsockopt(socket, option.level, option.name, at, option.size)), EFAULT)
          << option.level << " " << option.name;
    }
    EXPECT_EQ(ErrnoOf(setsockopt(socket, option.level, option.name, kNowhere, kNegative)), EINVAL);
  }
  EXPECT_EQ(ErrnoOf(setsockopt(unbound, SOL_RDS, SO_RDS_TRANSPORT, kNowhere, sizeof(int))), EFAULT);
}

TEST(ErrnoTest, ATransportIsChosenOnce) {
  const Rds socket;
  const auto choose = [&](int transport) {
    return ErrnoOf(setsockopt(socket, SOL_RDS, SO_RDS_TRANSPORT, &transport, sizeof transport));
  };
  const auto chosen = [&] {
    int value = 77;
    socklen_t length = sizeof value;
    EXPECT_EQ(getsockopt(socket, SOL_RDS, SO_RDS_TRANSPORT, &value, &length), 0);
    return value;
  };
  EXPECT_EQ(chosen(), RDS_TRANS_NONE);
  EXPECT_EQ(choose(RDS_TRANS_IB), 0);
  EXPECT_EQ(chosen(), RDS_TRANS_IB);
  EXPECT_EQ(choose(RDS_TRANS_IB), EOPNOTSUPP);
  // Who has chosen is told that it does not have the address.
  const sockaddr_in elsewhere = Of("192.0.2.254", 0);
  const auto bind_to = [&](const sockaddr_in& name) {
    return ErrnoOf(bind(socket, reinterpret_cast<const sockaddr*>(&name), sizeof name));
  };
  EXPECT_EQ(bind_to(elsewhere), ENOPROTOOPT);
  EXPECT_EQ(chosen(), RDS_TRANS_IB);
  // A port that is taken takes the choice back.
  const Rds other = Rds::Bound();
  EXPECT_EQ(bind_to(AddressOf(other.port())), EADDRINUSE);
  EXPECT_EQ(chosen(), RDS_TRANS_NONE);
  EXPECT_EQ(bind_to(AddressOf(1)), EINVAL);
  EXPECT_EQ(bind_to(AddressOf(0)), 0);
  EXPECT_EQ(chosen(), RDS_TRANS_IB);
}

// ---- getsockopt ----

TEST(ErrnoTest, Getsockopt) {
  const struct {
    int line;
    int level, name;
    socklen_t room;
    int error;
    socklen_t length = 0;
  } rows[] = {
      {__LINE__, kNobody, 1, 4, ENOPROTOOPT},
      {__LINE__, SOL_RDS, kNobody, 4, ENOPROTOOPT},
      {__LINE__, SOL_RDS, RDS_CANCEL_SENT_TO, 4, ENOPROTOOPT},
      {__LINE__, SOL_RDS, RDS_GET_MR, 4, ENOPROTOOPT},
      {__LINE__, SOL_RDS, RDS_FREE_MR, 4, ENOPROTOOPT},
      {__LINE__, SOL_RDS, RDS_CONG_MONITOR, 4, ENOPROTOOPT},
      {__LINE__, SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, 4, ENOPROTOOPT},
      {__LINE__, SOL_RDS, RDS_RECVERR, 3, EINVAL},
      {__LINE__, SOL_RDS, RDS_RECVERR, 4, 0, 4},
      {__LINE__, SOL_RDS, RDS_RECVERR, 8, 0, 4},
      {__LINE__, SOL_RDS, SO_RDS_TRANSPORT, 3, EINVAL},
      {__LINE__, SOL_RDS, SO_RDS_TRANSPORT, 4, 0, 4},
      {__LINE__, SOL_SOCKET, SO_SNDBUF, 4, 0, 4},
      {__LINE__, SOL_SOCKET, SO_SNDBUF, 100, 0, 4},
      {__LINE__, SOL_SOCKET, SO_SNDBUF, 2, 0, 2},
      {__LINE__, SOL_SOCKET, SO_SNDTIMEO, 100, 0, sizeof(timeval)},
      {__LINE__, SOL_SOCKET, kZeroCopy, 4, 0, 4},
      {__LINE__, SOL_SOCKET, SO_SNDBUF, kNegative, EINVAL},
      {__LINE__, SOL_SOCKET, kNobody, 4, ENOPROTOOPT},
  };
  const Rds socket = Rds::Bound();
  for (const auto& row : rows) {
    uint8_t value[100];
    socklen_t length = row.room;
    EXPECT_EQ(ErrnoOf(getsockopt(socket, row.level, row.name, value, &length)), row.error)
        << "line " << row.line;
    if (row.error == 0) {
      EXPECT_EQ(length, row.length) << "line " << row.line;
    }
  }
  const auto value_of = [&](int name) {
    int value = -1;
    socklen_t length = sizeof value;
    EXPECT_EQ(getsockopt(socket, SOL_SOCKET, name, &value, &length), 0);
    return value;
  };
  EXPECT_EQ(value_of(SO_TYPE), SOCK_SEQPACKET);
  EXPECT_EQ(value_of(SO_DOMAIN), AF_RDS);
  EXPECT_EQ(value_of(SO_PROTOCOL), 0);
  EXPECT_EQ(value_of(SO_ERROR), 0);
  EXPECT_EQ(value_of(SO_ACCEPTCONN), 0);
}

TEST(ErrnoTest, WhereGetsockoptCannotStore) {
  if (kSanitized) GTEST_SKIP();
  const Rds socket = Rds::Bound();
  socklen_t length = sizeof(int);
  int value = 0;
  for (const auto& [level, name] :
       {std::pair(SOL_RDS, RDS_RECVERR), {SOL_RDS, SO_RDS_TRANSPORT}, {SOL_SOCKET, SO_SNDBUF}}) {
    length = sizeof value;
    EXPECT_EQ(ErrnoOf(getsockopt(socket, level, name, kNowhere, &length)), EFAULT);
    EXPECT_EQ(ErrnoOf(getsockopt(socket, level, name, nullptr, &length)), EFAULT);
    EXPECT_EQ(ErrnoOf(getsockopt(socket, level, name, &value, static_cast<socklen_t*>(kNowhere))),
              EFAULT);
  }
}

// ---- ioctl ----

TEST(ErrnoTest, TheTypeOfServiceIsSetOnceAndBeforeAnythingWasSent) {
  const auto set = [](int fd, uint8_t value) { return ErrnoOf(ioctl(fd, SIOCRDSSETTOS, &value)); };
  const auto get = [](int fd) {
    uint8_t value = 99;
    EXPECT_EQ(ioctl(fd, SIOCRDSGETTOS, &value), 0);
    return value;
  };
  const Rds unbound;
  EXPECT_EQ(set(unbound, 3), ENOTTY);
  EXPECT_EQ(get(unbound), 0);
  const Rds socket = Rds::Bound();
  EXPECT_EQ(ErrnoOf(ioctl(socket, SIOCRDSSETTOS, kNowhere)), EFAULT);
  EXPECT_EQ(ErrnoOf(ioctl(socket, SIOCRDSGETTOS, nullptr)), EFAULT);
  EXPECT_EQ(set(socket, 0), 0);  // which is none
  EXPECT_EQ(set(socket, 3), 0);
  EXPECT_EQ(get(socket), 3);
  EXPECT_EQ(set(socket, 3), EINVAL);
  EXPECT_EQ(set(socket, 0), EINVAL);
  EXPECT_EQ(get(socket), 3);
  const Rds late = Rds::Bound();
  EXPECT_EQ(Send(late, AddressOf(late.port()), "x"), 1);
  EXPECT_EQ(set(late, 3), EINVAL);
  EXPECT_EQ(get(late), 0);
}

TEST(ErrnoTest, IoctlsThatThereAreNot) {
  const Rds socket = Rds::Bound();
  int value = 0;
  for (const unsigned long request : {FIONREAD, TIOCOUTQ, SIOCATMARK}) {
    EXPECT_EQ(ErrnoOf(ioctl(socket, request, &value)), ENOTTY) << request;
  }
  int on = 1;
  EXPECT_EQ(ioctl(socket, FIONBIO, &on), 0);
  EXPECT_EQ(Receive(socket).result, -EAGAIN);
}

// ---- names ----

TEST(ErrnoTest, NamesThatPointNowhere) {
  if (kSanitized) GTEST_SKIP();
  const Rds socket;
  const auto* const nowhere = static_cast<const sockaddr*>(kNowhere);
  EXPECT_EQ(ErrnoOf(bind(socket, nowhere, sizeof(sockaddr_in))), EFAULT);
  EXPECT_EQ(ErrnoOf(bind(socket, nullptr, sizeof(sockaddr_in))), EFAULT);
  EXPECT_EQ(ErrnoOf(bind(socket, nowhere, 1000)), EINVAL);
  EXPECT_EQ(ErrnoOf(connect(socket, nowhere, sizeof(sockaddr_in))), EFAULT);
  EXPECT_EQ(ErrnoOf(connect(socket, nullptr, sizeof(sockaddr_in))), EFAULT);
  sockaddr_in name = AddressOf(4000);
  socklen_t length = sizeof name;
  auto* const at = reinterpret_cast<sockaddr*>(&name);
  EXPECT_EQ(ErrnoOf(connect(socket, at, sizeof name)), 0);
  for (const auto call : {getsockname, getpeername}) {
    length = sizeof name;
    EXPECT_EQ(ErrnoOf(call(socket, static_cast<sockaddr*>(kNowhere), &length)), EFAULT);
    EXPECT_EQ(ErrnoOf(call(socket, at, static_cast<socklen_t*>(kNowhere))), EFAULT);
    length = kNegative;
    EXPECT_EQ(ErrnoOf(call(socket, at, &length)), EINVAL);
    // As much as there is room for, and how much there would be.
    length = 4;
    name.sin_addr.s_addr = 77;
    EXPECT_EQ(ErrnoOf(call(socket, at, &length)), 0);
    EXPECT_EQ(length, sizeof name);
    EXPECT_EQ(name.sin_addr.s_addr, 77u);
  }
}

// ---- messages ----

struct Message {
  sockaddr_in to{};
  iovec part{};
  msghdr header{};
};

// A good message to `socket` itself.
void Make(int socket, Message* out) {
  static char payload[] = "payload";
  socklen_t length = sizeof out->to;
  ASSERT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&out->to), &length), 0);
  out->part = {payload, 7};
  out->header = {};
  out->header.msg_name = &out->to;
  out->header.msg_namelen = sizeof out->to;
  out->header.msg_iov = &out->part;
  out->header.msg_iovlen = 1;
}

TEST(ErrnoTest, MessagesThatPointNowhere) {
  if (kSanitized) GTEST_SKIP();
  const Rds socket = Rds::Bound();
  Message m;
  const auto send = [&] { return ErrnoOf(sendmsg(socket, &m.header, MSG_DONTWAIT)); };
  for (void* const nowhere :
       {kNowhere, static_cast<void*>(nullptr), reinterpret_cast<void*>(-8L)}) {
    EXPECT_EQ(ErrnoOf(sendmsg(socket, static_cast<msghdr*>(nowhere), 0)), EFAULT);
    Make(socket, &m);
    m.header.msg_iov = static_cast<iovec*>(nowhere);
    EXPECT_EQ(send(), EFAULT);
    Make(socket, &m);
    m.part.iov_base = nowhere;
    EXPECT_EQ(send(), EFAULT);
    Make(socket, &m);
    m.header.msg_control = nowhere;
    m.header.msg_controllen = 24;
    EXPECT_EQ(send(), EFAULT);
  }
  Make(socket, &m);
  m.header.msg_name = kNowhere;
  EXPECT_EQ(send(), EFAULT);
  EXPECT_EQ(Receive(socket, MSG_DONTWAIT).result, -EAGAIN);
  Make(socket, &m);
  EXPECT_EQ(send(), 0);
  EXPECT_EQ(Receive(socket).payload, "payload");
}

TEST(ErrnoTest, WhereRecvmsgCannotStore) {
  if (kSanitized) GTEST_SKIP();
  const Rds socket = Rds::Bound();
  EXPECT_EQ(Send(socket, AddressOf(socket.port()), "x"), 1);
  ASSERT_EQ(Poll(socket, POLLIN, 10000), POLLIN);  // Linux may deliver it behind the call
  Message m;
  char in = 0;
  const auto receive = [&] { return ErrnoOf(recvmsg(socket, &m.header, MSG_DONTWAIT)); };
  EXPECT_EQ(ErrnoOf(recvmsg(socket, static_cast<msghdr*>(kNowhere), MSG_DONTWAIT)), EFAULT);
  Make(socket, &m);
  m.header.msg_iov = static_cast<iovec*>(kNowhere);
  EXPECT_EQ(receive(), EFAULT);
  Make(socket, &m);
  m.part = {kNowhere, 1};
  EXPECT_EQ(receive(), EFAULT);
  Make(socket, &m);
  m.header.msg_iovlen = IOV_MAX + 1;
  EXPECT_EQ(receive(), EMSGSIZE);
  Make(socket, &m);
  m.header.msg_namelen = 1u << 31;
  EXPECT_EQ(receive(), EINVAL);
  // Nothing was lost by that.
  Make(socket, &m);
  m.part = {&in, 1};
  EXPECT_EQ(receive(), 0);
  EXPECT_EQ(in, 'x');
}

// What is wrong in two ways fails with what Linux looks at first.
TEST(ErrnoTest, WhatSendmsgLooksAtFirst) {
  const Rds socket = Rds::Bound(), unbound;
  const sockaddr_in to = AddressOf(socket.port());
  const int buffer = 2 << 20;
  ASSERT_EQ(setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer), 0);
  const std::string too_long((1 << 20) + 1, 'x');
  char local[8] = {};
  sockaddr_in any = to, other_kind = to;
  any.sin_addr.s_addr = 0;
  other_kind.sin_family = AF_UNIX;
  const Controls good, wrong = Controls().Add(99, local, sizeof local);
  const Controls huge = Controls().Rdma(1, 0, (1 << 20) + 1, {Piece(local, 8)}, RDS_RDMA_READWRITE);
  // Flags, name, being bound, size, control messages.
  EXPECT_EQ(Send(unbound, any, too_long, wrong, MSG_OOB), -EOPNOTSUPP);
  EXPECT_EQ(Send(unbound, any, too_long, wrong), -EINVAL);
  EXPECT_EQ(Send(unbound, other_kind, too_long, wrong), -EINVAL);
  EXPECT_EQ(Send(unbound, to, too_long, wrong), -ENOTCONN);
  EXPECT_EQ(Send(socket, std::nullopt, too_long, wrong), -ENOTCONN);
  EXPECT_EQ(Send(socket, to, too_long, wrong), -EMSGSIZE);
  EXPECT_EQ(Send(socket, to, "x", huge), -EMSGSIZE);
  EXPECT_EQ(Send(socket, to, "x", wrong), -EINVAL);
  // A control message that is not whole comes before the size.
  Controls cut;
  cut.Add(RDS_CMSG_RDMA_DEST, local, sizeof local);
  Message m;
  Make(socket, &m);
  std::vector<uint8_t> octets = cut.octets();
  m.header.msg_control = octets.data();
  m.header.msg_controllen = octets.size() - 1;
  m.part = {const_cast<char*>(too_long.data()), too_long.size()};
  EXPECT_EQ(ErrnoOf(sendmsg(socket, &m.header, 0)), EINVAL);
  EXPECT_EQ(Receive(socket, MSG_DONTWAIT).result, -EAGAIN);
}

TEST(ErrnoTest, OtherLevelsAreSkipped) {
  const Rds socket = Rds::Bound();
  const int value = 0;
  const Controls foreign = Controls().Add(SCM_RIGHTS, &value, sizeof value, SOL_IP);
  EXPECT_EQ(Send(socket, AddressOf(socket.port()), "x", foreign), 1);
  EXPECT_EQ(Receive(socket).payload, "x");
}

TEST(ErrnoTest, FlagsOfRecvmsg) {
  const Rds socket = Rds::Bound();
  EXPECT_EQ(Receive(socket, MSG_OOB).result, 0);
  EXPECT_EQ(Receive(socket, MSG_ERRQUEUE).result, -EAGAIN);
  EXPECT_EQ(Send(socket, AddressOf(socket.port()), "x"), 1);
  EXPECT_EQ(Receive(socket, MSG_ERRQUEUE).result, -EAGAIN);
  EXPECT_EQ(Receive(socket, MSG_WAITALL).payload, "x");
}

}  // namespace
}  // namespace softdat::rds_test
