// SPDX-License-Identifier: BSD-3-Clause
// Socket helpers.
#include "provider_softnet/tcp/socket_util.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

#include "provider_softnet/driver/descriptor_limit.h"

namespace softdat::softnet {
namespace {

const sockaddr_in& In4(const sockaddr_storage& a) {
  return reinterpret_cast<const sockaddr_in&>(a);
}
const sockaddr_in6& In6(const sockaddr_storage& a) {
  return reinterpret_cast<const sockaddr_in6&>(a);
}

msghdr Message(const iovec* iov, size_t count) {
  msghdr m{};
  m.msg_iov = const_cast<iovec*>(iov);
  m.msg_iovlen = count;
  return m;
}

// What one end did before it sent happened before what the other end does after it received.
// ThreadSanitizer knows that of the C library's calls, not of bare system calls.
#ifdef __SANITIZE_THREAD__
char wire;
void BeforeSend() { __tsan_release(&wire); }
void AfterReceive() { __tsan_acquire(&wire); }
#else
void BeforeSend() {}
void AfterReceive() {}
#endif

}  // namespace

// One buffer goes without a msghdr: the kernel copies and checks two structures less.
ssize_t SendNow(int fd, const iovec* iov, size_t count) {
  constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
  if (count == 1) {
    BeforeSend();
    return syscall(SYS_sendto, fd, iov->iov_base, iov->iov_len, kFlags, nullptr, 0);
  }
  const msghdr m = Message(iov, count);
  BeforeSend();
  return syscall(SYS_sendmsg, fd, &m, kFlags);
}

ssize_t ReceiveNow(int fd, const iovec* iov, size_t count) {
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

socklen_t AddressLength(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return sizeof(sockaddr_in);
  if (address.ss_family == AF_INET6) return sizeof(sockaddr_in6);
  return 0;
}

uint16_t PortOf(const sockaddr_storage& a) {
  return ntohs(a.ss_family == AF_INET6 ? In6(a).sin6_port : In4(a).sin_port);
}

void SetPort(sockaddr_storage* a, uint16_t port) {
  if (a->ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(a)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(a)->sin_port = htons(port);
  }
}

std::string HostText(const sockaddr_storage& a) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (a.ss_family == AF_INET) {
    inet_ntop(AF_INET, &In4(a).sin_addr, text, sizeof(text));
    return text;
  }
  if (a.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &In6(a).sin6_addr, text, sizeof(text));
    char name[IF_NAMESIZE];
    if (In6(a).sin6_scope_id != 0 && if_indextoname(In6(a).sin6_scope_id, name) != nullptr) {
      return fmt::format("{}%{}", text, name);
    }
    return text;
  }
  return fmt::format("address family {}", a.ss_family);
}

std::string AddressText(const sockaddr_storage& a) {
  if (a.ss_family == AF_INET6) return fmt::format("[{}]:{}", HostText(a), PortOf(a));
  return fmt::format("{}:{}", HostText(a), PortOf(a));
}

sockaddr_storage Unmapped(const sockaddr_storage& a) {
  if (a.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&In6(a).sin6_addr)) return a;
  sockaddr_storage out{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(out);
  v4.sin_family = AF_INET;
  v4.sin_port = In6(a).sin6_port;
  memcpy(&v4.sin_addr, In6(a).sin6_addr.s6_addr + 12, 4);
  return out;
}

bool SameHost(const sockaddr_storage& x, const sockaddr_storage& y) {
  const sockaddr_storage a = Unmapped(x), b = Unmapped(y);
  if (a.ss_family != b.ss_family) return false;
  if (a.ss_family == AF_INET) return In4(a).sin_addr.s_addr == In4(b).sin_addr.s_addr;
  return a.ss_family == AF_INET6 && memcmp(&In6(a).sin6_addr, &In6(b).sin6_addr, 16) == 0;
}

bool IsLoopback(const sockaddr_storage& x) {
  const sockaddr_storage a = Unmapped(x);
  if (a.ss_family == AF_INET) return (ntohl(In4(a).sin_addr.s_addr) >> 24) == 127;
  return a.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&In6(a).sin6_addr);
}

bool IsLocal(const sockaddr_storage& address) {
  if (IsLoopback(address)) return true;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return false;
  bool found = false;
  for (const ifaddrs* i = list; i != nullptr && !found; i = i->ifa_next) {
    if (i->ifa_addr == nullptr) continue;
    sockaddr_storage own{};
    const int family = i->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    memcpy(&own, i->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    found = SameHost(own, address);
  }
  freeifaddrs(list);
  return found;
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
  if (dead_path.count() == 0) return;
  // Half of the time without a word, then four probes; TCP counts in seconds.
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

void SetUnansweredLimit(int fd, std::chrono::milliseconds limit) {
  const auto limit_ms = static_cast<unsigned>(limit.count());
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof(limit_ms));
}

int UnsentBytes(int fd) {
  int queued = 0;
  return ioctl(fd, SIOCOUTQ, &queued) == 0 ? queued : 0;
}

size_t SegmentSize(int fd) {
  int value = 0;
  socklen_t size = sizeof(value);
  if (getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &value, &size) != 0 || value < 512) return 1448;
  return static_cast<size_t>(value);
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
