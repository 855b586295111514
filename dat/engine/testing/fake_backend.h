// SPDX-License-Identifier: BSD-3-Clause
// A back end for tests of the engine that does nothing by itself: it records what the engine asks,
// fails when told to, and leaves it to the test to make upcalls and completions.
#ifndef SOFTDAT_DAT_ENGINE_TESTING_FAKE_BACKEND_H_
#define SOFTDAT_DAT_ENGINE_TESTING_FAKE_BACKEND_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dat/transport/transport.h"

namespace softdat::engine::testing {

class FakeAdapter;

class FakeDomain final : public transport::ProtectionDomain {};

class FakeRegion final : public transport::MemoryRegion {
 public:
  FakeRegion(uint32_t key, const transport::RegionParameters& p) : parameters(p), key_(key) {}
  uint32_t local_key() const override { return key_; }
  uint32_t remote_key() const override { return key_ + 0x1000; }

  const transport::RegionParameters parameters;

 private:
  const uint32_t key_;
};

class FakeWindow final : public transport::MemoryWindow {
 public:
  FakeWindow(FakeAdapter* adapter, bool exclusive)
      : exclusive_to_qp(exclusive), adapter_(adapter) {}
  ~FakeWindow() override;
  uint32_t NextKey() override;
  bool IsBound(uint32_t key) const override { return key == bound_key.load(); }

  const bool exclusive_to_qp;
  std::atomic<uint32_t> bound_key{0};  // set by the test

 private:
  FakeAdapter* const adapter_;
};

class FakeCompletionQueue final : public transport::CompletionQueue {
 public:
  FakeCompletionQueue(uint32_t capacity, transport::CompletionSink* sink)
      : capacity_(capacity), sink_(sink) {}

  // The test: a completion arrives. Makes the upcall if one was asked for.
  void Add(const transport::Completion& completion);
  transport::CompletionSink* sink() { return sink_; }
  int arms() const { return arms_; }
  // Called when Arm() has succeeded, without a lock of the queue.
  std::function<void()> on_armed;

  size_t Poll(std::span<transport::Completion> out) override;
  bool Arm(bool solicited_only) override;
  Status Resize(uint32_t capacity) override;

 private:
  std::mutex mu_;  // protects everything below
  uint32_t capacity_;
  transport::CompletionSink* const sink_;
  std::deque<transport::Completion> queue_;
  std::atomic<int> arms_{0};  // calls of Arm; not protected
  bool armed_ = false;
  bool solicited_only_ = false;
};

class FakeSharedReceiveQueue final : public transport::SharedReceiveQueue {
 public:
  explicit FakeSharedReceiveQueue(uint32_t capacity, transport::SharedReceiveSink* s)
      : sink(s), capacity_(capacity) {}
  Code PostReceive(const transport::ReceiveRequest& request) override;
  Status Resize(uint32_t capacity) override;
  Status SetLimit(uint32_t limit) override;
  uint32_t Available() const override { return static_cast<uint32_t>(cookies.size()); }

  transport::SharedReceiveSink* const sink;
  std::deque<uint64_t> cookies;
  uint32_t limit = 0;

 private:
  uint32_t capacity_;
};

class FakeQueuePair final : public transport::QueuePair {
 public:
  FakeQueuePair(FakeAdapter* adapter, const transport::QueuePairAttributes& a)
      : attributes(a), adapter_(adapter) {}
  ~FakeQueuePair() override;

  // What was asked, in order: "connect", "resolve", "disconnect graceful", "disconnect abrupt",
  // "reset", "configure", "accept" (a request was accepted with it), "watermarks 3 5".
  std::vector<std::string> calls;
  std::vector<transport::SendRequest> sends;  // `local` is dangling; see sent_segments
  std::vector<std::vector<DAT_LMR_TRIPLET>> sent_segments;
  std::vector<transport::ReceiveRequest> receives;
  transport::ConnectParameters connect;  // private_data is dangling; see connect_data
  std::vector<uint8_t> connect_data;
  std::vector<uint64_t> tokens;  // of Resolve
  transport::QueuePairAttributes attributes;
  transport::ConnectionAddresses addresses;
  uint32_t outstanding_sends = 0;
  uint32_t outstanding_receives = 0;
  bool confirms = true;

