// SPDX-License-Identifier: BSD-3-Clause
// An endpoint for unreliable datagrams: how it meets any number of peers (semantics 15.2).
//
// Connecting and accepting exchange address handles and leave no connection behind, so the state of
// the EP restricts neither. The state is UNCONNECTED, then ACTIVE_CONNECTION_PENDING while the
// first exchange is under way, and CONNECTED from the first handle on, for good. An exchange
// results in an event of the extension, whose context is the number of the exchange. The exchange
// is kept until dat_ib_ud_cm_free, because it holds the private data of the event.
#ifndef SOFTDAT_DAT_ENGINE_EP_DATAGRAMS_H_
#define SOFTDAT_DAT_ENGINE_EP_DATAGRAMS_H_

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dat/engine/address_handle.h"
#include "dat/engine/ep_core.h"
#include "dat/engine/ep_service.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {

class EpDatagrams final : public EpService,
                          private transport::DatagramSink,
                          private AddressHandleOwner {
 public:
  explicit EpDatagrams(EpCore& ep) : EpService(ep) {}

  void Describe(transport::QueuePairAttributes* attributes) override;
  DAT_RETURN Connect(const Target& target, DAT_TIMEOUT timeout_us,
                     std::span<const uint8_t> private_data) override;
  DAT_RETURN FindTarget(Target* out) override;
  // In any state. `from` is ignored.
  DAT_RETURN Accept(transport::ConnectionRequest& request, DAT_EP_STATE from,
                    std::span<const uint8_t> private_data) override;
  // There is nothing to disconnect, so this succeeds without an event.
  DAT_RETURN Disconnect(DAT_CLOSE_FLAGS) override { return DAT_SUCCESS; }
  DAT_RETURN Reset() override;
  void QueryAddresses(const transport::ConnectionAddresses& now, DAT_EP_PARAM* param) override;
  void Teardown() override;
  DAT_RETURN FreeExchange(const DAT_CONTEXT& context) override;

 private:
  struct Exchange {
    AddressHandle* handle = nullptr;  // owned until it is published
    DAT_COUNT size = 0;
    std::array<uint8_t, kMaxPrivateData> private_data{};
  };
  using Exchanges = std::map<uint64_t, Exchange>;  // by number

  // transport::DatagramSink
  void OnResolved(uint64_t token, transport::DatagramPeer peer,
                  std::span<const uint8_t> private_data) override;
  void OnUnresolved(uint64_t token, transport::RejectReason reason,
                    std::span<const uint8_t> private_data, const std::string& why) override;
  // AddressHandleOwner
  void Forget(AddressHandle* handle) override;

  // Begins an exchange, with everything that its success needs. `*out` is its number. The mutex is
  // held.
  DAT_RETURN Begin(uint64_t* out);
  // The exchange has failed, or was never sent. Returns what is left of it. The mutex is held.
  Exchanges::node_type Abandon(uint64_t number);
  // The exchange has succeeded, and its private data are there. Returns its event. The mutex is
  // held.
  DAT_EVENT Complete(uint64_t number, transport::DatagramPeer peer, DAT_IB_EXT_TYPE type);
  static void Keep(std::span<const uint8_t> private_data, Exchange* exchange);
  DAT_EVENT MakeEvent(DAT_IB_EVENT_NUMBER number, const Exchange& exchange,
                      const DAT_IB_EXTENSION_EVENT_DATA& extension) const;

  // All under the mutex of the EP.
  uint64_t last_number_ = 0;
  Exchanges begun_;                      // no outcome yet
  Exchanges told_;                       // the consumer has, or may have, the event
  std::vector<AddressHandle*> handles_;  // published, and not freed; room for those of begun_
  sockaddr_storage nowhere_{};           // for queries; never changes
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EP_DATAGRAMS_H_
