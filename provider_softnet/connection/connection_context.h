// SPDX-License-Identifier: BSD-3-Clause
// What the connections of one adapter share, and what they need from the wire that carries them.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_CONTEXT_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_CONTEXT_H_

#include <memory>
#include <utility>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/connection/byte_link.h"
#include "provider_softnet/connection/connection_options.h"
#include "provider_softnet/connection/leavers.h"
#include "provider_softnet/connection/path_watch.h"
#include "provider_softnet/driver/driver.h"
#include "provider_softnet/iwarp/half_open.h"
#include "provider_softnet/iwarp/stream_blocks.h"
#include "provider_softnet/memory/memory_table.h"
#include "provider_softnet/objects/adapter_shared.h"

namespace softdat::softnet {

struct ArrivedRequest;
class Incoming;

// Each connection of the adapter holds it.
struct ConnectionContext {
  ConnectionContext(std::shared_ptr<AdapterShared> adapter, const ConnectionOptions& o);
  virtual ~ConnectionContext();
  ConnectionContext(const ConnectionContext&) = delete;
  ConnectionContext& operator=(const ConnectionContext&) = delete;

  // Token. Makes a link for ByteLink::Connect(). `same_host`: the peer is on this host.
  virtual Result<std::unique_ptr<ByteLink>> OpenLink(const sockaddr_storage& remote,
                                                     bool same_host) = 0;
  // Token. Closes at once. With `reset` the peer sees a broken link.
  virtual void CloseNow(std::unique_ptr<ByteLink> link, bool reset) = 0;
  // Token. Sends `rest` and then an end. Discards what arrives until the peer's own end or
  // close_timeout, then closes. `abrupt`: the peer need not read what it still holds, and delays
  // the close only briefly. `watch`, if any, watches the link; it is taken over or stopped. Returns
  // the number for HurryClosing(), or 0 when the link is closed already.
  virtual uint64_t CloseGently(std::unique_ptr<ByteLink> link, bool abrupt,
                               std::vector<uint8_t> rest, SocketWatch* watch) = 0;
  uint64_t CloseGently(std::unique_ptr<ByteLink> link) {
    return CloseGently(std::move(link), false, {}, nullptr);
  }
  // Token. Makes a close abrupt. Does nothing when the close is over.
  virtual void HurryClosing(uint64_t closing) = 0;
  // Gives a request to the listener on `conn_qual`, in this process or another one. Same rules as
  // transport::ConnectionRequest::Handoff(). A request that was taken has no link any more.
  virtual Status HandOn(ArrivedRequest* request, uint64_t conn_qual) = 0;

  const std::shared_ptr<AdapterShared> shared;
  const ConnectionOptions options;
  // Members of `shared`.
  const transport::AdapterAttributes& attributes;
  MemoryTable& memory;
  Driver& driver;
  StreamBlocks blocks;
  PathWatch paths{&driver.loop(), options.dead_path};
  Leavers leavers;
  HalfOpen<Incoming> half_open;  // with the token
};

// Same as Wire::Describe(): what iWARP can do over any byte link.
void DescribeConnections(const ConnectionOptions& options, transport::AdapterAttributes* a);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_CONTEXT_H_
