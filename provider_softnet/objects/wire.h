// SPDX-License-Identifier: BSD-3-Clause
// A wire: how the queue pairs of one adapter reach others. Protection domains, regions, windows,
// completion queues and shared receive queues are the same on every wire and know none; queue pairs
// and listeners are the wire's own.
//
// The adapter asks the wire to describe itself, then hands it what the objects share (Begin), and
// creates through it from then on. Everything that the wire makes holds what it needs by itself: it
// may outlive the wire by the few instructions that an upcall takes to return.
#ifndef SOFTDAT_PROVIDER_SOFTNET_OBJECTS_WIRE_H_
#define SOFTDAT_PROVIDER_SOFTNET_OBJECTS_WIRE_H_

#include <memory>
#include <string_view>

#include "dat/transport/transport.h"
#include "provider_softnet/objects/adapter_shared.h"

namespace softdat::softnet {

class Wire {
 public:
  virtual ~Wire() = default;

  // Sets what depends on the wire: the longest message, private data, which operations there are,
  // what a completion means. The rest is set already.
  virtual void Describe(transport::AdapterAttributes* attributes) const = 0;
  // Once, before anything is created.
  virtual void Begin(std::shared_ptr<AdapterShared> shared) = 0;

  // Any thread. As transport::Adapter; the attributes are within the adapter's limits.
  virtual Result<std::unique_ptr<transport::QueuePair>> CreateQueuePair(
      const transport::QueuePairAttributes& attributes) = 0;
  virtual Result<std::unique_ptr<transport::Listener>> Listen(
      const transport::ListenParameters& parameters) = 0;

  // The adapter closes: the helper thread is joined, no caller is inside any more and none comes.
  // Drops what only waits for a peer.
  virtual void Stop() = 0;
  // In a forked child, where only the calling thread exists: forgets what belongs to the process.
  virtual void AbandonAfterFork() = 0;
};

// A wire that can be had, and what the names of its adapters begin with. Where several prefixes fit
// a name, the longest decides.
struct WireKind {
  std::string_view prefix;          // "softnet-"
  std::unique_ptr<Wire> (*make)();  // as the settings of the process want it
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_OBJECTS_WIRE_H_
