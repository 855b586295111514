// SPDX-License-Identifier: BSD-3-Clause
// What two addresses say to each other, for as long as both have sockets: each message reaches the
// other end once and in order, over however many transport connections that takes.
//
// Up() and Down() say when there is a transport connection. It carries frames in order, and is over
// when it loses one. While it is up, the consumer sends what NextFrame() gives and brings each
// frame that arrives to Receive(). It empties the events after each call.
#ifndef SOFTDAT_RDS_PROTOCOL_CONNECTION_H_
#define SOFTDAT_RDS_PROTOCOL_CONNECTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "rds/protocol/congestion_map.h"
#include "rds/protocol/counters.h"
#include "rds/protocol/credits.h"
#include "rds/protocol/header.h"
#include "rds/protocol/message.h"
#include "rds/protocol/receive_stream.h"
#include "rds/protocol/send_queue.h"
#include "wire/bytes.h"

namespace softdat::rds {

// A message has come.
struct Arrived {
  Message message;
};
// The peer has this one.
struct Done {
  uint64_t id = 0;
};
// One behind an RDMA operation may have been carried out or not, because its connection was lost.
// It is not sent again.
struct Dropped {
  uint64_t id = 0;
};
// Ports of the peer have become free (CongestionMap::Take).
struct Freed {
  uint64_t groups = 0;
};
// The peer has sent its map.
struct MapCame {};
// The first connection is up: messages keep their sequences from now on.
struct Met {};
using Event = std::variant<Arrived, Done, Dropped, Freed, MapCame, Met>;

// What is to be sent as one: the header, and the payload behind it.
struct Frame {
  std::array<uint8_t, kHeaderSize> header{};
  ByteSpan payload;  // until the connection is called again
  // The first frame of a message behind operations: those are to be posted in front of it.
  std::optional<uint64_t> behind_operations_of{};
  bool last = false;    // of its message: the peer is to be woken
  bool silent = false;  // only the operation is to be posted, without a frame
};

// How both ends of a connection treat each other.
struct Manner {
  size_t fragment;        // octets of payload of a frame
  uint32_t most_unasked;  // messages after which one asks for an acknowledgement
  // The peer says nothing unasked. So each message asks when its sender has little room left.
  bool silent_peer;
};
// Linux: /proc/sys/net/rds/max_unacked_packets.
inline constexpr Manner kLinuxManner{kFragmentSize, 8, true};
// Between ends of SoftDAT, which say within 2 ms unasked what has come.
inline constexpr Manner kOwnManner{kOwnFragmentSize, 32, false};

class Connection {
 public:
  // `own_map`: of this address, which outlives the connection.
  explicit Connection(const CongestionMap* own_map, const Manner& manner = kLinuxManner)
      : own_map_(*own_map), manner_(manner), queue_(manner.fragment), received_(manner.fragment) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Before anything is sent: sequences are larger than this one. A peer that knew a former process,
  // and does not say so, takes none of them for one that it has.
  void StartBehind(uint64_t sequence) { queue_.StartBehind(start_ = sequence); }

  void Send(OutgoingMessage&& message) {
    if (message.returns) received_.BeginReturn(*message.returns);
    queue_.Add(std::move(message));
  }
  // What is not wanted any more (SendQueue::Cancel). Returns the ids.
  std::vector<uint64_t> Cancel(const std::function<bool(const OutgoingMessage&)>& unwanted) {
    return queue_.Cancel(unwanted);
  }
  // An operation of this message has failed (SendQueue::Fail). The transport connection ends.
  void Fail(uint64_t id) { queue_.Fail(id); }
  // Gives back some of it, in order (SendQueue::Take).
  std::vector<SendQueue::Taken> Take(const std::function<bool(const OutgoingMessage&)>& wanted) {
    return queue_.Take(wanted);
  }
  // Gives back all that the peer has not acknowledged, in order, to be sent elsewhere. The
  // connection is not to be used after that.
  std::vector<SendQueue::Taken> TakeMessages() { return queue_.TakeAll(); }
  // SendQueue::SetCarried.
  void SetCarried(uint32_t sequence, uint32_t carried) { queue_.SetCarried(sequence, carried); }
  // The peer has returned this one (SendQueue::TakeReturned).
  std::optional<OutgoingMessage> TakeReturned(uint32_t sequence, uint16_t port) {
    return queue_.TakeReturned(sequence, port);
  }
  // A message behind operations alone has had its way (SendQueue::Complete).
  bool Complete(uint64_t id) { return queue_.Complete(id); }
  // A bit of the own map has changed.
  void MapChanged() { map_due_ = up_; }

