// SPDX-License-Identifier: BSD-3-Clause
// Socket helpers.
#include "provider_softnet/tcp/socket_util.h"

#include <errno.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "dat/base/socket_address.h"
#include "provider_softnet/driver/busy_polling.h"
#include "provider_softnet/driver/descriptor_limit.h"
#include "provider_softnet/driver/wire_order.h"

namespace softdat::softnet {
namespace {

msghdr Message(const iovec* iov, size_t count) {
  msghdr m{};
  m.msg_iov = const_cast<iovec*>(iov);
  m.msg_iovlen = count;
  return m;
}

// The kernel doubles these, for its own structures. By default each user may set 208 KiB
// (net.core.wmem_max), and a queue that is lengthened needs room for another segment.
constexpr int kShortQueue = 512 << 10;
constexpr int kShortQueueOfAnyUser = 144 << 10;

void SetSendBuffer(int fd, int bytes) {
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

}  // namespace

// A single buffer goes without a msghdr, which saves the kernel copying and checking two
// structures.
[[gnu::hot]] ssize_t SendNow(int fd, const iovec* iov, size_t count) {
  constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
  if (count == 1) {
    BeforeSend();
    return syscall(SYS_sendto, fd, iov->iov_base, iov->iov_len, kFlags, nullptr, 0);
  }
  const msghdr m = Message(iov, count);
  BeforeSend();
  return syscall(SYS_sendmsg, fd, &m, kFlags);
}

[[gnu::hot]] ssize_t ReceiveNow(int fd, const iovec* iov, size_t count) {
  ssize_t n;
  if (count == 1) {
    n = syscall(SYS_recvfrom, fd, iov->iov_base, iov->iov_len, MSG_DONTWAIT, nullptr, nullptr);
  } else {
    msghdr m = Message(iov, count);
    n = syscall(SYS_recvmsg, fd, &m, MSG_DONTWAIT);
  }
  AfterReceive();
  return n;
}

ssize_t PeekNow(int fd) {
  char byte;
  return syscall(SYS_recvfrom, fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK, nullptr, nullptr);
}

sockaddr_storage LocalAddressOf(int fd) {
  sockaddr_storage a{};
  socklen_t size = sizeof(a);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size) != 0) return {};
  return Unmapped(a);
}

sockaddr_storage RemoteAddressOf(int fd) {
  sockaddr_storage a{};
  socklen_t size = sizeof(a);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&a), &size) != 0) return {};
  return Unmapped(a);
}

Result<UniqueFd> OpenTcp(int family) {
  while (true) {
    UniqueFd fd(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
    if (fd.valid()) return fd;
    const int error = errno;
    if (error == EMFILE && RaiseDescriptorLimit()) continue;
    const Code code = error == EAFNOSUPPORT ? Code::kAddressUnsupported : Code::kNoResources;
    return Status(code, fmt::format("no TCP socket: {}", strerror(error)));
  }
}

void PrepareStream(int fd, std::chrono::milliseconds dead_path) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  AllowBusyPolling(fd);
  if (dead_path.count() == 0) return;
  // The connection is silent for half of the time, then four probes follow. TCP counts in seconds.
  constexpr int kProbes = 4;
  const auto limit_s = static_cast<int>(std::chrono::ceil<std::chrono::seconds>(dead_path).count());
  const int idle_s = std::max(limit_s / 2, 1);
  const int interval_s = std::max((limit_s - idle_s) / kProbes, 1);
  const int probes = std::clamp((limit_s - idle_s) / interval_s, 1, kProbes);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

bool IsWithinHost(int fd) {
  const sockaddr_storage remote = RemoteAddressOf(fd);
  return IsLoopback(remote) || SameHost(LocalAddressOf(fd), remote);
}

void ShortenQueue(int fd) {
  LengthenQueue(fd);
  int granted = 0;
  socklen_t size = sizeof(granted);
  const bool has_room = getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &granted, &size) == 0 &&
                        granted >= 2 * (2 * kShortQueue);
  SetSendBuffer(fd, has_room ? kShortQueue : kShortQueueOfAnyUser);
}

void LengthenQueue(int fd) { SetSendBuffer(fd, 2 * kShortQueue); }

PathSample SamplePath(int fd) {
  PathSample sample;
  int queued = 0;
  if (ioctl(fd, SIOCOUTQ, &queued) != 0 || queued <= 0) return sample;
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return sample;
  sample.outstanding = true;
  // When the window is closed, nothing is under way except probes at growing intervals. tcpi_probes
  // counts the unanswered ones. One unanswered probe says nothing, because Linux answers at most
  // two a second (tcp_invalid_ratelimit).
  sample.asked = info.tcpi_unacked > 0 || info.tcpi_probes > 1;
  sample.since_answer = std::chrono::milliseconds(info.tcpi_last_ack_recv);
  return sample;
}

int UnsentBytes(int fd) {
  int queued = 0;
  return ioctl(fd, SIOCOUTQ, &queued) == 0 ? queued : 0;
}

size_t SegmentSize(int fd) {
  constexpr uint32_t kSafe = 1448;
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_snd_mss < 512)
    return kSafe;
  // Linux sends no more at once than half of the largest window that the peer has announced. That
  // of a new connection is below 64 KiB. So only the path tells how long the segments of a loopback
  // interface will be.
  constexpr uint32_t kLeastBoundByWindow = 16384;
  if (info.tcpi_snd_mss < kLeastBoundByWindow) return info.tcpi_snd_mss;
  constexpr uint32_t kMostHeaders = 40 + 32;  // IPv6; TCP with time stamps
  const uint32_t path = std::clamp<uint32_t>(info.tcpi_pmtu, kMostHeaders, UINT16_MAX);
  return std::max(info.tcpi_snd_mss, path - kMostHeaders);
}

int TcpStateOf(int fd) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_state : -1;
}

void ResetOnClose(int fd) {
  const linger drop{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &drop, sizeof(drop));
}

}  // namespace softdat::softnet
