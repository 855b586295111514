// SPDX-License-Identifier: BSD-3-Clause
// One end of a connection over the transport contract, as small as an engine can be. It serves the
// developer's benchmark and the tests that count system calls.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ADAPTER_BENCH_NODE_H_
#define SOFTDAT_PROVIDER_SOFTNET_ADAPTER_BENCH_NODE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/adapter/adapter.h"
#include "provider_softnet/connection/endpoint.h"
#include "provider_softnet/tcp/tcp_options.h"

namespace softdat::softnet {

class BenchNode final : public transport::ConnectionSink,
                        public transport::ListenerSink,
                        public transport::CompletionSink {
 public:
  enum class Wait : uint8_t { kPoll, kSleep };

  BenchNode(const TcpOptions& options, size_t memory_size, uint32_t depth,
            const AdapterOptions& of_adapter = {});
  ~BenchNode() override;

  transport::Adapter& adapter() { return *adapter_; }
  SoftnetAdapter& softnet() { return *adapter_; }
  transport::QueuePair& qp() { return *qp_; }
  const ChannelCounters& channel() {
    return static_cast<IwarpQueuePair&>(*qp_).endpoint().counters();
  }
  void ClosePair() { qp_.reset(); }
  uint8_t* memory() { return memory_.data(); }
  uint32_t key() const { return region_->remote_key(); }

  // Listens on a free qualifier, or on the given one. Returns the qualifier, or 0 when it cannot
  // listen.
  uint64_t Listen(uint64_t conn_qual = 0);
  // Takes every completion that is there.
  void ReapAll() {
    while (Reap()) {
    }
  }
  // Asks for a connection. The other end accepts whatever comes.
  bool Connect(uint64_t conn_qual, const sockaddr_storage& address);
  // From now on requests wait for AcceptHeld(), one at a time.
  void HoldRequests() { hold_requests_ = true; }
  bool holds_request() const { return held_.load(); }
  bool AcceptHeld();
  bool established() const { return established_.load(); }
  bool over() const { return over_.load(); }
  transport::EndReason end_reason() const { return end_reason_; }
  transport::RejectReason reject_reason() const { return reject_reason_; }
  const std::string& why() const { return why_; }
  // Moves data until `done`, polling or sleeping. Returns false after ten seconds.
  bool Until(Wait wait, const std::function<bool()>& done);

  Code PostReceive(size_t offset, uint32_t length);
  Code PostSend(size_t offset, uint32_t length, uint8_t flags);
  Code PostWrite(size_t offset, uint32_t length, uint64_t address, uint32_t key, uint8_t flags);
  // Takes the completions that are there, and counts them below.
  bool Reap();
  // Takes the next completion in either direction, polling or sleeping. Returns false when the
  // connection is over.
  bool ReapOne(Wait wait);
  // Looks once whether something has come.
  void PollOnce() { adapter_->Poll(*cq_); }

  uint64_t sends = 0;
  uint64_t receives = 0;
  uint64_t failures = 0;

 private:
  void OnEstablished(std::span<const uint8_t>) override;
  void OnFailed(transport::RejectReason, std::span<const uint8_t>, const std::string&) override;
  void OnEnded(transport::EndReason, const std::string&) override;
  void OnRequest(std::unique_ptr<transport::ConnectionRequest>& request) override;
  void OnCompletion() override { waiter_.Signal(); }
  void OnOverflow() override { over_ = true; }

  std::vector<uint8_t> memory_;
  transport::Waiter waiter_;
  std::atomic<bool> established_{false};
  std::atomic<bool> over_{false};
  std::atomic<bool> held_{false};  // request_ is there
  bool hold_requests_ = false;
  // Written before over_ is set, and read after.
  transport::EndReason end_reason_ = transport::EndReason::kDisconnected;
  transport::RejectReason reject_reason_ = transport::RejectReason::kPeer;
  std::string why_;
  std::unique_ptr<SoftnetAdapter> adapter_;
  std::unique_ptr<transport::ProtectionDomain> pd_;
  std::unique_ptr<transport::MemoryRegion> region_;
  std::unique_ptr<transport::CompletionQueue> cq_;
  std::unique_ptr<transport::QueuePair> qp_;
  std::unique_ptr<transport::Listener> listener_;
  std::unique_ptr<transport::ConnectionRequest> request_;
};

// 127.0.0.1.
sockaddr_storage Loopback();

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ADAPTER_BENCH_NODE_H_
