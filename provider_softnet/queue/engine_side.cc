// SPDX-License-Identifier: BSD-3-Clause
// For tests: one end of a connection, whatever its wire.
#include "provider_softnet/queue/engine_side.h"

namespace softdat::softnet::testing {

using transport::Op;
using transport::SendRequest;

namespace {

SendRequest Request(Op op, uint64_t cookie, const std::vector<Segment>& local, uint8_t flags) {
  SendRequest r;
  r.op = op;
  r.cookie = cookie;
  r.local = local;
  r.flags = flags;
  return r;
}

}  // namespace

EngineSide::EngineSide(MemoryTable* table, const SideOptions& o)
    : memory(table),
      pd(table->NewProtectionDomainId()),
      qp(table->NewQueuePairId()),
      send_queue(o.queue, o.max_segments),
      receive_queue(o.queue, o.max_segments),
      send_ring(4 * o.queue, &send_sink),
      receive_ring(4 * o.queue, &receive_sink) {
  if (o.share_receives) shared = std::make_unique<SharedReceiveQueue>(o.queue, o.max_segments, pd);
}

WorkLedgerConfig EngineSide::ForLedger() {
  WorkLedgerConfig c;
  c.context = this;
  c.memory = memory;
  c.send_queue = &send_queue;
  c.shared_receives = shared.get();
  if (shared == nullptr) c.receive_queue = &receive_queue;
  c.send_completions = &send_ring;
  c.receive_completions = &receive_ring;
  c.pd = pd;
  c.qp = qp;
  return c;
}

size_t EngineSide::AddBuffer(size_t size, uint32_t privileges) {
  Buffer b;
  b.bytes.assign(size + 2 * kGuard, kGuardByte);
  b.key = memory->RegisterRegion(b.bytes.data() + kGuard, size, privileges, false, pd);
  buffers.push_back(std::move(b));
  return buffers.size() - 1;
}

Segment EngineSide::Local(size_t buffer, uint64_t offset, uint32_t length) {
  Segment s{};
  s.virtual_address = reinterpret_cast<uintptr_t>(data(buffer)) + offset;
  s.segment_length = length;
  s.lmr_context = buffers[buffer].key;
  return s;
}

DAT_RMR_TRIPLET EngineSide::Remote(size_t buffer, uint64_t offset, uint32_t length) {
  DAT_RMR_TRIPLET t{};
  t.virtual_address = reinterpret_cast<uintptr_t>(data(buffer)) + offset;
  t.segment_length = length;
  t.rmr_context = buffers[buffer].key;
  return t;
}

bool EngineSide::GuardsIntact() const {
  for (const Buffer& b : buffers) {
    for (size_t i = 0; i < kGuard; ++i) {
      if (b.bytes[i] != kGuardByte || b.bytes[b.bytes.size() - 1 - i] != kGuardByte) return false;
    }
  }
  return true;
}

Code EngineSide::Send(uint64_t cookie, const std::vector<Segment>& local, uint8_t flags) {
  return PostSend(Request(Op::kSend, cookie, local, flags));
}

Code EngineSide::Receive(uint64_t cookie, const std::vector<Segment>& local) {
  if (shared == nullptr) return PostReceive({cookie, local});
  const Code code = shared->Post({cookie, local});
  OnSharedReceive();
  return code;
}

Code EngineSide::Write(uint64_t cookie, const std::vector<Segment>& local, DAT_RMR_TRIPLET remote,
                       uint8_t flags) {
  SendRequest r = Request(Op::kRdmaWrite, cookie, local, flags);
  r.remote = remote;
  return PostSend(r);
}

Code EngineSide::Read(uint64_t cookie, const std::vector<Segment>& local, DAT_RMR_TRIPLET remote,
                      uint8_t flags) {
  SendRequest r = Request(Op::kRdmaRead, cookie, local, flags);
  r.remote = remote;
  return PostSend(r);
}

std::vector<transport::Completion> EngineSide::Reap(CompletionRing& ring) {
  std::vector<transport::Completion> all;
  transport::Completion some[7];
  while (const size_t n = ring.Poll(some)) all.insert(all.end(), some, some + n);
  return all;
}

}  // namespace softdat::softnet::testing
