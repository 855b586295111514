// SPDX-License-Identifier: BSD-3-Clause
// RoceOptions from the settings of the process, and path MTUs.
#include "provider_softnet/udp_wire/roce_options.h"

#include <bit>

#include "dat/base/settings.h"

namespace softdat::softnet {

namespace {

constexpr uint32_t kLeastMtu = 256;
constexpr uint32_t kMostMtu = 4096;
// IPv6 40, UDP 8, BTH 12, AtomicETH 28, XRC 4, ICRC 4: what Linux' rdma_cm leaves room for.
constexpr uint32_t kHeaders = 96;

}  // namespace

RoceOptions RoceOptions::FromSettings() {
  const Settings& s = GetSettings();
  constexpr uint32_t kMtus[] = {0, 256, 512, 1024, 2048, 4096};  // as in the table
  RoceOptions o;
  o.mtu = kMtus[static_cast<int>(s.ib_mtu)];
  o.ack_timeout = static_cast<uint8_t>(s.ack_timer);
  o.retry_count = static_cast<uint8_t>(s.ack_retry);
  o.rnr_timer = static_cast<uint8_t>(s.rnr_timer);
  o.rnr_retry_count = static_cast<uint8_t>(s.rnr_retry);
  o.port = UdpPortOptions::FromSettings();
  o.connect_grace = std::chrono::milliseconds(s.connect_grace_ms);
  o.disconnect = std::chrono::milliseconds(s.disconnect_ms);
  return o;
}

uint32_t PathMtuFor(uint32_t interface_mtu) {
  uint32_t mtu = kMostMtu;
  while (mtu > kLeastMtu && mtu + kHeaders > interface_mtu) mtu /= 2;
  return mtu;
}

uint8_t PathMtuCode(uint32_t mtu) {
  return static_cast<uint8_t>(std::countr_zero(mtu) - std::countr_zero(kLeastMtu) + 1);
}

uint32_t PathMtuOf(uint8_t code) {
  return code >= 1 && code <= PathMtuCode(kMostMtu) ? kLeastMtu << (code - 1) : 0;
}

}  // namespace softdat::softnet
