// SPDX-License-Identifier: BSD-3-Clause
// The fixture of the datagram tests.
#include "dat/transport/contract/datagram_fixture.h"

#include <utility>

namespace softdat::transport {

void TestDatagramPair::OnResolved(uint64_t token, DatagramPeer peer,
                                  std::span<const uint8_t> private_data) {
  adapter_log->Enter();
  Outcome outcome;
  outcome.token = token;
  outcome.resolved = true;
  outcome.private_data.assign(private_data.begin(), private_data.end());
  outcome.peer = std::move(peer);
  adapter_log->Leave();
  Add(std::move(outcome));
}

void TestDatagramPair::OnUnresolved(uint64_t token, RejectReason reason,
                                    std::span<const uint8_t> private_data, const std::string& why) {
  adapter_log->Enter();
  EXPECT_NE(why, "");
  Outcome outcome;
  outcome.token = token;
  outcome.reason = reason;
  outcome.private_data.assign(private_data.begin(), private_data.end());
  adapter_log->Leave();
  Add(std::move(outcome));
}

void TestDatagramPair::Add(Outcome outcome) {
  const std::lock_guard<std::mutex> lock(mutex_);
  outcomes_.push_back(std::move(outcome));
}

size_t TestDatagramPair::told() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return outcomes_.size();
}

TestDatagramPair::Outcome TestDatagramPair::TakeOutcome() {
  const std::lock_guard<std::mutex> lock(mutex_);
  Outcome first = std::move(outcomes_.front());
  outcomes_.erase(outcomes_.begin());
  return first;
}

void DatagramContractTest::SetUp() {
  ContractTest::SetUp();
  listener_ = MakeListener();
  a_ = MakeDatagramPair();
  b_ = MakeDatagramPair();
}

void DatagramContractTest::TearDown() {
  a_.reset();
  b_.reset();
  listener_.reset();
  ContractTest::TearDown();
}

QueuePairAttributes DatagramContractTest::DatagramAttributes(TestDatagramPair& pair,
                                                             SharedReceiveQueue* srq) {
  QueuePairAttributes attributes;
  attributes.service = Service::kDatagram;
  attributes.context = &pair;
  attributes.pd = pd_.get();
  attributes.send_cq = pair.send_queue->cq.get();
  attributes.recv_cq = pair.recv_queue->cq.get();
  attributes.srq = srq;
  attributes.max_send = 64;
  attributes.max_recv = srq != nullptr ? 0 : 64;
  attributes.max_send_iov = 4;
  attributes.max_recv_iov = srq != nullptr ? 0 : 4;
  attributes.datagram_sink = &pair;
  return attributes;
}

std::unique_ptr<TestDatagramPair> DatagramContractTest::MakeDatagramPair(SharedReceiveQueue* srq) {
  auto pair = std::make_unique<TestDatagramPair>();
  pair->adapter_log = &adapter_log_;
  pair->send_queue = MakeQueue();
  pair->recv_queue = MakeQueue();
  auto made = adapter_->CreateQueuePair(DatagramAttributes(*pair, srq));
  EXPECT_TRUE(made.ok()) << made.status().reason();
  pair->qp = made.Take();
  return pair;
}

Status DatagramContractTest::Resolve(TestDatagramPair& pair, uint64_t token,
                                     std::span<const uint8_t> data,
                                     std::chrono::microseconds timeout) {
  ConnectParameters p;
  p.remote = adapter_->attributes().address;
  p.conn_qual = listener_->listener->conn_qual();
  p.timeout = timeout;
  p.private_data = data;
  return pair.qp->Resolve(p, token);
}

std::unique_ptr<ConnectionRequest> DatagramContractTest::NextRequest() {
  EXPECT_TRUE(Until([&] { return listener_->has_request(); }));
  return listener_->has_request() ? listener_->TakeRequest() : nullptr;
}

TestDatagramPair::Outcome DatagramContractTest::NextOutcome(TestDatagramPair& pair) {
  EXPECT_TRUE(Until([&] { return pair.told() > 0; }));
  return pair.told() > 0 ? pair.TakeOutcome() : TestDatagramPair::Outcome();
}

DatagramContractTest::Both DatagramContractTest::Meet(TestDatagramPair& requester,
                                                      TestDatagramPair& acceptor) {
  Both both;
  EXPECT_TRUE(Resolve(requester, 1).ok());
  const auto request = NextRequest();
  if (request == nullptr) return both;
  auto accepted = request->AcceptDatagrams(*acceptor.qp, {});
  EXPECT_TRUE(accepted.ok()) << accepted.status().reason();
  both.requester = accepted.Take();
  both.acceptor = NextOutcome(requester).peer;
  EXPECT_NE(both.acceptor.handle, nullptr);
  return both;
}

Code DatagramContractTest::Send(TestDatagramPair& from, const DatagramPeer& to,
                                const DAT_LMR_TRIPLET& local, uint64_t cookie, uint8_t flags) {
  SendRequest request;
  request.op = Op::kSendDatagram;
  request.flags = flags;
  request.cookie = cookie;
  request.local = {&local, 1};
  request.datagram = {.to = to.handle.get(), .number = to.number, .qkey = to.qkey};
  return from.qp->PostSend(request);
}

Code DatagramContractTest::Post(TestDatagramPair& pair, const DAT_LMR_TRIPLET& local,
                                uint64_t cookie) {
  ReceiveRequest request;
  request.cookie = cookie;
  request.local = {&local, 1};
  return pair.qp->PostReceive(request);
}

}  // namespace softdat::transport
