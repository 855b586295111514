// SPDX-License-Identifier: BSD-3-Clause
// Slots of the protection zone.
#include "dat/engine/ia.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/pz.h"
#include "dat/engine/slots.h"

namespace softdat::engine::slots {

DAT_RETURN DAT_API PzCreate(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE* pz_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  if (pz_handle == nullptr) return BadArgument(2);
  Pz* pz = nullptr;
  const DAT_RETURN ret = Pz::Create(ia.get(), &pz);
  if (ret == DAT_SUCCESS) *pz_handle = pz->handle();
  return ret;
}

DAT_RETURN DAT_API PzQuery(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM* param) {
  const Pinned<Pz> pz(pz_handle);
  if (!pz) return BadHandle(DAT_INVALID_HANDLE_PZ);
  if ((mask & ~DAT_PZ_FIELD_ALL) != 0) return BadArgument(2);
  if (param == nullptr) return BadArgument(3);
  param->ia_handle = pz->ia().consumer_handle();
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API PzFree(DAT_PZ_HANDLE pz_handle) {
  const Pinned<Pz> pz(pz_handle);
  if (!pz) return BadHandle(DAT_INVALID_HANDLE_PZ);
  return pz->Free();
}

}  // namespace softdat::engine::slots
