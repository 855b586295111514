// SPDX-License-Identifier: BSD-3-Clause
#include "rds/protocol/connection.h"

#include <algorithm>
#include <utility>

namespace softdat::rds {

// ---- the transport ----

void Connection::Up(uint64_t peers_ack, uint32_t own_credit, uint32_t peers_credit) {
  up_ = true;
  received_.Restart();
  // A kernel stays when a process ends, and counts on. What it has is the former process's. It
  // takes what has such a number again for a duplicate.
  if (!std::exchange(met_, true)) {
    if (peers_ack > start_) queue_.StartBehind(peers_ack);
    first_ack_ = peers_ack;
    events_.emplace_back(Met{});
  }
  credits_.Start(own_credit, peers_credit);
  const SendQueue::Restarted restarted = queue_.Restart(peers_ack);
  counters_.Count(Counter::kSendDropAcked, restarted.done.size());
  Tell(restarted.done);
  for (const uint64_t id : restarted.dropped) events_.emplace_back(Dropped{id});
  map_due_ = true;  // it goes first
  map_sent_ = 0;
  unasked_ = 0;
  asking_ = false;
}

void Connection::Down() {
  if (std::exchange(up_, false)) counters_.Count(Counter::kConnReset);
}

void Connection::Tell(const std::vector<uint64_t>& done) {
  for (const uint64_t id : done) events_.emplace_back(Done{id});
}

std::optional<Event> Connection::TakeEvent() {
  if (taken_ == events_.size()) return std::nullopt;
  std::optional<Event> first(std::move(events_[taken_]));
  if (++taken_ == events_.size()) {
    events_.clear();
    taken_ = 0;
  }
  return first;
}

// ---- out ----

bool Connection::wants_frame() const {
  if (!up_ || !credits_.MaySend()) return false;
  return map_due_ || map_sent_ > 0 || queue_.has_next() || received_.owes_ack() || credits_.owes();
}

std::optional<Frame> Connection::NextFrame() {
  if (!wants_frame()) return std::nullopt;
  const std::optional<SendQueue::Fragment> fragment = queue_.Next();
  // The fragments of a message, and those of a map, belong together.
  const bool within = fragment && fragment->offset > 0;
  if (map_sent_ > 0 || (map_due_ && !within)) return MapFrame();
  if (fragment && fragment->message->silent) return SilentFrame(*fragment);
  if (fragment) return MessageFrame(*fragment);
  Frame frame = FrameOf({}, {});
  counters_.Count(Counter::kIbAckSent);
  frame.last = true;
  return frame;
}

// Every header says how far this end is, and brings its new receives.
Frame Connection::FrameOf(Header header, ByteSpan payload) {
  header.ack = received_.ack();
  header.credit = credits_.Spend();
  received_.AckSent();
  Frame frame;
  frame.payload = payload;
  EncodeHeader(header, frame.header);
  return frame;
}

Frame Connection::MapFrame() {
  if (map_sent_ == 0) {
    sending_map_ = own_map_;
    map_due_ = false;
    counters_.Count(Counter::kCongUpdateQueued);
  }
  Header header;
  header.flags = kCongestionBitmap;
  header.length = CongestionMap::kSize;
  Frame frame = FrameOf(header, sending_map_.octets().subspan(map_sent_, manner_.fragment));
  map_sent_ = (map_sent_ + manner_.fragment) % CongestionMap::kSize;
  frame.last = map_sent_ == 0;
  return frame;
}

// The message is done when its operations are, or when the peer acknowledges a later one.
Frame Connection::SilentFrame(const SendQueue::Fragment& fragment) {
  Frame frame;
  frame.behind_operations_of = fragment.message->id;
  frame.silent = true;
  queue_.Sent(fragment);
  return frame;
}

Frame Connection::MessageFrame(const SendQueue::Fragment& fragment) {
  const Message& message = fragment.message->message;
  const bool first = fragment.offset == 0;
  if (first) {
    asking_ = fragment.message->asks_for_ack ||
              (fragment.message->has_little_room && manner_.silent_peer) ||
              ++unasked_ >= manner_.most_unasked;
    if (asking_) {
      unasked_ = 0;
      counters_.Count(Counter::kSendAckRequired);
    }
  }
  Header header;
  header.sequence = fragment.sequence;
  header.length = static_cast<uint32_t>(message.payload.size());
  header.source_port = message.source_port;
  header.destination_port = message.destination_port;
  header.extensions = message.extensions;
  header.flags = static_cast<uint8_t>(
      (asking_ ? kAckRequired : 0) | (fragment.retransmitted ? kRetransmitted : 0) | message.marks);
  Frame frame = FrameOf(header, ByteSpan(message.payload).subspan(fragment.offset, fragment.size));
  if (first && (fragment.message->behind_rdma || fragment.message->behind_atomic)) {
    frame.behind_operations_of = fragment.message->id;
  }
  frame.last = fragment.last;
  if (fragment.last && fragment.message->returns) {
    received_.ReturnSent(*fragment.message->returns);
  }
  queue_.Sent(fragment);
  return frame;
}

// ---- in ----

bool Connection::Receive(ByteSpan frame) {
  Header header;
  switch (ParseHeader(frame, &header)) {
    case HeaderParse::kOk:
      break;
    case HeaderParse::kShort:
      why_ = "a frame is shorter than its header";
      return false;
    case HeaderParse::kBadChecksum:
      why_ = "the checksum of a header is wrong";
      counters_.Count(Counter::kRecvDropBadChecksum);
      return false;
  }
  queue_.Acknowledge(header.ack, [this](OutgoingMessage& message) {
    events_.emplace_back(Done{message.id});
    received_.Reuse(std::move(message.message.payload));
  });
  credits_.Take(header.credit);
  switch (received_.Take(header, frame.subspan(kHeaderSize))) {
    case ReceiveStream::Result::kIncomplete:
      return true;
    case ReceiveStream::Result::kDuplicate:
      counters_.Count(Counter::kRecvDropOldSeq);
      return true;
    case ReceiveStream::Result::kAcknowledgement:
      counters_.Count(Counter::kIbAckReceived);
      return true;
    case ReceiveStream::Result::kMessage:
      if ((header.flags & kAckRequired) != 0) counters_.Count(Counter::kRecvAckRequired);
      events_.emplace_back(Arrived{std::move(received_.message())});
      return true;
    case ReceiveStream::Result::kCongestionMap:
      TakeMap();
      return true;
    case ReceiveStream::Result::kBroken:
      why_ = received_.why();
      return false;
  }
  return false;
}

void Connection::TakeMap() {
  counters_.Count(Counter::kCongUpdateReceived);
  const ByteSpan octets = received_.message().payload;
  const uint64_t groups = peers_map_.Take(octets.first<CongestionMap::kSize>());
  events_.emplace_back(MapCame{});
  if (groups != 0) events_.emplace_back(Freed{groups});
}

}  // namespace softdat::rds
