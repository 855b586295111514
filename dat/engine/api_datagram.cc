// SPDX-License-Identifier: BSD-3-Clause
// Extended operations of datagrams (semantics 15.2). Arguments are numbered as in the macros of
// dat_ib_extensions.h.
#include <cstdarg>

#include "dat/engine/address_handle.h"
#include "dat/engine/argument.h"
#include "dat/engine/ep.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine::slots {
namespace {

// dat_ib_post_send_ud(ep, segments, lbuf, ah, cookie, flags)
DAT_RETURN SendDatagram(Ep& ep, va_list args) {
  const DAT_COUNT num_segments = va_arg(args, DAT_COUNT);
  const auto* local = va_arg(args, const DAT_LMR_TRIPLET*);
  const auto* to = va_arg(args, const DAT_IB_ADDR_HANDLE*);
  const DAT_DTO_COOKIE cookie = va_arg(args, DAT_DTO_COOKIE);
  const auto flags = static_cast<DAT_COMPLETION_FLAGS>(va_arg(args, int));

  const Ep::PostLimits& limits = ep.limits(Ep::PostKind::kSend);
  const DAT_RETURN ret = CheckPost(limits, num_segments, local, flags, 6);
  if (ret != DAT_SUCCESS) return ret;
  if (to == nullptr) return BadArgument(4);
  const Pinned<AddressHandle> handle(to->ah);
  if (!handle || &handle->ia() != &ep.ia())
    return BadArgument(4, "there is no such address handle");
  if (handle->pz() != ep.pz())
    return BadArgument(4, "the address handle is of another protection zone");
  if (to->qpn == 0) return BadArgument(4, "the address handle names no queue pair");
  transport::SendRequest request;
  request.op = transport::Op::kSendDatagram;
  request.flags = RequestFlags(flags);
  request.cookie = cookie.as_64;
  request.local = {local, static_cast<size_t>(num_segments)};
  request.datagram = {.to = handle->way(), .number = to->qpn, .qkey = handle->qkey()};
  return ep.PostDatagram(request);
}

// dat_ib_ud_ah_free(ep, ah): of any EP for datagrams of the IA.
DAT_RETURN FreeAddressHandle(const Ep& ep, va_list args) {
  const auto* which = va_arg(args, const DAT_IB_ADDR_HANDLE*);
  if (which == nullptr) return BadArgument(2);
  const Pinned<AddressHandle> handle(which->ah);
  if (!handle || &handle->ia() != &ep.ia() || !handle->Free())
    return BadArgument(2, "there is no such address handle");
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN DatagramOp(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args) {
  if (const AnyPinned object(handle); object && !object->ia().attributes().datagrams) {
    return Error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE,
                 "there are no unreliable datagrams on this IA");
  }
  const Pinned<Ep> ep(handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  if (!ep->datagrams()) {
    return Error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
                 "the service type of the EP is not DAT_IB_SERVICE_TYPE_UD");
  }
  if (op == DAT_IB_UD_SEND_OP) return SendDatagram(*ep, args);
  if (op == DAT_IB_UD_AH_FREE_OP) return FreeAddressHandle(*ep, args);
  return ep->service().FreeExchange(va_arg(args, DAT_CONTEXT));
}

}  // namespace softdat::engine::slots
