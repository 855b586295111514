// SPDX-License-Identifier: BSD-3-Clause
// The softnet back end: devices and their opening.
#include "provider_softnet/driver/backend.h"

#include <cstdint>
#include <functional>
#include <string_view>

#include "provider_softnet/driver/adapter.h"
#include "provider_softnet/driver/interfaces.h"
#include "provider_softnet/driver/random_numbers.h"

namespace softdat::softnet {
namespace {

constexpr std::string_view kPrefix = "softnet-";

class SoftnetBackend final : public transport::Backend {
 public:
  std::vector<Device> Devices() override {
    std::vector<Device> out;
    for (const Interface& i : ListInterfaces()) {
      out.push_back({std::string(kPrefix) + i.name, UnavailableReason(i)});
    }
    return out;
  }

  Result<std::unique_ptr<transport::Adapter>> Open(const std::string& name,
                                                   transport::AdapterSink*) override {
    std::string device = name;
    if (device.starts_with(kPrefix)) device.erase(0, kPrefix.size());
    Result<Interface> interface = FindInterface(device);
    if (!interface.ok()) return interface.TakeStatus();
    Result<std::function<uint64_t()>> random = RandomNumbers();
    if (!random.ok()) return random.TakeStatus();
    return std::unique_ptr<transport::Adapter>(std::make_unique<SoftnetAdapter>(
        interface.value(), AdapterOptions::FromSettings(), random.Take()));
  }
};

}  // namespace

std::unique_ptr<transport::Backend> MakeBackend() { return std::make_unique<SoftnetBackend>(); }

}  // namespace softdat::softnet
