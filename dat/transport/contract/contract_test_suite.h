// SPDX-License-Identifier: BSD-3-Clause
// The contract test suite checks dat/transport/transport.h, sentence by sentence, against any back
// end. A back end's test program defines ContractSetupUnderTest() and links the parts that its
// capabilities call for:
//
//   softdat::transport::ContractSetup softdat::transport::ContractSetupUnderTest() {
//     return {"toy-0", &softdat::toy::MakeBackend};
//   }
//
// Both ends of every connection live in this process and mostly in one thread, so whoever polls
// drives both.
#ifndef SOFTDAT_DAT_TRANSPORT_CONTRACT_CONTRACT_TEST_SUITE_H_
#define SOFTDAT_DAT_TRANSPORT_CONTRACT_CONTRACT_TEST_SUITE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "dat/transport/transport.h"

namespace softdat::transport {

struct ContractSetup {
  std::string device;                              // the IA name to open
  std::function<std::unique_ptr<Backend>()> make;  // the back end under test
};

// Defined by the test program of a back end.
ContractSetup ContractSetupUnderTest();

// Everything that the suite's sinks were told, in order. Any thread.
class UpcallLog {
 public:
  void Add(const std::string& what);
  std::vector<std::string> all() const;
  size_t Count(const std::string& what) const;
  // Whether an upcall began while another one of the same adapter ran.
  bool overlapped() const;
  void Enter();
  void Leave();

 private:
  mutable std::mutex mutex_;  // protects the members below
  std::vector<std::string> lines_;
  int running_ = 0;
  bool overlapped_ = false;
};

// A completion queue, and what it told.
class TestQueue : public CompletionSink {
 public:
  ~TestQueue() override { cq.reset(); }  // before the objects that its upcalls touch
  void OnCompletion() override;
  void OnOverflow() override;

  std::unique_ptr<CompletionQueue> cq;
  std::atomic<int> completions{0};
  std::atomic<int> overflows{0};
  Waiter* waiter = nullptr;  // signalled by OnCompletion; set before arming
};

// A queue pair, and what it told: "established", "failed:<n>", "ended:<n>" with the reason's
// number.
class TestPair : public ConnectionSink {
 public:
  ~TestPair() override { qp.reset(); }  // before the objects that its upcalls touch
  void OnEstablished(std::span<const uint8_t> private_data) override;
  void OnFailed(RejectReason reason, std::span<const uint8_t> private_data,
                const std::string& why) override;
  void OnEnded(EndReason reason, const std::string& why) override;
  void OnReceiveWatermark() override { watermarks.fetch_add(1); }

  bool established() const { return log.Count("established") > 0; }
  bool failed(RejectReason reason) const;
  bool ended(EndReason reason) const;
  bool over() const;
  std::vector<uint8_t> received_data() const;

  std::unique_ptr<QueuePair> qp;
  UpcallLog log;
  UpcallLog* adapter_log = nullptr;  // sees overlaps
  std::atomic<int> watermarks{0};    // OnReceiveWatermark
  TestQueue* send_queue = nullptr;
  TestQueue* recv_queue = nullptr;
  std::function<void()> on_ended;  // run inside OnEnded and OnFailed
  std::function<void()> on_established;

 private:
  mutable std::mutex mutex_;  // protects data_
  std::vector<uint8_t> data_;
};

class TestListener : public ListenerSink {
 public:
  ~TestListener() override { listener.reset(); }  // before the objects that its upcalls touch
  void OnRequest(std::unique_ptr<ConnectionRequest>& request) override;
  bool has_request() const;
  std::unique_ptr<ConnectionRequest> TakeRequest();

  std::unique_ptr<Listener> listener;
  bool refuse = false;  // leave requests in place
  UpcallLog* adapter_log = nullptr;

 private:
  mutable std::mutex mutex_;  // protects requests_
  std::vector<std::unique_ptr<ConnectionRequest>> requests_;
};

class TestAdapterSink : public AdapterSink {
 public:
  void OnCatastrophic(const std::string& why) override { ADD_FAILURE() << why; }
};

// Registered memory with guard bytes on both sides, filled with a pattern.
class TestMemory {
 public:
  static constexpr size_t kGuard = 64;

