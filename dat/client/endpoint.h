// SPDX-License-Identifier: BSD-3-Clause
// End points, shared receive queues, and the two sides of connecting.
#ifndef SOFTDAT_DAT_CLIENT_ENDPOINT_H_
#define SOFTDAT_DAT_CLIENT_ENDPOINT_H_

#include <sys/socket.h>

#include <cstdint>
#include <span>

#include "dat/client/ia.h"
#include "dat/client/owned.h"
#include "dat/client/result.h"
#include "dat2/udat.h"

namespace softdat::client {

// A shared receive queue. It must be freed after its EPs.
class SharedReceives : public Owned<dat_srq_free, "dat_srq_free"> {
 public:
  // Same as dat_srq_create. `receives`: how many it holds at least. `segments`: the most that each
  // may have. (semantics 11)
  Result Create(const Ia& ia, const Pz& pz, DAT_COUNT receives, DAT_COUNT segments = 1);
};

// The EVDs for the events of an EP. One EVD may serve several purposes.
struct EpEvds {
  DAT_EVD_HANDLE receives = DAT_HANDLE_NULL;     // completions of receives
  DAT_EVD_HANDLE requests = DAT_HANDLE_NULL;     // completions of sends, RDMA and binds
  DAT_EVD_HANDLE connections = DAT_HANDLE_NULL;  // connection events
};

// An end point. It must be freed before its EVDs, its zone and its SRQ. Freeing it ends its
// connection abruptly.
class Ep : public Owned<dat_ep_free, "dat_ep_free"> {
 public:
  // Same as dat_ep_create. `attributes`: nullptr for the provider's defaults. (semantics 8.1)
  Result Create(const Ia& ia, DAT_PZ_HANDLE pz, const EpEvds& evds,
                const DAT_EP_ATTR* attributes = nullptr);
  // Same as dat_ep_create_with_srq: receives come from `receives`. (semantics 11)
  Result CreateWithSrq(const Ia& ia, DAT_PZ_HANDLE pz, const EpEvds& evds, DAT_SRQ_HANDLE receives,
                       const DAT_EP_ATTR& attributes);
};

// Starts connecting `ep`. A connection event tells the result. `qualifier`: that of the peer's
// service point at `address`. `timeout_us`: microseconds, or DAT_TIMEOUT_INFINITE. `private_data`:
// for the peer's request. Does not block. (semantics 9.2)
Result Connect(DAT_EP_HANDLE ep, const sockaddr* address, DAT_CONN_QUAL qualifier,
               DAT_TIMEOUT timeout_us, std::span<const uint8_t> private_data = {});

// A public service point. Requests come to an EVD until the service point is freed. Those that have
// come stay valid. The service point must be freed before the EVD.
class ServicePoint : public Owned<dat_psp_free, "dat_psp_free"> {
 public:
  // Same as dat_psp_create. ListenAny is dat_psp_create_any, which chooses a free qualifier. The
  // program provides the EPs. (semantics 9.1)
  Result Listen(const Ia& ia, DAT_EVD_HANDLE cr_evd, DAT_CONN_QUAL qualifier);
  Result ListenAny(const Ia& ia, DAT_EVD_HANDLE cr_evd);
  DAT_CONN_QUAL qualifier() const { return qualifier_; }

 private:
  DAT_CONN_QUAL qualifier_ = 0;
};

// What happens to a request that nobody has taken.
inline DAT_RETURN RejectRequest(DAT_CR_HANDLE request) {
  return dat_cr_reject(request, 0, nullptr);
}

// A connection request. It is rejected when it is destroyed without having been accepted or handed
// on.
class ConnectionRequest : public Owned<RejectRequest, "dat_cr_reject"> {
 public:
  // The request of a DAT_CONNECTION_REQUEST_EVENT that came to an EVD of `ia`.
  ConnectionRequest(const Ia& ia, const DAT_EVENT& event);

  // These fail like dat_cr_accept and dat_cr_handoff. After a failure the request still exists,
  // unless the requester has gone, which an event tells. `ep`: DAT_HANDLE_NULL if the request has
  // brought one. (semantics 9.3)
  Result Accept(DAT_EP_HANDLE ep, std::span<const uint8_t> private_data = {});
  Result HandOff(DAT_CONN_QUAL qualifier);

 private:
  Result Done(Result result);
};

}  // namespace softdat::client

#endif  // SOFTDAT_DAT_CLIENT_ENDPOINT_H_
