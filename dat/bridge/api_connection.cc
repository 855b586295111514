// SPDX-License-Identifier: BSD-3-Clause
// dat_psp_*, dat_rsp_*, dat_cr_*: the accepting side.
#include "dat/bridge/handles.h"
#include "dat/bridge/native.h"
#include "dat/bridge/one.h"
#include "dat/bridge/params.h"
#include "dat/bridge/query.h"
#include "dat/bridge/return_words.h"
#include "dat/bridge/two.h"

using namespace softdat::bridge;  // NOLINT: this file is the C API of libdat.so.1
namespace dat12 = softdat::dat12;

dat12::DAT_RETURN one_psp_create(dat12::DAT_IA_HANDLE ia, dat12::DAT_CONN_QUAL qualifier,
                                 dat12::DAT_EVD_HANDLE evd, dat12::DAT_PSP_FLAGS flags,
                                 dat12::DAT_PSP_HANDLE* psp) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::psp_create_func>(qualifier, evd, flags, psp);
  ::DAT_PSP_HANDLE psp_2 = nullptr;
  const ::DAT_RETURN result =
      two_psp_create(IaTo2(ia), qualifier, ArgumentTo2(evd), static_cast<::DAT_PSP_FLAGS>(flags),
                     psp != nullptr ? &psp_2 : nullptr);
  if (result == ::DAT_SUCCESS) *psp = To12(psp_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_psp_create_any(dat12::DAT_IA_HANDLE ia, dat12::DAT_CONN_QUAL* qualifier,
                                     dat12::DAT_EVD_HANDLE evd, dat12::DAT_PSP_FLAGS flags,
                                     dat12::DAT_PSP_HANDLE* psp) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::psp_create_any_func>(qualifier, evd, flags, psp);
  ::DAT_PSP_HANDLE psp_2 = nullptr;
  const ::DAT_RETURN result =
      two_psp_create_any(IaTo2(ia), qualifier, ArgumentTo2(evd),
                         static_cast<::DAT_PSP_FLAGS>(flags), psp != nullptr ? &psp_2 : nullptr);
  if (result == ::DAT_SUCCESS) *psp = To12(psp_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_psp_query(dat12::DAT_PSP_HANDLE psp, dat12::DAT_PSP_PARAM_MASK mask,
                                dat12::DAT_PSP_PARAM* param) {
  if (const Native to{psp}) [[unlikely]]
    return to.Call<&Table::psp_query_func>(mask, param);
  return QueryAsItIs(&two_psp_query, psp, mask, param);
}

dat12::DAT_RETURN one_psp_free(dat12::DAT_PSP_HANDLE psp) {
  if (const Native to{psp}) [[unlikely]]
    return to.CallLast<&Table::psp_free_func>();
  return ReturnTo12(two_psp_free(To2(psp)));
}

dat12::DAT_RETURN one_rsp_create(dat12::DAT_IA_HANDLE ia, dat12::DAT_CONN_QUAL qualifier,
                                 dat12::DAT_EP_HANDLE ep, dat12::DAT_EVD_HANDLE evd,
                                 dat12::DAT_RSP_HANDLE* rsp) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::rsp_create_func>(qualifier, ep, evd, rsp);
  ::DAT_RSP_HANDLE rsp_2 = nullptr;
  const ::DAT_RETURN result = two_rsp_create(IaTo2(ia), qualifier, ArgumentTo2(ep),
                                             ArgumentTo2(evd), rsp != nullptr ? &rsp_2 : nullptr);
  if (result == ::DAT_SUCCESS) *rsp = To12(rsp_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_rsp_query(dat12::DAT_RSP_HANDLE rsp, dat12::DAT_RSP_PARAM_MASK mask,
                                dat12::DAT_RSP_PARAM* param) {
  if (const Native to{rsp}) [[unlikely]]
    return to.Call<&Table::rsp_query_func>(mask, param);
  return QueryAsItIs(&two_rsp_query, rsp, mask, param);
}

dat12::DAT_RETURN one_rsp_free(dat12::DAT_RSP_HANDLE rsp) {
  if (const Native to{rsp}) [[unlikely]]
    return to.CallLast<&Table::rsp_free_func>();
  return ReturnTo12(two_rsp_free(To2(rsp)));
}

dat12::DAT_RETURN one_cr_query(dat12::DAT_CR_HANDLE cr, dat12::DAT_CR_PARAM_MASK mask,
                               dat12::DAT_CR_PARAM* param) {
  if (const Native to{cr}) [[unlikely]]
    return to.Call<&Table::cr_query_func>(mask, param);
  return QueryAsItIs(&two_cr_query, cr, mask, param);
}

dat12::DAT_RETURN one_cr_accept(dat12::DAT_CR_HANDLE cr, dat12::DAT_EP_HANDLE ep,
                                dat12::DAT_COUNT size, const dat12::DAT_PVOID data) {
  if (const Native to{cr}) [[unlikely]]
    return to.Call<&Table::cr_accept_func>(ep, size, data);
  return ReturnTo12(two_cr_accept(To2(cr), ArgumentTo2(ep), size, data));
}

dat12::DAT_RETURN one_cr_reject(dat12::DAT_CR_HANDLE cr) {
  if (const Native to{cr}) [[unlikely]]
    return to.Call<&Table::cr_reject_func>();
  return ReturnTo12(two_cr_reject(To2(cr), 0, nullptr));
}

dat12::DAT_RETURN one_cr_handoff(dat12::DAT_CR_HANDLE cr, dat12::DAT_CONN_QUAL qualifier) {
  if (const Native to{cr}) [[unlikely]]
    return to.Call<&Table::cr_handoff_func>(qualifier);
  return ReturnTo12(two_cr_handoff(To2(cr), qualifier));
}
