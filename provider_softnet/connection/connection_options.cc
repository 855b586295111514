// SPDX-License-Identifier: BSD-3-Clause
// ConnectionOptions from the settings of the process.
#include "provider_softnet/connection/connection_options.h"

#include "dat/base/settings.h"

namespace softdat::softnet {

ConnectionOptions ConnectionOptions::FromSettings() {
  const Settings& s = GetSettings();
  ConnectionOptions o;
  o.crc = s.crc == CrcMode::kOn    ? CrcPolicy::kOn
          : s.crc == CrcMode::kOff ? CrcPolicy::kOff
                                   : CrcPolicy::kAuto;
  o.mpa_revision = static_cast<uint8_t>(s.mpa_revision);
  o.extensions = s.rfc7306;
  o.short_reads = s.short_reads;
  // 0 would mean to wait without limit.
  o.rnr_timeout_us = s.receiver_must_be_ready ? 1 : static_cast<uint64_t>(s.rnr_timeout_ms) * 1000;
  o.confirm = s.completion == CompletionMode::kConfirmed;
  o.connect_grace = std::chrono::milliseconds(s.connect_grace_ms);
  o.handshake_timeout = std::chrono::milliseconds(s.handshake_timeout_ms);
  o.close_timeout = std::chrono::milliseconds(s.close_timeout_ms);
  o.disconnect = std::chrono::milliseconds(s.disconnect_ms);
  o.dead_path = std::chrono::milliseconds(s.dead_path_ms);
  o.max_half_open = static_cast<size_t>(s.max_half_open);
  return o;
}

}  // namespace softdat::softnet
