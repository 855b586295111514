// SPDX-License-Identifier: BSD-3-Clause
// Slots of the local memory region.
#include <unistd.h>

#include <string>

#include "dat/engine/ia.h"
#include "dat/engine/lmr.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine::slots {
namespace {

constexpr int kAllPrivileges = int{DAT_MEM_PRIV_ALL_FLAG} | int{DAT_IB_MEM_PRIV_REMOTE_ATOMIC};

// Finds the memory that `description` means. For an LMR on an LMR that is the memory of the other
// one, whatever the length says.
DAT_RETURN Resolve(DAT_MEM_TYPE type, const DAT_REGION_DESCRIPTION& description, DAT_VLEN length,
                   Ia* ia, Lmr::Parameters* p) {
  p->type = type;
  p->description = description;
  switch (type) {
    case DAT_MEM_TYPE_VIRTUAL:
      p->address = description.for_va;
      p->length = length;
      return DAT_SUCCESS;
    case DAT_MEM_TYPE_LMR: {
      const Pinned<Lmr> other(description.for_lmr_handle);
      if (!other || &other->ia() != ia) return BadHandle(DAT_INVALID_HANDLE_LMR);
      p->address = other->parameters().address;
      p->length = other->parameters().length;
      return DAT_SUCCESS;
    }
    case DAT_MEM_TYPE_SHARED_VIRTUAL:
      if (description.for_shared_memory.shared_memory_id == nullptr) {
        return BadArgument(3, "shared memory without a cookie");
      }
      p->address = description.for_shared_memory.virtual_address;
      p->length = length;
      return DAT_SUCCESS;
    default:
      return BadArgument(2);
  }
}

bool StartsPage(uintptr_t address) {
  static const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return address % size == 0;
}

DAT_RETURN CheckSegments(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* segments, DAT_VLEN count) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  if (segments == nullptr && count != 0) return BadArgument(2);
  if (count > ia->attributes().max_regions)
    return BadArgument(3, "more segments than regions can exist");
  const Code code = ia->adapter().CheckSegments({segments, static_cast<size_t>(count)});
  if (code != Code::kOk) return BadArgument(2, "a segment lies outside the registered memory");
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN DAT_API LmrCreate(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE type,
                             DAT_REGION_DESCRIPTION description, DAT_VLEN length,
                             DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
                             DAT_VA_TYPE va_type, DAT_LMR_HANDLE* lmr_handle,
                             DAT_LMR_CONTEXT* lmr_context, DAT_RMR_CONTEXT* rmr_context,
                             DAT_VLEN* registered_size, DAT_VADDR* registered_address) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  const Pinned<Pz> pz(pz_handle);
  if (!pz || &pz->ia() != ia.get()) return BadHandle(DAT_INVALID_HANDLE_PZ);
  if ((privileges & ~kAllPrivileges) != 0) return BadArgument(6);
  if (va_type != DAT_VA_TYPE_VA && va_type != DAT_VA_TYPE_ZB)
    return BadArgument(7, "no such address type");
  if (va_type == DAT_VA_TYPE_ZB && !ia->attributes().zero_based &&
      !ia->attributes().zero_based_pages)
    return Error(DAT_MODEL_NOT_SUPPORTED);
  // Position 7 is that of DAT 1.2, which providers have kept (semantics 7.2).
  if (lmr_handle == nullptr) return BadArgument(7);
  Lmr::Parameters p{};
  DAT_RETURN ret = Resolve(type, description, length, ia.get(), &p);
  if (ret != DAT_SUCCESS) return ret;
  if (p.length == 0) return Error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE, "a region of no bytes");
  const auto start = reinterpret_cast<uintptr_t>(p.address);
  if (p.address == nullptr) return BadArgument(3, "the region starts at NULL");
  if (p.length > UINTPTR_MAX - start)
    return BadArgument(4, "the region wraps around the address space");
  if (va_type == DAT_VA_TYPE_ZB && !ia->attributes().zero_based && !StartsPage(start)) {
    return Error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE,
                 "this IA has zero-based addresses only in regions that begin with a page");
  }
  p.privileges = privileges;
  p.va_type = va_type;
  Lmr* lmr = nullptr;
  ret = Lmr::Create(ia.get(), pz.get(), p, &lmr);
  if (ret != DAT_SUCCESS) return ret;
  *lmr_handle = lmr->handle();
  if (lmr_context != nullptr) *lmr_context = lmr->region().local_key();
  if (rmr_context != nullptr) *rmr_context = lmr->region().remote_key();
  if (registered_size != nullptr) *registered_size = p.length;
  if (registered_address != nullptr) *registered_address = start;
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API LmrQuery(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK mask,
                            DAT_LMR_PARAM* param) {
  const Pinned<Lmr> lmr(lmr_handle);
  if (!lmr) return BadHandle(DAT_INVALID_HANDLE_LMR);
  if ((mask & ~DAT_LMR_FIELD_ALL) != 0) return BadArgument(2);
  if (param == nullptr) return BadArgument(3);
  lmr->Query(param);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API LmrFree(DAT_LMR_HANDLE lmr_handle) {
  const Pinned<Lmr> lmr(lmr_handle);
  if (!lmr) return BadHandle(DAT_INVALID_HANDLE_LMR);
  return lmr->Free();
}

DAT_RETURN DAT_API LmrSyncRdmaRead(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* segments,
                                   DAT_VLEN count) {
  return CheckSegments(ia_handle, segments, count);
}

DAT_RETURN DAT_API LmrSyncRdmaWrite(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* segments,
                                    DAT_VLEN count) {
  return CheckSegments(ia_handle, segments, count);
}

}  // namespace softdat::engine::slots
