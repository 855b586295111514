// SPDX-License-Identifier: BSD-3-Clause
// Backend: lists the names of IAs, and opens one.
#include "provider_verbs/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "provider_verbs/adapter.h"
#include "provider_verbs/device_finder.h"
#include "provider_verbs/device_open.h"
#include "provider_verbs/interfaces.h"

namespace softdat::verbs {
namespace {

class Backend : public transport::Backend {
 public:
  std::vector<Device> Devices() override;
  Result<std::unique_ptr<transport::Adapter>> Open(const std::string& name,
                                                   transport::AdapterSink* sink) override;

 private:
  const DeviceFinder finder_;
};

std::string WhyNot(const Status& status) { return std::string(status.reason()); }

// Lists every interface that is up, and every RDMA port by its own name. Without an RDMA device the
// interfaces are listed with the reason, because that is what the reader wants to know.
std::vector<transport::Backend::Device> Backend::Devices() {
  std::vector<Device> devices;
  const bool rdma = finder_.HasRdma();
  for (const std::string& netdev : InterfacesUp()) {
    Device device{.name = "verbs-" + netdev, .unavailable = {}};
    if (!rdma) {
      device.unavailable = "no RDMA device on this host";
    } else {
      const auto port = PortOfNetdev(netdev);
      if (!port.ok()) device.unavailable = WhyNot(port.status());
    }
    devices.push_back(std::move(device));
  }
  for (const RdmaPort& port : finder_.Ports()) {
    const bool addressed =
        port.netdevs.empty() ||
        std::any_of(port.netdevs.begin(), port.netdevs.end(),
                    [](const std::string& netdev) { return !AddressesOf(netdev).empty(); });
    // A device's own name means its first port.
    std::vector<std::string> names = {fmt::format("verbs-{}-{}", port.device, port.port)};
    if (port.port == 1) names.insert(names.begin(), "verbs-" + port.device);
    for (const std::string& name : names) {
      const bool listed = std::any_of(devices.begin(), devices.end(),
                                      [&](const Device& d) { return d.name == name; });
      if (listed) continue;
      devices.push_back({.name = name, .unavailable = {}});
      if (!addressed)
        devices.back().unavailable = "none of its network interfaces has an IP address";
    }
  }
  return devices;
}

Result<std::unique_ptr<transport::Adapter>> Backend::Open(const std::string& name,
                                                          transport::AdapterSink* sink) {
  auto device = OpenDevice(finder_, name, sink);
  if (!device.ok()) return device.TakeStatus();
  return std::unique_ptr<transport::Adapter>(new Adapter(device.Take()));
}

}  // namespace

std::unique_ptr<transport::Backend> MakeBackend() { return std::make_unique<Backend>(); }

}  // namespace softdat::verbs
