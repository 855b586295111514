// SPDX-License-Identifier: BSD-3-Clause
// ShmPorts, OpenShmPort.
#include "provider_softnet/shm/shm_ports.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "provider_softnet/driver/local_socket.h"
#include "provider_softnet/shm/hello.h"

namespace softdat::softnet {
namespace {

constexpr int kBacklog = 4096;

constinit ProcessWide<PortRegistry> g_ports;
// Counts the ports that were chosen, so that the search does not begin with those that are taken.
constinit std::atomic<uint32_t> g_chosen{0};

// 0 or an errno value.
int Open(const std::string& host, uint16_t port, UniqueFd* fd) {
  *fd = OpenLocalSocket();
  if (!fd->valid()) return errno;
  return ListenAt(fd->get(), MeetingPlaceOf(geteuid(), host, port), kBacklog);
}

}  // namespace

ProcessWide<PortRegistry>& ShmPorts() { return g_ports; }

Result<UniqueFd> OpenShmPort(const std::string& host, uint16_t* port) {
  constexpr uint32_t kFirst = 32768;
  const bool any = *port == 0;
  const uint32_t begin = static_cast<uint32_t>(getpid()) * 16;
  UniqueFd fd;
  int error = EADDRINUSE;
  for (uint32_t i = 0; i < (any ? kFirst : 1) && error == EADDRINUSE; ++i) {
    if (any) {
      const uint32_t next = begin + g_chosen.fetch_add(1, std::memory_order_relaxed);
      *port = static_cast<uint16_t>(kFirst + next % kFirst);
    }
    error = Open(host, *port, &fd);
  }
  if (error == EADDRINUSE) {
    return Status(Code::kInUse, fmt::format("port {} is taken by another program", *port));
  }
  if (error != 0) {
    return Status(Code::kNoResources,
                  fmt::format("cannot listen on port {}: {}", *port, strerror(error)));
  }
  return fd;
}

}  // namespace softdat::softnet
