// SPDX-License-Identifier: BSD-3-Clause
// Linux's RDS as the peer, in virtual time: one connection between two addresses, which a new
// request ends, and which it makes again by itself.
#ifndef SOFTDAT_TESTS_SIM_RDS_LINUX_H_
#define SOFTDAT_TESTS_SIM_RDS_LINUX_H_

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rds/protocol/connect_data.h"
#include "rds/protocol/connection.h"
#include "tests/sim/rds_process.h"

namespace softdat::sim {

class Linux : public rds::LinkEvents {
 public:
  Linux(World* world, const Address& own, const Address& peer)
      : world_(*world), own_(own), peer_(peer) {
    link_ = std::make_unique<RdsLink>(&world_.network, 0, 16, [this] { TurnSoon(); });
    world_.network.Listen(link_.get(), own);
    world_.network.Hold(link_.get(), own);
  }

  // What has come: from which port, to which one, and which number.
  struct Came {
    uint16_t from = 0, to = 0;
    uint64_t number = 0;
  };
  std::vector<Came> TakeCame() { return std::exchange(came_, {}); }
  // The numbers that came from a port.
  std::vector<uint64_t> TakeFrom(uint16_t port) {
    std::vector<uint64_t> out;
    std::erase_if(came_, [&](const Came& came) {
      if (came.from != port) return false;
      out.push_back(came.number);
      return true;
    });
    return out;
  }
  void Send(uint16_t from, uint16_t to, std::optional<uint64_t> number) {
    rds::OutgoingMessage out;
    out.id = ++last_id_;
    out.message.source_port = from;
    out.message.destination_port = to;
    out.asks_for_ack = true;
    if (number) {
      out.message.payload.resize(sizeof *number);
      std::memcpy(out.message.payload.data(), &*number, sizeof *number);
    }
    connection_.Send(std::move(out));
    Connect();
    Pump();
  }
  void SetCongested(uint16_t port, bool congested) {
    if (congested) {
      map_.Set(port);
    } else {
      map_.Clear(port);
    }
    connection_.MapChanged();
    Pump();
  }
  bool SeesCongested(uint16_t port) const { return connection_.PeerIsCongested(port); }
  size_t unacknowledged() const { return connection_.unacknowledged(); }
  // How often a connection that was up has ended.
  int ended() const { return ended_; }

 private:
  std::vector<uint8_t> Says() const {
    rds::ConnectData data;
    data.source = own_.octets;
    data.destination = peer_.octets;
    // It forgets that with each connection.
    data.ack_sequence = world_.roomy ? connection_.ack_sequence() : 0;
    std::vector<uint8_t> out(rds::kConnectDataSize6);
    out.resize(rds::EncodeConnectData(data, std::span(out).first<rds::kConnectDataSize6>()));
    return out;
  }
  // A connection that is up ends with a new request, which is refused, too.
  void OnRequest(rds::ChannelId request, const Address&, const Address&, ByteSpan data) override {
    const std::optional<rds::ConnectData> said = rds::ParseConnectData(data, false);
    if (channel_ != 0 || !said) {
      if (up_) Drop();
      const int incompatible = 1;
      std::vector<uint8_t> why(sizeof incompatible);
      std::memcpy(why.data(), &incompatible, sizeof incompatible);
      link_->Reject(request, why);
      return;
    }
    channel_ = request;
    acknowledged_ = said->ack_sequence;
    link_->Accept(request, Says());
  }
  void OnEstablished(rds::ChannelId channel, ByteSpan data) override {
    if (channel != channel_) return;
    if (const auto said = rds::ParseConnectData(data, false)) acknowledged_ = said->ack_sequence;
    up_ = true;
    connection_.Up(acknowledged_, 0, 0);
    Settle();
    Pump();
  }
  void OnRejected(rds::ChannelId channel, ByteSpan) override { OnBroken(channel, false); }
  void OnBroken(rds::ChannelId channel, bool) override {
    if (channel == channel_) Drop();
  }
  void OnFrame(rds::ChannelId channel, ByteSpan frame) override {
    if (channel != channel_ || !up_) return;
    EXPECT_TRUE(connection_.Receive(frame)) << connection_.why();
    Settle();
    Pump();
  }
  void OnRoom(rds::ChannelId) override { Pump(); }
  void OnOperation(rds::ChannelId, uint64_t, int) override {}

  // It connects again, whoever has made the connection.
  void Drop() {
    link_->Close(std::exchange(channel_, 0));
    if (std::exchange(up_, false)) ++ended_;
    connection_.Down();
    world_.time.After(world_.Draw(delay_us_), [this] { Connect(); });
    delay_us_ = std::min<uint64_t>(2 * delay_us_, 1'000'000);
  }
  void Connect() {
    if (channel_ != 0) return;
    const auto channel = link_->Connect(own_, peer_, rds::kPort, Says());
    if (channel) channel_ = *channel;
  }
  void Pump() {
    while (up_ && link_->room(channel_) > 0) {
      const std::optional<rds::Frame> frame = connection_.NextFrame();
      if (!frame) return;
      link_->Send(channel_, *frame, false);
    }
  }
  void Settle() {
    while (const std::optional<rds::Event> event = connection_.TakeEvent()) {
      const auto* const arrived = std::get_if<rds::Arrived>(&*event);
      if (arrived == nullptr) continue;
      delay_us_ = 1000;
      const rds::Message& message = arrived->message;
      Came came{message.source_port, message.destination_port, 0};
      EXPECT_FALSE(message.extensions.carried || message.marks != 0);
      if (came.to == rds::kPingPort) {
        Send(rds::kPingPort, came.from, std::nullopt);
        continue;
      }
      if (message.payload.size() == sizeof came.number) {
        std::memcpy(&came.number, message.payload.data(), sizeof came.number);
      }
      came_.push_back(came);
    }
  }
  void TurnSoon() {
    if (std::exchange(turn_due_, true)) return;
    world_.time.After(world_.Draw(30), [this] {
      turn_due_ = false;
      link_->Drain(*this);
    });
  }

  World& world_;
  const Address own_, peer_;
  std::unique_ptr<RdsLink> link_;
  rds::CongestionMap map_;
  rds::Connection connection_{&map_};
  rds::ChannelId channel_ = 0;
  bool up_ = false, turn_due_ = false;
  uint64_t acknowledged_ = 0, last_id_ = 0, delay_us_ = 1000;
  int ended_ = 0;
  std::vector<Came> came_;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_RDS_LINUX_H_
