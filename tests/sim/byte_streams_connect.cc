// SPDX-License-Identifier: BSD-3-Clause
// ByteStreams: how connections begin and break.
#include <errno.h>

#include <algorithm>
#include <utility>

#include "tests/sim/byte_streams.h"

namespace softdat::sim {

using Kind = StreamEvent::Kind;

namespace {

constexpr size_t kHeader = 40;  // bytes of a packet without data

}  // namespace

void ByteStreams::Carry(const End& end, size_t bytes, std::function<void()> arrive) {
  network_->Carry(end.local.node, end.remote.node, kHeader + bytes,
                  [arrive = std::move(arrive)](bool intact) {
                    if (intact) arrive();
                  });
}

void ByteStreams::Ask(StreamId id) {
  End& end = ends_.at(id);
  Carry(end, 0, [this, id] { OnAsked(id); });
  end.timer = time_->After(end.wait_us, [this, id] { OnAskingUnanswered(id); });
}

// Somebody has asked to connect.
void ByteStreams::OnAsked(StreamId from) {
  const End* asking = Find(from);
  if (asking == nullptr) return;  // it gave up, and would only reset our answer
  for (const auto& [id, end] : ends_) {
    if (end.accepted_from_listener && end.peer == from) return Answer(id);  // asked once more
  }
  if (listeners_.contains(asking->remote)) {
    End end;
    end.peer = from;
    end.local = asking->remote;
    end.remote = asking->local;
    end.state = State::kAsked;
    end.accepted_from_listener = true;
    end.wait_us = options_.connect_again_us;
    end.unanswered_since_us = time_->now_us();
    return Answer(Add(std::move(end)));
  }
  if (asking->local == asking->remote) return OnAnswered(from, from);  // the stream meets itself
  network_->Carry(asking->remote.node, asking->local.node, kHeader, [this, from](bool intact) {
    if (intact) OnReset(from);
  });
}

void ByteStreams::Answer(StreamId id) {
  End& end = ends_.at(id);
  Carry(end, 0, [this, id, to = end.peer] { OnAnswered(to, id); });
  if (end.state != State::kAsked) return;
  time_->Cancel(end.timer);
  end.timer = time_->After(end.wait_us, [this, id] { OnAskingUnanswered(id); });
}

void ByteStreams::OnAnswered(StreamId id, StreamId peer) {
  End* end = Find(id);
  if (end == nullptr) {
    const End* other = Find(peer);
    if (other != nullptr) {
      network_->Carry(other->remote.node, other->local.node, kHeader, [this, peer](bool intact) {
        if (intact) OnReset(peer);
      });
    }
    return;
  }
  if (end->state == State::kAsking) {
    end->peer = peer;
    Opened(id);
  }
  if (peer == id) return;
  Carry(*end, 0, [this, peer] {
    const End* asked = Find(peer);
    if (asked != nullptr && asked->state == State::kAsked) OnAnswerTaken(peer);
  });
}

// The connection is complete, unless its listener has gone meanwhile.
bool ByteStreams::OnAnswerTaken(StreamId id) {
  const End& end = ends_.at(id);
  if (listeners_.contains(end.local)) {
    Opened(id);
    return true;
  }
  SendReset(end, end.peer);
  Remove(id);
  return false;
}

void ByteStreams::OnAskingUnanswered(StreamId id) {
  End& end = ends_.at(id);
  end.timer = 0;
  if (time_->now_us() - end.unanswered_since_us >= options_.connect_patience_us) {
    return Break(id, ETIMEDOUT);
  }
  end.wait_us *= 2;
  if (end.state == State::kAsking) return Ask(id);
  Answer(id);
}

void ByteStreams::Opened(StreamId id) {
  End& end = ends_.at(id);
  time_->Cancel(std::exchange(end.timer, 0));
  end.wait_us = options_.send_again_us;
  end.state = State::kOpen;
  Tell(id, end.accepted_from_listener ? Kind::kAccepted : Kind::kConnected);
  StartProbes(id);
  Pump(id);
}

// Sent from the address of `end`, which may be about to go.
void ByteStreams::SendReset(const End& end, StreamId to) {
  Carry(end, 0, [this, to] { OnReset(to); });
}

void ByteStreams::OnReset(StreamId id) {
  const End* end = Find(id);
  if (end == nullptr || end->state == State::kBroken) return;
  if (end->state == State::kAsking) return Break(id, ECONNREFUSED);
  // As Linux does: EPIPE behind a FIN.
  Break(id, end->fin_received ? EPIPE : ECONNRESET);
}

void ByteStreams::Break(StreamId id, int error) {
  End& end = ends_.at(id);
  const State before = std::exchange(end.state, State::kBroken);
  if (before == State::kAsked || !end.owned) return Remove(id);  // its node knows nothing of it
  time_->Cancel(std::exchange(end.timer, 0));
  time_->Cancel(std::exchange(end.probe, 0));
  end.error = error;
  end.out.clear();
  end.early.clear();
  Tell(id, before == State::kAsking ? Kind::kFailed : Kind::kClosed, error);
}

}  // namespace softdat::sim
