// SPDX-License-Identifier: BSD-3-Clause
// The softnet back end: devices and their opening.
#include "provider_softnet/adapter/backend.h"

#include <utility>

#include "provider_softnet/adapter/adapter.h"
#include "provider_softnet/adapter/interfaces.h"
#include "provider_softnet/memory/random_numbers.h"

namespace softdat::softnet {
namespace {

class SoftnetBackend final : public transport::Backend {
 public:
  explicit SoftnetBackend(std::span<const WireKind> wires) : wires_(wires) {}

  std::vector<Device> Devices() override {
    std::vector<Device> out;
    const std::vector<Interface> interfaces = ListInterfaces();
    for (const WireKind& wire : wires_) {
      for (const Interface& i : interfaces) {
        out.push_back({std::string(wire.prefix) + i.name, UnavailableReason(i)});
      }
    }
    return out;
  }

  Result<std::unique_ptr<transport::Adapter>> Open(const std::string& name,
                                                   transport::AdapterSink*) override {
    const WireKind* const named = WireOf(name);
    const std::string device = named == nullptr ? name : name.substr(named->prefix.size());
    Result<Interface> interface = FindInterface(device);
    if (!interface.ok()) return interface.TakeStatus();
    Result<std::function<uint64_t()>> random = RandomNumbers();
    if (!random.ok()) return random.TakeStatus();
    std::unique_ptr<Wire> wire = (named == nullptr ? wires_.front() : *named).make();
    if (Status s = wire->Check(interface.value().address); !s.ok()) return s;
    return std::unique_ptr<transport::Adapter>(std::make_unique<SoftnetAdapter>(
        interface.value(), AdapterOptions::FromSettings(), std::move(wire), random.Take()));
  }

 private:
  // The wire with the longest prefix that fits. Null if none does.
  const WireKind* WireOf(std::string_view name) const {
    const WireKind* best = nullptr;
    for (const WireKind& wire : wires_) {
      if (!name.starts_with(wire.prefix)) continue;
      if (best == nullptr || wire.prefix.size() > best->prefix.size()) best = &wire;
    }
    return best;
  }

  const std::span<const WireKind> wires_;
};

}  // namespace

std::unique_ptr<transport::Backend> MakeBackend(std::span<const WireKind> wires) {
  return std::make_unique<SoftnetBackend>(wires);
}

}  // namespace softdat::softnet
