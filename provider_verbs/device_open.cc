// SPDX-License-Identifier: BSD-3-Clause
// OpenDevice: makes a device with a running driver from a name. Each step that fails says what was
// missing.
#include "provider_verbs/device_open.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "dat/base/descriptor.h"
#include "dat/base/fork_safe_once.h"
#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_verbs/interfaces.h"
#include "provider_verbs/library_call.h"
#include "provider_verbs/os_error.h"

namespace softdat::verbs {
namespace {

Status NoRdma() {
  return Status(Code::kNotFound,
                "this host has no RDMA device: no /sys/class/infiniband (modprobe rdma_rxe, then "
                "`rdma link add rxe0 type rxe netdev IFACE`, makes one of any interface)");
}

Status NonBlocking(int fd, const char* what) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0) return Status::Ok();
  return OsStatus(errno, fmt::format("fcntl on the {}", what));
}

Result<RdmaPort> Locate(const DeviceFinder& finder, const DeviceName& wanted, std::string* netdev) {
  if (!wanted.netdev.empty()) {
    *netdev = wanted.netdev;
    return PortOfNetdev(wanted.netdev);
  }
  // The name is a device. Any interface of its port will do, if it has an address.
  Status last(Code::kNotFound,
              fmt::format("no network interface with an address leads to port {} of {}",
                          wanted.port, wanted.rdma_device));
  std::vector<std::string> candidates;
  for (const RdmaPort& port : finder.Ports()) {
    if (port.device == wanted.rdma_device && port.port == wanted.port) candidates = port.netdevs;
  }
  if (candidates.empty()) candidates = InterfacesUp();
  for (const std::string& candidate : candidates) {
    if (AddressesOf(candidate).empty()) continue;
    auto port = PortOfNetdev(candidate);
    if (!port.ok()) continue;
    if (port.value().device != wanted.rdma_device || port.value().port != wanted.port) continue;
    *netdev = candidate;
    return port;
  }
  return last;
}

// Finds the interface and RDMA port that a name means.
Result<RdmaPort> Resolve(const DeviceFinder& finder, const std::string& name, std::string* netdev) {
  auto parsed = finder.Parse(name);
  if (!parsed.ok()) return parsed.TakeStatus();
  auto port = Locate(finder, parsed.value(), netdev);
  // If there is no RDMA device at all, that is the reason for any failure.
  if (!port.ok() && !finder.HasRdma()) return NoRdma();
  return port;
}

Result<ibv_context*> OpenContext(const std::string& rdma_device) {
  const LibraryCall call;
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  if (list == nullptr) return OsStatus(errno, "ibv_get_device_list");
  ibv_context* context = nullptr;
  int error = ENOENT;
  bool found = false;
  for (int i = 0; i < count; ++i) {
    if (rdma_device != ibv_get_device_name(list[i])) continue;
    found = true;
    context = ibv_open_device(list[i]);
    error = errno;
  }
  ibv_free_device_list(list);
  if (context != nullptr) return context;
  if (!found) {
    return Status(
        Code::kNotFound,
        fmt::format("{} is known to the kernel but not to libibverbs: no user-space driver for "
                    "it (package ibverbs-providers), or no /dev/infiniband/uverbsN (modprobe "
                    "ib_uverbs)",
                    rdma_device));
  }
  return OsStatus(error, fmt::format("ibv_open_device for {} (device node under /dev/infiniband)",
                                     rdma_device));
}

}  // namespace

Result<RdmaPort> PortOfNetdev(const std::string& netdev) {
  std::vector<sockaddr_storage> addresses = AddressesOf(netdev);
  if (addresses.empty()) {
    return Status(Code::kAddressUnsupported,
                  fmt::format("interface {} has no IP address (ip address add A.B.C.D/N dev {})",
                              netdev, netdev));
  }
  auto channel = CmChannel::Create();
  if (!channel.ok()) return channel.TakeStatus();
  int error = 0;
  for (sockaddr_storage& address : addresses) {
    auto id = CmId::Create(*channel.value());
    if (!id.ok()) return id.TakeStatus();
    if (const int failed = id.value()->Bind(&address); failed != 0) {
      error = failed;
      continue;
    }
    const rdma_cm_id* const bound = id.value()->get();
    if (bound->verbs == nullptr) continue;
    RdmaPort port;
    port.device = ibv_get_device_name(bound->verbs->device);
    port.port = std::max<uint8_t>(bound->port_num, 1);
    port.netdevs = {netdev};
    return port;
  }
  return Status(Code::kNotFound, fmt::format("no RDMA device on interface {} ({})", netdev,
                                             error == 0 ? "rdma_bind_addr names none"
                                                        : "rdma_bind_addr: " + OsText(error)));
}

Result<std::unique_ptr<Device>> OpenDevice(const DeviceFinder& finder, const std::string& name,
                                           transport::AdapterSink* sink) {
  std::string netdev;
  auto port = Resolve(finder, name, &netdev);
  if (!port.ok()) return port.TakeStatus();
  // This has an effect only before the first registration. It would do harm if the kernel copies
  // pinned pages at fork (Linux 5.13): a child would lose every page with registered memory, with
  // everything else on that page.
  static constinit ForkSafeOnce once;
  once.Call([] {
    if (ibv_is_fork_initialized() == IBV_FORK_UNNEEDED) return;
    const int error = ibv_fork_init();
    if (error != 0) SOFTDAT_LOG(Warning, "ibv_fork_init: {}", OsText(error));
  });

  auto device = std::make_unique<Device>();
  device->sink = sink;
  device->traits.netdev = netdev;
  device->traits.rdma_device = port.value().device;
  device->traits.port = port.value().port;
  const StandardDescriptorsTaken taken;  // libibverbs must not take their numbers, either
  auto context = OpenContext(port.value().device);
  if (!context.ok()) return context.TakeStatus();
  device->context = context.Take();
  auto cm = CmChannel::Create();
  if (!cm.ok()) return cm.TakeStatus();
  device->cm = cm.Take();
  Status status = Describe(device.get());
  if (!status.ok()) return status;
  device->channel = ibv_create_comp_channel(device->context);
  if (device->channel == nullptr) return OsStatus(errno, "ibv_create_comp_channel");
  status = NonBlocking(device->channel->fd, "completion channel");
  if (status.ok()) status = NonBlocking(device->context->async_fd, "asynchronous event descriptor");
  if (!status.ok()) return status;

  Device* const raw = device.get();
  raw->driver.Watch(raw->channel->fd, [raw] { return raw->DispatchCompletionEvents(); });
  // Errors are read before ends: the reason why a pair failed comes before the news that its
  // connection is gone.
  raw->driver.Watch(raw->context->async_fd, [raw] { return raw->DispatchAsyncEvents(); });
  raw->driver.Watch(raw->cm->fd(), [raw] {
    raw->DispatchAsyncEvents();
    return raw->cm->Dispatch();
  });
  raw->driver.BeforeBlocking([raw] { raw->ArmStrays(); });
  status = raw->driver.Start();
  if (!status.ok()) return status;
  if (raw->traits.silent_failures) raw->driver.Post([raw] { raw->LookAround(); });
  SOFTDAT_LOG(Info, "{}: RDMA device {} port {} ({}), address {}", name, raw->traits.rdma_device,
              raw->traits.port, raw->traits.iwarp ? "iWARP" : "InfiniBand or RoCE",
              AddressText(raw->attributes.address));
  return device;
}

}  // namespace softdat::verbs
