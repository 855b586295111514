// SPDX-License-Identifier: BSD-3-Clause
// The scripted back end.
#include "dat/engine/testing/fake_backend.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace softdat::engine::testing {

using transport::Completion;
using transport::ProgressResult;

namespace {

sockaddr_storage Ipv4(uint32_t address, uint16_t port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(address);
  in.sin_port = htons(port);
  sockaddr_storage out{};
  std::memcpy(&out, &in, sizeof(in));
  return out;
}

template <typename T>
void Remove(std::vector<T*>* list, T* gone) {
  list->erase(std::remove(list->begin(), list->end(), gone), list->end());
}

}  // namespace

FakeWindow::~FakeWindow() { Remove(&adapter_->windows, this); }
uint32_t FakeWindow::NextKey() { return adapter_->next_key_++; }

void FakeCompletionQueue::Add(const Completion& completion) {
  bool call = false;
  bool overflow = false;
  {
    std::lock_guard<std::mutex> lock(mu_);
    overflow = queue_.size() == capacity_;
    if (!overflow) {
      queue_.push_back(completion);
      const bool failed = completion.status != transport::WorkStatus::kSuccess;
      const bool matches = failed || (solicited_only_ ? completion.solicited : !completion.quiet());
      call = armed_ && matches;
      if (call) armed_ = false;
    }
  }
  if (overflow) sink_->OnOverflow();
  if (call) sink_->OnCompletion();
}

size_t FakeCompletionQueue::Poll(std::span<Completion> out) {
  std::lock_guard<std::mutex> lock(mu_);
  size_t n = 0;
  while (n < out.size() && !queue_.empty()) {
    out[n++] = queue_.front();
    queue_.pop_front();
  }
  return n;
}

bool FakeCompletionQueue::Arm(bool solicited_only) {
  ++arms_;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (!queue_.empty()) return false;
    armed_ = true;
    solicited_only_ = solicited_only;
  }
  if (on_armed) on_armed();
  return true;
}

Status FakeCompletionQueue::Resize(uint32_t capacity) {
  std::lock_guard<std::mutex> lock(mu_);
  if (queue_.size() > capacity) return Status(Code::kInvalidState, "more are queued");
  capacity_ = capacity;
  return Status::Ok();
}

Code FakeSharedReceiveQueue::PostReceive(const transport::ReceiveRequest& request) {
  if (cookies.size() == capacity_) return Code::kQueueFull;
  cookies.push_back(request.cookie);
  return Code::kOk;
}

Status FakeSharedReceiveQueue::Resize(uint32_t capacity) {
  if (cookies.size() > capacity) return Status(Code::kInvalidState, "more are posted");
  capacity_ = capacity;
  return Status::Ok();
}

Status FakeSharedReceiveQueue::SetLimit(uint32_t new_limit) {
  limit = new_limit;
  return Status::Ok();
}

FakeQueuePair::~FakeQueuePair() { Remove(&adapter_->qps, this); }

Status FakeQueuePair::Answer(const std::string& call) {
  calls.push_back(call);
  Status answer = std::exchange(next_status, Status());
  if (during) during(call);
  return answer;
}

Code FakeQueuePair::PostSend(const transport::SendRequest& request) {
  if (post_code != Code::kOk) return post_code;
  sends.push_back(request);
  sent_segments.emplace_back(request.local.begin(), request.local.end());
  return Code::kOk;
}

Code FakeQueuePair::PostReceive(const transport::ReceiveRequest& request) {
  if (post_code != Code::kOk) return post_code;
  receives.push_back(request);
  return Code::kOk;
}

Status FakeQueuePair::Configure(const transport::QueuePairAttributes& a) {
  Status status = Answer("configure");
  if (status.ok()) attributes = a;
  return status;
}

Status FakeQueuePair::Connect(const transport::ConnectParameters& parameters) {
  connect = parameters;
  connect_data.assign(parameters.private_data.begin(), parameters.private_data.end());
  return Answer("connect");
}

