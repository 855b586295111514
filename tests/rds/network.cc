// SPDX-License-Identifier: BSD-3-Clause
#include "tests/rds/network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>

namespace softdat::rds_test {
namespace {

bool Ask(int family, unsigned long request, void* argument) {
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool done = ioctl(fd, request, argument) == 0;
  close(fd);
  return done;
}

ifreq Request(const char* interface) {
  ifreq out{};
  std::strncpy(out.ifr_name, interface, IFNAMSIZ - 1);
  return out;
}

bool SetUp(const char* interface) {
  ifreq request = Request(interface);
  request.ifr_flags = IFF_UP;
  return Ask(AF_INET, SIOCSIFFLAGS, &request);
}

bool SetIpv4(const char* interface, const char* address) {
  ifreq request = Request(interface);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  inet_pton(AF_INET, address, &name.sin_addr);
  std::memcpy(&request.ifr_addr, &name, sizeof name);
  return Ask(AF_INET, SIOCSIFADDR, &request);
}

bool ChangeIpv6(const char* interface, const char* address, int prefix, unsigned long request) {
  struct {
    in6_addr address;
    uint32_t prefix;
    int index;
  } wanted{{}, static_cast<uint32_t>(prefix), static_cast<int>(if_nametoindex(interface))};
  inet_pton(AF_INET6, address, &wanted.address);
  return Ask(AF_INET6, request, &wanted);
}

// The kernel looks for others that have an address before that can be used, on lo as well.
bool BecomesUsable(const char* interface, const char* address) {
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  name.sin6_scope_id = if_nametoindex(interface);
  inet_pton(AF_INET6, address, &name.sin6_addr);
  const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  bool usable = false;
  do {
    usable = bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
    if (!usable) poll(nullptr, 0, 1);
  } while (!usable && std::chrono::steady_clock::now() < until);
  close(fd);
  return usable;
}

}  // namespace

bool EnterNetwork() {
  if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  return SetUp("lo");
}

// Without an address the one that there is is taken away.
bool RemoveIpv4(const char* interface) { return SetIpv4(interface, "0.0.0.0"); }

bool AddIpv6(const char* interface, const char* address, int prefix) {
  return ChangeIpv6(interface, address, prefix, SIOCSIFADDR) && BecomesUsable(interface, address);
}

bool RemoveIpv6(const char* interface, const char* address, int prefix) {
  return ChangeIpv6(interface, address, prefix, SIOCDIFADDR);
}

bool MakeInterface(const char* interface, const char* address) {
  const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  ifreq request = Request(interface);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(fd, TUNSETIFF, &request) == 0) return SetUp(interface) && SetIpv4(interface, address);
  close(fd);
  return false;
}

}  // namespace softdat::rds_test
