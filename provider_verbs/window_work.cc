// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/window_work.h"

#include "dat2/dat_ib_extensions.h"

namespace softdat::verbs {

using transport::SendRequest;

namespace {

Code CheckRegion(const SendRequest& request, const void* pd, const MemoryRegion& region) {
  const DAT_LMR_TRIPLET& part = request.local[0];
  if (region.pd() != pd) return Code::kProtection;
  const uint64_t offset = part.virtual_address - region.first();
  if (part.lmr_context != region.hardware()->lkey) return Code::kProtection;
  if (offset > region.length() || part.segment_length > region.length() - offset) {
    return Code::kOutOfBounds;
  }
  constexpr uint32_t kWrites =
      uint32_t{DAT_MEM_PRIV_REMOTE_WRITE_FLAG} | uint32_t{DAT_IB_MEM_PRIV_REMOTE_ATOMIC};
  if ((request.bind.privileges & kWrites) != 0 &&
      (region.privileges() & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) == 0) {
    return Code::kPrivileges;
  }
  return Code::kOk;
}

ibv_send_wr Invalidate(const SendSlot* slot, uint32_t key) {
  ibv_send_wr wr{};
  wr.wr_id = WorkId(slot, SlotTag::kSend);
  wr.opcode = IBV_WR_LOCAL_INV;
  wr.invalidate_rkey = key;
  return wr;
}

WindowCore& CoreOf(const SendRequest& request) {
  return static_cast<MemoryWindow*>(request.bind.window)->core();
}

}  // namespace

Code WindowBind::Check(const SendRequest& request, const void* pd) {
  if (request.local.size() != 1 || request.bind.window == nullptr) return Code::kInvalidArgument;
  if (CoreOf(request).pd != pd) return Code::kProtection;
  if (request.local[0].segment_length == 0) return Code::kOk;
  if (request.bind.region == nullptr) return Code::kInvalidArgument;
  return CheckRegion(request, pd, static_cast<MemoryRegion&>(*request.bind.region));
}

WindowBind::WindowBind(Device& device, const SendRequest& request, SendSlot* slot)
    : device_(device),
      request_(request),
      core_(CoreOf(request)),
      unbind_(request.local[0].segment_length == 0) {
  slot->done.context = request.bind.context;
  slot->done.length = unbind_ ? 0 : static_cast<uint32_t>(request.local[0].segment_length);
  slot->sge_count = 0;
  slot->window_key = unbind_ ? 0 : request.key;
  // A window of type 2 must be invalid before it is bound (IBTA vol. 1 §10.6.7.2.2).
  bool was_bound = false;
  uint32_t old_key = 0;
  if (core_.type2) {
    device_.WithWindow(core_.key, [&](WindowCore& w) {
      was_bound = w.bound;
      old_key = w.key;
    });
  }
  if (was_bound) chain_[count_++] = Invalidate(slot, old_key);
  ibv_send_wr& wr = chain_[count_];
  if (!unbind_ || !core_.type2) {
    FillBind();
    wr.wr_id = WorkId(slot, SlotTag::kSend);
    ++count_;
  } else if (count_ == 0) {
    // Nothing is bound, so only the completion is wanted.
    wr.wr_id = WorkId(slot, SlotTag::kSend);
    wr.opcode = IBV_WR_RDMA_WRITE;
    ++count_;
  }
  if (count_ == 2) chain_[0].next = &chain_[1];
}

void WindowBind::FillBind() {
  ibv_send_wr& wr = chain_[count_];
  const DAT_LMR_TRIPLET& part = request_.local[0];
  wr.opcode = IBV_WR_BIND_MW;
  wr.bind_mw.mw = core_.mw;
  wr.bind_mw.rkey = request_.key;
  ibv_mw_bind_info& info = wr.bind_mw.bind_info;
  if (request_.bind.region != nullptr)
    info.mr = static_cast<MemoryRegion*>(request_.bind.region)->hardware();
  info.addr = part.virtual_address;
  info.length = part.segment_length;
  info.mw_access_flags = static_cast<unsigned>(
      AccessFlags(device_.traits, request_.bind.privileges) &
      (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC));
  if (request_.bind.zero_based) info.mw_access_flags |= IBV_ACCESS_ZERO_BASED;
}

void WindowBind::Enter(const ibv_qp* qp) {
  before_ = core_;
  if (core_.key != 0) device_.RemoveWindow(core_.key);
  core_.key = 0;
  core_.bound = core_.completed = false;
  if (unbind_) return;
  const DAT_LMR_TRIPLET& part = request_.local[0];
  const auto& region = static_cast<MemoryRegion&>(*request_.bind.region);
  core_.bound = true;
  core_.key = request_.key;
  core_.qp = qp;
  core_.first = request_.bind.zero_based ? 0 : part.virtual_address;
  core_.length = part.segment_length;
  core_.local_key = region.hardware()->lkey;
  core_.region_address = part.virtual_address;
  core_.writable = (region.privileges() & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) != 0;
  device_.AddWindow(core_.key, &core_);
}

void WindowBind::Undo() {
  if (core_.key != 0) device_.RemoveWindow(core_.key);
  core_ = before_;
  if (core_.key != 0) device_.AddWindow(core_.key, &core_);
}

void WindowBind::Posted() {
  // Drivers find the window by its current key.
  if (core_.type2 && !unbind_) core_.mw->rkey = request_.key;
}

Code WindowRead::Fill(Device& device, const SendRequest& request, const void* pd, SendSlot* slot) {
  if (request.local.size() != 1) return Code::kInvalidArgument;
  const DAT_LMR_TRIPLET& part = request.local[0];
  if (part.segment_length < request.remote.segment_length) return Code::kLength;
  Code code = Code::kProtection;
  ibv_sge sge{};
  device.WithWindow(part.lmr_context, [&](WindowCore& window) {
    if (!window.bound || window.pd != pd) return;
    const uint64_t offset = part.virtual_address - window.first;
    code = Code::kOutOfBounds;
    if (offset > window.length || part.segment_length > window.length - offset) return;
    code = Code::kPrivileges;
    if (!window.writable) return;
    code = Code::kOk;
    sge = {.addr = window.region_address + offset,
           .length = static_cast<uint32_t>(request.remote.segment_length),
           .lkey = window.local_key};
    if (request.invalidate_sink) window.bound = false;
  });
  if (code != Code::kOk) return code;
  slot->sge[0] = sge;
  slot->sge_count = sge.length > 0 ? 1 : 0;
  slot->done.length = sge.length;
  chain_[0].wr_id = WorkId(slot, SlotTag::kSend);
  chain_[0].opcode = IBV_WR_RDMA_READ;
  chain_[0].sg_list = slot->sge;
  chain_[0].num_sge = slot->sge_count;
  chain_[0].wr.rdma.remote_addr = request.remote.virtual_address;
  chain_[0].wr.rdma.rkey = request.remote.rmr_context;
  if ((request.flags & transport::kFence) != 0) chain_[0].send_flags |= IBV_SEND_FENCE;
  if (request.invalidate_sink) {
    chain_[1] = Invalidate(slot, part.lmr_context);
    chain_[1].send_flags |= IBV_SEND_FENCE;
    chain_[0].next = &chain_[1];
  }
  return code;
}

}  // namespace softdat::verbs
