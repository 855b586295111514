// SPDX-License-Identifier: BSD-3-Clause
// The contract test suite's sinks, memory and fixture.
#include "dat/transport/contract/contract_test_suite.h"

#include <algorithm>
#include <thread>

#include "dat/backend_kit/testing/own_qualifier.h"

namespace softdat::transport {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);

}  // namespace

void UpcallLog::Add(const std::string& what) {
  const std::lock_guard<std::mutex> lock(mutex_);
  lines_.push_back(what);
}

std::vector<std::string> UpcallLog::all() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return lines_;
}

size_t UpcallLog::Count(const std::string& what) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<size_t>(std::count(lines_.begin(), lines_.end(), what));
}

bool UpcallLog::overlapped() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return overlapped_;
}

void UpcallLog::Enter() {
  const std::lock_guard<std::mutex> lock(mutex_);
  overlapped_ |= running_++ > 0;
}

void UpcallLog::Leave() {
  const std::lock_guard<std::mutex> lock(mutex_);
  --running_;
}

void TestQueue::OnCompletion() {
  completions.fetch_add(1);
  if (waiter != nullptr) waiter->Signal();
}

void TestQueue::OnOverflow() { overflows.fetch_add(1); }

void TestPair::OnEstablished(std::span<const uint8_t> private_data) {
  adapter_log->Enter();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    data_.assign(private_data.begin(), private_data.end());
  }
  if (on_established) on_established();
  adapter_log->Leave();
  log.Add("established");
}

void TestPair::OnFailed(RejectReason reason, std::span<const uint8_t> private_data,
                        const std::string& why) {
  adapter_log->Enter();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    data_.assign(private_data.begin(), private_data.end());
  }
  EXPECT_NE(why, "");
  if (on_ended) on_ended();
  adapter_log->Leave();
  log.Add("failed:" + std::to_string(static_cast<int>(reason)));
}

void TestPair::OnEnded(EndReason reason, const std::string&) {
  adapter_log->Enter();
  if (on_ended) on_ended();
  adapter_log->Leave();
  log.Add("ended:" + std::to_string(static_cast<int>(reason)));
}

bool TestPair::failed(RejectReason reason) const {
  return log.Count("failed:" + std::to_string(static_cast<int>(reason))) > 0;
}

bool TestPair::ended(EndReason reason) const {
  return log.Count("ended:" + std::to_string(static_cast<int>(reason))) > 0;
}

bool TestPair::over() const {
  const std::vector<std::string> lines = log.all();
  return !lines.empty() && lines.back() != "established";
}

std::vector<uint8_t> TestPair::received_data() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return data_;
}

void TestListener::OnRequest(std::unique_ptr<ConnectionRequest>& request) {
  adapter_log->Enter();
  if (!refuse) {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(std::move(request));
  }
  adapter_log->Leave();
}

bool TestListener::has_request() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !requests_.empty();
}

std::unique_ptr<ConnectionRequest> TestListener::TakeRequest() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<ConnectionRequest> request = std::move(requests_.front());
  requests_.erase(requests_.begin());
  return request;
}

bool TestMemory::guards_intact() const {
  const auto is_guard = [](uint8_t byte) { return byte == kGuardByte; };
  return std::all_of(bytes_.begin(), bytes_.begin() + kGuard, is_guard) &&
         std::all_of(bytes_.end() - kGuard, bytes_.end(), is_guard);
}

bool TestMemory::untouched() const {
  return guards_intact() && std::all_of(bytes_.begin() + kGuard, bytes_.end() - kGuard,
                                        [this](uint8_t byte) { return byte == fill_; });
}

void TestMemory::FillPattern(uint8_t seed) {
  for (size_t i = 0; i < size_; ++i) data()[i] = static_cast<uint8_t>(seed + i % 251);
}

DAT_LMR_TRIPLET TestMemory::local(size_t offset, size_t length) const {
  DAT_LMR_TRIPLET triplet{};
  triplet.virtual_address = (zero_based ? 0 : address()) + offset;
  triplet.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  triplet.lmr_context = region->local_key();
  return triplet;
}