  // The answer to the next control call, then success again.
  Status next_status;
  Code post_code = Code::kOk;
  // Runs inside Connect, Accept, Reset, Configure, Disconnect with the name of the call: what
  // another thread does meanwhile.
  std::function<void(const std::string&)> during;

  transport::ConnectionSink& sink() { return *attributes.sink; }

  Code PostSend(const transport::SendRequest& request) override;
  Code PostReceive(const transport::ReceiveRequest& request) override;
  Status Configure(const transport::QueuePairAttributes& a) override;
  Status Connect(const transport::ConnectParameters& parameters) override;
  Status Resolve(const transport::ConnectParameters& parameters, uint64_t token) override;
  void Disconnect(transport::DisconnectMode mode) override;
  Status Reset() override;
  transport::ConnectionAddresses Addresses() const override { return addresses; }
  uint32_t OutstandingSends() const override { return outstanding_sends; }
  uint32_t OutstandingReceives() const override { return outstanding_receives; }
  bool ConfirmsCompletions() const override { return confirms; }
  Status SetReceiveWatermarks(uint32_t soft, uint32_t hard) override;

  Status Answer(const std::string& call);

 private:
  FakeAdapter* const adapter_;
};

// What became of a request; outlives it.
struct FakeRequestFate {
  FakeQueuePair* accepted_with = nullptr;
  bool rejected = false;
  uint64_t handed_to = 0;  // by the back end
  Status next_handoff;     // what it says to the next one, then success again
  bool destroyed = false;
  std::vector<uint8_t> answer;  // private data of accept or reject
};

class FakeRequest final : public transport::ConnectionRequest {
 public:
  FakeRequest(uint64_t conn_qual, std::vector<uint8_t> private_data,
              std::shared_ptr<FakeRequestFate> fate);
  ~FakeRequest() override { fate_->destroyed = true; }
  std::span<uint8_t> private_data() override { return private_data_; }
  const transport::ConnectionAddresses& addresses() const override { return addresses_; }
  uint64_t conn_qual() const override { return conn_qual_; }
  Status Accept(transport::QueuePair& qp, std::span<const uint8_t> private_data) override;
  Status Reject(std::span<const uint8_t> private_data) override;
  Status Handoff(uint64_t conn_qual) override;

 private:
  const uint64_t conn_qual_;
  std::vector<uint8_t> private_data_;
  transport::ConnectionAddresses addresses_;
  const std::shared_ptr<FakeRequestFate> fate_;
};

class FakeListener final : public transport::Listener {
 public:
  FakeListener(FakeAdapter* adapter, const transport::ListenParameters& p);
  ~FakeListener() override;
  uint64_t conn_qual() const override { return conn_qual_; }
  transport::ListenerSink& sink() { return *sink_; }

 private:
  FakeAdapter* const adapter_;
  transport::ListenerSink* const sink_;
  uint64_t conn_qual_;
};

class FakeAdapter final : public transport::Adapter {
 public:
  FakeAdapter(const transport::AdapterAttributes& attributes, transport::AdapterSink* s);
  ~FakeAdapter() override;

