// SPDX-License-Identifier: BSD-3-Clause
// For tests: what one end of a connection has whatever its wire: a table of memory, work queues,
// completion rings, buffers between guard bytes, receives of its own or shared ones. A protocol
// engine is put under it by a class that derives from this one.
#ifndef SOFTDAT_PROVIDER_SOFTNET_QUEUE_ENGINE_SIDE_H_
#define SOFTDAT_PROVIDER_SOFTNET_QUEUE_ENGINE_SIDE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "provider_softnet/memory/memory_table.h"
#include "provider_softnet/queue/completion_ring.h"
#include "provider_softnet/queue/work_ledger.h"
#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet::testing {

// A region as a bind names it.
class FakeRegion : public transport::MemoryRegion {
 public:
  explicit FakeRegion(uint32_t key) : key_(key) {}
  uint32_t local_key() const override { return key_; }
  uint32_t remote_key() const override { return key_; }

 private:
  uint32_t key_;
};

// Counts upcalls.
struct CountingSink : transport::CompletionSink {
  void OnCompletion() override { ++completions; }
  void OnOverflow() override { ++overflows; }
  int completions = 0, overflows = 0;
};

// A byte of the pattern that tests fill buffers with.
inline uint8_t Pattern(uint64_t stream, uint64_t at) {
  return static_cast<uint8_t>((at * 31 + (at >> 8) * 7 + stream * 101) & 0xff);
}

struct SideOptions {
  uint32_t queue = 64;  // work queue entries
  uint32_t max_segments = 4;
  bool share_receives = false;  // receives come from an SRQ
};

class EngineSide {
 public:
  EngineSide(MemoryTable* table, const SideOptions& options);
  virtual ~EngineSide() = default;
  EngineSide(const EngineSide&) = delete;
  EngineSide& operator=(const EngineSide&) = delete;

  // Registers `size` bytes with guard bytes around them; index into buffers.
  size_t AddBuffer(size_t size, uint32_t privileges = kPrivLocalWrite | kPrivRemoteRead |
                                                      kPrivRemoteWrite | kPrivRemoteAtomic);
  uint8_t* data(size_t buffer) { return buffers[buffer].bytes.data() + kGuard; }
  size_t size(size_t buffer) const { return buffers[buffer].bytes.size() - 2 * kGuard; }
  Segment Local(size_t buffer, uint64_t offset, uint32_t length);
  DAT_RMR_TRIPLET Remote(size_t buffer, uint64_t offset, uint32_t length);
  bool GuardsIntact() const;

  // The engine's.
  virtual Code PostSend(const transport::SendRequest& request) = 0;

  Code Send(uint64_t cookie, const std::vector<Segment>& local, uint8_t flags = 0);
  // Into the own queue or the SRQ.
  Code Receive(uint64_t cookie, const std::vector<Segment>& local);
  Code Write(uint64_t cookie, const std::vector<Segment>& local, DAT_RMR_TRIPLET remote,
             uint8_t flags = 0);
  Code Read(uint64_t cookie, const std::vector<Segment>& local, DAT_RMR_TRIPLET remote,
            uint8_t flags = 0);

  // Everything completed since the last call.
  std::vector<transport::Completion> Reap(CompletionRing& ring);
  std::vector<transport::Completion> Sends() { return Reap(send_ring); }
  std::vector<transport::Completion> Receives() { return Reap(receive_ring); }
  // What completions of this side carry.
  const void* context() const { return this; }

  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kGuardByte = 0xa5;
  struct Buffer {
    std::vector<uint8_t> bytes;
    uint32_t key = 0;
  };

  MemoryTable* memory;
  uint32_t pd, qp;
  SendQueue send_queue;
  ReceiveQueue receive_queue;
  std::unique_ptr<SharedReceiveQueue> shared;
  CountingSink send_sink, receive_sink;
  CompletionRing send_ring, receive_ring;
  std::vector<Buffer> buffers;
  int ends_seen = 0;  // how often the engine said that the connection is over

 protected:
  // The engine's, into the own receive queue.
  virtual Code PostReceive(const transport::ReceiveRequest& request) = 0;
  // A shared receive was posted, for which the engine may wait.
  virtual void OnSharedReceive() = 0;
  // What the engine's ledger is made with.
  WorkLedgerConfig ForLedger();
};

}  // namespace softdat::softnet::testing

#endif  // SOFTDAT_PROVIDER_SOFTNET_QUEUE_ENGINE_SIDE_H_