DAT_RMR_TRIPLET TestMemory::remote(size_t offset, size_t length) const {
  DAT_RMR_TRIPLET triplet{};
  triplet.virtual_address = (zero_based ? 0 : address()) + offset;
  triplet.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  triplet.rmr_context = region->remote_key();
  return triplet;
}

void ContractTest::SetUp() {
  backend_ = ContractSetupUnderTest().make();
  Result<std::unique_ptr<Adapter>> adapter =
      backend_->Open(ContractSetupUnderTest().device, &adapter_sink_);
  ASSERT_TRUE(adapter.ok()) << adapter.status().reason();
  adapter_ = adapter.Take();
  pd_ = MakePd();
}

void ContractTest::TearDown() {
  queues_.clear();
  pd_.reset();
  adapter_.reset();
  EXPECT_FALSE(adapter_log_.overlapped()) << "two upcalls of one adapter at once";
}

bool ContractTest::Until(const std::function<bool()>& done) {
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (!done()) {
    if (Clock::now() > deadline) return false;
    if (adapter_->Progress(nullptr, Clock::now()) == ProgressResult::kIdle) {
      std::this_thread::yield();
    }
  }
  return true;
}

void ContractTest::Settle() {
  // Whatever was on its way when this is called has hundreds of turns of the adapter to arrive.
  for (int idle = 0; idle < 500;) {
    if (adapter_->Progress(nullptr, Clock::now()) == ProgressResult::kIdle) {
      ++idle;
      std::this_thread::yield();
    }
  }
}

std::unique_ptr<ProtectionDomain> ContractTest::MakePd() {
  Result<std::unique_ptr<ProtectionDomain>> pd = adapter_->CreateProtectionDomain();
  EXPECT_TRUE(pd.ok()) << pd.status().reason();
  return pd.Take();
}

std::unique_ptr<TestQueue> ContractTest::MakeQueue(uint32_t capacity) {
  auto queue = std::make_unique<TestQueue>();
  auto cq = adapter_->CreateCompletionQueue(capacity, queue.get());
  EXPECT_TRUE(cq.ok()) << cq.status().reason();
  queue->cq = cq.Take();
  return queue;
}

std::unique_ptr<TestMemory> ContractTest::MakeMemory(ProtectionDomain& pd, size_t size,
                                                     uint8_t fill, uint32_t rights,
                                                     bool zero_based) {
  auto memory = std::make_unique<TestMemory>(size, fill);
  memory->zero_based = zero_based;
  auto region = adapter_->RegisterMemory(
      pd,
      {.address = memory->data(), .length = size, .privileges = rights, .zero_based = zero_based});
  EXPECT_TRUE(region.ok()) << region.status().reason();
  memory->region = region.Take();
  return memory;
}

QueuePairAttributes ContractTest::PairAttributes(TestPair& pair) {
  QueuePairAttributes a;
  a.context = &pair;
  a.pd = pd_.get();
  a.send_cq = pair.send_queue->cq.get();
  a.recv_cq = pair.recv_queue->cq.get();
  a.max_send = a.max_recv = 64;
  a.max_send_iov = a.max_recv_iov = 4;
  a.max_read_in = a.max_read_out = 4;
  a.sink = &pair;
  return a;
}

std::unique_ptr<TestPair> ContractTest::MakePair(ProtectionDomain* pd, SharedReceiveQueue* srq,
                                                 uint32_t depth) {
  auto pair = std::make_unique<TestPair>();
  pair->adapter_log = &adapter_log_;
  queues_.push_back(MakeQueue());
  pair->send_queue = queues_.back().get();
  queues_.push_back(MakeQueue());
  pair->recv_queue = queues_.back().get();
  QueuePairAttributes a = PairAttributes(*pair);
  a.pd = pd;
  a.srq = srq;
  a.max_send = depth;
  a.max_recv = srq != nullptr ? 0 : depth;
  auto qp = adapter_->CreateQueuePair(a);
  EXPECT_TRUE(qp.ok()) << qp.status().reason();
  pair->qp = qp.Take();
  return pair;
}

