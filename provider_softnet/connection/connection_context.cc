// SPDX-License-Identifier: BSD-3-Clause
// ConnectionContext.
#include "provider_softnet/connection/connection_context.h"

#include <utility>

#include "provider_softnet/connection/incoming.h"
#include "provider_softnet/iwarp/stream_config.h"

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

void DescribeConnections(const ConnectionOptions& options, transport::AdapterAttributes* a) {
  constexpr uint32_t kMaxReads = 128;
  constexpr uint32_t kMaxPrivateData = 256;
  a->max_read_in = kMaxReads;
  a->max_read_out = kMaxReads;
  a->max_message = kMaxMessage;
  a->max_private_data = kMaxPrivateData;
  a->immediate = a->atomics = options.extensions;
  a->immediate_as_message = true;
  a->invalidate = true;
  a->shows_read_sink = true;  // the Read Request names the sink
  a->receive_watermarks = true;
  a->confirms_writes = true;
  a->confirmed_completions = options.confirm;
}

}  // namespace softdat::softnet