Status FakeQueuePair::Resolve(const transport::ConnectParameters& parameters, uint64_t token) {
  connect = parameters;
  tokens.push_back(token);
  return Answer("resolve");
}

void FakeQueuePair::Disconnect(transport::DisconnectMode mode) {
  const Status ignored = Answer(mode == transport::DisconnectMode::kGraceful ? "disconnect graceful"
                                                                             : "disconnect abrupt");
  static_cast<void>(ignored);
}

Status FakeQueuePair::Reset() { return Answer("reset"); }

Status FakeQueuePair::SetReceiveWatermarks(uint32_t soft, uint32_t hard) {
  return Answer("watermarks " + std::to_string(soft) + " " + std::to_string(hard));
}

FakeRequest::FakeRequest(uint64_t conn_qual, std::vector<uint8_t> private_data,
                         std::shared_ptr<FakeRequestFate> fate)
    : conn_qual_(conn_qual), private_data_(std::move(private_data)), fate_(std::move(fate)) {
  addresses_.local = Ipv4(INADDR_LOOPBACK, 0);
  addresses_.remote = Ipv4(INADDR_LOOPBACK + 1, 4711);
  addresses_.remote_port = 4711;
}

Status FakeRequest::Accept(transport::QueuePair& qp, std::span<const uint8_t> private_data) {
  auto& fake = static_cast<FakeQueuePair&>(qp);
  Status status = fake.Answer("accept");
  if (!status.ok()) return status;
  fate_->accepted_with = &fake;
  fate_->answer.assign(private_data.begin(), private_data.end());
  return status;
}

Status FakeRequest::Reject(std::span<const uint8_t> private_data) {
  fate_->rejected = true;
  fate_->answer.assign(private_data.begin(), private_data.end());
  return Status::Ok();
}

Status FakeRequest::Handoff(uint64_t conn_qual) {
  Status status = std::exchange(fate_->next_handoff, Status());
  if (status.ok()) fate_->handed_to = conn_qual;
  return status;
}

FakeListener::FakeListener(FakeAdapter* adapter, const transport::ListenParameters& p)
    : adapter_(adapter),
      sink_(p.sink),
      conn_qual_(p.any ? adapter->next_qualifier_++ : p.conn_qual) {
  adapter_->taken_.insert(conn_qual_);
  adapter_->listeners.push_back(this);
}

FakeListener::~FakeListener() {
  adapter_->taken_.erase(conn_qual_);
  Remove(&adapter_->listeners, this);
}

FakeAdapter::FakeAdapter(const transport::AdapterAttributes& attributes, transport::AdapterSink* s)
    : sink(s), limits(attributes) {}

FakeAdapter::~FakeAdapter() {
  if (TheFakeBackend().last_adapter == this) TheFakeBackend().last_adapter = nullptr;
}

std::shared_ptr<FakeRequestFate> FakeAdapter::Request(uint64_t conn_qual,
                                                      std::vector<uint8_t> private_data) {
  auto fate = std::make_shared<FakeRequestFate>();
  std::unique_ptr<transport::ConnectionRequest> request =
      std::make_unique<FakeRequest>(conn_qual, std::move(private_data), fate);
  for (FakeListener* listener : listeners) {
    if (listener->conn_qual() != conn_qual) continue;
    listener->sink().OnRequest(request);
    break;
  }
  return fate;
}

Result<std::unique_ptr<transport::ProtectionDomain>> FakeAdapter::CreateProtectionDomain() {
  if (!next_status.ok()) return std::exchange(next_status, Status());
  return std::unique_ptr<transport::ProtectionDomain>(std::make_unique<FakeDomain>());
}

Result<std::unique_ptr<transport::MemoryRegion>> FakeAdapter::RegisterMemory(
    transport::ProtectionDomain&, const transport::RegionParameters& p) {
  if (!next_status.ok()) return std::exchange(next_status, Status());
  return std::unique_ptr<transport::MemoryRegion>(std::make_unique<FakeRegion>(next_key_++, p));
}

