// SPDX-License-Identifier: BSD-3-Clause
// UnreliableDatagrams.
#include "provider_softnet/roce/unreliable_datagrams.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "provider_softnet/roce/immediate_order.h"
#include "wire/roce/bth.h"
#include "wire/roce/opcode.h"

namespace softdat::softnet {

using transport::Op;
using transport::WorkStatus;

namespace {

// The bit that says whether a member of the partition is a full one does not count.
constexpr uint16_t kPartition = 0x7fff;

}  // namespace

// -------------------------------------------------------------------------------------------------
// Out

Code UnreliableDatagrams::PostSend(const transport::SendRequest& request) {
  const Code code = ledger_.PrepareDatagram(request, longest_);
  if (code == Code::kOk) ledger_.sends().Commit();
  return code;
}

Code UnreliableDatagrams::PostReceive(const transport::ReceiveRequest& request) {
  return ledger_.PostReceive(request, /*judge=*/ledger_.config().pd != 0);
}

void UnreliableDatagrams::Offer(uint32_t own_qpn, PacketBatch* batch) {
  SendQueue& queue = ledger_.sends();
  const uint64_t position = queue.front();
  const SendWork& work = queue.at(position);
  OutgoingPacket& out = batch->Begin();
  for (const Segment& s : queue.segments(position)) {
    const AccessRequest access = {.key = s.lmr_context,
                                  .pd = ledger_.config().pd,
                                  .qp = ledger_.config().qp,
                                  .kind = Access::kLocalRead,
                                  .offset = s.virtual_address,
                                  .length = s.segment_length};
    if (batch->Add(*ledger_.config().memory, access) == AccessError::kNone) continue;
    batch->Clear();
    return CompleteOldest(WorkStatus::kLocalProtection);
  }
  roce::Packet packet;
  packet.bth.opcode = roce::Opcode::kUdSendOnly;
  packet.bth.solicited = (work.flags & transport::kSolicited) != 0;
  packet.bth.migrated = true;
  packet.bth.dest_qpn = work.datagram.number;
  packet.bth.psn = psn_;
  packet.headers.deth = {work.datagram.qkey, own_qpn};
  out.header_size = static_cast<uint8_t>(
      roce::EncodeHeaders(packet, static_cast<size_t>(work.length), out.header));
  batch->Commit();
}

void UnreliableDatagrams::Sent() {
  psn_ = (psn_ + 1) & roce::kMask24;
  CompleteOldest(WorkStatus::kSuccess);
}

void UnreliableDatagrams::CompleteOldest(WorkStatus status) {
  SendQueue& queue = ledger_.sends();
  SendWork& work = queue.at(queue.front());
  work.status = status;
  work.done = true;
  ledger_.CompleteSends(queue.front() + 1, UINT64_MAX);
}

// -------------------------------------------------------------------------------------------------
// In

bool UnreliableDatagrams::IsWelcome(const roce::Packet& packet) {
  const WorkLedgerConfig& work = ledger_.config();
  if (roce::TraitsOf(packet.bth.opcode).operation != roce::Operation::kDatagram) {
    ++lost_.of_other_service;
  } else if ((packet.bth.pkey & kPartition) != (roce::kDefaultPKey & kPartition)) {
    ++lost_.bad_pkey;
  } else if (packet.headers.deth.qkey != qkey_) {
    ++lost_.bad_qkey;
  } else if (work.pd == 0 || !ledger_.TakeReceive()) {
    ++lost_.no_receive;
  } else {
    return true;
  }
  return false;
}

void UnreliableDatagrams::OnPacket(const roce::Packet& packet, ByteSpan header) {
  if (!IsWelcome(packet)) return;
  const bool immediate = roce::TraitsOf(packet.bth.opcode).has(roce::kHasImmediate);
  const Op op = immediate ? Op::kReceiveDatagramImmediate : Op::kReceiveDatagram;
  const uint64_t length = header.size() + packet.payload.size();
  if (length > ledger_.held()->length) {
    ++lost_.short_receive;
    // One of an SRQ is another pair's as well, so it is not left in the way.
    if (ledger_.config().shared_receives == nullptr) return ledger_.KeepReceive();
    return ledger_.FailReceive(op, WorkStatus::kLocalLength);
  }
  if (!Place(header, packet.payload)) {
    ++lost_.bad_memory;
    return ledger_.FailReceive(op, WorkStatus::kLocalProtection);
  }
  const uint32_t key =
      immediate ? ImmediateOrder(packet.headers.immediate) : packet.headers.deth.source_qpn;
  ledger_.CompleteReceive(op, length, key, packet.bth.solicited);
}

// Which memory the bytes go to is judged at the moment they move.
bool UnreliableDatagrams::Place(ByteSpan header, ByteSpan payload) {
  const ReceiveWork& receive = *ledger_.held();
  ByteSpan from = header;
  for (uint32_t i = 0; i < receive.segment_count; ++i) {
    const Segment& s = receive.segments[i];
    uint64_t used = 0;
    while (used < s.segment_length) {
      if (from.empty()) from = std::exchange(payload, {});
      if (from.empty()) return true;
      const size_t piece = std::min<size_t>(from.size(), s.segment_length - used);
      const AccessRequest access = {.key = s.lmr_context,
                                    .pd = ledger_.receive_domain(),
                                    .qp = ledger_.config().qp,
                                    .kind = Access::kLocalWrite,
                                    .offset = s.virtual_address + used,
                                    .length = piece};
      Pin pin;
      if (ledger_.config().memory->Acquire(access, &pin) != AccessError::kNone) return false;
      std::memcpy(pin.address(), from.data(), piece);
      from = from.subspan(piece);
      used += piece;
    }
  }
  return true;
}

}  // namespace softdat::softnet