std::unique_ptr<TestListener> ContractTest::MakeListener(uint64_t conn_qual) {
  auto listener = std::make_unique<TestListener>();
  listener->adapter_log = &adapter_log_;
  ListenParameters p;
  p.any = conn_qual == 0;
  p.conn_qual = conn_qual;
  p.sink = listener.get();
  auto made = adapter_->Listen(p);
  EXPECT_TRUE(made.ok()) << made.status().reason();
  listener->listener = made.Take();
  return listener;
}

uint64_t ContractTest::FreeQualifier() {
  const uint64_t qualifier = OwnQualifier([this](uint64_t own) {
    TestListener listener;
    listener.adapter_log = &adapter_log_;
    ListenParameters p;
    p.conn_qual = own;
    p.sink = &listener;
    const auto made = adapter_->Listen(p);
    if (!made.ok()) {
      EXPECT_EQ(made.status().code(), Code::kInUse) << made.status().reason();
    }
    return made.ok();
  });
  EXPECT_NE(qualifier, 0u) << "no qualifier is free";
  return qualifier;
}

Status ContractTest::Connect(TestPair& pair, uint64_t conn_qual, std::span<const uint8_t> data,
                             std::chrono::microseconds timeout) {
  ConnectParameters p;
  p.remote = adapter_->attributes().address;
  p.conn_qual = conn_qual;
  p.timeout = timeout;
  p.private_data = data;
  return pair.qp->Connect(p);
}

void ContractTest::Join(TestPair& active, TestPair& passive) {
  const std::unique_ptr<TestListener> listener = MakeListener();
  const size_t upcalls_before = active.log.all().size();
  const size_t before_active = active.log.Count("established");
  const size_t before_passive = passive.log.Count("established");
  const Status connected = Connect(active, listener->listener->conn_qual());
  ASSERT_TRUE(connected.ok()) << connected.reason();
  ASSERT_TRUE(
      Until([&] { return listener->has_request() || active.log.all().size() > upcalls_before; }));
  ASSERT_TRUE(listener->has_request()) << active.log.all().back();
  const Status accepted = listener->TakeRequest()->Accept(*passive.qp, {});
  ASSERT_TRUE(accepted.ok()) << accepted.reason();
  ASSERT_TRUE(Until([&] {
    return active.log.Count("established") > before_active &&
           passive.log.Count("established") > before_passive;
  }));
}

Code ContractTest::PostSend(TestPair& pair, std::initializer_list<DAT_LMR_TRIPLET> local,
                            uint64_t cookie, uint8_t flags) {
  SendRequest request;
  request.op = Op::kSend;
  request.flags = flags;
  request.cookie = cookie;
  request.local = {local.begin(), local.size()};
  return pair.qp->PostSend(request);
}

Code ContractTest::PostReceive(TestPair& pair, std::initializer_list<DAT_LMR_TRIPLET> local,
                               uint64_t cookie) {
  return pair.qp->PostReceive({cookie, {local.begin(), local.size()}});
}

Code ContractTest::PostRdma(TestPair& pair, Op op, std::initializer_list<DAT_LMR_TRIPLET> local,
                            const DAT_RMR_TRIPLET& remote, uint64_t cookie, uint8_t flags) {
  SendRequest request;
  request.op = op;
  request.flags = flags;
  request.cookie = cookie;
  request.local = {local.begin(), local.size()};
  request.remote = remote;
  return pair.qp->PostSend(request);
}

Completion ContractTest::Next(TestQueue& queue) {
  Completion completion;
  const bool came = Until([&] { return queue.cq->Poll({&completion, 1}) == 1; });
  EXPECT_TRUE(came) << "no completion came";
  return completion;
}

std::vector<Completion> ContractTest::Drain(TestQueue& queue) {
  std::vector<Completion> all;
  Settle();
  Completion completion;
  while (queue.cq->Poll({&completion, 1}) == 1) all.push_back(completion);
  return all;
}

void ContractPairTest::SetUp() {
  ContractTest::SetUp();
  a_ = MakePair(pd_.get());
  b_ = MakePair(pd_.get());
  Join(*a_, *b_);
}

void ContractPairTest::TearDown() {
  a_.reset();
  b_.reset();
  ContractTest::TearDown();
}

}  // namespace softdat::transport
