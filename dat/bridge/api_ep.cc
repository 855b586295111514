// SPDX-License-Identifier: BSD-3-Clause
// dat_ep_*: end points and their connections.
#include "dat/bridge/attributes.h"
#include "dat/bridge/handles.h"
#include "dat/bridge/masks.h"
#include "dat/bridge/native.h"
#include "dat/bridge/one.h"
#include "dat/bridge/params.h"
#include "dat/bridge/query.h"
#include "dat/bridge/return_words.h"
#include "dat/bridge/two.h"

using namespace softdat::bridge;  // NOLINT: this file is the C API of libdat.so.1
namespace dat12 = softdat::dat12;

dat12::DAT_RETURN one_ep_create(dat12::DAT_IA_HANDLE ia, dat12::DAT_PZ_HANDLE pz,
                                dat12::DAT_EVD_HANDLE recv_evd, dat12::DAT_EVD_HANDLE request_evd,
                                dat12::DAT_EVD_HANDLE connect_evd, const dat12::DAT_EP_ATTR* attr,
                                dat12::DAT_EP_HANDLE* ep) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::ep_create_func>(pz, recv_evd, request_evd, connect_evd, attr, ep);
  ::DAT_EP_ATTR attr_2{};
  if (attr != nullptr) To2(*attr, &attr_2);
  ::DAT_EP_HANDLE ep_2 = nullptr;
  const ::DAT_RETURN result =
      two_ep_create(IaTo2(ia), ArgumentTo2(pz), ArgumentTo2(recv_evd), ArgumentTo2(request_evd),
                    ArgumentTo2(connect_evd), attr != nullptr ? &attr_2 : nullptr,
                    ep != nullptr ? &ep_2 : nullptr);
  if (result == ::DAT_SUCCESS) *ep = To12(ep_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_ep_create_with_srq(dat12::DAT_IA_HANDLE ia, dat12::DAT_PZ_HANDLE pz,
                                         dat12::DAT_EVD_HANDLE recv_evd,
                                         dat12::DAT_EVD_HANDLE request_evd,
                                         dat12::DAT_EVD_HANDLE connect_evd,
                                         dat12::DAT_SRQ_HANDLE srq, const dat12::DAT_EP_ATTR* attr,
                                         dat12::DAT_EP_HANDLE* ep) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::ep_create_with_srq_func>(pz, recv_evd, request_evd, connect_evd, srq,
                                                    attr, ep);
  ::DAT_EP_ATTR attr_2{};
  if (attr != nullptr) To2(*attr, &attr_2);
  ::DAT_EP_HANDLE ep_2 = nullptr;
  const ::DAT_RETURN result =
      two_ep_create_with_srq(IaTo2(ia), ArgumentTo2(pz), ArgumentTo2(recv_evd),
                             ArgumentTo2(request_evd), ArgumentTo2(connect_evd), ArgumentTo2(srq),
                             attr != nullptr ? &attr_2 : nullptr, ep != nullptr ? &ep_2 : nullptr);
  if (result == ::DAT_SUCCESS) *ep = To12(ep_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_ep_query(dat12::DAT_EP_HANDLE ep, dat12::DAT_EP_PARAM_MASK mask,
                               dat12::DAT_EP_PARAM* param) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_query_func>(mask, param);
  return Query(&two_ep_query, ep, EpMaskTo2(mask), param);
}

dat12::DAT_RETURN one_ep_modify(dat12::DAT_EP_HANDLE ep, dat12::DAT_EP_PARAM_MASK mask,
                                const dat12::DAT_EP_PARAM* param) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_modify_func>(mask, param);
  ::DAT_EP_PARAM param_2{};
  if (param != nullptr) To2(*param, &param_2);
  return ReturnTo12(two_ep_modify(To2(ep), EpMaskTo2(mask), param != nullptr ? &param_2 : nullptr));
}

dat12::DAT_RETURN one_ep_get_status(dat12::DAT_EP_HANDLE ep, dat12::DAT_EP_STATE* state,
                                    dat12::DAT_BOOLEAN* recv_idle,
                                    dat12::DAT_BOOLEAN* request_idle) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_get_status_func>(state, recv_idle, request_idle);
  ::DAT_EP_STATE state_2{};
  ::DAT_BOOLEAN recv_2{};
  ::DAT_BOOLEAN request_2{};
  const ::DAT_RETURN result = two_ep_get_status(To2(ep), state != nullptr ? &state_2 : nullptr,
                                                recv_idle != nullptr ? &recv_2 : nullptr,
                                                request_idle != nullptr ? &request_2 : nullptr);
  if (result == ::DAT_SUCCESS) {
    if (state != nullptr) *state = To12(state_2);
    if (recv_idle != nullptr) *recv_idle = static_cast<dat12::DAT_BOOLEAN>(recv_2);
    if (request_idle != nullptr) *request_idle = static_cast<dat12::DAT_BOOLEAN>(request_2);
  }
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_ep_reset(dat12::DAT_EP_HANDLE ep) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_reset_func>();
  return ReturnTo12(two_ep_reset(To2(ep)));
}

dat12::DAT_RETURN one_ep_free(dat12::DAT_EP_HANDLE ep) {
  if (const Native to{ep}) [[unlikely]]
    return to.CallLast<&Table::ep_free_func>();
  return ReturnTo12(two_ep_free(To2(ep)));
}

dat12::DAT_RETURN one_ep_connect(dat12::DAT_EP_HANDLE ep, dat12::DAT_IA_ADDRESS_PTR address,
                                 dat12::DAT_CONN_QUAL qualifier, dat12::DAT_TIMEOUT timeout,
                                 dat12::DAT_COUNT size, const dat12::DAT_PVOID data,
                                 dat12::DAT_QOS qos, dat12::DAT_CONNECT_FLAGS flags) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_connect_func>(address, qualifier, timeout, size, data, qos, flags);
  return ReturnTo12(two_ep_connect(To2(ep), address, qualifier, timeout, size, data,
                                   static_cast<::DAT_QOS>(qos),
                                   static_cast<::DAT_CONNECT_FLAGS>(flags)));
}

dat12::DAT_RETURN one_ep_dup_connect(dat12::DAT_EP_HANDLE ep, dat12::DAT_EP_HANDLE other,
                                     dat12::DAT_TIMEOUT timeout, dat12::DAT_COUNT size,
                                     const dat12::DAT_PVOID data, dat12::DAT_QOS qos) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_dup_connect_func>(other, timeout, size, data, qos);
  return ReturnTo12(two_ep_dup_connect(To2(ep), ArgumentTo2(other), timeout, size, data,
                                       static_cast<::DAT_QOS>(qos)));
}

dat12::DAT_RETURN one_ep_disconnect(dat12::DAT_EP_HANDLE ep, dat12::DAT_CLOSE_FLAGS flags) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_disconnect_func>(flags);
  return ReturnTo12(two_ep_disconnect(To2(ep), static_cast<::DAT_CLOSE_FLAGS>(flags)));
}

dat12::DAT_RETURN one_ep_recv_query(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT* allocated,
                                    dat12::DAT_COUNT* span) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_recv_query_func>(allocated, span);
  return ReturnTo12(two_ep_recv_query(To2(ep), allocated, span));
}

dat12::DAT_RETURN one_ep_set_watermark(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT soft,
                                       dat12::DAT_COUNT hard) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_set_watermark_func>(soft, hard);
  return ReturnTo12(two_ep_set_watermark(To2(ep), soft, hard));
}
