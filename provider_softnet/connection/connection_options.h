// SPDX-License-Identifier: BSD-3-Clause
// Choices that settings and tests make for iWARP over any byte link.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_OPTIONS_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "provider_softnet/iwarp/mpa_handshake.h"

namespace softdat::softnet {

struct ConnectionOptions {
  CrcPolicy crc = CrcPolicy::kAuto;
  uint8_t mpa_revision = 2;
  bool confirm = true;       // sends and writes complete when the peer has confirmed them
  bool extensions = true;    // RFC 7306 operations may be sent
  bool short_reads = false;  // a read moves only what its local segments hold
  uint64_t rnr_timeout_us = 0;
  std::chrono::milliseconds connect_grace{300};       // retries of a refused connect to this host
  std::chrono::milliseconds handshake_timeout{8000};  // for a peer's start-up frame
  std::chrono::milliseconds close_timeout{3000};  // for a peer's end of connection after our own
  // For a peer that takes nothing although a graceful disconnect waits for it. 0: no limit.
  std::chrono::milliseconds disconnect{60000};
  std::chrono::milliseconds dead_path{30000};  // for an answer of a peer's TCP; 0: TCP's own limit
  // How long a message waits for a receive after its sender's FIN, while nothing shows that the
  // sender has gone.
  std::chrono::milliseconds fin_grace{1000};
  size_t max_half_open = 1024;  // connections whose request has not arrived yet
  // Gathered sends leave when they reach this many messages or bytes.
  uint32_t gather_messages = 64;
  size_t gather_bytes = 1024 * 1024;
  // More than this is written at once even if another send is expected behind it.
  size_t hold_bytes = 1024 * 1024;

  static ConnectionOptions FromSettings();
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_OPTIONS_H_
