// SPDX-License-Identifier: BSD-3-Clause
// ConnectionContext.
#include "provider_softnet/connection/connection_context.h"

#include <utility>

#include "provider_softnet/connection/incoming.h"

namespace softdat::softnet {

ConnectionContext::ConnectionContext(std::shared_ptr<AdapterShared> adapter,
                                     const ConnectionOptions& o)
    : shared(std::move(adapter)),
      options(o),
      attributes(shared->attributes),
      memory(shared->memory),
      driver(shared->driver),
      half_open(options.max_half_open) {}

ConnectionContext::~ConnectionContext() = default;

}  // namespace softdat::softnet
