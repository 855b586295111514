// SPDX-License-Identifier: BSD-3-Clause
// The slot of extended operations: the InfiniBand family, version 2.0.9 (semantics 15.2). Arguments
// are numbered as in the macros of dat_ib_extensions.h.
#include <cstdarg>
#include <string>

#include "dat/base/settings.h"
#include "dat/engine/argument.h"
#include "dat/engine/ep.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine::slots {
namespace {

using transport::Op;
using transport::SendRequest;

constexpr DAT_SEG_LENGTH kAtomicBytes = 8;
// Asynchronous errors that dat_ib_open_query's IA can hold; nobody reads them.
constexpr DAT_COUNT kQueryAsyncEvents = 8;

// An operation of RFC 7306 that the IA does not have, or may not use.
DAT_RETURN NoExtension(const std::string& what) {
  const Settings& settings = GetSettings();
  std::string reason = "no " + what + " on this IA";
  if (settings.profile != DeviceProfile::kNone) reason += "; SOFTDAT_PROFILE names a device";
  if (!settings.rfc7306) reason += "; SOFTDAT_RFC7306 is off";
  return Error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE, reason);
}

DAT_COMPLETION_FLAGS NextFlags(va_list args) {
  return static_cast<DAT_COMPLETION_FLAGS>(va_arg(args, int));
}

// dat_ib_post_rdma_write_immed(ep, size, lbuf, cookie, rbuf, idata, flags)
DAT_RETURN WriteImmediate(Ep& ep, va_list args) {
  const DAT_COUNT num_segments = va_arg(args, DAT_COUNT);
  const auto* local = va_arg(args, const DAT_LMR_TRIPLET*);
  const DAT_DTO_COOKIE cookie = va_arg(args, DAT_DTO_COOKIE);
  const auto* remote = va_arg(args, const DAT_RMR_TRIPLET*);
  const DAT_UINT32 immediate = va_arg(args, DAT_UINT32);
  const DAT_COMPLETION_FLAGS flags = NextFlags(args);

  const transport::AdapterAttributes& can = ep.ia().attributes();
  const bool as_message = !can.immediate && can.immediate_as_message &&
                          (flags & int{SOFTDAT_COMPLETION_EXTENSION_FLAG}) != 0;
  if (!can.immediate && !as_message) return NoExtension("immediate data");
  if (remote == nullptr) return BadArgument(5);
  // Like a write, but the peer's receive may be a solicited one.
  const Ep::PostLimits& limits = ep.limits(Ep::PostKind::kWrite);
  const auto own = static_cast<DAT_COMPLETION_FLAGS>(flags & ~DAT_COMPLETION_SOLICITED_WAIT_FLAG);
  const DAT_RETURN ret = CheckPost(limits, num_segments, local, own, 7);
  if (ret != DAT_SUCCESS) return ret;
  SendRequest request;
  request.op = Op::kRdmaWriteImmediate;
  request.flags = RequestFlags(flags);
  if (as_message) request.flags |= transport::kAsMessage;
  request.cookie = cookie.as_64;
  request.local = {local, static_cast<size_t>(num_segments)};
  request.remote = *remote;
  request.key = immediate;
  return ep.PostSend(request);
}

// What the two atomics share, from lbuf on; `local_argument` is its position.
DAT_RETURN PostAtomic(Ep& ep, SendRequest* request, int local_argument, va_list args) {
  const auto* local = va_arg(args, const DAT_LMR_TRIPLET*);
  const DAT_DTO_COOKIE cookie = va_arg(args, DAT_DTO_COOKIE);
  const auto* remote = va_arg(args, const DAT_RMR_TRIPLET*);
  const DAT_COMPLETION_FLAGS flags = NextFlags(args);

  if (!ep.ia().attributes().atomics) return NoExtension("atomic operations");
  if (local == nullptr) return BadArgument(local_argument);
  if (remote == nullptr) return BadArgument(local_argument + 2);
  if (remote->virtual_address % kAtomicBytes != 0) {
    return BadArgument(local_argument + 2,
                       "the remote address of an atomic is not a multiple of 8");
  }
  const Ep::PostLimits& limits = ep.limits(Ep::PostKind::kRead);
  if ((flags & ~limits.flags.load(std::memory_order_relaxed)) != 0)
    return BadArgument(local_argument + 3);
  if (local->segment_length < kAtomicBytes) {
    return Error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE, "the old value of an atomic needs 8 bytes");
  }
  if (remote->segment_length < kAtomicBytes) {
    return Error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE,
                 "an atomic changes 8 bytes, and the remote segment is shorter");
  }
  DAT_LMR_TRIPLET result = *local;
  result.segment_length = kAtomicBytes;
  request->flags = RequestFlags(flags);
  request->cookie = cookie.as_64;
  request->local = {&result, 1};
  request->remote = *remote;
  request->remote.segment_length = kAtomicBytes;
  return ep.PostSend(*request);
}

