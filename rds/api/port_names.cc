// SPDX-License-Identifier: BSD-3-Clause
#include "rds/api/port_names.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>

#include "rds/api/kernel_calls.h"

namespace softdat::rds {
namespace {

std::string PortName(const SocketName& name) {
  std::string scope;
  if (name.address.scope != 0) scope = "%" + std::to_string(name.address.scope);
  return "softdat-rds/" + ToText(name.address) + scope + "/" + std::to_string(name.port);
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

}  // namespace

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
  const std::string prefix = "@" + WhereName(name);
  const size_t at = line.find(prefix);
  if (at == std::string::npos) return {};
  const std::string_view numbers = std::string_view(line).substr(at + prefix.size());
  const size_t slash = numbers.find('/');
  if (slash == std::string_view::npos) return {};
  Location out;
  const auto read = [](std::string_view text, auto* number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    return error == std::errc() && end == text.data() + text.size();
  };
  if (!read(numbers.substr(0, slash), &out.instance)) return {};
  if (!read(numbers.substr(slash + 1), &out.service)) return {};
  return out.instance == kKernelInstance ? Location{} : out;
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
