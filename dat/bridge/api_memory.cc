// SPDX-License-Identifier: BSD-3-Clause
// dat_pz_*, dat_lmr_*, dat_rmr_*: memory.
#include <algorithm>

#include "dat/base/no_memory.h"
#include "dat/bridge/attributes.h"
#include "dat/bridge/flags.h"
#include "dat/bridge/handles.h"
#include "dat/bridge/ia_number.h"
#include "dat/bridge/masks.h"
#include "dat/bridge/native.h"
#include "dat/bridge/one.h"
#include "dat/bridge/params.h"
#include "dat/bridge/query.h"
#include "dat/bridge/refused.h"
#include "dat/bridge/regions.h"
#include "dat/bridge/return_words.h"
#include "dat/bridge/segments.h"
#include "dat/bridge/two.h"

using namespace softdat::bridge;  // NOLINT: this file is the C API of libdat.so.1
namespace dat12 = softdat::dat12;

namespace {

::DAT_REGION_DESCRIPTION RegionTo2(dat12::DAT_MEM_TYPE type,
                                   const dat12::DAT_REGION_DESCRIPTION& region) {
  ::DAT_REGION_DESCRIPTION region_2{};
  if (type == dat12::DAT_MEM_TYPE_LMR) {
    region_2.for_lmr_handle = ArgumentTo2(region.for_lmr_handle);
  } else if (type == dat12::DAT_MEM_TYPE_SHARED_VIRTUAL) {
    region_2.for_shared_memory.virtual_address = region.for_shared_memory.virtual_address;
    region_2.for_shared_memory.shared_memory_id = region.for_shared_memory.shared_memory_id;
  } else {
    region_2.for_va = region.for_va;
  }
  return region_2;
}

dat12::DAT_RETURN NoSegment() {
  return Refused(
      DAT_CLASS_ERROR | uint32_t{dat12::DAT_INVALID_PARAMETER} | uint32_t{dat12::DAT_INVALID_ARG2},
      "no segment to bind");
}
dat12::DAT_RETURN NoRegion() {
  return Refused(DAT_CLASS_ERROR | uint32_t{dat12::DAT_PROTECTION_VIOLATION},
                 "no region of this IA has the segment's context");
}

// The number of the IA that a window belongs to.
::DAT_RETURN IaOfWindow(::DAT_RMR_HANDLE rmr, ::DAT_IA_HANDLE* ia) {
  ::DAT_RMR_PARAM param{};
  const ::DAT_RETURN result = two_rmr_query(rmr, ::DAT_RMR_FIELD_IA_HANDLE, &param);
  if (result == ::DAT_SUCCESS) *ia = NumberOf(param.ia_handle);
  return result;
}

// Synchronises piece by piece, because the number of segments has no limit.
template <typename Sync>
dat12::DAT_RETURN SyncPieces(const Sync& sync, dat12::DAT_IA_HANDLE ia,
                             const dat12::DAT_LMR_TRIPLET* segments, dat12::DAT_VLEN count) {
  if (segments == nullptr || count == 0) return ReturnTo12(sync(IaTo2(ia), nullptr, count));
  constexpr dat12::DAT_VLEN kPiece = 16;
  for (dat12::DAT_VLEN done = 0; done < count;) {
    const dat12::DAT_VLEN now = std::min(kPiece, count - done);
    ::DAT_LMR_TRIPLET piece[kPiece];
    for (dat12::DAT_VLEN i = 0; i < now; ++i) {
      if (!To2(segments[done + i], &piece[i])) return TooLong();
    }
    if (const ::DAT_RETURN result = sync(IaTo2(ia), piece, now); result != ::DAT_SUCCESS)
      return ReturnTo12(result);
    done += now;
  }
  return dat12::DAT_SUCCESS;
}

}  // namespace

