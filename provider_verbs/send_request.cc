// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/send_request.h"

#include <algorithm>

#include "provider_verbs/address_way.h"

namespace softdat::verbs {

using transport::Op;
using transport::SendRequest;

namespace {

ibv_wr_opcode OpcodeOf(Op op) {
  switch (op) {
    case Op::kSendInvalidate:
      return IBV_WR_SEND_WITH_INV;
    case Op::kRdmaWrite:
      return IBV_WR_RDMA_WRITE;
    case Op::kRdmaWriteImmediate:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Op::kRdmaRead:
      return IBV_WR_RDMA_READ;
    case Op::kFetchAdd:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case Op::kCompareSwap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    default:
      return IBV_WR_SEND;
  }
}

// Cuts a read's segments to the length that it moves: that of the remote triplet (semantics 10.1).
void TrimTo(uint64_t length, SendSlot* slot) {
  uint8_t n = 0;
  while (n < slot->sge_count && length > 0) {
    if (slot->sge[n].length > length) slot->sge[n].length = static_cast<uint32_t>(length);
    length -= slot->sge[n++].length;
  }
  slot->sge_count = n;
}

}  // namespace

Code FillRequest(const DeviceTraits& traits, const SendRequest& request, bool zero_based,
                 SendSlot* slot, ibv_send_wr* wr) {
  wr->wr_id = WorkId(slot, SlotTag::kSend);
  wr->next = nullptr;
  wr->opcode = OpcodeOf(request.op);
  wr->send_flags = 0;
  switch (request.op) {
    case Op::kRdmaRead:
      if (request.remote.segment_length > slot->done.length && !traits.short_reads)
        return Code::kLength;
      slot->done.length = std::min<uint64_t>(slot->done.length, request.remote.segment_length);
      TrimTo(slot->done.length, slot);
      break;
    case Op::kRdmaWrite:
    case Op::kRdmaWriteImmediate:
      if (request.remote.segment_length < slot->done.length) return Code::kLength;
      break;
    case Op::kFetchAdd:
    case Op::kCompareSwap:
      if (slot->done.length != sizeof(uint64_t) || slot->sge_count != 1) return Code::kLength;
      wr->wr.atomic.remote_addr = request.remote.virtual_address;
      wr->wr.atomic.rkey = request.remote.rmr_context;
      wr->wr.atomic.compare_add =
          request.op == Op::kFetchAdd ? request.atomic.swap_or_add : request.atomic.compare;
      wr->wr.atomic.swap = request.atomic.swap_or_add;
      break;
    case Op::kSendDatagram:
      wr->wr.ud.ah = static_cast<const AddressWay*>(request.datagram.to)->ah().get();
      wr->wr.ud.remote_qpn = request.datagram.number;
      wr->wr.ud.remote_qkey = request.datagram.qkey;
      break;
    default:
      break;
  }
  if (request.op == Op::kRdmaRead || request.op == Op::kRdmaWrite ||
      request.op == Op::kRdmaWriteImmediate) {
    wr->wr.rdma.remote_addr = request.remote.virtual_address;
    wr->wr.rdma.rkey = request.remote.rmr_context;
  }
  wr->sg_list = slot->sge;
  wr->num_sge = slot->sge_count;
  wr->imm_data = request.key;  // or the key to invalidate, which has the same place
  if ((request.flags & transport::kFence) != 0) wr->send_flags |= IBV_SEND_FENCE;
  if ((request.flags & transport::kSolicited) != 0) wr->send_flags |= IBV_SEND_SOLICITED;
  if (!slot->reads && slot->done.length <= traits.max_inline && slot->done.length > 0 &&
      !zero_based) {
    wr->send_flags |= IBV_SEND_INLINE;
  }
  return Code::kOk;
}

Code Split(const ibv_send_wr& wr, SplitRead* parts) {
  const auto count = static_cast<size_t>(wr.num_sge);
  if (count > parts->size()) return Code::kInvalidArgument;
  uint64_t address = wr.wr.rdma.remote_addr;
  for (size_t i = 0; i < count; ++i) {
    ibv_send_wr& part = (*parts)[i];
    const bool last = i + 1 == count;
    part = wr;
    part.sg_list = &wr.sg_list[i];
    part.num_sge = 1;
    part.wr.rdma.remote_addr = address;
    part.next = last ? nullptr : &part + 1;
    if (!last) part.send_flags &= ~static_cast<unsigned>(IBV_SEND_SIGNALED);
    address += wr.sg_list[i].length;
  }
  return Code::kOk;
}

transport::Completion FlushOf(const SendRequest& request, void* context) {
  return {.context = request.op == Op::kBind ? request.bind.context : context,
          .cookie = request.cookie,
          .op = request.op,
          .status = transport::WorkStatus::kFlushed,
          .flags = static_cast<uint8_t>(request.flags & transport::kEchoed)};
}

}  // namespace softdat::verbs
