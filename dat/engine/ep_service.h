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

// The service of one EP, for its whole life. Calls come from any thread that pins the EP, and
// upcalls from the back end. The EP's mutex protects the members that both change.
class EpService {
 public:
  EpService(const EpService&) = delete;
  EpService& operator=(const EpService&) = delete;
  virtual ~EpService() = default;

  // Fills in the attributes of the EP's queue pair: its service, and the sink to which it reports.
  virtual void Describe(transport::QueuePairAttributes* attributes) = 0;

  // A peer's address, to which an EP connects.
  struct Target {
    sockaddr_storage address{};
    DAT_CONN_QUAL conn_qual = 0;
  };

  // The calls with these names.
  virtual DAT_RETURN Connect(const Target& target, DAT_TIMEOUT timeout_us,
                             std::span<const uint8_t> private_data) = 0;
  // The target of the last Connect, for a dat_ep_dup_connect.
  virtual DAT_RETURN FindTarget(Target* out) = 0;
  // `from` is the state in which the EP may accept, and to which a failure returns it.
  virtual DAT_RETURN Accept(transport::ConnectionRequest& request, DAT_EP_STATE from,
                            std::span<const uint8_t> private_data) = 0;
  virtual DAT_RETURN Disconnect(DAT_CLOSE_FLAGS flags) = 0;
  virtual DAT_RETURN Reset() = 0;
  // Both ends as dat_ep_query reports them. The mutex is held. The pointers that it returns live as
  // long as the EP.
  virtual void QueryAddresses(const transport::ConnectionAddresses& now, DAT_EP_PARAM* param) = 0;
  // dat_ib_ud_cm_free.
  virtual DAT_RETURN FreeExchange(const DAT_CONTEXT& context);
  // The EP is being torn down, and its queue pair is gone.
  virtual void Teardown() {}

 protected:
  explicit EpService(EpCore& ep) : ep_(ep) {}
  // The arguments of a consumer's call in the back end's form.
  static transport::ConnectParameters Parameters(const Target& target, DAT_TIMEOUT timeout_us,
                                                 std::span<const uint8_t> private_data);

  EpCore& ep_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EP_SERVICE_H_
