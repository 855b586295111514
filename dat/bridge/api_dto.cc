// SPDX-License-Identifier: BSD-3-Clause
// dat_ep_post_*, dat_srq_*: the data path, and shared receive queues.
#include "dat/bridge/flags.h"
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

// The general path of each post. It takes native objects, any number of segments, and posts that
// will be refused.

[[gnu::noinline]] dat12::DAT_RETURN PostSend(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT count,
                                             dat12::DAT_LMR_TRIPLET* segments,
                                             dat12::DAT_DTO_COOKIE cookie,
                                             dat12::DAT_COMPLETION_FLAGS flags) {
  if (const Native to{ep})
    return to.Call<&Table::ep_post_send_func>(count, segments, cookie, flags);
  return WithSegments(segments, count, [&](::DAT_LMR_TRIPLET* local) {
    return two_ep_post_send(To2(ep), count, local, CookieTo2(cookie), CompletionFlagsTo2(flags));
  });
}

[[gnu::noinline]] dat12::DAT_RETURN PostReceive(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT count,
                                                dat12::DAT_LMR_TRIPLET* segments,
                                                dat12::DAT_DTO_COOKIE cookie,
                                                dat12::DAT_COMPLETION_FLAGS flags) {
  if (const Native to{ep})
    return to.Call<&Table::ep_post_recv_func>(count, segments, cookie, flags);
  return WithSegments(segments, count, [&](::DAT_LMR_TRIPLET* local) {
    return two_ep_post_recv(To2(ep), count, local, CookieTo2(cookie), CompletionFlagsTo2(flags));
  });
}

[[gnu::noinline]] dat12::DAT_RETURN PostShared(dat12::DAT_SRQ_HANDLE srq, dat12::DAT_COUNT count,
                                               dat12::DAT_LMR_TRIPLET* segments,
                                               dat12::DAT_DTO_COOKIE cookie) {
  if (const Native to{srq}) return to.Call<&Table::srq_post_recv_func>(count, segments, cookie);
  return WithSegments(segments, count, [&](::DAT_LMR_TRIPLET* local) {
    return two_srq_post_recv(To2(srq), count, local, CookieTo2(cookie));
  });
}

template <auto kSlot>
[[gnu::noinline]] dat12::DAT_RETURN PostRdma(decltype(two_ep_post_rdma_read)* post,
                                             dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT count,
                                             dat12::DAT_LMR_TRIPLET* segments,
                                             dat12::DAT_DTO_COOKIE cookie,
                                             const dat12::DAT_RMR_TRIPLET* remote,
                                             dat12::DAT_COMPLETION_FLAGS flags) {
  if (const Native to{ep}) return to.Call<kSlot>(count, segments, cookie, remote, flags);
  ::DAT_RMR_TRIPLET remote_2{};
  if (remote != nullptr && !To2(*remote, &remote_2)) return TooLong();
  return WithSegments(segments, count, [&](::DAT_LMR_TRIPLET* local) {
    return post(To2(ep), count, local, CookieTo2(cookie), remote != nullptr ? &remote_2 : nullptr,
                CompletionFlagsTo2(flags));
  });
}

// Whether a post is the common kind: one segment, on a bridged object. (Its flags are the same in
// 2.0.)
[[gnu::always_inline]] inline bool IsCommon(dat12::DAT_HANDLE handle, dat12::DAT_COUNT count,
                                            const dat12::DAT_LMR_TRIPLET* segments,
                                            ::DAT_HANDLE* handle_2, ::DAT_LMR_TRIPLET* local) {
  return IsObject(handle, handle_2) && count == 1 && segments != nullptr && To2(*segments, local);
}

}  // namespace

dat12::DAT_RETURN one_ep_post_send(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT count,
                                   dat12::DAT_LMR_TRIPLET* segments, dat12::DAT_DTO_COOKIE cookie,
                                   dat12::DAT_COMPLETION_FLAGS flags) {
  ::DAT_EP_HANDLE ep_2;
  ::DAT_LMR_TRIPLET local;
  if (AreKnown(flags) && IsCommon(ep, count, segments, &ep_2, &local)) [[likely]]
    return ReturnTo12(two_ep_post_send(ep_2, 1, &local, CookieTo2(cookie),
                                       static_cast<::DAT_COMPLETION_FLAGS>(flags)));
  return PostSend(ep, count, segments, cookie, flags);
}

