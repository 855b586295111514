// SPDX-License-Identifier: BSD-3-Clause
#include "rds/api/port_names.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "rds/api/kernel_calls.h"
#include "rds/api/own_descriptor.h"

namespace softdat::rds {
namespace {

std::string Scoped(const Address& address) {
  return ToText(address) + (address.scope != 0 ? "%" + std::to_string(address.scope) : "");
}

std::string AddressName(const Address& address) { return "softdat-rds/" + Scoped(address); }

std::string PortName(const SocketName& name) {
  return AddressName(name.address) + "/" + std::to_string(name.port);
}

std::string KernelName(const Address& own, const Address& peer) {
  return AddressName(own) + "/kernel/" + Scoped(peer);
}

std::string WhereName(const SocketName& name) { return PortName(name) + "/at/"; }

int BindAbstract(int unix_socket, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return kernel::Bind(unix_socket, reinterpret_cast<const sockaddr*>(&address), length) == 0
             ? 0
             : errno;
}

// Unix sockets that only have names. A child of fork may find the list at any moment, so it only
// grows, at its head.
struct Named {
  OwnDescriptor descriptor;
  Named* next = nullptr;
};
std::atomic<Named*> named{nullptr};

// A unix socket of its own, without a name yet. -1: none is to be had.
int Nameless() {
  const int fd = kernel::Socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC);
  if (fd < 0) return -1;
  auto* const entry = new Named;
  entry->descriptor.Set(fd);
  entry->next = named.load();
  while (!named.compare_exchange_weak(entry->next, entry)) continue;
  return fd;
}

}  // namespace

void PublishHolder(const Address& own, const Location& here) {
  PublishPort(Nameless(), {own, kReservedPort}, here);
}

void PublishKernel(const Address& own, const Address& peer) {
  BindAbstract(Nameless(), KernelName(own, peer));
}

void CloseNames() {
  for (Named* entry = named.load(); entry != nullptr; entry = entry->next) {
    entry->descriptor.Close();
  }
}

int TakePort(int unix_socket, const SocketName& name) {
  return BindAbstract(unix_socket, PortName(name));
}

int PublishPort(int unix_socket, const SocketName& name, const Location& location) {
  return BindAbstract(unix_socket, WhereName(name) + std::to_string(location.instance) + "/" +
                                       std::to_string(location.service));
}

// Other programs may bind what names they like, so the numbers may be anything.
Location LocationIn(const std::string& line, const SocketName& name) {
  // "@" stands for the zero octet in front of an abstract name.
  const std::string prefix = "@" + AddressName(name.address);
  const size_t at = line.find(prefix);
  if (at == std::string::npos) return {};
  std::string_view rest = std::string_view(line).substr(at + prefix.size());
  // The number in front of that text, which goes with it.
  const auto take = [&rest](std::string_view behind, auto* number) {
    const size_t end = behind.empty() ? rest.size() : rest.find(behind);
    if (end == std::string_view::npos) return false;
    const auto [stopped, error] = std::from_chars(rest.data(), rest.data() + end, *number);
    const bool whole = error == std::errc() && stopped == rest.data() + end;
    rest.remove_prefix(end + behind.size());
    return whole;
  };
  if (IsLinkLocal(name.address) && name.address.scope == 0 && rest.starts_with('%')) {
    uint32_t scope = 0;
    rest.remove_prefix(1);
    if (!take("/", &scope)) return {};
  } else {
    if (!rest.starts_with('/')) return {};
    rest.remove_prefix(1);
  }
  uint16_t port = 0;
  Location out;
  if (!take("/at/", &port) || !take("/", &out.instance) || !take("", &out.service)) return {};
  // A ping is for any process of the address.
  if (name.port != kPingPort && port != name.port) return {};
  return out.instance == kKernelInstance ? Location{} : out;
}

bool PortTable::IsKernel(const Address& own, const Address& peer) const {
  const std::string name = "@" + KernelName(own, peer);
  std::ifstream table("/proc/net/unix");
  std::string line;
  while (std::getline(table, line)) {
    if (line.ends_with(name)) return true;
  }
  return false;
}

Location PortTable::Find(const SocketName& name) const {
  std::ifstream table("/proc/net/unix");
  std::string line;
  while (std::getline(table, line)) {
    const Location found = LocationIn(line, name);
    if (found.service != 0) return found;
  }
  return {};
}

}  // namespace softdat::rds
