// SPDX-License-Identifier: BSD-3-Clause
// What the connections of one adapter share, and what they need of the wire that carries them.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_CONTEXT_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_CONTEXT_H_

#include <memory>
#include <utility>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/connection/byte_link.h"
#include "provider_softnet/connection/connection_options.h"
#include "provider_softnet/connection/path_watch.h"
#include "provider_softnet/driver/driver.h"
#include "provider_softnet/iwarp/half_open.h"
#include "provider_softnet/iwarp/stream_blocks.h"
#include "provider_softnet/memory/memory_table.h"
#include "provider_softnet/objects/adapter_shared.h"

namespace softdat::softnet {

struct ArrivedRequest;
class Incoming;

// Held by each of them.
struct ConnectionContext {
  ConnectionContext(std::shared_ptr<AdapterShared> adapter, const ConnectionOptions& o);
  virtual ~ConnectionContext();
  ConnectionContext(const ConnectionContext&) = delete;
  ConnectionContext& operator=(const ConnectionContext&) = delete;

  // Token. A link for ByteLink::Connect(). `same_host`: the peer is on this host.
  virtual Result<std::unique_ptr<ByteLink>> OpenLink(const sockaddr_storage& remote,
                                                     bool same_host) = 0;
  // Token. Closes at once; with `reset` so that the peer sees a broken link.
  virtual void CloseNow(std::unique_ptr<ByteLink> link, bool reset) = 0;
  // Token. Sends `rest` and an end behind it, discards what comes until the peer's own end or
  // close_timeout, closes. `abrupt`: the peer need not read what it still holds, and does not hold
  // the close up for long. Returns what HurryClosing() takes; 0 when it is closed already.
  virtual uint64_t CloseGently(std::unique_ptr<ByteLink> link, bool abrupt,
                               std::vector<uint8_t> rest) = 0;
  uint64_t CloseGently(std::unique_ptr<ByteLink> link) {
    return CloseGently(std::move(link), false, {});
  }
  // Token. Makes a close abrupt. Nothing happens when it is over.
  virtual void HurryClosing(uint64_t closing) = 0;
  // Gives a request to whoever listens on `conn_qual`, in this process or another one. As
  // transport::ConnectionRequest::Handoff(); the link of a request that was taken is gone.
  virtual Status HandOn(ArrivedRequest* request, uint64_t conn_qual) = 0;

  const std::shared_ptr<AdapterShared> shared;
  const ConnectionOptions options;
  // Of `shared`.
  const transport::AdapterAttributes& attributes;
  MemoryTable& memory;
  Driver& driver;
  StreamBlocks blocks;
  PathWatch paths{&driver.loop(), options.dead_path};
  HalfOpen<Incoming> half_open;  // with the token
};

// As Wire::Describe(): what iWARP can do, whatever carries its bytes.
void DescribeConnections(const ConnectionOptions& options, transport::AdapterAttributes* a);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_CONTEXT_H_
