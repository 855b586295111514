// SPDX-License-Identifier: BSD-3-Clause
// AdapterShared.
#include "provider_softnet/objects/adapter_shared.h"

#include <utility>

#include "dat/base/settings.h"

namespace softdat::softnet {

AdapterOptions AdapterOptions::FromSettings() {
  const Settings& s = GetSettings();
  AdapterOptions o;
  o.driver.spin = std::chrono::microseconds(s.spin_us);
  o.driver.flush_tick = std::chrono::microseconds(s.gather_us);
  o.check_memory = s.check_memory;
  return o;
}

AdapterShared::AdapterShared(const AdapterOptions& o, const transport::AdapterAttributes& a,
                             uint32_t interface, bool chosen, std::function<uint64_t()> random)
    : attributes(a),
      interface_index(interface),
      address_chosen(chosen),
      memory(o.check_memory, std::move(random)),
      driver(o.driver) {}

AdapterShared::~AdapterShared() {
  driver.StopHelper();
  driver.Stop();
}

}  // namespace softdat::softnet
