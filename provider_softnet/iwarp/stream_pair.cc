// SPDX-License-Identifier: BSD-3-Clause
// For tests: two streams joined by two byte pipes.
#include "provider_softnet/iwarp/stream_pair.h"

#include <algorithm>
#include <cstring>

namespace softdat::softnet::testing {

Side::Side(MemoryTable* table, bool initiator, const PairOptions& o)
    : EngineSide(table, {o.queue, o.max_segments, o.share_receives && !initiator}) {
  StreamConfig c;
  c.work = ForLedger();
  c.initiator = initiator;
  c.agreement.crc = o.crc;
  c.agreement.rtr = o.rtr;
  c.agreement.ird = c.agreement.ord = o.depth;
  c.agreement.empty_reads = o.empty_reads;
  c.agreement.request_slots_in = c.agreement.request_slots_out = o.depth + o.confirmation_slots;
  c.mulpdu = o.mulpdu;
  c.blocks = &blocks;
  c.direct_payload = o.direct_payload;
  c.rnr_timeout_us = o.rnr_timeout_us;
  c.extensions = o.extensions;
  c.short_reads = o.short_reads;
  c.confirm = o.confirm;
  stream = std::make_unique<Stream>(c);
}

uint32_t BitsOf(const StreamActions& a) {
  return (a.established ? kActEstablished : 0u) | (a.stalled ? kActStalled : 0u) |
         (a.resumed ? kActResumed : 0u) | (a.timer ? kActTimer : 0u) | (a.ended ? kActEnded : 0u) |
         (a.close_write ? kActCloseWrite : 0u) | (a.abort ? kActAbort : 0u) |
         (a.notices.shared_limit ? kActSharedLimit : 0u) |
         (a.notices.watermark ? kActWatermark : 0u);
}

StreamPair::StreamPair(const PairOptions& options) : options_(options), random_(options.seed) {
  for (int i = 0; i < 2; ++i) {
    sides[i] = std::make_unique<Side>(&memory[i], i == 0, options);
    pipes[i].capacity = options.pipe_capacity;
  }
}

void StreamPair::Act(int i) {
  Side& side = *sides[i];
  const StreamActions actions = side.stream->TakeActions();
  side.actions_seen |= BitsOf(actions);
  if (actions.notices.send) side.send_ring.Notify();
  if (actions.notices.receive) side.receive_ring.Notify();
  if (actions.ended) ++side.ends_seen;
  if (actions.timer) side.timer_due_us = now_us_ + side.stream->timer().delay_us;
  if (actions.close_write) pipes[i].fin = true;
  if (actions.abort) {
    pipes[i].fin = pipes[i].reset = true;
    pipes[i].Clear();
  }
}

// Sends the last `bytes` of the pipe.
void StreamPair::Dispatch(Pipe* pipe, size_t bytes) {
  if (options_.max_delay_us == 0 || bytes == 0) return;
  uint64_t delay_us = Draw(options_.max_delay_us + 1);
  if (options_.loss_one_in != 0 && Draw(options_.loss_one_in) == 0) delay_us += kRetransmitUs;
  pipe->last_at_us = std::max(pipe->last_at_us, now_us_ + delay_us);
  pipe->flights.push_back({bytes, pipe->last_at_us});
  pipe->on_way += bytes;
}

bool StreamPair::AdvanceClock() {
  if (options_.max_delay_us == 0) return false;
  constexpr uint64_t kNever = ~uint64_t{0};
  uint64_t next_us = kNever;
  for (int i = 0; i < 2; ++i) {
    if (!pipes[i].flights.empty()) next_us = std::min(next_us, pipes[i].flights.front().at_us);
    const Side& side = *sides[i];
    if (side.stream->timer().id != 0) next_us = std::min(next_us, side.timer_due_us);
  }
  if (next_us == kNever) return false;
  now_us_ = std::max(now_us_, next_us);
  for (int i = 0; i < 2; ++i) {
    Pipe& pipe = pipes[i];
    while (!pipe.flights.empty() && pipe.flights.front().at_us <= now_us_) {
      pipe.on_way -= pipe.flights.front().bytes;
      pipe.flights.pop_front();
    }
    Side& side = *sides[i];
    const StreamTimer timer = side.stream->timer();
    if (timer.id == 0 || side.timer_due_us > now_us_) continue;
    side.stream->OnTimer(timer.id);
    Act(i);
  }
  return true;
}

bool StreamPair::Transmit(int i) {
  Side& side = *sides[i];
  Pipe& pipe = pipes[i];
  if (pipe.fin) return false;
  iovec iov[32];
  const size_t max_iov = options_.whole_steps ? 32 : 4 + Draw(28);
  const size_t max_bytes = options_.whole_steps ? 1 << 20 : 1 + Draw(1 << (4 + Draw(14)));
  const uint64_t completed = side.send_ring.size();
  if (side.stream->owes() && (options_.whole_steps || Draw(4) == 0)) side.stream->PayOwed();
  const Stream::Batch batch = side.stream->TransmitVector(iov, max_iov, max_bytes);
  size_t room = pipe.capacity - std::min(pipe.capacity, pipe.size());
  if (pipe.cut) room = std::min<size_t>(room, *pipe.cut - pipe.carried);
  size_t take = std::min(room, batch.bytes);
  if (take > 0 && !options_.whole_steps && Draw(3) == 0) take = 1 + Draw(take);
  size_t left = take;
  for (size_t k = 0; k < batch.count && left > 0; ++k) {
    const size_t n = std::min(left, iov[k].iov_len);
    const auto* p = static_cast<const uint8_t*>(iov[k].iov_base);
    pipe.bytes.insert(pipe.bytes.end(), p, p + n);
    if (pipe.keep_log) pipe.log.insert(pipe.log.end(), p, p + n);
    left -= n;
  }
  pipe.carried += take;
  Dispatch(&pipe, take);
  if (batch.count > 0) side.stream->OnTransmitted(take);
  Act(i);
  return take > 0 || side.send_ring.size() != completed;
}

bool StreamPair::Receive(int i) {
  Side& side = *sides[i];
  Pipe& pipe = pipes[1 - i];
  if (side.stream->ended()) {  // reads and discards, like a driver
    const bool discarded = !pipe.empty();
    pipe.Clear();
    return discarded;
  }
  if (pipe.empty()) {
    const bool cut = pipe.cut && pipe.carried == *pipe.cut;
    if (pipe.reset || (cut && pipe.cut_resets)) {
      side.stream->OnPeerReset("reset");
    } else if (cut && pipe.cut_is_gone) {
      side.stream->OnPeerGone();
    } else if (pipe.fin || cut) {
      side.stream->OnPeerFin();
    } else {
      return false;
    }
    Act(i);
    return side.stream->ended();
  }
  if (pipe.available() == 0) return false;
  const bool random = !options_.whole_steps && !options_.single_bytes;
  if ((options_.in_place || (random && Draw(2) == 0)) && ReceiveInPlace(i)) return true;
  iovec iov[20];
  const size_t count = side.stream->ReceiveVector(iov, options_.whole_steps ? 20 : 4 + Draw(16));
  if (count == 0) {
    if (pipe.fin && side.stream->stalled()) side.stream->OnPeerHangup();
    Act(i);
    return false;
  }
  size_t room = 0;
  for (size_t k = 0; k < count; ++k) room += iov[k].iov_len;
  size_t take = std::min(room, pipe.available());
  if (options_.single_bytes) take = 1;
  if (!options_.whole_steps && Draw(2) == 0) take = 1 + Draw(take);
  size_t done = 0;
  for (size_t k = 0; k < count && done < take; ++k) {
    const size_t n = std::min(take - done, iov[k].iov_len);
    std::memcpy(iov[k].iov_base, pipe.bytes.data() + pipe.taken + done, n);
    done += n;
  }
  pipe.taken += take;
  if (pipe.empty()) pipe.Clear();
  side.stream->OnReceived(take);
  Act(i);
  return true;
}

// The memory is just as large as what is shown, and its contents are lost behind the call.
bool StreamPair::ReceiveInPlace(int i) {
  Side& side = *sides[i];
  Pipe& pipe = pipes[1 - i];
  const size_t shown = options_.whole_steps ? pipe.available() : 1 + Draw(pipe.available());
  const auto lent = std::make_unique<uint8_t[]>(shown);
  std::memcpy(lent.get(), pipe.bytes.data() + pipe.taken, shown);
  const size_t used = side.stream->TakeInPlace({lent.get(), shown});
  std::memset(lent.get(), 0xDB, shown);
  pipe.taken += used;
  if (pipe.empty()) pipe.Clear();
  Act(i);
  return used > 0;
}

bool StreamPair::StepAll() {
  for (const auto& side : sides) {
    if (side->stream->owes()) side->stream->PayOwed();
  }
  const bool sent = Transmit(0);
  const bool received = Receive(1);
  const bool answered = Transmit(1);
  return Receive(0) || sent || received || answered;
}

bool StreamPair::Run() {
  for (int idle = 0, steps = 0; idle < 2; ++steps) {
    if (steps > 2000000) return false;
    bool moved = false;
    if (options_.whole_steps) {
      moved = StepAll();
    } else {
      const uint64_t pick = Draw(4);
      moved = pick < 2 ? Transmit(static_cast<int>(pick)) : Receive(static_cast<int>(pick - 2));
      // Nothing moved for this choice. Sees whether anything else would move.
      if (!moved) moved = StepAll();
      if (!moved) moved = AdvanceClock();
    }
    idle = moved ? 0 : idle + 1;
  }
  return true;
}

void StreamPair::Inject(int i, const std::vector<uint8_t>& bytes) {
  Pipe& pipe = pipes[1 - i];
  pipe.bytes.insert(pipe.bytes.end(), bytes.begin(), bytes.end());
}

}  // namespace softdat::softnet::testing
