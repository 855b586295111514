// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/failed_work.h"

#include "provider_verbs/work_status.h"

namespace softdat::verbs {

using transport::WorkStatus;

namespace {

DAT_LMR_TRIPLET Triplet(const ibv_sge& sge) {
  DAT_LMR_TRIPLET triplet{};
  triplet.lmr_context = sge.lkey;
  triplet.virtual_address = sge.addr;
  triplet.segment_length = sge.length;
  return triplet;
}

}  // namespace

WorkStatus StatusOfSend(Device& device, ibv_wc_status status, const SendSlot& slot) {
  if (slot.done.op == transport::Op::kBind && status != IBV_WC_WR_FLUSH_ERR)
    return WorkStatus::kBindFailed;
  if (status != IBV_WC_LOC_QP_OP_ERR) return ToWorkStatus(status);
  for (uint8_t i = 0; i < slot.sge_count; ++i) {
    bool zero_based = false;
    DAT_LMR_TRIPLET segment = Triplet(slot.sge[i]);
    if (device.traits.read_sink_remote_write)
      segment.lmr_context = device.sinks.RegionOf(segment.lmr_context);
    if (device.regions.Check(segment, slot.queue->pd, slot.reads, &zero_based) != Code::kOk) {
      return WorkStatus::kLocalProtection;
    }
  }
  return WorkStatus::kLocalEp;
}

// soft-RoCE reports a message that is too long, and memory that is gone, as an operation error.
WorkStatus StatusOfReceive(const Device& device, ibv_wc_status status,
                           std::span<const ibv_sge> sge) {
  if (status != IBV_WC_LOC_QP_OP_ERR) return ToWorkStatus(status);
  for (const ibv_sge& s : sge) {
    if (s.length == 0) continue;
    bool zero_based = false;
    if (device.regions.Check(Triplet(s), nullptr, true, &zero_based) != Code::kOk) {
      return WorkStatus::kLocalProtection;
    }
  }
  return WorkStatus::kLocalLength;
}

}  // namespace softdat::verbs
