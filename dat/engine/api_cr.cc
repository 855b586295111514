// SPDX-License-Identifier: BSD-3-Clause
// Slots of the connection request.
#include "dat/engine/argument.h"
#include "dat/engine/cr.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"

namespace softdat::engine::slots {

DAT_RETURN DAT_API CrQuery(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM* param) {
  const Pinned<Cr> cr(cr_handle);
  if (!cr) return BadHandle(DAT_INVALID_HANDLE_CR);
  if ((mask & ~DAT_CR_FIELD_ALL) != 0) return BadArgument(2);
  if (param == nullptr) return BadArgument(3);
  cr->Query(param);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API CrAccept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
                            DAT_COUNT private_data_size, const DAT_PVOID private_data) {
  const Pinned<Cr> cr(cr_handle);
  if (!cr) return BadHandle(DAT_INVALID_HANDLE_CR);
  const Optional<Ep> ep(ep_handle);
  if (!ep.ok() || (ep.get() != nullptr && &ep.get()->ia() != &cr->ia()))
    return BadHandle(DAT_INVALID_HANDLE_EP);
  std::span<const uint8_t> data;
  const DAT_RETURN ret = CheckPrivateData(cr->ia(), private_data_size, private_data, 3, &data);
  if (ret != DAT_SUCCESS) return ret;
  return cr->Accept(ep.get(), data);
}

DAT_RETURN DAT_API CrReject(DAT_CR_HANDLE cr_handle, DAT_COUNT private_data_size,
                            const DAT_PVOID private_data) {
  const Pinned<Cr> cr(cr_handle);
  if (!cr) return BadHandle(DAT_INVALID_HANDLE_CR);
  std::span<const uint8_t> data;
  const DAT_RETURN ret = CheckPrivateData(cr->ia(), private_data_size, private_data, 2, &data);
  if (ret != DAT_SUCCESS) return ret;
  return cr->Reject(data);
}

DAT_RETURN DAT_API CrHandoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL conn_qual) {
  const Pinned<Cr> cr(cr_handle);
  if (!cr) return BadHandle(DAT_INVALID_HANDLE_CR);
  return cr->Handoff(conn_qual);
}

}  // namespace softdat::engine::slots