  // ---- the transport ----

  // What ConnectData says for this end.
  uint64_t ack_sequence() const { return received_.ack_of_restart(); }
  // `peers_ack`, `peers_credit`: as the peer's ConnectData has them. `own_credit`: what this end's
  // said.
  void Up(uint64_t peers_ack, uint32_t own_credit, uint32_t peers_credit);
  void Down();
  bool up() const { return up_; }

  // Messages came that the peer has not heard of. It is told with the next frame, if there is one:
  // until OweAck() none leaves for that alone.
  bool has_news() const { return up_ && received_.has_news() && !received_.owes_ack(); }
  void OweAck() { received_.OweAck(); }
  // The peer has again what OutgoingMessage::returns has said.
  void EndReturn(uint64_t sequence) { received_.EndReturn(sequence); }
  // The peer is not to hear that this message came, nor any behind it, until ReleaseAck().
  void HoldAck(uint64_t sequence) { received_.BeginReturn(sequence); }
  void ReleaseAck(uint64_t sequence) {
    received_.ReturnSent(sequence);
    received_.EndReturn(sequence);
  }

  bool wants_frame() const;
  // Nothing if !wants_frame(). The frame counts as sent.
  std::optional<Frame> NextFrame();
  // A frame has arrived. False: the transport connection is to be given up, for why().
  bool Receive(ByteSpan frame);
  std::string_view why() const { return why_; }
  // The next frame is not the first one of its message.
  bool within_message() const { return received_.within_message(); }
  void PostedReceives(uint32_t count) { credits_.Post(count); }

  std::optional<Event> TakeEvent();

  bool PeerIsCongested(uint16_t port) const { return peers_map_.Has(port); }
  const CongestionMap& peers_map() const { return peers_map_; }
  // The peer is gone: its ports are congested no more. Returns their groups.
  uint64_t FreeAll() {
    return peers_map_.Take(CongestionMap().octets().first<CongestionMap::kSize>());
  }
  size_t unacknowledged() const { return queue_.size(); }
  bool met() const { return met_; }
  // What the peer had received before it met this end, of messages of former processes.
  uint64_t first_ack() const { return first_ack_; }

  // ---- for those who look ----
  const SendQueue& queue() const { return queue_; }
  // What has happened to it, of all that RDS counts.
  const Counters& counters() const { return counters_; }

 private:
  Frame FrameOf(Header header, ByteSpan payload);
  Frame MapFrame();
  Frame SilentFrame(const SendQueue::Fragment& fragment);
  Frame MessageFrame(const SendQueue::Fragment& fragment);
  void TakeMap();
  void Tell(const std::vector<uint64_t>& done);

  const CongestionMap& own_map_;
  const Manner manner_;
  CongestionMap peers_map_;
  SendQueue queue_;
  ReceiveStream received_;
  Credits credits_;
  std::vector<Event> events_;
  size_t taken_ = 0;  // of them, in front
  Counters counters_;
  bool up_ = false;
  bool met_ = false;  // it was up
  uint64_t start_ = 0;
  uint64_t first_ack_ = 0;
  bool map_due_ = false;
  CongestionMap sending_map_;  // a map is sent as it was when it began
  size_t map_sent_ = 0;        // octets of it; 0: none is being sent
  uint32_t unasked_ = 0;       // messages sent since an acknowledgement was asked for
  bool asking_ = false;        // the message that is being sent asks
  std::string_view why_;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PROTOCOL_CONNECTION_H_
