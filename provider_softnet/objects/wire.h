// SPDX-License-Identifier: BSD-3-Clause
// A wire: how the queue pairs of one adapter reach others. Protection domains, regions, windows,
// completion queues and shared receive queues are the same on every wire and know none. Queue pairs
// and listeners belong to the wire.
//
// An adapter is opened if its wire agrees (Check). It asks the wire to describe itself, hands it
// what the objects share (Begin), and creates objects through it from then on. Every object that
// the wire makes holds what it needs by itself, because it may outlive the wire by the few
// instructions that an upcall takes to return.
#ifndef SOFTDAT_PROVIDER_SOFTNET_OBJECTS_WIRE_H_
#define SOFTDAT_PROVIDER_SOFTNET_OBJECTS_WIRE_H_

#include <sys/socket.h>

#include <memory>
#include <string_view>

#include "dat/transport/transport.h"
#include "provider_softnet/objects/adapter_shared.h"

namespace softdat::softnet {

class Wire {
 public:
  virtual ~Wire() = default;

  // Before anything else: why adapters of this address cannot have the wire now.
  virtual Status Check(const sockaddr_storage&) const { return Status::Ok(); }
  // Sets what depends on the wire: the longest message, private data, which operations exist, what
  // a completion means. The rest is already set.
  virtual void Describe(transport::AdapterAttributes* attributes) const = 0;
  // How often threads that poll look at all sockets.
  virtual LookInterval look_interval() const { return {}; }
  // Called once, before anything is created.
  virtual void Begin(std::shared_ptr<AdapterShared> shared) = 0;

  // Any thread. The same as in transport::Adapter; the attributes are within the adapter's limits.
  virtual Result<std::unique_ptr<transport::QueuePair>> CreateQueuePair(
      const transport::QueuePairAttributes& attributes) = 0;
  virtual Result<std::unique_ptr<transport::Listener>> Listen(
      const transport::ListenParameters& parameters) = 0;

  // The adapter closes. The helper thread is joined, no caller is inside, and none will come. Gives
  // peers only a short time to take what was said last, and drops whatever else waits for a peer.
  virtual void Stop() = 0;
  // The process exits, and what is owed was paid. Any thread; others may be inside. Waits for peers
  // until `deadline`.
  virtual void OnProcessExit(transport::Clock::time_point deadline) { (void)deadline; }
  // Called in a forked child, where only the calling thread exists. Forgets what belongs to the
  // process.
  virtual void AbandonAfterFork() = 0;
};

// A wire that adapters can have, and the prefix of their names. When several prefixes fit a name,
// the longest decides.
struct WireKind {
  std::string_view prefix;          // "softnet-"
  std::unique_ptr<Wire> (*make)();  // according to the settings of the process
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_OBJECTS_WIRE_H_
