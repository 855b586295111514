// SPDX-License-Identifier: BSD-3-Clause
// Choices that settings and tests make for iWARP over TCP.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_OPTIONS_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_OPTIONS_H_

#include <chrono>

#include "provider_softnet/connection/connection_options.h"

namespace softdat::softnet {

struct TcpOptions : ConnectionOptions {
  std::chrono::milliseconds handoff_timeout{5000};  // for the answer of another process

  static TcpOptions FromSettings() {
    TcpOptions options;
    static_cast<ConnectionOptions&>(options) = ConnectionOptions::FromSettings();
    return options;
  }
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_OPTIONS_H_
