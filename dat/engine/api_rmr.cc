// SPDX-License-Identifier: BSD-3-Clause
// Slots of the remote memory region.
#include "dat/engine/argument.h"
#include "dat/engine/enum_value.h"
#include "dat/engine/ia.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/rmr.h"
#include "dat/engine/slots.h"

namespace softdat::engine::slots {
namespace {

DAT_RETURN Create(DAT_PZ_HANDLE pz_handle, DAT_RMR_SCOPE scope, DAT_RMR_HANDLE* rmr_handle) {
  const Pinned<Pz> pz(pz_handle);
  if (!pz) return BadHandle(DAT_INVALID_HANDLE_PZ);
  if (rmr_handle == nullptr) return BadArgument(2);
  if (!pz->ia().attributes().windows) {
    return Error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE, "this IA has no memory windows");
  }
  Rmr* rmr = nullptr;
  const DAT_RETURN ret = Rmr::Create(pz.get(), scope, &rmr);
  if (ret == DAT_SUCCESS) *rmr_handle = rmr->handle();
  return ret;
}

}  // namespace

DAT_RETURN DAT_API RmrCreate(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle) {
  return Create(pz_handle, DAT_RMR_SCOPE_PZ, rmr_handle);
}

DAT_RETURN DAT_API RmrCreateForEp(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle) {
  return Create(pz_handle, DAT_RMR_SCOPE_EP, rmr_handle);
}

DAT_RETURN DAT_API RmrQuery(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK mask,
                            DAT_RMR_PARAM* param) {
  const Pinned<Rmr> rmr(rmr_handle);
  if (!rmr) return BadHandle(DAT_INVALID_HANDLE_RMR);
  if ((mask & ~DAT_RMR_FIELD_ALL) != 0) return BadArgument(2);
  if (param == nullptr) return BadArgument(3);
  rmr->Query(param);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API RmrBind(DAT_RMR_HANDLE rmr_handle, DAT_LMR_HANDLE lmr_handle,
                           const DAT_LMR_TRIPLET* triplet, DAT_MEM_PRIV_FLAGS privileges,
                           DAT_VA_TYPE va_type, DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE cookie,
                           DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context) {
  const Pinned<Rmr> rmr(rmr_handle);
  if (!rmr) return BadHandle(DAT_INVALID_HANDLE_RMR);
  const Pinned<Ep> ep(ep_handle);
  if (!ep || &ep->ia() != &rmr->ia()) return BadHandle(DAT_INVALID_HANDLE_EP);
  const Optional<Lmr> lmr(lmr_handle);
  const bool unbind = triplet != nullptr && triplet->segment_length == 0;
  // An unbind needs no LMR.
  if (!lmr.ok() || (lmr.get() == nullptr && !unbind)) return BadHandle(DAT_INVALID_HANDLE_LMR);
  if (lmr.get() != nullptr && &lmr.get()->ia() != &rmr->ia())
    return BadHandle(DAT_INVALID_HANDLE_LMR);
  if (triplet == nullptr) return BadArgument(3);
  if (context == nullptr && !unbind) return BadArgument(9);
  Rmr::Binding binding;
  binding.triplet = *triplet;
  CopyRaw(privileges, &binding.privileges);
  CopyRaw(va_type, &binding.va_type);
  return rmr->Bind(lmr.get(), binding, *ep, cookie, flags, context);
}

DAT_RETURN DAT_API RmrFree(DAT_RMR_HANDLE rmr_handle) {
  const Pinned<Rmr> rmr(rmr_handle);
  if (!rmr) return BadHandle(DAT_INVALID_HANDLE_RMR);
  return rmr->Free();
}

}  // namespace softdat::engine::slots
