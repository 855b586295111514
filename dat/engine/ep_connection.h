// SPDX-License-Identifier: BSD-3-Clause
// One end of a reliable connection: the state machine of an endpoint (semantics 8.3).
//
// ep_connection.cc has the consumer's calls, ep_connection_upcalls.cc the back end's upcalls.
// Threads: see ep_core.h.
#ifndef SOFTDAT_DAT_ENGINE_EP_CONNECTION_H_
#define SOFTDAT_DAT_ENGINE_EP_CONNECTION_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "dat/engine/ep_core.h"
#include "dat/engine/ep_service.h"

namespace softdat::engine {

class EpConnection final : public EpService, private transport::ConnectionSink {
 public:
  explicit EpConnection(EpCore& ep) : EpService(ep) {}

  void Describe(transport::QueuePairAttributes* attributes) override { attributes->sink = this; }
  DAT_RETURN Connect(const Target& target, DAT_TIMEOUT timeout_us,
                     std::span<const uint8_t> private_data) override;
  // Only while the EP is CONNECTED from the active side.
  DAT_RETURN FindTarget(Target* out) override;
  DAT_RETURN Accept(transport::ConnectionRequest& request, DAT_EP_STATE from,
                    std::span<const uint8_t> private_data) override;
  DAT_RETURN Disconnect(DAT_CLOSE_FLAGS flags) override;
  DAT_RETURN Reset() override;
  void QueryAddresses(const transport::ConnectionAddresses& now, DAT_EP_PARAM* param) override;

 private:
  // transport::ConnectionSink
  void OnEstablished(std::span<const uint8_t> private_data) override;
  void OnFailed(transport::RejectReason reason, std::span<const uint8_t> private_data,
                const std::string& why) override;
  void OnEnded(transport::EndReason reason, const std::string& why) override;
  void OnReceiveWatermark() override;

  // The states that an upcall may end. The mutex is held.
  bool Connecting() const;
  bool Ending() const;
  // Begins a connection attempt, and returns its number. The mutex is held.
  uint32_t BeginAttempt(DAT_EP_STATE next, const sockaddr_storage& remote, DAT_PORT_QUAL port);
  // To be called after Connect or Accept. Repeats a Disconnect that came before the back end knew
  // of the connection `attempt`. After a failed attempt it goes back to `from`.
  void SettleAttempt(uint32_t attempt, bool ok, DAT_EP_STATE from);
  // Copies private data of an upcall to the place to which events point. The mutex is held.
  DAT_COUNT KeepPrivateData(std::span<const uint8_t> private_data);
  // `was`: the state before the upcall.
  void PostEvent(Evd* evd, DAT_EP_STATE was, DAT_EVENT_NUMBER number, DAT_COUNT private_data_size);

  // All under the mutex of the EP.
  uint32_t attempt_ = 0;   // counts Connects and Accepts
  bool aborting_ = false;  // Disconnect came while attempt_ was not established
  sockaddr_storage local_{};
  sockaddr_storage remote_{};
  DAT_PORT_QUAL local_port_ = 0;
  DAT_PORT_QUAL remote_port_ = 0;
  // The arguments of Connect. Not set on the passive side.
  bool dialled_ = false;
  Target target_;
  std::array<uint8_t, kMaxPrivateData> private_data_{};
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EP_CONNECTION_H_
