// SPDX-License-Identifier: BSD-3-Clause
// Makes end points and connects them.
#include "dat/client/endpoint.h"

namespace softdat::client {
namespace {

DAT_COUNT SizeOf(std::span<const uint8_t> private_data) {
  return static_cast<DAT_COUNT>(private_data.size());
}

// The calls copy private data and never write them, although the type of their argument allows it.
void* DataOf(std::span<const uint8_t> private_data) {
  return private_data.empty() ? nullptr : const_cast<uint8_t*>(private_data.data());
}

}  // namespace

Result SharedReceives::Create(const Ia& ia, const Pz& pz, DAT_COUNT receives, DAT_COUNT segments) {
  DAT_SRQ_ATTR attributes{};
  attributes.max_recv_dtos = receives;
  attributes.max_recv_iov = segments;
  attributes.low_watermark = DAT_SRQ_LW_DEFAULT;
  return Make("dat_srq_create", ia.life(),
              [&](DAT_SRQ_HANDLE* handle) { return dat_srq_create(ia, pz, &attributes, handle); });
}

Result Ep::Create(const Ia& ia, DAT_PZ_HANDLE pz, const EpEvds& evds,
                  const DAT_EP_ATTR* attributes) {
  return Make("dat_ep_create", ia.life(), [&](DAT_EP_HANDLE* handle) {
    return dat_ep_create(ia, pz, evds.receives, evds.requests, evds.connections, attributes,
                         handle);
  });
}

Result Ep::CreateWithSrq(const Ia& ia, DAT_PZ_HANDLE pz, const EpEvds& evds,
                         DAT_SRQ_HANDLE receives, const DAT_EP_ATTR& attributes) {
  return Make("dat_ep_create_with_srq", ia.life(), [&](DAT_EP_HANDLE* handle) {
    return dat_ep_create_with_srq(ia, pz, evds.receives, evds.requests, evds.connections, receives,
                                  &attributes, handle);
  });
}

Result Connect(DAT_EP_HANDLE ep, const sockaddr* address, DAT_CONN_QUAL qualifier,
               DAT_TIMEOUT timeout_us, std::span<const uint8_t> private_data) {
  // The call copies the address, too.
  return {"dat_ep_connect", dat_ep_connect(ep, const_cast<sockaddr*>(address), qualifier,
                                           timeout_us, SizeOf(private_data), DataOf(private_data),
                                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG)};
}

Result ServicePoint::Listen(const Ia& ia, DAT_EVD_HANDLE cr_evd, DAT_CONN_QUAL qualifier) {
  qualifier_ = qualifier;
  return Make("dat_psp_create", ia.life(), [&](DAT_PSP_HANDLE* handle) {
    return dat_psp_create(ia, qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, handle);
  });
}

Result ServicePoint::ListenAny(const Ia& ia, DAT_EVD_HANDLE cr_evd) {
  return Make("dat_psp_create_any", ia.life(), [&](DAT_PSP_HANDLE* handle) {
    return dat_psp_create_any(ia, &qualifier_, cr_evd, DAT_PSP_CONSUMER_FLAG, handle);
  });
}

ConnectionRequest::ConnectionRequest(const Ia& ia, const DAT_EVENT& event) {
  static_cast<void>(Make("", ia.life(), [&](DAT_CR_HANDLE* handle) {
    *handle = event.event_data.cr_arrival_event_data.cr_handle;
    return DAT_RETURN{DAT_SUCCESS};
  }));
}

Result ConnectionRequest::Accept(DAT_EP_HANDLE ep, std::span<const uint8_t> private_data) {
  return Done(
      {"dat_cr_accept", dat_cr_accept(get(), ep, SizeOf(private_data), DataOf(private_data))});
}

Result ConnectionRequest::HandOff(DAT_CONN_QUAL qualifier) {
  return Done({"dat_cr_handoff", dat_cr_handoff(get(), qualifier)});
}

Result ConnectionRequest::Done(Result result) {
  if (result.ok()) Release();
  return result;
}

}  // namespace softdat::client
