// SPDX-License-Identifier: BSD-3-Clause
// What the connections and listeners of one adapter over TCP share.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_CONTEXT_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_CONTEXT_H_

#include <list>
#include <memory>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/driver/driver.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/iwarp/half_open.h"
#include "provider_softnet/iwarp/stream_blocks.h"
#include "provider_softnet/memory/memory_table.h"
#include "provider_softnet/objects/adapter_shared.h"
#include "provider_softnet/tcp/path_watch.h"
#include "provider_softnet/tcp/tcp_options.h"

namespace softdat::softnet {

class HandoffArrival;
class Incoming;

class ClosingSocket;

// Held by each of them.
struct TcpContext {
  TcpContext(std::shared_ptr<AdapterShared> adapter, const TcpOptions& o);
  ~TcpContext();
  TcpContext(const TcpContext&) = delete;
  TcpContext& operator=(const TcpContext&) = delete;

  // As Wire::Stop().
  void Stop();

  // Token: sends `rest` and a FIN, discards input until the peer's own or close_timeout, closes.
  // `abrupt`: a peer that has the FIN but does not react, or whose window keeps the FIN out,
  // because it does not read, soon gets a reset too. Returns what HurryClosing() takes; 0 when it
  // is closed already.
  uint64_t CloseGently(UniqueFd fd, bool abrupt = false, std::vector<uint8_t> rest = {});
  // Token: makes a close abrupt. Nothing happens when it is over.
  void HurryClosing(uint64_t closing);
  // Token: closes at once, with a reset when `reset`.
  void CloseNow(UniqueFd fd, bool reset);

  void FinishAbruptEnds();

  const std::shared_ptr<AdapterShared> shared;
  const TcpOptions options;
  // Of `shared`.
  const transport::AdapterAttributes& attributes;
  MemoryTable& memory;
  Driver& driver;
  StreamBlocks blocks;
  PathWatch paths{&driver.loop(), options.dead_path};
  // With the token:
  std::list<std::unique_ptr<ClosingSocket>> closing;
  uint64_t last_closing = 0;
  HalfOpen<Incoming> half_open;
  std::list<std::unique_ptr<HandoffArrival>> handoffs;  // of other processes, oldest first
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_CONTEXT_H_
