// SPDX-License-Identifier: BSD-3-Clause
// For the tests here: one communication manager, and a peer that is played by hand.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_TESTING_CM_BENCH_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_TESTING_CM_BENCH_H_

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "provider_softnet/cm/communication_manager.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet::testing {

// 10.0.0.`last`
sockaddr_storage Host(uint8_t last);
std::string NameOf(CmState state);
// "request", "failed (kPeer)", ...
std::string NameOf(const CmEvent& event);

inline constexpr uint64_t kOwnGuid = 0x1111;
inline constexpr uint64_t kPeerGuid = 0x2222;
inline constexpr uint32_t kOwnQpn = 0x44;
inline constexpr uint32_t kPeerQpn = 0x99;
inline constexpr uint32_t kPeerCommId = 0x77;
inline constexpr uint64_t kPeerTransaction = 0x5555;
inline constexpr uint32_t kOwnPsn = 0x101;
inline constexpr uint32_t kPeerPsn = 0x202;
inline constexpr uint64_t kService = 0x01061388;

class CmBench {
 public:
  explicit CmBench(const CmOptions& options = {.ca_guid = kOwnGuid});

  // A message that the manager sent.
  struct Sent {
    sockaddr_storage to{};
    std::array<uint8_t, rdmacm::kMadSize> octets{};
    uint64_t transaction_id = 0;
    rdmacm::CmMessage message{};  // its spans point into octets
  };

  CommunicationManager& cm() { return cm_; }
  CmState state() { return cm_.state(id); }
  // To the next deadline.
  void Wait();
  void Later(uint64_t delay_us);

  // From the peer, or from another host.
  void Receive(const rdmacm::CmMessage& message, uint8_t from = 2);
  std::vector<Sent> TakeSent();
  std::vector<CmEvent> TakeEvents();
  // The only event that there is, which must be of this kind.
  template <typename T>
  std::optional<T> TakeOnly() {
    std::vector<CmEvent> events = TakeEvents();
    if (events.size() != 1 || !std::holds_alternative<T>(events[0])) return std::nullopt;
    return std::get<T>(events[0]);
  }
  // "REP RTU | established", of all that was not taken.
  std::string TakeAll();

  // What the peer says. `comm_id` is the manager's.
  rdmacm::CmReq Req() const;
  rdmacm::CmRep Rep() const;
  rdmacm::CmRej Rej(rdmacm::RejectReason reason) const;
  // Of a peer that was never told our id.
  rdmacm::CmRej RejOfUnknown();
  rdmacm::CmMra Mra(rdmacm::Answered answered, uint8_t service_timeout = 18) const;
  rdmacm::CmRtu Rtu() const { return {kPeerCommId, comm_id, {}}; }
  rdmacm::CmDreq Dreq() const { return {kPeerCommId, comm_id, kOwnQpn, {}}; }
  rdmacm::CmDrep Drep() const { return {kPeerCommId, comm_id, {}}; }

  // The ways into the states. What was sent and told on the way is taken.
  CmConnect Parameters() const;
  void Connect() { Connect(Parameters()); }
  void Connect(const CmConnect& parameters);
  void ReplyArrives();
  void EstablishActively();
  void RequestArrives();
  void Accept();
  void EstablishPassively();

  uint64_t now_us = 1'000'000;
  CmId id = 0;           // of the exchange that the test is about
  uint32_t comm_id = 0;  // the manager's, as the peer knows it

 private:
  std::mt19937_64 random_{1};
  std::array<uint8_t, 8> peer_guid_;
  CommunicationManager cm_;
};

}  // namespace softdat::softnet::testing

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_TESTING_CM_BENCH_H_
