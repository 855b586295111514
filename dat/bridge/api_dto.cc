// SPDX-License-Identifier: BSD-3-Clause
// dat_ep_post_*, dat_srq_*: the data path, and shared receive queues.
#include "dat/bridge/handles.h"
#include "dat/bridge/native.h"
#include "dat/bridge/one.h"
#include "dat/bridge/params.h"
#include "dat/bridge/query.h"
#include "dat/bridge/segments.h"
#include "dat/bridge/two.h"

using namespace softdat::bridge;  // NOLINT: this file is the C API of libdat.so.1
namespace dat12 = softdat::dat12;

namespace {

::DAT_DTO_COOKIE CookieTo2(dat12::DAT_DTO_COOKIE cookie) {
  ::DAT_DTO_COOKIE cookie_2;
  cookie_2.as_64 = cookie.as_64;
  return cookie_2;
}

::DAT_COMPLETION_FLAGS FlagsTo2(dat12::DAT_COMPLETION_FLAGS flags) {
  return static_cast<::DAT_COMPLETION_FLAGS>(flags);
}

}  // namespace

dat12::DAT_RETURN one_ep_post_send(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT count,
                                   dat12::DAT_LMR_TRIPLET* segments, dat12::DAT_DTO_COOKIE cookie,
                                   dat12::DAT_COMPLETION_FLAGS flags) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_post_send_func>(count, segments, cookie, flags);
  return WithSegments(segments, count, [&](::DAT_LMR_TRIPLET* local) {
    return two_ep_post_send(To2(ep), count, local, CookieTo2(cookie), FlagsTo2(flags));
  });
}

dat12::DAT_RETURN one_ep_post_recv(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT count,
                                   dat12::DAT_LMR_TRIPLET* segments, dat12::DAT_DTO_COOKIE cookie,
                                   dat12::DAT_COMPLETION_FLAGS flags) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_post_recv_func>(count, segments, cookie, flags);
  return WithSegments(segments, count, [&](::DAT_LMR_TRIPLET* local) {
    return two_ep_post_recv(To2(ep), count, local, CookieTo2(cookie), FlagsTo2(flags));
  });
}

dat12::DAT_RETURN one_ep_post_rdma_read(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT count,
                                        dat12::DAT_LMR_TRIPLET* segments,
                                        dat12::DAT_DTO_COOKIE cookie,
                                        const dat12::DAT_RMR_TRIPLET* remote,
                                        dat12::DAT_COMPLETION_FLAGS flags) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_post_rdma_read_func>(count, segments, cookie, remote, flags);
  ::DAT_RMR_TRIPLET remote_2{};
  if (remote != nullptr && !To2(*remote, &remote_2)) return kTooLong;
  return WithSegments(segments, count, [&](::DAT_LMR_TRIPLET* local) {
    return two_ep_post_rdma_read(To2(ep), count, local, CookieTo2(cookie),
                                 remote != nullptr ? &remote_2 : nullptr, FlagsTo2(flags));
  });
}

dat12::DAT_RETURN one_ep_post_rdma_write(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT count,
                                         dat12::DAT_LMR_TRIPLET* segments,
                                         dat12::DAT_DTO_COOKIE cookie,
                                         const dat12::DAT_RMR_TRIPLET* remote,
                                         dat12::DAT_COMPLETION_FLAGS flags) {
  if (const Native to{ep}) [[unlikely]]
    return to.Call<&Table::ep_post_rdma_write_func>(count, segments, cookie, remote, flags);
  ::DAT_RMR_TRIPLET remote_2{};
  if (remote != nullptr && !To2(*remote, &remote_2)) return kTooLong;
  return WithSegments(segments, count, [&](::DAT_LMR_TRIPLET* local) {
    return two_ep_post_rdma_write(To2(ep), count, local, CookieTo2(cookie),
                                  remote != nullptr ? &remote_2 : nullptr, FlagsTo2(flags));
  });
}

dat12::DAT_RETURN one_srq_create(dat12::DAT_IA_HANDLE ia, dat12::DAT_PZ_HANDLE pz,
                                 dat12::DAT_SRQ_ATTR* attr, dat12::DAT_SRQ_HANDLE* srq) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::srq_create_func>(pz, attr, srq);
  ::DAT_SRQ_ATTR attr_2{};
  if (attr != nullptr) attr_2 = {attr->max_recv_dtos, attr->max_recv_iov, attr->low_watermark};
  ::DAT_SRQ_HANDLE srq_2 = nullptr;
  const ::DAT_RETURN result = two_srq_create(
      IaTo2(ia), To2(pz), attr != nullptr ? &attr_2 : nullptr, srq != nullptr ? &srq_2 : nullptr);
  if (result == ::DAT_SUCCESS) *srq = To12(srq_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_srq_query(dat12::DAT_SRQ_HANDLE srq, dat12::DAT_SRQ_PARAM_MASK mask,
                                dat12::DAT_SRQ_PARAM* param) {
  if (const Native to{srq}) [[unlikely]]
    return to.Call<&Table::srq_query_func>(mask, param);
  return QueryAsItIs(&two_srq_query, srq, mask, param);
}

dat12::DAT_RETURN one_srq_post_recv(dat12::DAT_SRQ_HANDLE srq, dat12::DAT_COUNT count,
                                    dat12::DAT_LMR_TRIPLET* segments,
                                    dat12::DAT_DTO_COOKIE cookie) {
  if (const Native to{srq}) [[unlikely]]
    return to.Call<&Table::srq_post_recv_func>(count, segments, cookie);
  return WithSegments(segments, count, [&](::DAT_LMR_TRIPLET* local) {
    return two_srq_post_recv(To2(srq), count, local, CookieTo2(cookie));
  });
}

dat12::DAT_RETURN one_srq_resize(dat12::DAT_SRQ_HANDLE srq, dat12::DAT_COUNT receives) {
  if (const Native to{srq}) [[unlikely]]
    return to.Call<&Table::srq_resize_func>(receives);
  return ReturnTo12(two_srq_resize(To2(srq), receives));
}

dat12::DAT_RETURN one_srq_set_lw(dat12::DAT_SRQ_HANDLE srq, dat12::DAT_COUNT low_watermark) {
  if (const Native to{srq}) [[unlikely]]
    return to.Call<&Table::srq_set_lw_func>(low_watermark);
  return ReturnTo12(two_srq_set_lw(To2(srq), low_watermark));
}

dat12::DAT_RETURN one_srq_free(dat12::DAT_SRQ_HANDLE srq) {
  if (const Native to{srq}) [[unlikely]]
    return to.CallLast<&Table::srq_free_func>();
  return ReturnTo12(two_srq_free(To2(srq)));
}
