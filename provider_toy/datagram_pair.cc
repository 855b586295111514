// SPDX-License-Identifier: BSD-3-Clause
// DatagramPair: posting, and the way of a datagram. datagram_exchange.cc shows how pairs meet.
#include "provider_toy/datagram_pair.h"

#include <algorithm>
#include <utility>

#include "dat/backend_kit/datagram_header.h"

namespace softdat::toy {

using transport::Op;
using transport::WorkStatus;

namespace {

static_assert(kDatagramHeaderSize == transport::kDatagramHeader);

// What a packet of RoCEv2 has around its payload: BTH, DETH, pad, ICRC.
constexpr uint64_t PacketSize(uint64_t payload) { return 12 + 8 + (payload + 3) / 4 * 4 + 4; }

// Returns the part of `pieces` after the first `skip` bytes.
Pieces Behind(const Pieces& pieces, uint64_t skip) {
  Pieces rest;
  for (size_t i = 0; i < pieces.count; ++i) {
    const uint64_t n = std::min<uint64_t>(pieces.piece[i].size(), skip);
    skip -= n;
    rest.Add(pieces.piece[i].subspan(n));
  }
  return rest;
}

}  // namespace

DatagramPair::DatagramPair(Fabric& fabric, Dispatcher& dispatcher, uint32_t device,
                           Quota::Slot slot, const transport::QueuePairAttributes& attributes)
    : fabric_(fabric),
      dispatcher_(dispatcher),
      device_(device),
      slot_(std::move(slot)),
      number_(static_cast<uint32_t>(fabric.NextQueuePairNumber())) {
  Apply(attributes);
  fabric_.AddDatagramPair(number_, this);
}

DatagramPair::~DatagramPair() {
  if (fabric_.abandoned()) return;
  gate_->Close();
  const Fabric::Lock lock(fabric_);
  fabric_.RemoveDatagramPair(number_);
  while (!exchanges_.empty()) End(**exchanges_.begin());
}

void DatagramPair::Apply(const transport::QueuePairAttributes& attributes) {
  const auto state_of = [](transport::CompletionQueue* cq) {
    return cq != nullptr ? static_cast<CompletionQueue*>(cq)->state() : nullptr;
  };
  attributes_ = attributes;
  send_cq_ = state_of(attributes.send_cq);
  recv_cq_ = state_of(attributes.recv_cq);
  srq_ = static_cast<SharedReceiveQueue*>(attributes.srq);
  receives_.Resize(attributes.max_recv);
}

Status DatagramPair::Configure(const transport::QueuePairAttributes& attributes) {
  const Fabric::Lock lock(fabric_);
  if (has_met_) return Status(Code::kInvalidState, "peers know the queue pair already");
  if (attributes.max_recv < receives_.size()) {
    return Status(Code::kInvalidState, "more receives are posted than the new size holds");
  }
  Apply(attributes);
  return Status::Ok();
}

Code DatagramPair::PostReceive(const transport::ReceiveRequest& request) {
  const Fabric::Lock lock(fabric_);
  if (srq_ != nullptr) return Code::kInvalidState;
  if (request.local.size() > std::min(attributes_.max_recv_iov, kMaxIov))
    return Code::kInvalidArgument;
  Pieces unused;
  const Code code = fabric_.keys().ResolveLocal(request.local, attributes_.pd, true, &unused);
  if (code != Code::kOk) return code;
  if (receives_.full()) return Code::kQueueFull;
  ReceiveWork work;
  work.cookie = request.cookie;
  work.flags = request.flags;
  work.count = static_cast<uint32_t>(request.local.size());
  std::copy(request.local.begin(), request.local.end(), work.segments.begin());
  receives_.Push(work);
  return Code::kOk;
}

Code DatagramPair::PostSend(const transport::SendRequest& request) {
  const Fabric::Lock lock(fabric_);
  if (request.op != Op::kSendDatagram) return Code::kInvalidArgument;
  if (attributes_.pd == nullptr) return Code::kInvalidState;
  if (request.local.size() > std::min(attributes_.max_send_iov, kMaxIov))
    return Code::kInvalidArgument;
  Pieces payload;
  const Code code = fabric_.keys().ResolveLocal(request.local, attributes_.pd, false, &payload);
  if (code != Code::kOk) return code;
  if (payload.total > kMaxDatagram) return Code::kLength;
  if (attributes_.max_send == 0) return Code::kQueueFull;

  transport::Completion done;
  done.context = attributes_.context;
  done.cookie = request.cookie;
  done.length = payload.total;
  done.op = Op::kSendDatagram;
  done.flags = request.flags & transport::kEchoed;
  if (StillThere(payload, payload.total, false)) {
    Deliver(request.datagram, payload, (request.flags & transport::kSolicited) != 0);
    if ((request.flags & transport::kSuppress) != 0) return Code::kOk;
  } else {
    done.status = WorkStatus::kLocalProtection;
  }
  fabric_.Complete(send_cq_, done);
  return Code::kOk;
}

void DatagramPair::Deliver(const transport::SendRequest::Datagram& datagram, const Pieces& payload,
                           bool solicited) const {
  const auto& handle = static_cast<const AddressHandle&>(*datagram.to);
  DatagramPair* const to = fabric_.FindDatagramPair(datagram.number);
  if (to == nullptr || to->device_ != handle.device() || datagram.qkey != kQkey) return;
  DatagramHeader header = MakeDatagramHeader(AddressOf(device_, handle.address().ss_family),
                                             handle.address(), PacketSize(payload.total));
  to->Receive(header, payload, number_, solicited);
}

void DatagramPair::Receive(std::span<uint8_t> header, const Pieces& payload, uint32_t from,
                           bool solicited) {
  ReceiveWork work;
  Pieces memory;
  const uint64_t length = header.size() + payload.total;
  if (!TakeReceive(length, &work, &memory)) return;
  Pieces front;
  front.Add(header);
  Copy(front, memory, front.total);
  Copy(payload, Behind(memory, front.total), payload.total);
  transport::Completion done;
  done.length = length;
  done.key = from;
  done.solicited = solicited;
  CompleteReceive(work, done);
}

bool DatagramPair::TakeReceive(uint64_t length, ReceiveWork* work, Pieces* memory) {
  const transport::ProtectionDomain* const pd = srq_ != nullptr ? srq_->pd() : attributes_.pd;
  if (attributes_.pd == nullptr || (srq_ != nullptr ? srq_->empty() : receives_.empty()))
    return false;
  *work = srq_ != nullptr ? srq_->Take() : receives_.front();
  const bool accessible =
      fabric_.keys().ResolveLocal(work->local(), pd, true, memory) == Code::kOk &&
      StillThere(*memory, std::min(length, memory->total), true);
  transport::Completion failed;
  if (!accessible) {
    failed.status = WorkStatus::kLocalProtection;
  } else if (memory->total < length) {
    if (srq_ == nullptr) return false;  // the receive stays for a shorter message
    failed.status = WorkStatus::kLocalLength;
  }
  if (srq_ == nullptr) receives_.Pop();
  if (failed.status == WorkStatus::kSuccess) return true;
  CompleteReceive(*work, failed);
  return false;
}

void DatagramPair::CompleteReceive(const ReceiveWork& work, transport::Completion done) {
  done.context = attributes_.context;
  done.cookie = work.cookie;
  done.op = Op::kReceiveDatagram;
  done.flags = work.flags & transport::kEchoed;
  if (attributes_.solicited_receives && !done.solicited) done.flags |= transport::kQuiet;
  fabric_.Complete(recv_cq_, done);
}

uint32_t DatagramPair::OutstandingReceives() const {
  const Fabric::Lock lock(fabric_);
  return static_cast<uint32_t>(receives_.size());
}

Status DatagramPair::Connect(const transport::ConnectParameters&) {
  return Status(Code::kInvalidState, "a queue pair for datagrams has no connection");
}

}  // namespace softdat::toy
