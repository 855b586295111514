// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc/net/udp, and looks into /proc/PID/fd.
#include "provider_softnet/udp/port_holder.h"

#include <dirent.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>

#include "dat/base/socket_address.h"

namespace softdat::softnet {
namespace {

std::string ContentOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Addresses are printed as words of the machine, in hexadecimal digits.
bool ParseAddress(const char* digits, int family, unsigned port, sockaddr_storage* out) {
  *out = {};
  uint32_t words[4] = {};
  const size_t count = family == AF_INET ? 1 : std::size(words);
  for (size_t i = 0; i < count; ++i) {
    if (sscanf(digits + 8 * i, "%8x", &words[i]) != 1) return false;
  }
  out->ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET) {
    memcpy(&reinterpret_cast<sockaddr_in*>(out)->sin_addr, words, sizeof(in_addr));
  } else {
    memcpy(&reinterpret_cast<sockaddr_in6*>(out)->sin6_addr, words, sizeof(in6_addr));
  }
  SetSocketPort(static_cast<uint16_t>(port), out);
  return true;
}

std::optional<UdpSocketRow> ParseLine(const std::string& line, int family) {
  char digits[33] = {};
  unsigned port = 0;
  unsigned user = 0;
  unsigned long long inode = 0;
  // Number, local address, remote address, state, queues, timer, retransmissions.
  const int fields =
      sscanf(line.c_str(), " %*u: %32[0-9A-F]:%4X %*[0-9A-F:] %*X %*X:%*X %*X:%*X %*X %u %*u %llu",
             digits, &port, &user, &inode);
  UdpSocketRow row{};
  if (fields != 4 || strlen(digits) != (family == AF_INET ? 8u : 32u)) return std::nullopt;
  if (!ParseAddress(digits, family, port, &row.local)) return std::nullopt;
  row.user = user;
  row.inode = inode;
  return row;
}

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;
Directory OpenDirectory(const std::string& path) { return {opendir(path.c_str()), closedir}; }

bool HasDescriptor(const std::string& folder, const std::string& target) {
  const Directory fds = OpenDirectory(folder);
  if (!fds) return false;
  char link[64];
  while (const dirent* fd = readdir(fds.get())) {
    const ssize_t n = readlinkat(dirfd(fds.get()), fd->d_name, link, sizeof(link));
    if (n > 0 && target == std::string_view(link, static_cast<size_t>(n))) return true;
  }
  return false;
}

bool RxeIsLoaded() { return access("/sys/module/rdma_rxe", F_OK) == 0; }

}  // namespace

std::vector<UdpSocketRow> ParseUdpSockets(std::string_view table, int family) {
  std::vector<UdpSocketRow> rows;
  while (!table.empty()) {
    const size_t end = table.find('\n');
    if (const auto row = ParseLine(std::string(table.substr(0, end)), family)) rows.push_back(*row);
    table.remove_prefix(end == std::string_view::npos ? table.size() : end + 1);
  }
  return rows;
}

std::vector<UdpSocketRow> UdpSocketsAt(const sockaddr_storage& wanted) {
  std::vector<UdpSocketRow> found;
  for (const int family : {AF_INET, AF_INET6}) {
    const char* const path = family == AF_INET ? "/proc/net/udp" : "/proc/net/udp6";
    for (const UdpSocketRow& row : ParseUdpSockets(ContentOf(path), family)) {
      if (SocketPort(row.local) != SocketPort(wanted)) continue;
      const bool all = IsWildcard(row.local) && (family == wanted.ss_family || family == AF_INET6);
      if (all || SameHost(Unmapped(row.local), wanted)) found.push_back(row);
    }
  }
  return found;
}

std::optional<ProcessName> ProcessOfSocket(uint64_t inode) {
  const std::string target = fmt::format("socket:[{}]", inode);
  const Directory processes = OpenDirectory("/proc");
  if (!processes) return std::nullopt;
  while (const dirent* entry = readdir(processes.get())) {
    const std::string pid = entry->d_name;
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!HasDescriptor("/proc/" + pid + "/fd", target)) continue;
    std::string name = ContentOf("/proc/" + pid + "/comm");
    while (name.ends_with('\n')) name.pop_back();
    return ProcessName{static_cast<pid_t>(std::stol(pid)), name};
  }
  return std::nullopt;
}

std::string HolderText(const UdpSocketRow& row, const std::optional<ProcessName>& process,
                       bool rxe_loaded) {
  constexpr const char* kElsewhere = "use another address or network namespace";
  if (process) {
    return fmt::format("process {} ({}) of user {} has it; end that process, or {}", process->pid,
                       process->name, row.user, kElsewhere);
  }
  // It has the port on all addresses, and the kernel's sockets count as root's.
  if (rxe_loaded && row.user == 0 && IsWildcard(row.local)) {
    return fmt::format(
        "the kernel's soft-RoCE (rdma_rxe) has it; unload that (modprobe -r "
        "rdma_rxe), use verbs-* over it, or {}",
        kElsewhere);
  }
  return fmt::format(
      "a process of user {} has it, and only IAs of one user share it; end that "
      "process, or {}",
      row.user, kElsewhere);
}

std::string WhoHolds(const sockaddr_storage& wanted) {
  const std::vector<UdpSocketRow> rows = UdpSocketsAt(wanted);
  if (rows.empty()) return "somebody else has it";
  // One user shares the port, so that of another user is what stands in the way.
  const UdpSocketRow* row = &rows[0];
  for (const UdpSocketRow& each : rows) {
    if (each.user != geteuid() || IsWildcard(each.local)) row = &each;
  }
  return HolderText(*row, ProcessOfSocket(row->inode), RxeIsLoaded());
}

}  // namespace softdat::softnet