  TestMemory(size_t size, uint8_t fill)
      : size_(size), fill_(fill), bytes_(size + 2 * kGuard, kGuardByte) {
    std::fill_n(data(), size, fill);
  }
  ~TestMemory() { region.reset(); }  // before the bytes that it names
  uint8_t* data() { return bytes_.data() + kGuard; }
  std::span<uint8_t> span() { return {data(), size_}; }
  uint64_t address() const { return reinterpret_cast<uintptr_t>(bytes_.data() + kGuard); }
  size_t size() const { return size_; }
  // Whether nothing was written, neither outside nor inside.
  bool untouched() const;
  bool guards_intact() const;
  // A pattern that differs in every position modulo 251.
  void FillPattern(uint8_t seed);

  DAT_LMR_TRIPLET local(size_t offset, size_t length) const;
  DAT_LMR_TRIPLET local() const { return local(0, size_); }
  DAT_RMR_TRIPLET remote(size_t offset, size_t length) const;
  DAT_RMR_TRIPLET remote() const { return remote(0, size_); }

  std::unique_ptr<MemoryRegion> region;
  bool zero_based = false;

 private:
  static constexpr uint8_t kGuardByte = 0xA5;
  const size_t size_;
  const uint8_t fill_;
  std::vector<uint8_t> bytes_;
};

class ContractTest : public testing::Test {
 protected:
  static constexpr uint32_t kAllRights = DAT_MEM_PRIV_ALL_FLAG;

  void SetUp() override;
  void TearDown() override;

  // Runs the adapter until `done`. Returns false after ten seconds.
  bool Until(const std::function<bool()>& done);
  // Runs the adapter until nothing more has moved for a while, for "and nothing else came".
  void Settle();

  std::unique_ptr<ProtectionDomain> MakePd();
  std::unique_ptr<TestQueue> MakeQueue(uint32_t capacity = 256);
  std::unique_ptr<TestMemory> MakeMemory(ProtectionDomain& pd, size_t size, uint8_t fill = 0,
                                         uint32_t rights = kAllRights, bool zero_based = false);
  QueuePairAttributes PairAttributes(TestPair& pair);
  // With queues of its own unless they are given.
  std::unique_ptr<TestPair> MakePair(ProtectionDomain* pd, SharedReceiveQueue* srq = nullptr,
                                     uint32_t depth = 64);
  // Listens on `conn_qual`, or if it is 0, on a qualifier that the adapter chooses.
  std::unique_ptr<TestListener> MakeListener(uint64_t conn_qual = 0);
  // A qualifier where nobody listens, and no other process will.
  uint64_t FreeQualifier();
  Status Connect(TestPair& pair, uint64_t conn_qual, std::span<const uint8_t> data = {},
                 std::chrono::microseconds timeout = std::chrono::seconds(10));
  // Connects `active` to `passive` through a listener of its own. Both are established afterwards.
  void Join(TestPair& active, TestPair& passive);

  static Code PostSend(TestPair& pair, std::initializer_list<DAT_LMR_TRIPLET> local,
                       uint64_t cookie = 0, uint8_t flags = 0);
  static Code PostReceive(TestPair& pair, std::initializer_list<DAT_LMR_TRIPLET> local,
                          uint64_t cookie = 0);
  static Code PostRdma(TestPair& pair, Op op, std::initializer_list<DAT_LMR_TRIPLET> local,
                       const DAT_RMR_TRIPLET& remote, uint64_t cookie = 0, uint8_t flags = 0);

  // The next completion of a queue, within the deadline.
  Completion Next(TestQueue& queue);
  // Everything that comes until the queue stays empty.
  std::vector<Completion> Drain(TestQueue& queue);

  TestAdapterSink adapter_sink_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Adapter> adapter_;
  UpcallLog adapter_log_;
  std::unique_ptr<ProtectionDomain> pd_;
  std::vector<std::unique_ptr<TestQueue>> queues_;  // of MakePair
};

// The same with two connected queue pairs, a_ (active) and b_ (passive).
class ContractPairTest : public ContractTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::unique_ptr<TestPair> a_;
  std::unique_ptr<TestPair> b_;
};

}  // namespace softdat::transport

#endif  // SOFTDAT_DAT_TRANSPORT_CONTRACT_CONTRACT_TEST_SUITE_H_