dat12::DAT_RETURN one_pz_create(dat12::DAT_IA_HANDLE ia, dat12::DAT_PZ_HANDLE* pz) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::pz_create_func>(pz);
  ::DAT_PZ_HANDLE pz_2 = nullptr;
  const ::DAT_RETURN result = two_pz_create(IaTo2(ia), pz != nullptr ? &pz_2 : nullptr);
  if (result == ::DAT_SUCCESS) *pz = To12(pz_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_pz_query(dat12::DAT_PZ_HANDLE pz, dat12::DAT_PZ_PARAM_MASK mask,
                               dat12::DAT_PZ_PARAM* param) {
  if (const Native to{pz}) [[unlikely]]
    return to.Call<&Table::pz_query_func>(mask, param);
  return QueryAsItIs(&two_pz_query, pz, mask, param);
}

dat12::DAT_RETURN one_pz_free(dat12::DAT_PZ_HANDLE pz) {
  if (const Native to{pz}) [[unlikely]]
    return to.CallLast<&Table::pz_free_func>();
  return ReturnTo12(two_pz_free(To2(pz)));
}

dat12::DAT_RETURN one_lmr_create(dat12::DAT_IA_HANDLE ia, dat12::DAT_MEM_TYPE type,
                                 dat12::DAT_REGION_DESCRIPTION region, dat12::DAT_VLEN length,
                                 dat12::DAT_PZ_HANDLE pz, dat12::DAT_MEM_PRIV_FLAGS privileges,
                                 dat12::DAT_LMR_HANDLE* lmr, dat12::DAT_LMR_CONTEXT* lmr_context,
                                 dat12::DAT_RMR_CONTEXT* rmr_context,
                                 dat12::DAT_VLEN* registered_size,
                                 dat12::DAT_VADDR* registered_address) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::lmr_create_func>(type, region, length, pz, privileges, lmr, lmr_context,
                                            rmr_context, registered_size, registered_address);
  ::DAT_LMR_HANDLE lmr_2 = nullptr;
  ::DAT_LMR_CONTEXT context = 0;  // always asked for, since dat_rmr_bind() may need it
  const ::DAT_RETURN result =
      two_lmr_create(IaTo2(ia), static_cast<::DAT_MEM_TYPE>(type), RegionTo2(type, region), length,
                     ArgumentTo2(pz), PrivilegesTo2(privileges), ::DAT_VA_TYPE_VA,
                     lmr != nullptr ? &lmr_2 : nullptr, &context, rmr_context, registered_size,
                     registered_address);
  if (result != ::DAT_SUCCESS) {
    // 2.0 has the type of addresses as its seventh argument.
    return MovedArgument(result, [](uint32_t n) { return n > 7 ? n - 1 : n; });
  }
  const bool added = softdat::OrNoMemory(
      [&] {
        TheRegions().Add(context, IaTo2(ia), lmr_2);
        return true;
      },
      false);
  if (!added) {
    two_lmr_free(lmr_2);
    return kNoMemory;
  }
  *lmr = To12(lmr_2);
  if (lmr_context != nullptr) *lmr_context = context;
  return dat12::DAT_SUCCESS;
}

dat12::DAT_RETURN one_lmr_query(dat12::DAT_LMR_HANDLE lmr, dat12::DAT_LMR_PARAM_MASK mask,
                                dat12::DAT_LMR_PARAM* param) {
  if (const Native to{lmr}) [[unlikely]]
    return to.Call<&Table::lmr_query_func>(mask, param);
  return Query(&two_lmr_query, lmr, LmrMaskTo2(mask), param);
}

dat12::DAT_RETURN one_lmr_free(dat12::DAT_LMR_HANDLE lmr) {
  if (const Native to{lmr}) [[unlikely]]
    return to.CallLast<&Table::lmr_free_func>();
  const uint64_t now = TheRegions().Now();
  const ::DAT_RETURN result = two_lmr_free(To2(lmr));
  if (result == ::DAT_SUCCESS) TheRegions().Forget(To2(lmr), now);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_lmr_sync_rdma_read(dat12::DAT_IA_HANDLE ia,
                                         const dat12::DAT_LMR_TRIPLET* segments,
                                         dat12::DAT_VLEN count) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::lmr_sync_rdma_read_func>(segments, count);
  return SyncPieces(two_lmr_sync_rdma_read, ia, segments, count);
}

