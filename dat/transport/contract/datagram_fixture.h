// SPDX-License-Identifier: BSD-3-Clause
// Two queue pairs for datagrams, and a listener for requests for them.
#ifndef SOFTDAT_DAT_TRANSPORT_CONTRACT_DATAGRAM_FIXTURE_H_
#define SOFTDAT_DAT_TRANSPORT_CONTRACT_DATAGRAM_FIXTURE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "dat/transport/contract/contract_test_suite.h"

namespace softdat::transport {

// A queue pair for datagrams, its queues, and what it was told.
class TestDatagramPair : public DatagramSink {
 public:
  struct Outcome {
    uint64_t token = 0;
    bool resolved = false;
    RejectReason reason{};
    std::vector<uint8_t> private_data;
    DatagramPeer peer;
  };

  ~TestDatagramPair() override { qp.reset(); }  // before the members that its upcalls use
  void OnResolved(uint64_t token, DatagramPeer peer,
                  std::span<const uint8_t> private_data) override;
  void OnUnresolved(uint64_t token, RejectReason reason, std::span<const uint8_t> private_data,
                    const std::string& why) override;
  size_t told() const;
  // The oldest outcome. told() must be greater than 0.
  Outcome TakeOutcome();

  std::unique_ptr<QueuePair> qp;
  std::unique_ptr<TestQueue> send_queue;
  std::unique_ptr<TestQueue> recv_queue;
  UpcallLog* adapter_log = nullptr;  // notices overlapping upcalls

 private:
  void Add(Outcome outcome);

  mutable std::mutex mutex_;  // protects outcomes_
  std::vector<Outcome> outcomes_;
};

class DatagramContractTest : public ContractTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  QueuePairAttributes DatagramAttributes(TestDatagramPair& pair, SharedReceiveQueue* srq = nullptr);
  std::unique_ptr<TestDatagramPair> MakeDatagramPair(SharedReceiveQueue* srq = nullptr);
  Status Resolve(TestDatagramPair& pair, uint64_t token, std::span<const uint8_t> data = {},
                 std::chrono::microseconds timeout = std::chrono::seconds(10));
  // The next request of listener_, within the deadline.
  std::unique_ptr<ConnectionRequest> NextRequest();
  TestDatagramPair::Outcome NextOutcome(TestDatagramPair& pair);
  // `requester` and `acceptor` meet. Each member says how to reach that pair.
  struct Both {
    DatagramPeer acceptor;
    DatagramPeer requester;
  };
  Both Meet(TestDatagramPair& requester, TestDatagramPair& acceptor);

  static Code Send(TestDatagramPair& from, const DatagramPeer& to, const DAT_LMR_TRIPLET& local,
                   uint64_t cookie = 0, uint8_t flags = 0);
  static Code Post(TestDatagramPair& pair, const DAT_LMR_TRIPLET& local, uint64_t cookie = 0);

  std::unique_ptr<TestListener> listener_;
  std::unique_ptr<TestDatagramPair> a_;
  std::unique_ptr<TestDatagramPair> b_;
};

}  // namespace softdat::transport

#endif  // SOFTDAT_DAT_TRANSPORT_CONTRACT_DATAGRAM_FIXTURE_H_