// dat_ib_post_fetch_and_add(ep, add_val, lbuf, cookie, rbuf, flags)
DAT_RETURN FetchAndAdd(Ep& ep, va_list args) {
  SendRequest request;
  request.op = Op::kFetchAdd;
  request.atomic = {.compare = 0, .swap_or_add = va_arg(args, DAT_UINT64)};
  return PostAtomic(ep, &request, 3, args);
}

// dat_ib_post_cmp_and_swap(ep, cmp_val, swap_val, lbuf, cookie, rbuf, flags)
DAT_RETURN CompareAndSwap(Ep& ep, va_list args) {
  SendRequest request;
  request.op = Op::kCompareSwap;
  request.atomic.compare = va_arg(args, DAT_UINT64);
  request.atomic.swap_or_add = va_arg(args, DAT_UINT64);
  return PostAtomic(ep, &request, 4, args);
}

// dat_ib_open_query(name, ia_handle, ia_mask, ia_attr, prov_mask, prov_attr). The registry takes
// the name off the list and passes it in the handle's place; it does not give this IA a number
// (semantics 15.1).
DAT_RETURN OpenQuery(DAT_NAME_PTR name, va_list args) {
  auto* ia_handle = va_arg(args, DAT_IA_HANDLE*);
  const DAT_IA_ATTR_MASK ia_mask = va_arg(args, DAT_IA_ATTR_MASK);
  auto* ia_attr = va_arg(args, DAT_IA_ATTR*);
  const DAT_PROVIDER_ATTR_MASK provider_mask = va_arg(args, DAT_PROVIDER_ATTR_MASK);
  auto* provider_attr = va_arg(args, DAT_PROVIDER_ATTR*);
  if (name == nullptr) return BadArgument(1);
  if (ia_handle == nullptr) return BadArgument(2);
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_RETURN ret = IaOpen(name, kQueryAsyncEvents, &async_evd, &ia);
  // The slot does not learn under which of the two keys the registry found the provider.
  if (DAT_GET_TYPE(ret) == DAT_PROVIDER_NOT_FOUND) {
    ret = IaOpenThreadSafe(name, kQueryAsyncEvents, &async_evd, &ia);
  }
  if (ret != DAT_SUCCESS) return ret;
  ret = IaQuery(ia, nullptr, ia_mask, ia_attr, provider_mask, provider_attr);
  if (ret != DAT_SUCCESS) {
    IaClose(ia, DAT_CLOSE_ABRUPT_FLAG);
    return ret;
  }
  *ia_handle = ia;
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN DAT_API HandleExtendedop(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args) {
  if (op == DAT_IB_OPEN_QUERY_OP) return OpenQuery(static_cast<DAT_NAME_PTR>(handle), args);
  if (op == DAT_IB_CLOSE_QUERY_OP) return IaClose(handle, DAT_CLOSE_ABRUPT_FLAG);
  if (op == DAT_IB_RDMA_WRITE_IMMED_OP || op == DAT_IB_FETCH_AND_ADD_OP ||
      op == DAT_IB_CMP_AND_SWAP_OP) {
    const Pinned<Ep> ep(handle);
    if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
    if (op == DAT_IB_RDMA_WRITE_IMMED_OP) return WriteImmediate(*ep, args);
    return op == DAT_IB_FETCH_AND_ADD_OP ? FetchAndAdd(*ep, args) : CompareAndSwap(*ep, args);
  }
  if (op == DAT_IB_QUERY_COUNTERS_OP || op == DAT_IB_PRINT_COUNTERS_OP ||
      op == DAT_IB_START_COUNTERS_OP || op == DAT_IB_STOP_COUNTERS_OP) {
    return CountersOp(handle, op, args);
  }
  if (op == DAT_IB_UD_SEND_OP || op == DAT_IB_UD_CM_FREE_OP || op == DAT_IB_UD_AH_FREE_OP)
    return DatagramOp(handle, op, args);
  if (const AnyPinned object(handle); !object) return BadHandle(DAT_INVALID_HANDLE1);
  return Error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE,
               "no such extended operation on this IA (collectives need a vendor library)");
}

}  // namespace softdat::engine::slots
