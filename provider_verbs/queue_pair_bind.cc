// SPDX-License-Identifier: BSD-3-Clause
// QpCore: binding and unbinding windows, and reads that sink into one.
#include <errno.h>

#include <array>

#include "dat/base/log.h"
#include "dat2/dat_ib_extensions.h"
#include "provider_verbs/memory.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/queue_pair.h"

namespace softdat::verbs {

using transport::SendRequest;

namespace {

// The rules that need no device (semantics 7.3).
Code CheckBind(const SendRequest& request, const void* pd, const MemoryRegion& region,
               const WindowCore& window) {
  const DAT_LMR_TRIPLET& part = request.local[0];
  if (region.pd() != pd || window.pd != pd) return Code::kProtection;
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

}  // namespace

Code QpCore::PostBind(const SendRequest& request, SendSlot* slot) {
  if (request.local.size() != 1 || request.bind.window == nullptr) return Code::kInvalidArgument;
  auto& window = *static_cast<MemoryWindow*>(request.bind.window);
  WindowCore& core = window.core();
  auto* const region = static_cast<MemoryRegion*>(request.bind.region);
  const DAT_LMR_TRIPLET& part = request.local[0];
  const bool unbind = part.segment_length == 0;
  if (core.pd != attributes_.pd) return Code::kProtection;
  if (!unbind) {
    if (region == nullptr) return Code::kInvalidArgument;
    const Code code = CheckBind(request, attributes_.pd, *region, core);
    if (code != Code::kOk) return code;
  }
  slot->done.context = request.bind.context;
  slot->done.length = unbind ? 0 : static_cast<uint32_t>(part.segment_length);
  slot->sge_count = 0;
  slot->window_key = unbind ? 0 : request.key;

  std::array<ibv_send_wr, 2> chain{};
  size_t n = 0;
  bool was_bound = false;
  uint32_t old_key = 0;
  // A window of type 2 must be invalid before it is bound (IBTA vol. 1 §10.6.7.2.2).
  if (core.type2 && device_.WithWindow(core.key, [&](WindowCore& w) {
        was_bound = w.bound;
        old_key = w.key;
      })) {
    if (was_bound) chain[n++] = Invalidate(slot, old_key);
  }
  ibv_send_wr& wr = chain[n];
  if (!unbind || !core.type2) {
    wr.wr_id = WorkId(slot, SlotTag::kSend);
    wr.opcode = IBV_WR_BIND_MW;
    wr.bind_mw.mw = core.mw;
    wr.bind_mw.rkey = request.key;
    if (region != nullptr) wr.bind_mw.bind_info.mr = region->hardware();
    wr.bind_mw.bind_info.addr = part.virtual_address;
    wr.bind_mw.bind_info.length = part.segment_length;
    wr.bind_mw.bind_info.mw_access_flags = static_cast<unsigned>(
        AccessFlags(device_.traits, request.bind.privileges) &
        (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC));
    if (request.bind.zero_based) wr.bind_mw.bind_info.mw_access_flags |= IBV_ACCESS_ZERO_BASED;
    ++n;
  } else if (n == 0) {
    // Nothing is bound: the completion is all that is wanted.
    wr.wr_id = WorkId(slot, SlotTag::kSend);
    wr.opcode = IBV_WR_RDMA_WRITE;
    ++n;
  }
  if (n == 2) chain[0].next = &chain[1];
  const uint32_t unsignalled = unsignalled_;
  if (WantsSignal(slot->suppressed)) chain[n - 1].send_flags |= IBV_SEND_SIGNALED;
  // Entered before the post: the completion may come at once.
  const WindowCore before = core;
  if (core.key != 0) device_.RemoveWindow(core.key);
  core.key = 0;
  core.bound = core.completed = false;
  if (!unbind) {
    core.bound = true;
    core.key = request.key;
    core.qp = this;
    core.first = request.bind.zero_based ? 0 : part.virtual_address;
    core.length = part.segment_length;
    core.local_key = region->hardware()->lkey;
    core.region_address = part.virtual_address;
    core.writable = (region->privileges() & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) != 0;
    device_.AddWindow(core.key, &core);
  }
  const Code code = core.type2 ? PostChain(slot, chain.data()) : BindType1(request, chain[0], slot);
  if (code != Code::kOk) {
    unsignalled_ = unsignalled;
    if (core.key != 0) device_.RemoveWindow(core.key);
    core = before;
    if (core.key != 0) device_.AddWindow(core.key, &core);
  } else if (core.type2 && !unbind) {
    core.mw->rkey = request.key;  // drivers find the window by its current key
  }
  return code;
}

// Windows of type 1 have a call of their own, which also chooses the key.
Code QpCore::BindType1(const SendRequest& request, const ibv_send_wr& wr, SendSlot* slot) {
  ibv_mw* const mw = static_cast<MemoryWindow*>(request.bind.window)->core().mw;
  ibv_mw_bind bind{};
  bind.wr_id = wr.wr_id;
  bind.send_flags = wr.send_flags;
  bind.bind_info = wr.bind_mw.bind_info;
  slot->sequence = sends_posted_.load(std::memory_order_relaxed);
  sends_posted_.store(slot->sequence + 1, std::memory_order_relaxed);
  const int error = ibv_bind_mw(qp_, mw, &bind);
  if (error != 0) {
    sends_posted_.store(slot->sequence, std::memory_order_relaxed);
    SOFTDAT_LOG(Info, "ibv_bind_mw: {}", OsText(error));
    return error == ENOMEM ? Code::kQueueFull : Code::kInvalidArgument;
  }
  if (bind.bind_info.length > 0 && mw->rkey != request.key) {
    // The consumer was promised another key and may have passed it on.
    SOFTDAT_LOG(Error, "{}: the driver chose key {:#x} for a window, {:#x} was foretold",
                device_.traits.rdma_device, mw->rkey, request.key);
    NotePostFailure();
  }
  return Code::kOk;
}

// Verbs know only regions as local memory. So the window's key and bounds are checked here, the
// read goes to its part of the region, and the invalidation follows, fenced behind the read.
Code QpCore::PostReadToWindow(const SendRequest& request, SendSlot* slot) {
  if (request.local.size() != 1) return Code::kInvalidArgument;
  const DAT_LMR_TRIPLET& part = request.local[0];
  if (part.segment_length < request.remote.segment_length) return Code::kLength;
  Code code = Code::kProtection;
  ibv_sge sge{};
  device_.WithWindow(part.lmr_context, [&](WindowCore& window) {
    if (!window.bound || window.pd != attributes_.pd) return;
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
  std::array<ibv_send_wr, 2> chain{};
  chain[0].wr_id = WorkId(slot, SlotTag::kSend);
  chain[0].opcode = IBV_WR_RDMA_READ;
  chain[0].sg_list = slot->sge;
  chain[0].num_sge = slot->sge_count;
  chain[0].wr.rdma.remote_addr = request.remote.virtual_address;
  chain[0].wr.rdma.rkey = request.remote.rmr_context;
  if ((request.flags & transport::kFence) != 0) chain[0].send_flags |= IBV_SEND_FENCE;
  ibv_send_wr* last = &chain[0];
  if (request.invalidate_sink) {
    chain[1] = Invalidate(slot, part.lmr_context);
    chain[1].send_flags |= IBV_SEND_FENCE;
    chain[0].next = last = &chain[1];
  }
  if (WantsSignal(slot->suppressed)) last->send_flags |= IBV_SEND_SIGNALED;
  return PostChain(slot, chain.data());
}

}  // namespace softdat::verbs
