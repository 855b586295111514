// SPDX-License-Identifier: BSD-3-Clause
// Choices that settings and tests make for RoCEv2 over UDP.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_OPTIONS_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "provider_softnet/udp/udp_port.h"

namespace softdat::softnet {

struct RoceOptions {
  UdpPortOptions port;
  // What a connection is asked for: codes and counts of IBTA vol. 1 §12.7. The peer's acceptor has
  // its own.
  uint8_t ack_timeout = 18;  // 4.096 us * 2^18 = 1.07 s
  uint8_t retry_count = 7;
  uint8_t rnr_retry_count = 7;  // no limit
  uint8_t rnr_timer = 12;       // 0.64 ms
  uint32_t mtu = 0;             // path MTU at most, bytes of payload; 0: as the interface allows
  std::chrono::milliseconds connect_grace{300};  // retries of a refused connect to this host
  // For a peer that takes nothing although a graceful disconnect waits for it. 0: no limit.
  std::chrono::milliseconds disconnect{60000};
  // How long a peer that was refused something may ask again before it is told of the end.
  std::chrono::milliseconds refused_grace{1000};
  // For the answer of another member, or another process, to which a request is handed off.
  std::chrono::milliseconds handoff_timeout{5000};
  // Gathered sends leave when they reach this many messages or bytes.
  uint32_t gather_messages = 64;
  size_t gather_bytes = 256 * 1024;
  // More than this is written at once even if another send is expected behind it.
  size_t hold_bytes = 16 * 1024;

  static RoceOptions FromSettings();
};

// The largest path MTU (IBTA: 256 to 4096) whose packets fit an interface's MTU, as Linux reckons.
uint32_t PathMtuFor(uint32_t interface_mtu);
// Its code in a REQ, and back; 0 for what is no code.
uint8_t PathMtuCode(uint32_t mtu);
uint32_t PathMtuOf(uint8_t code);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_OPTIONS_H_
