// SPDX-License-Identifier: BSD-3-Clause
// A listener as requests find it.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_SERVICE_POINT_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_SERVICE_POINT_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "dat/transport/transport.h"

namespace softdat::softnet {

struct ConnectionContext;

struct ServicePoint {
  std::shared_ptr<ConnectionContext> context;
  uint64_t conn_qual = 0;
  // With the adapter's token; null when the listener is gone.
  transport::ListenerSink* sink = nullptr;
};

// Finds the service point for a request that names `conn_qual`; null when there is none. `whole`
// says that the request carried the whole qualifier; without it, a port that only one service point
// uses is enough.
using FindServicePoint =
    std::function<std::shared_ptr<ServicePoint>(uint64_t conn_qual, bool whole)>;

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_SERVICE_POINT_H_
