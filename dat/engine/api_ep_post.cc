// SPDX-License-Identifier: BSD-3-Clause
// Slots of the data path: check, describe, hand over. They take no lock and allocate nothing
// (except for the traces of a connection that fails).
#include "dat/engine/argument.h"
#include "dat/engine/ep.h"
#include "dat/engine/guarded_slot.h"
#include "dat/engine/slots.h"

namespace softdat::engine::slots {

using transport::Op;
using transport::ReceiveRequest;
using transport::SendRequest;

namespace {

using Kind = Ep::PostKind;

// Fills in what sends, reads and writes have in common. The arguments have been checked.
inline void Describe(Op op, DAT_COUNT num_segments, const DAT_LMR_TRIPLET* local_iov,
                     DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags, SendRequest* request) {
  request->op = op;
  request->flags = RequestFlags(flags);
  request->cookie = cookie.as_64;
  request->local = {local_iov, static_cast<size_t>(num_segments)};
}

// RDMA read and write differ only in the operation. Inline, so that each is compiled by itself.
[[gnu::always_inline]] inline DAT_RETURN PostRdma(DAT_EP_HANDLE ep_handle, Kind kind, Op op,
                                                  DAT_COUNT num_segments,
                                                  const DAT_LMR_TRIPLET* local_iov,
                                                  DAT_DTO_COOKIE cookie,
                                                  const DAT_RMR_TRIPLET* remote_iov,
                                                  DAT_COMPLETION_FLAGS flags) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) [[unlikely]]
    return BadHandle(DAT_INVALID_HANDLE_EP);
  if (remote_iov == nullptr) [[unlikely]]
    return BadArgument(5);
  const DAT_RETURN ret = CheckPost(ep->limits(kind), num_segments, local_iov, flags, 6);
  if (ret != DAT_SUCCESS) [[unlikely]]
    return ret;
  SendRequest request;
  Describe(op, num_segments, local_iov, cookie, flags, &request);
  request.remote = *remote_iov;
  return ep->PostSend(request);
}

}  // namespace

[[gnu::hot]] DAT_RETURN DAT_API EpPostSend(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                           DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE cookie,
                                           DAT_COMPLETION_FLAGS flags) try {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) [[unlikely]]
    return BadHandle(DAT_INVALID_HANDLE_EP);
  const DAT_RETURN ret = CheckPost(ep->limits(Kind::kSend), num_segments, local_iov, flags, 5);
  if (ret != DAT_SUCCESS) [[unlikely]]
    return ret;
  SendRequest request;
  Describe(Op::kSend, num_segments, local_iov, cookie, flags, &request);
  return ep->PostSend(request);
} catch (const std::bad_alloc&) {
  return kNoMemory;
}

DAT_RETURN DAT_API EpPostSendWithInvalidate(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                            DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE cookie,
                                            DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate_flag,
                                            DAT_RMR_CONTEXT rmr_context) try {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) [[unlikely]]
    return BadHandle(DAT_INVALID_HANDLE_EP);
  if (invalidate_flag != DAT_TRUE && invalidate_flag != DAT_FALSE) return BadArgument(6);
  const bool invalidate = invalidate_flag == DAT_TRUE;
  if (invalidate && !ep->ia().attributes().invalidate) return Error(DAT_MODEL_NOT_SUPPORTED);
  const DAT_RETURN ret = CheckPost(ep->limits(Kind::kSend), num_segments, local_iov, flags, 5);
  if (ret != DAT_SUCCESS) [[unlikely]]
    return ret;
  SendRequest request;
  Describe(invalidate ? Op::kSendInvalidate : Op::kSend, num_segments, local_iov, cookie, flags,
           &request);
  request.key = rmr_context;
  return ep->PostSend(request);
} catch (const std::bad_alloc&) {
  return kNoMemory;
}

[[gnu::hot]] DAT_RETURN DAT_API EpPostRecv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                           DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE cookie,
                                           DAT_COMPLETION_FLAGS flags) try {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) [[unlikely]]
    return BadHandle(DAT_INVALID_HANDLE_EP);
  ReceiveRequest request;
  if (!ep->uses_srq()) {  // with an SRQ they are refused, whatever they carry
    const DAT_RETURN ret = CheckPost(ep->limits(Kind::kReceive), num_segments, local_iov, flags, 5);
    if (ret != DAT_SUCCESS) [[unlikely]]
      return ret;
    request.local = {local_iov, static_cast<size_t>(num_segments)};
  }
  request.cookie = cookie.as_64;
  request.flags = RequestFlags(flags);
  return ep->PostReceive(request);
} catch (const std::bad_alloc&) {
  return kNoMemory;
}

DAT_RETURN DAT_API EpPostRdmaRead(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                  DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE cookie,
                                  const DAT_RMR_TRIPLET* remote_iov,
                                  DAT_COMPLETION_FLAGS flags) try {
  return PostRdma(ep_handle, Kind::kRead, Op::kRdmaRead, num_segments, local_iov, cookie,
                  remote_iov, flags);
} catch (const std::bad_alloc&) {
  return kNoMemory;
}

[[gnu::hot]] DAT_RETURN DAT_API EpPostRdmaWrite(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                                DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE cookie,
                                                const DAT_RMR_TRIPLET* remote_iov,
                                                DAT_COMPLETION_FLAGS flags) try {
  return PostRdma(ep_handle, Kind::kWrite, Op::kRdmaWrite, num_segments, local_iov, cookie,
                  remote_iov, flags);
} catch (const std::bad_alloc&) {
  return kNoMemory;
}

DAT_RETURN DAT_API EpPostRdmaReadToRmr(DAT_EP_HANDLE ep_handle, const DAT_RMR_TRIPLET* local_rmr,
                                       DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET* remote_iov,
                                       DAT_COMPLETION_FLAGS flags) try {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) [[unlikely]]
    return BadHandle(DAT_INVALID_HANDLE_EP);
  if (local_rmr == nullptr) return BadArgument(2);
  if (remote_iov == nullptr) return BadArgument(4);
  if (!ep->ia().attributes().invalidate) return Error(DAT_MODEL_NOT_SUPPORTED);
  const DAT_LMR_TRIPLET sink = {local_rmr->virtual_address, local_rmr->segment_length,
                                local_rmr->rmr_context};
  SendRequest request;
  if ((flags & ~ep->limits(Kind::kRead).flags.load(std::memory_order_relaxed)) != 0)
    return BadArgument(5);
  request.op = Op::kRdmaRead;
  request.flags = RequestFlags(flags);
  request.cookie = cookie.as_64;
  request.local = {&sink, 1};
  request.remote = *remote_iov;
  request.sink_is_window = true;
  request.invalidate_sink = true;
  return ep->PostSend(request);
} catch (const std::bad_alloc&) {
  return kNoMemory;
}

}  // namespace softdat::engine::slots
