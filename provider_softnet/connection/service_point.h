// SPDX-License-Identifier: BSD-3-Clause
// A listener in the form in which requests find it.
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
  // Needs the adapter's token. Null when the listener is gone.
  transport::ListenerSink* sink = nullptr;
};

// Finds the service point for a request that names `conn_qual`. Null when there is none. `whole`
// says that the request carried the whole qualifier. Without it, a port is enough if only one
// service point uses that port.
using FindServicePoint =
    std::function<std::shared_ptr<ServicePoint>(uint64_t conn_qual, bool whole)>;

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_SERVICE_POINT_H_
