// SPDX-License-Identifier: BSD-3-Clause
// BenchNode.
#include "provider_softnet/adapter/bench_node.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "provider_softnet/adapter/interfaces.h"
#include "provider_softnet/memory/random_numbers.h"
#include "provider_softnet/tcp/tcp_wire.h"

namespace softdat::softnet {

using transport::Clock;

sockaddr_storage Loopback() {
  sockaddr_storage a{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(a);
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

BenchNode::BenchNode(const TcpOptions& options, size_t memory_size, uint32_t depth,
                     const AdapterOptions& of_adapter)
    : memory_(memory_size) {
  Result<Interface> lo = FindInterface("lo");
  if (!lo.ok()) abort();
  adapter_ = std::make_unique<SoftnetAdapter>(lo.value(), of_adapter, MakeTcpWire(options),
                                              RandomNumbers().Take());
  pd_ = adapter_->CreateProtectionDomain().Take();
  transport::RegionParameters r;
  r.address = memory_.data();
  r.length = memory_.size();
  r.privileges = 0x33;
  region_ = adapter_->RegisterMemory(*pd_, r).Take();
  cq_ = adapter_->CreateCompletionQueue(depth * 2 + 16, this).Take();
  transport::QueuePairAttributes a;
  a.pd = pd_.get();
  a.send_cq = a.recv_cq = cq_.get();
  a.max_send = a.max_recv = depth;
  a.max_send_iov = a.max_recv_iov = 4;
  a.max_read_in = a.max_read_out = 4;
  a.sink = this;
  qp_ = adapter_->CreateQueuePair(a).Take();
}

BenchNode::~BenchNode() {
  listener_.reset();
  request_.reset();
  qp_.reset();
}

uint64_t BenchNode::Listen(uint64_t conn_qual) {
  transport::ListenParameters p;
  p.any = conn_qual == 0;
  p.conn_qual = conn_qual;
  p.sink = this;
  listener_ = adapter_->Listen(p).Take();
  return listener_ == nullptr ? 0 : listener_->conn_qual();
}

bool BenchNode::Connect(uint64_t conn_qual, const sockaddr_storage& address) {
  transport::ConnectParameters p;
  p.remote = address;
  p.conn_qual = conn_qual;
  p.timeout = std::chrono::seconds(5);
  return qp_->Connect(p).ok();
}

void BenchNode::OnEstablished(std::span<const uint8_t>) {
  established_ = true;
  waiter_.Signal();
}

void BenchNode::OnFailed(transport::RejectReason reason, std::span<const uint8_t>,
                         const std::string& why) {
  reject_reason_ = reason;
  why_ = why;
  over_ = true;
  waiter_.Signal();
}

void BenchNode::OnEnded(transport::EndReason reason, const std::string& why) {
  end_reason_ = reason;
  why_ = why;
  over_ = true;
  waiter_.Signal();
}

void BenchNode::OnRequest(std::unique_ptr<transport::ConnectionRequest>& request) {
  if (hold_requests_) {
    if (held_) return;  // refused
    request_ = std::move(request);
    held_ = true;
    return waiter_.Signal();
  }
  const std::unique_ptr<transport::ConnectionRequest> taken = std::move(request);
  if (!taken->Accept(*qp_, {}).ok()) over_ = true;
}

bool BenchNode::AcceptHeld() {
  const std::unique_ptr<transport::ConnectionRequest> taken = std::move(request_);
  return taken->Accept(*qp_, {}).ok();
}

bool BenchNode::Until(Wait wait, const std::function<bool()>& done) {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(10);
  while (true) {
    waiter_.Clear();
    if (done()) return true;
    if (Clock::now() > deadline) return false;
    adapter_->Progress(wait == Wait::kPoll ? nullptr : &waiter_,
                       Clock::now() + std::chrono::milliseconds(50));
  }
}

Code BenchNode::PostReceive(size_t offset, uint32_t length) {
  DAT_LMR_TRIPLET t{};
  t.lmr_context = region_->local_key();
  t.virtual_address = reinterpret_cast<uintptr_t>(memory_.data()) + offset;
  t.segment_length = length;
  transport::ReceiveRequest r;
  r.local = {&t, 1};
  return qp_->PostReceive(r);
}

Code BenchNode::PostSend(size_t offset, uint32_t length, uint8_t flags) {
  DAT_LMR_TRIPLET t{};
  t.lmr_context = region_->local_key();
  t.virtual_address = reinterpret_cast<uintptr_t>(memory_.data()) + offset;
  t.segment_length = length;
  transport::SendRequest r;
  r.flags = flags;
  r.local = {&t, 1};
  return qp_->PostSend(r);
}

Code BenchNode::PostWrite(size_t offset, uint32_t length, uint64_t address, uint32_t key,
                          uint8_t flags) {
  DAT_LMR_TRIPLET t{};
  t.lmr_context = region_->local_key();
  t.virtual_address = reinterpret_cast<uintptr_t>(memory_.data()) + offset;
  t.segment_length = length;
  transport::SendRequest r;
  r.op = transport::Op::kRdmaWrite;
  r.flags = flags;
  r.local = {&t, 1};
  r.remote.rmr_context = key;
  r.remote.virtual_address = address;
  r.remote.segment_length = length;
  return qp_->PostSend(r);
}

bool BenchNode::Reap() {
  transport::Completion c;
  if (cq_->Poll({&c, 1}) == 0) return false;
  if (c.status != transport::WorkStatus::kSuccess) {
    ++failures;
  } else if (c.op >= transport::Op::kReceive) {
    ++receives;
  } else {
    ++sends;
  }
  return true;
}

bool BenchNode::ReapOne(Wait wait) {
  while (!Reap()) {
    if (over_.load(std::memory_order_relaxed)) return false;
    if (wait == Wait::kPoll) {
      adapter_->Poll(*cq_);
      continue;
    }
    waiter_.Clear();
    if (!cq_->Arm(false)) continue;
    adapter_->Progress(&waiter_, transport::kForever);
  }
  return true;
}

}  // namespace softdat::softnet