  // --- the test's side ---------------------------------------------------------------------------
  // Objects that exist now, oldest first.
  std::vector<FakeQueuePair*> qps;
  std::vector<FakeListener*> listeners;
  std::vector<FakeWindow*> windows;
  FakeQueuePair& last_qp() { return *qps.back(); }
  FakeSharedReceiveQueue* last_srq = nullptr;
  transport::AdapterSink* const sink;
  transport::AdapterAttributes limits;  // may be changed before use
  Status next_status;                   // of the next creation, then success again
  // What Progress does for each call; returns its result.
  std::function<transport::ProgressResult(transport::Waiter*, transport::Clock::time_point)>
      progress;
  // What Spin does for each call; without it, nobody waits actively.
  std::function<transport::ProgressResult()> spin;
  // What LookAround does, for a back end with a progress descriptor.
  std::function<transport::ProgressResult()> look_around;
  int progress_descriptor = -1;
  int process_exits = 0;  // calls of OnProcessExit
  // Virtual time, once it is set.
  std::optional<transport::Clock::time_point> now;

  // A request arrives for `conn_qual`. Returns its fate: at once `destroyed` when nobody takes it.
  std::shared_ptr<FakeRequestFate> Request(uint64_t conn_qual,
                                           std::vector<uint8_t> private_data = {});

  // --- transport::Adapter
  // --------------------------------------------------------------------------
  const transport::AdapterAttributes& attributes() const override { return limits; }
  Result<std::unique_ptr<transport::ProtectionDomain>> CreateProtectionDomain() override;
  Result<std::unique_ptr<transport::MemoryRegion>> RegisterMemory(
      transport::ProtectionDomain& pd, const transport::RegionParameters& p) override;
  Result<std::unique_ptr<transport::MemoryWindow>> CreateWindow(transport::ProtectionDomain& pd,
                                                                bool exclusive_to_qp) override;
  Result<std::unique_ptr<transport::CompletionQueue>> CreateCompletionQueue(
      uint32_t capacity, transport::CompletionSink* sink) override;
  Result<std::unique_ptr<transport::QueuePair>> CreateQueuePair(
      const transport::QueuePairAttributes& a) override;
  Result<std::unique_ptr<transport::SharedReceiveQueue>> CreateSharedReceiveQueue(
      transport::ProtectionDomain& pd, uint32_t capacity, uint32_t max_iov,
      transport::SharedReceiveSink* sink) override;
  Result<std::unique_ptr<transport::Listener>> Listen(
      const transport::ListenParameters& p) override;
  Code CheckSegments(std::span<const DAT_LMR_TRIPLET>) override { return Code::kOk; }
  // Without `progress`: a waiter is parked on; else there is nothing to do.
  transport::ProgressResult Progress(transport::Waiter* waiter,
                                     transport::Clock::time_point deadline) override;
  transport::ProgressResult Spin(transport::CompletionQueue&, transport::Clock::time_point,
                                 transport::Clock::time_point*) override {
    return spin ? spin() : transport::ProgressResult::kTimedOut;
  }
  transport::Clock::time_point Now() const override { return now ? *now : transport::Clock::now(); }
  int ProgressDescriptor() override { return progress_descriptor; }
  transport::ProgressResult LookAround() override {
    return look_around ? look_around() : transport::ProgressResult::kIdle;
  }
  void OnProcessExit(transport::Clock::time_point) override { ++process_exits; }
  void AbandonAfterFork() override {}

 private:
  friend class FakeListener;
  friend class FakeWindow;
  uint32_t next_key_ = 1;
  uint64_t next_qualifier_ = 50000;
  std::set<uint64_t> taken_;
};

class FakeBackend final : public transport::Backend {
 public:
  FakeBackend();
  std::vector<Device> Devices() override { return {{"fake-0", ""}}; }
  Result<std::unique_ptr<transport::Adapter>> Open(const std::string& name,
                                                   transport::AdapterSink* sink) override;

  transport::AdapterAttributes attributes;  // of adapters to be opened
  FakeAdapter* last_adapter = nullptr;
};

// The back end that the engine sees in a test program linked with this library.
FakeBackend& TheFakeBackend();

}  // namespace softdat::engine::testing

#endif  // SOFTDAT_DAT_ENGINE_TESTING_FAKE_BACKEND_H_
