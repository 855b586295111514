// SPDX-License-Identifier: BSD-3-Clause
// How an endpoint meets its peers. This depends on its service type: EpConnection for reliable
// connections, EpDatagrams for datagrams.
#ifndef SOFTDAT_DAT_ENGINE_EP_SERVICE_H_
#define SOFTDAT_DAT_ENGINE_EP_SERVICE_H_

#include <array>
#include <cstdint>
#include <span>

#include "dat/engine/ep_core.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

inline constexpr DAT_COUNT kMaxPrivateData = 256;  // bytes, each way (semantics 9.5)

// Of one EP, for its whole life. Calls come from any thread that pins the EP, upcalls from the back
// end; the EP's mutex protects what both change.
class EpService {
 public:
  EpService(const EpService&) = delete;
  EpService& operator=(const EpService&) = delete;
  virtual ~EpService() = default;

  // Of the EP's queue pair: which service it has, and what it reports to.
  virtual void Describe(transport::QueuePairAttributes* attributes) = 0;

  // A place to connect to.
  struct Target {
    sockaddr_storage address{};
    DAT_CONN_QUAL conn_qual = 0;
  };

  // The calls of these names.
  virtual DAT_RETURN Connect(const Target& target, DAT_TIMEOUT timeout_us,
                             std::span<const uint8_t> private_data) = 0;
  // Where Connect led, for a dat_ep_dup_connect.
  virtual DAT_RETURN FindTarget(Target* out) = 0;
  // `from`: the state in which the EP may accept, and to which a failure returns it.
  virtual DAT_RETURN Accept(transport::ConnectionRequest& request, DAT_EP_STATE from,
                            std::span<const uint8_t> private_data) = 0;
  virtual DAT_RETURN Disconnect(DAT_CLOSE_FLAGS flags) = 0;
  virtual DAT_RETURN Reset() = 0;
  // Both ends as dat_ep_query tells them. The mutex is held. Pointers that it hands out are as
  // long-lived as the EP.
  virtual void QueryAddresses(const transport::ConnectionAddresses& now, DAT_EP_PARAM* param) = 0;
  // dat_ib_ud_cm_free.
  virtual DAT_RETURN FreeExchange(const DAT_CONTEXT& context);
  // The EP is being torn down, and its queue pair is gone.
  virtual void Teardown() {}

 protected:
  explicit EpService(EpCore& ep) : ep_(ep) {}
  // A call of the consumer as the back end takes it.
  static transport::ConnectParameters Parameters(const Target& target, DAT_TIMEOUT timeout_us,
                                                 std::span<const uint8_t> private_data);

  EpCore& ep_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EP_SERVICE_H_
