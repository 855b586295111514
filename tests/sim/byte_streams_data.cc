// SPDX-License-Identifier: BSD-3-Clause
// ByteStreams: data and its end, which are sent again until they are acknowledged.
#include <errno.h>

#include <algorithm>
#include <utility>

#include "tests/sim/byte_streams.h"

namespace softdat::sim {

using Kind = StreamEvent::Kind;

namespace {

constexpr uint64_t kLongestWaitUs = 5'000'000;

}  // namespace

// How much more may be sent before the peer's buffer is full. A peer that is gone takes everything,
// and answers with a reset.
size_t ByteStreams::Room(const End& end) {
  const End* peer = Find(end.peer);
  if (peer == nullptr) return options_.receive_buffer;
  const uint64_t up_to = peer->received - peer->in.size() + options_.receive_buffer;
  return up_to - std::min(up_to, end.sent);
}

// Sends as much as there is room for.
void ByteStreams::Pump(StreamId id) {
  End& end = ends_.at(id);
  if (end.state != State::kOpen) return;
  for (;;) {
    const size_t left = end.out.size() - (end.sent - end.acknowledged);
    const size_t size = std::min({left, options_.segment, Room(end)});
    const bool fin = end.wants_fin && !end.fin_sent && !end.fin_acknowledged && size == left;
    if (size == 0 && !fin) break;
    end.fin_sent |= fin;
    SendSegment(id, &end, size);
  }
  if (end.timer == 0 && HasUnacknowledged(end)) {
    end.unanswered_since_us = time_->now_us();
    StartTimer(id, &end);
  }
}

void ByteStreams::SendSegment(StreamId id, End* end, size_t size) {
  const auto first = end->out.begin() + static_cast<ptrdiff_t>(end->sent - end->acknowledged);
  std::vector<uint8_t> bytes(first, first + static_cast<ptrdiff_t>(size));
  const uint64_t at = end->sent;
  const bool fin = end->fin_sent && at + size == end->acknowledged + end->out.size();
  end->sent += size;
  Carry(*end, size, [this, to = end->peer, id, at, bytes = std::move(bytes), fin] {
    OnSegment(to, id, at, bytes, fin);
  });
}

void ByteStreams::OnSegment(StreamId to, StreamId from, uint64_t at,
                            const std::vector<uint8_t>& bytes, bool fin) {
  End* end = Find(to);
  if (end == nullptr || end->state == State::kBroken) return ResetUnlessGone(from);
  if (end->state == State::kAsked && !OnAnswerTaken(to)) return;
  if (end->state != State::kOpen) return;
  end->heard_us = time_->now_us();
  if (!end->owned && at + bytes.size() > end->received) return Reset(to);  // nobody reads it
  if (fin) end->fin_at = at + bytes.size();
  if (at + bytes.size() > end->received) end->early.emplace(at, bytes);
  const uint64_t before = end->received;
  while (!end->early.empty() && end->early.begin()->first <= end->received) {
    const auto next = end->early.extract(end->early.begin());
    const uint64_t known = end->received - next.key();
    if (known >= next.mapped().size()) continue;
    end->in.insert(end->in.end(), next.mapped().begin() + static_cast<ptrdiff_t>(known),
                   next.mapped().end());
    end->received = next.key() + next.mapped().size();
  }
  if (end->received > before) Tell(to, Kind::kReadable);
  if (!end->fin_received && end->fin_at == end->received) {
    end->fin_received = true;
    Tell(to, Kind::kClosed);
  }
  Acknowledge(*end);
  RemoveIfOver(to);
}

void ByteStreams::Acknowledge(const End& end) {
  Carry(end, 0, [this, to = end.peer, up_to = end.received, fin = end.fin_received] {
    OnAcknowledged(to, up_to, fin);
  });
}

void ByteStreams::OnAcknowledged(StreamId id, uint64_t up_to, bool fin) {
  End* end = Find(id);
  if (end == nullptr || end->state != State::kOpen) return;
  end->heard_us = time_->now_us();
  const bool news = up_to > end->acknowledged || (fin && !end->fin_acknowledged);
  if (!news) return;
  if (up_to > end->acknowledged) {
    end->out.erase(end->out.begin(),
                   end->out.begin() + static_cast<ptrdiff_t>(up_to - end->acknowledged));
    end->acknowledged = up_to;
    end->sent = std::max(end->sent, up_to);
  }
  end->fin_acknowledged |= fin;
  time_->Cancel(std::exchange(end->timer, 0));
  end->wait_us = options_.send_again_us;
  if (std::exchange(end->wants_room, false)) Tell(id, Kind::kWritable);
  Pump(id);
  RemoveIfOver(id);
}

void ByteStreams::StartTimer(StreamId id, End* end) {
  end->timer = time_->After(end->wait_us, [this, id] { OnUnacknowledged(id); });
}

// Sends everything once more that is not acknowledged.
void ByteStreams::OnUnacknowledged(StreamId id) {
  End& end = ends_.at(id);
  end.timer = 0;
  if (time_->now_us() - end.unanswered_since_us >= options_.send_patience_us) {
    return Break(id, ETIMEDOUT);
  }
  const uint64_t since_us = end.unanswered_since_us;
  end.wait_us = std::min(2 * end.wait_us, kLongestWaitUs);
  end.sent = end.acknowledged;
  end.fin_sent = false;
  Pump(id);
  end.unanswered_since_us = since_us;
  if (end.timer == 0) StartTimer(id, &end);
}

// Something came for an end that is gone.
void ByteStreams::ResetUnlessGone(StreamId from) {
  const End* sender = Find(from);
  if (sender == nullptr) return;
  network_->Carry(sender->remote.node, sender->local.node, 0, [this, from](bool intact) {
    if (intact) OnReset(from);
  });
}

void ByteStreams::StartProbes(StreamId id) {
  End& end = ends_.at(id);
  end.heard_us = time_->now_us();
  if (options_.probe_us == 0) return;
  end.probe = time_->After(options_.probe_us, [this, id] {
    End& probing = ends_.at(id);
    const uint64_t heard_us = probing.heard_us;
    if (time_->now_us() - heard_us >= options_.send_patience_us) return Break(id, ETIMEDOUT);
    Carry(probing, 0, [this, to = probing.peer, id] { OnProbe(to, id); });
    StartProbes(id);
    probing.heard_us = heard_us;
  });
}

void ByteStreams::OnProbe(StreamId to, StreamId from) {
  const End* end = Find(to);
  if (end == nullptr || end->state == State::kBroken) return ResetUnlessGone(from);
  Acknowledge(*end);
}

// Both directions have ended, and nobody here needs the end any more.
void ByteStreams::RemoveIfOver(StreamId id) {
  const End* end = Find(id);
  if (end == nullptr || end->owned || !end->fin_acknowledged || !end->fin_received) return;
  Remove(id);
}

}  // namespace softdat::sim