dat12::DAT_RETURN one_lmr_sync_rdma_write(dat12::DAT_IA_HANDLE ia,
                                          const dat12::DAT_LMR_TRIPLET* segments,
                                          dat12::DAT_VLEN count) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::lmr_sync_rdma_write_func>(segments, count);
  return SyncPieces(two_lmr_sync_rdma_write, ia, segments, count);
}

dat12::DAT_RETURN one_rmr_create(dat12::DAT_PZ_HANDLE pz, dat12::DAT_RMR_HANDLE* rmr) {
  if (const Native to{pz}) [[unlikely]]
    return to.Call<&Table::rmr_create_func>(rmr);
  ::DAT_RMR_HANDLE rmr_2 = nullptr;
  const ::DAT_RETURN result = two_rmr_create(To2(pz), rmr != nullptr ? &rmr_2 : nullptr);
  if (result == ::DAT_SUCCESS) *rmr = To12(rmr_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_rmr_query(dat12::DAT_RMR_HANDLE rmr, dat12::DAT_RMR_PARAM_MASK mask,
                                dat12::DAT_RMR_PARAM* param) {
  if (const Native to{rmr}) [[unlikely]]
    return to.Call<&Table::rmr_query_func>(mask, param);
  return Query(&two_rmr_query, rmr, RmrMaskTo2(mask), param);
}

dat12::DAT_RETURN one_rmr_bind(dat12::DAT_RMR_HANDLE rmr, const dat12::DAT_LMR_TRIPLET* segment,
                               dat12::DAT_MEM_PRIV_FLAGS privileges, dat12::DAT_EP_HANDLE ep,
                               dat12::DAT_RMR_COOKIE cookie, dat12::DAT_COMPLETION_FLAGS flags,
                               dat12::DAT_RMR_CONTEXT* context) {
  if (const Native to{rmr}) [[unlikely]]
    return to.Call<&Table::rmr_bind_func>(segment, privileges, ep, cookie, flags, context);
  ::DAT_LMR_TRIPLET segment_2{};
  if (segment != nullptr && !To2(*segment, &segment_2)) return TooLong();
  Regions::Found region;
  if (segment != nullptr) region = TheRegions().FindOnly(segment_2.lmr_context);
  if (region.lmr == nullptr) {
    // Several regions have this context, or none has, or there is no segment. The window's IA
    // decides.
    ::DAT_IA_HANDLE ia = nullptr;
    const ::DAT_RETURN asked = IaOfWindow(To2(rmr), &ia);
    if (asked != ::DAT_SUCCESS) return ReturnTo12(asked);
    if (segment == nullptr) return NoSegment();
    region = TheRegions().Find(segment_2.lmr_context, ia);
    // A length of zero unbinds the window and needs no region.
    if (region.lmr == nullptr && segment_2.segment_length > 0) return NoRegion();
  }
  ::DAT_RMR_COOKIE cookie_2;
  cookie_2.as_64 = cookie.as_64;
  const ::DAT_RETURN result =
      two_rmr_bind(To2(rmr), region.lmr, &segment_2, PrivilegesTo2(privileges), ::DAT_VA_TYPE_VA,
                   ArgumentTo2(ep), cookie_2, CompletionFlagsTo2(flags), context);
  if (result ==
      (DAT_CLASS_ERROR | uint32_t{::DAT_INVALID_HANDLE} | uint32_t{::DAT_INVALID_HANDLE_LMR})) {
    return NoRegion();  // the region was freed meanwhile
  }
  // 2.0 has the region as its second argument, and the type of addresses as its fifth.
  return MovedArgument(result, [](uint32_t n) { return n > 5 ? n - 2 : n > 2 ? n - 1 : n; });
}

dat12::DAT_RETURN one_rmr_free(dat12::DAT_RMR_HANDLE rmr) {
  if (const Native to{rmr}) [[unlikely]]
    return to.CallLast<&Table::rmr_free_func>();
  return ReturnTo12(two_rmr_free(To2(rmr)));
}
