// SPDX-License-Identifier: BSD-3-Clause
// One end of a connection of the simulation, active or passive, from its first byte to its last.
#ifndef SOFTDAT_TESTS_SIM_CONNECTING_PARTY_H_
#define SOFTDAT_TESTS_SIM_CONNECTING_PARTY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "provider_softnet/iwarp/acceptance.h"
#include "provider_softnet/iwarp/initiation.h"
#include "provider_softnet/iwarp/reception.h"
#include "provider_softnet/iwarp/stream.h"
#include "provider_softnet/queue/engine_side.h"
#include "tests/sim/byte_streams.h"

namespace softdat::sim {

class ConnectingNode;
class Party;

using Data = std::span<const uint8_t>;

// The consumer of all nodes. Called from events of the virtual time.
class PartySink {
 public:
  virtual ~PartySink() = default;
  // A request waits for Accept, Reject or Refuse.
  virtual void OnRequest(Party& party, Data private_data) = 0;
  virtual void OnEstablished(Party& party, Data private_data) = 0;
  virtual void OnFailed(Party& party, transport::RejectReason reason, Data private_data,
                        const std::string& why) = 0;
  // The end of an established connection.
  virtual void OnEnded(Party& party, transport::EndReason reason, const std::string& why) = 0;
  // Something may have completed.
  virtual void OnMoved(Party& party) = 0;
  // An event of a stream that belongs to no party.
  virtual void OnStranger(const StreamEvent& event) = 0;
};

struct ConnectParameters {
  int to = 0;
  uint64_t qualifier = 0;
  std::vector<uint8_t> private_data;
  softnet::Initiation::Time limit = softnet::Initiation::kNever;
  softnet::Initiation::Time grace{0};
  uint16_t local_port = 0;  // 0: some free one
};

// The queues and the stream of a connection.
class PartySide final : public softnet::testing::EngineSide {
 public:
  PartySide(softnet::MemoryTable* table, softnet::StreamConfig config);
  ~PartySide() override;

  Code PostSend(const transport::SendRequest& request) override {
    return stream->PostSend(request);
  }

  std::unique_ptr<softnet::Stream> stream;

 private:
  Code PostReceive(const transport::ReceiveRequest& request) override {
    return stream->PostReceive(request);
  }
  void OnSharedReceive() override { stream->OnReceivePosted(); }
};

class Party {
 public:
  enum class Phase : uint8_t {
    kNew,
    kConnecting,  // active, until the start-up frames are exchanged
    kHalfOpen,    // passive, until the request is read
    kRequested,   // passive, until the consumer's answer
    kAccepting,   // passive, until the peer's first byte
    kConnected,   // until the stream has ended and said its last words
    kClosing,     // our FIN is sent
    kOver,
  };

  explicit Party(ConnectingNode* node);
  ~Party();
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;

  // ---- for the consumer ----
  void Connect(const ConnectParameters& parameters);
  void GiveUp();  // in kConnecting; no report follows
  void Accept(Data private_data);
  void Reject(Data private_data);
  void Refuse(softnet::RefuseReason reason);
  void Disconnect(transport::DisconnectMode mode);
  // To be called after posts.
  void Move();

  ConnectingNode& node() { return *node_; }
  Phase phase() const { return phase_; }
  uint64_t serial() const { return serial_; }
  PartySide* side() { return side_.get(); }
  bool stream_ended() const { return side_ != nullptr && side_->stream->ended(); }
  uint64_t qualifier() const { return qualifier_; }
  // The link that was used last, named by its initiator's end. It is the same for both parties.
  StreamId initiator_link() const { return initiator_link_; }
  // Whether the initiator's first message establishes the connection for its acceptor.
  bool peer_to_peer() const { return agreement_.rtr != softnet::Rtr::kNone; }
  // When the party has to leave its phase at the latest.
  std::optional<uint64_t> due_us() const;

  // ---- for the node ----
  void Receive(StreamId link, uint16_t port);
  void OnEvent(const StreamEvent& event);
  void Evict();
  void Forget();  // without telling anybody

 private:
  // connecting_party.cc
  void Proceed();
  void Dial();
  void MoveFrames();
  void Report();
  void ReadRequest();
  void Judge();
  void Discard();
  std::string RequesterGone();
  void Answer();
  void LookForFirstByte();
  void SettleAcceptance();
  // connecting_party_stream.cc
  void StartStream(bool initiator);
  void Establish(Data private_data);
  bool Transmit();
  bool ReceiveBytes();
  void Act();
  void OnEnd(const softnet::StreamActions& actions);
  void SendRest();
  void CloseGently();
  void Drain();
  void Finish();
  void StopTimers();
  void SetTimer(VirtualTime::Id* timer, uint64_t at_us, void (Party::*handler)());
  void OnConnectTime();
  void OnReceptionTime();
  void OnAcceptanceTime();
  void OnStreamTime();
  void OnOwedTime();
  void OnDrainTime();
  void OnCloseTime();

  ConnectingNode* const node_;
  const uint64_t serial_;
  Phase phase_ = Phase::kNew;
  StreamId link_ = 0;  // 0: none
  uint64_t qualifier_ = 0;
  StreamId initiator_link_ = 0;
  ConnectParameters parameters_;
  uint32_t dialled_ = 0;
  uint64_t started_us_ = 0;
  std::optional<softnet::Initiation> initiation_;
  std::optional<softnet::Reception> reception_;
  std::unique_ptr<softnet::MpaResponder> responder_;
  std::optional<softnet::Acceptance> acceptance_;
  softnet::MpaAgreement agreement_;
  std::unique_ptr<PartySide> side_;
  bool told_end_ = false;
  VirtualTime::Id timer_ = 0, stream_timer_ = 0, owed_timer_ = 0;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_CONNECTING_PARTY_H_
