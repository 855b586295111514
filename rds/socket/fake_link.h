// SPDX-License-Identifier: BSD-3-Clause
// A transport that only writes down what it is asked to do. Tests are its network and its clock.
#ifndef SOFTDAT_RDS_SOCKET_FAKE_LINK_H_
#define SOFTDAT_RDS_SOCKET_FAKE_LINK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rds/protocol/header.h"
#include "rds/socket/link.h"

namespace softdat::rds {

inline Address Ipv4(uint8_t last) {
  Address out;
  out.octets = {10, 0, 0, last};
  return out;
}

class FakeLink : public Link {
 public:
  struct Attempt {
    ChannelId channel = 0;
    Address own, peer;
    uint16_t service = 0;
    std::vector<uint8_t> data;
  };
  struct Sent {
    ChannelId channel = 0;
    Header header;
    std::vector<uint8_t> payload;
    bool fence = false;
  };
  using Answer = std::pair<ChannelId, std::vector<uint8_t>>;

  // The frames since the last call.
  std::vector<Sent> TakeSent() { return std::exchange(sent, {}); }

  ChannelLimits limits(const Address&) const override { return {10, 20, 1}; }
  uint16_t service(const Address&) const override { return 9000; }
  uint32_t credit(const Address&) const override { return 0; }
  std::optional<ChannelId> Connect(const Address& own, const Address& peer, uint16_t service,
                                   ByteSpan data) override {
    ++connects;
    if (unreachable) return std::nullopt;
    attempts.push_back({++last_channel, own, peer, service, {data.begin(), data.end()}});
    return last_channel;
  }
  void Accept(ChannelId request, ByteSpan data) override {
    accepted.emplace_back(request, std::vector<uint8_t>(data.begin(), data.end()));
  }
  void Reject(ChannelId request, ByteSpan data) override {
    rejected.emplace_back(request, std::vector<uint8_t>(data.begin(), data.end()));
  }
  void Close(ChannelId channel) override { closed.push_back(channel); }
  size_t room(ChannelId) const override { return places; }
  void Send(ChannelId channel, const Frame& frame, bool fence) override {
    Sent out;
    out.channel = channel;
    out.payload.assign(frame.payload.begin(), frame.payload.end());
    out.fence = fence;
    if (ParseHeader(frame.header, &out.header) == HeaderParse::kOk) sent.push_back(std::move(out));
  }
  void PostReceives(ChannelId) override { ++posted_receives; }
  void Post(ChannelId, uint64_t id, const RdmaOperation&) override { posted.push_back(id); }
  void Post(ChannelId, uint64_t id, const AtomicOperation&) override { posted.push_back(id); }
  void Revoke(ChannelId, uint64_t id) override { revoked.push_back(id); }
  int Register(const Address&, const Area&, OpenRegion*) override { return 0; }
  void Deregister(uint64_t) override {}

  bool unreachable = false;  // connecting fails at once
  size_t places = 100;
  size_t connects = 0;
  size_t posted_receives = 0;  // calls
  ChannelId last_channel = 0;
  std::vector<Attempt> attempts;
  std::vector<Answer> accepted, rejected;
  std::vector<ChannelId> closed;
  std::vector<Sent> sent;
  std::vector<uint64_t> posted, revoked;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_FAKE_LINK_H_