dat12::DAT_RETURN one_ep_post_recv(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT count,
                                   dat12::DAT_LMR_TRIPLET* segments, dat12::DAT_DTO_COOKIE cookie,
                                   dat12::DAT_COMPLETION_FLAGS flags) {
  ::DAT_EP_HANDLE ep_2;
  ::DAT_LMR_TRIPLET local;
  if (AreKnown(flags) && IsCommon(ep, count, segments, &ep_2, &local)) [[likely]]
    return ReturnTo12(two_ep_post_recv(ep_2, 1, &local, CookieTo2(cookie),
                                       static_cast<::DAT_COMPLETION_FLAGS>(flags)));
  return PostReceive(ep, count, segments, cookie, flags);
}

dat12::DAT_RETURN one_ep_post_rdma_read(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT count,
                                        dat12::DAT_LMR_TRIPLET* segments,
                                        dat12::DAT_DTO_COOKIE cookie,
                                        const dat12::DAT_RMR_TRIPLET* remote,
                                        dat12::DAT_COMPLETION_FLAGS flags) {
  ::DAT_EP_HANDLE ep_2;
  ::DAT_LMR_TRIPLET local;
  ::DAT_RMR_TRIPLET remote_2;
  if (remote != nullptr && AreKnown(flags) && IsCommon(ep, count, segments, &ep_2, &local) &&
      To2(*remote, &remote_2)) [[likely]] {
    return ReturnTo12(two_ep_post_rdma_read(ep_2, 1, &local, CookieTo2(cookie), &remote_2,
                                            static_cast<::DAT_COMPLETION_FLAGS>(flags)));
  }
  return PostRdma<&Table::ep_post_rdma_read_func>(&two_ep_post_rdma_read, ep, count, segments,
                                                  cookie, remote, flags);
}

dat12::DAT_RETURN one_ep_post_rdma_write(dat12::DAT_EP_HANDLE ep, dat12::DAT_COUNT count,
                                         dat12::DAT_LMR_TRIPLET* segments,
                                         dat12::DAT_DTO_COOKIE cookie,
                                         const dat12::DAT_RMR_TRIPLET* remote,
                                         dat12::DAT_COMPLETION_FLAGS flags) {
  ::DAT_EP_HANDLE ep_2;
  ::DAT_LMR_TRIPLET local;
  ::DAT_RMR_TRIPLET remote_2;
  if (remote != nullptr && AreKnown(flags) && IsCommon(ep, count, segments, &ep_2, &local) &&
      To2(*remote, &remote_2)) [[likely]] {
    return ReturnTo12(two_ep_post_rdma_write(ep_2, 1, &local, CookieTo2(cookie), &remote_2,
                                             static_cast<::DAT_COMPLETION_FLAGS>(flags)));
  }
  return PostRdma<&Table::ep_post_rdma_write_func>(&two_ep_post_rdma_write, ep, count, segments,
                                                   cookie, remote, flags);
}

dat12::DAT_RETURN one_srq_post_recv(dat12::DAT_SRQ_HANDLE srq, dat12::DAT_COUNT count,
                                    dat12::DAT_LMR_TRIPLET* segments,
                                    dat12::DAT_DTO_COOKIE cookie) {
  ::DAT_SRQ_HANDLE srq_2;
  ::DAT_LMR_TRIPLET local;
  if (IsCommon(srq, count, segments, &srq_2, &local)) [[likely]]
    return ReturnTo12(two_srq_post_recv(srq_2, 1, &local, CookieTo2(cookie)));
  return PostShared(srq, count, segments, cookie);
}

dat12::DAT_RETURN one_srq_create(dat12::DAT_IA_HANDLE ia, dat12::DAT_PZ_HANDLE pz,
                                 dat12::DAT_SRQ_ATTR* attr, dat12::DAT_SRQ_HANDLE* srq) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::srq_create_func>(pz, attr, srq);
  ::DAT_SRQ_ATTR attr_2{};
  if (attr != nullptr) attr_2 = {attr->max_recv_dtos, attr->max_recv_iov, attr->low_watermark};
  ::DAT_SRQ_HANDLE srq_2 = nullptr;
  const ::DAT_RETURN result =
      two_srq_create(IaTo2(ia), ArgumentTo2(pz), attr != nullptr ? &attr_2 : nullptr,
                     srq != nullptr ? &srq_2 : nullptr);
  if (result == ::DAT_SUCCESS) *srq = To12(srq_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_srq_query(dat12::DAT_SRQ_HANDLE srq, dat12::DAT_SRQ_PARAM_MASK mask,
                                dat12::DAT_SRQ_PARAM* param) {
  if (const Native to{srq}) [[unlikely]]
    return to.Call<&Table::srq_query_func>(mask, param);
  return QueryAsItIs(&two_srq_query, srq, mask, param);
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