Result<std::unique_ptr<transport::MemoryWindow>> FakeAdapter::CreateWindow(
    transport::ProtectionDomain&, bool exclusive_to_qp) {
  if (!next_status.ok()) return std::exchange(next_status, Status());
  auto window = std::make_unique<FakeWindow>(this, exclusive_to_qp);
  windows.push_back(window.get());
  return std::unique_ptr<transport::MemoryWindow>(std::move(window));
}

Result<std::unique_ptr<transport::CompletionQueue>> FakeAdapter::CreateCompletionQueue(
    uint32_t capacity, transport::CompletionSink* completion_sink) {
  if (!next_status.ok()) return std::exchange(next_status, Status());
  return std::unique_ptr<transport::CompletionQueue>(
      std::make_unique<FakeCompletionQueue>(capacity, completion_sink));
}

Result<std::unique_ptr<transport::QueuePair>> FakeAdapter::CreateQueuePair(
    const transport::QueuePairAttributes& a) {
  if (!next_status.ok()) return std::exchange(next_status, Status());
  auto qp = std::make_unique<FakeQueuePair>(this, a);
  qps.push_back(qp.get());
  return std::unique_ptr<transport::QueuePair>(std::move(qp));
}

Result<std::unique_ptr<transport::SharedReceiveQueue>> FakeAdapter::CreateSharedReceiveQueue(
    transport::ProtectionDomain&, uint32_t capacity, uint32_t,
    transport::SharedReceiveSink* srq_sink) {
  if (!next_status.ok()) return std::exchange(next_status, Status());
  auto srq = std::make_unique<FakeSharedReceiveQueue>(capacity, srq_sink);
  last_srq = srq.get();
  return std::unique_ptr<transport::SharedReceiveQueue>(std::move(srq));
}

Result<std::unique_ptr<transport::Listener>> FakeAdapter::Listen(
    const transport::ListenParameters& p) {
  if (!next_status.ok()) return std::exchange(next_status, Status());
  if (!p.any && taken_.count(p.conn_qual) != 0)
    return Status(Code::kInUse, "the qualifier is taken");
  return std::unique_ptr<transport::Listener>(std::make_unique<FakeListener>(this, p));
}

ProgressResult FakeAdapter::Progress(transport::Waiter* waiter,
                                     transport::Clock::time_point deadline) {
  if (progress) return progress(waiter, deadline);
  if (waiter == nullptr) return ProgressResult::kIdle;
  switch (waiter->Park(deadline)) {
    case transport::Waiter::ParkResult::kSignalled:
      return ProgressResult::kSignalled;
    case transport::Waiter::ParkResult::kTimedOut:
      return ProgressResult::kTimedOut;
    case transport::Waiter::ParkResult::kInterrupted:
      break;
  }
  return ProgressResult::kInterrupted;
}

FakeBackend::FakeBackend() {
  attributes.device_name = "fake0";
  attributes.vendor = "test";
  attributes.address = Ipv4(INADDR_LOOPBACK, 0);
  attributes.max_qps = attributes.max_cqs = attributes.max_pds = 1000;
  attributes.max_regions = attributes.max_windows = attributes.max_srqs = 1000;
  attributes.max_qp_work = 4096;
  attributes.max_iov = 8;
  attributes.max_read_in = attributes.max_read_out = 16;
  attributes.max_cq_depth = 65536;
  attributes.max_srq_depth = 1024;
  attributes.max_message = 1u << 30;
  attributes.max_private_data = 256;
  attributes.mtu = 1500;
  attributes.windows = attributes.zero_based = attributes.immediate = true;
  attributes.atomics = attributes.invalidate = attributes.srq = attributes.receive_watermarks =
      true;
}

Result<std::unique_ptr<transport::Adapter>> FakeBackend::Open(const std::string&,
                                                              transport::AdapterSink* sink) {
  auto adapter = std::make_unique<FakeAdapter>(attributes, sink);
  last_adapter = adapter.get();
  return std::unique_ptr<transport::Adapter>(std::move(adapter));
}

FakeBackend& TheFakeBackend() {
  static auto* backend = new FakeBackend;
  return *backend;
}

}  // namespace softdat::engine::testing
