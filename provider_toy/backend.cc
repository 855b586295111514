// SPDX-License-Identifier: BSD-3-Clause
// Backend: lists and opens toy devices.
#include "provider_toy/backend.h"

#include <charconv>
#include <string>
#include <string_view>

#include "provider_toy/adapter.h"
#include "provider_toy/fabric.h"

namespace softdat::toy {
namespace {

constexpr std::string_view kPrefix = "toy-";
constexpr uint32_t kListed = 2;  // enough to show two kinds of devices; Open takes kDeviceCount

class Backend : public transport::Backend {
 public:
  std::vector<Device> Devices() override {
    std::vector<Device> devices;
    for (uint32_t n = 0; n < kListed; ++n) {
      devices.push_back({std::string(kPrefix) + std::to_string(n), ""});
    }
    return devices;
  }

  Result<std::unique_ptr<transport::Adapter>> Open(const std::string& name,
                                                   transport::AdapterSink*) override {
    const std::string_view all(name);
    uint32_t device = 0;
    if (all.starts_with(kPrefix)) {
      const std::string_view number = all.substr(kPrefix.size());
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), device);
      if (error == std::errc() && end == number.data() + number.size() && device < kDeviceCount) {
        return std::unique_ptr<transport::Adapter>(
            std::make_unique<Adapter>(Fabric::Instance(), device));
      }
    }
    return Status(Code::kNotFound,
                  "'" + name + "' is not toy-0 to toy-" + std::to_string(kDeviceCount - 1));
  }
};

}  // namespace

std::unique_ptr<transport::Backend> MakeBackend() { return std::make_unique<Backend>(); }

}  // namespace softdat::toy
