// SPDX-License-Identifier: BSD-3-Clause
// linux_peer ADDRESS IA: as Linux's RDS, in a process: one connection between two addresses, which
// a new request ends, and which is refused itself. Each message goes back to where it came from.
// Prints a line when it listens, and for each line of its input how often a request has ended a
// connection.
#include <arpa/inet.h>
#include <linux/rds.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rds/link/adapter.h"
#include "rds/protocol/connect_data.h"
#include "rds/protocol/connection.h"

namespace softdat::rds {
namespace {

class LinuxPeer : public LinkEvents {
 public:
  explicit LinuxPeer(const Address& own) : own_(own), adapter_(own, this, &last_channel_) {}

  std::string Listen(const std::string& ia) {
    std::string why = adapter_.Open(ia);
    if (why.empty() && !adapter_.Hold()) why = "somebody has RDS's service";
    return why;
  }
  void Turn() {
    constexpr DAT_TIMEOUT kMoment = 10'000;
    DAT_EVENT event;
    const Adapter::Arrived arrived = adapter_.Wait(kMoment, &event);
    for (int left = arrived.events; left > 0; --left) {
      adapter_.Handle(event);
      if (left > 1 && !adapter_.Next(&event)) break;
    }
    Pump();
  }
  int ended() const { return ended_; }

 private:
  void OnRequest(ChannelId request, const Address&, const Address&, ByteSpan data) override {
    Channel& channel = *adapter_.Find(request);
    const std::optional<ConnectData> said = ParseConnectData(data, own_.ipv6);
    if (channel_ != 0 || !said) {
      ++ended_;
      Drop();
      const int incompatible = 1;
      std::vector<uint8_t> why(sizeof incompatible);
      std::memcpy(why.data(), &incompatible, sizeof incompatible);
      adapter_.Reject(channel, why);
      return;
    }
    channel_ = request;
    said_ = *said;
    ConnectData says;
    says.source = said->destination;
    says.destination = said->source;
    says.ack_sequence = connection_.ack_sequence();
    std::vector<uint8_t> out(kConnectDataSize6);
    out.resize(EncodeConnectData(says, std::span(out).first<kConnectDataSize6>()));
    adapter_.Accept(channel, out);
  }
  void OnEstablished(ChannelId channel, ByteSpan) override {
    if (channel != channel_) return;
    connection_.Up(said_.ack_sequence, 0, 0);
    Settle();
  }
  void OnRejected(ChannelId channel, ByteSpan) override { OnBroken(channel, false); }
  void OnBroken(ChannelId channel, bool) override {
    if (channel == channel_) Drop();
  }
  void OnFrame(ChannelId channel, ByteSpan frame) override {
    if (channel != channel_) return;
    if (!connection_.Receive(frame)) Drop();
    Settle();
  }
  void OnRoom(ChannelId) override {}
  void OnOperation(ChannelId, uint64_t, int) override {}

  void Drop() {
    if (channel_ == 0) return;
    adapter_.Close(std::exchange(channel_, 0));
    connection_.Down();
  }
  void Settle() {
    while (std::optional<Event> event = connection_.TakeEvent()) {
      auto* const arrived = std::get_if<Arrived>(&*event);
      if (arrived == nullptr) continue;
      OutgoingMessage back;
      back.id = ++last_id_;
      back.message.source_port = arrived->message.destination_port;
      back.message.destination_port = arrived->message.source_port;
      back.message.payload = std::move(arrived->message.payload);
      back.asks_for_ack = true;
      connection_.Send(std::move(back));
    }
  }
  void Pump() {
    while (channel_ != 0 && adapter_.Find(channel_)->room() > 0) {
      const std::optional<Frame> frame = connection_.NextFrame();
      if (!frame) return;
      adapter_.Find(channel_)->Send(*frame, false);
    }
  }

  const Address own_;
  ChannelId last_channel_ = 0;
  Adapter adapter_;
  CongestionMap map_;
  Connection connection_{&map_};
  ChannelId channel_ = 0;
  ConnectData said_;
  uint64_t last_id_ = 0;
  int ended_ = 0;
};

int Run(const char* address, const char* ia) {
  Address own;
  inet_pton(AF_INET, address, own.octets.data());
  LinuxPeer peer(own);
  if (const std::string why = peer.Listen(ia); !why.empty()) {
    std::fprintf(stderr, "linux_peer: %s\n", why.c_str());
    return 1;
  }
  std::printf("listening\n");
  std::fflush(stdout);
  while (true) {
    peer.Turn();
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, 0) == 0) continue;
    char line[8];
    if (read(STDIN_FILENO, line, sizeof line) <= 0) return 0;
    std::printf("%d\n", peer.ended());
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace softdat::rds

int main(int argc, char** argv) {
  if (argc == 3) return softdat::rds::Run(argv[1], argv[2]);
  std::fprintf(stderr, "usage: linux_peer ADDRESS IA\n");
  return 2;
}
