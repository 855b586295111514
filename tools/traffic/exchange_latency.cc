// SPDX-License-Identifier: BSD-3-Clause
// Transfers that go there and back, or one-sided ones again and again. Connection 0 carries them,
// except for what a message layer sends over the last one.
#include <fmt/format.h>

#include <atomic>
#include <cstring>

#include "tools/traffic/exchange.h"
#include "tools/traffic/pattern.h"

namespace softdat::tools {

// Turns are numbered throughout. The client's are even, the server's odd. A turn is a message, or
// several in a row.
Outcome Exchange::SendPingPong() {
  ReceiveFeed& feed = feeds_[0];
  for (uint64_t i = 0; i < job_.iterations; ++i) {
    if (ends_.is_server) {
      SOFTDAT_TRY(Take(2 * i));
      SOFTDAT_TRY(Give(2 * i + 1));
      SOFTDAT_TRY(feed.PostNext(job_.messages));
    } else {
      SOFTDAT_TRY(Give(2 * i));
      // The receives that the last turn took are replaced while this turn is on its way.
      if (i > 0) SOFTDAT_TRY(feed.PostNext(job_.messages));
      SOFTDAT_TRY(Take(2 * i + 1));
      if (ends_.log != nullptr) ends_.log->Lap();
    }
  }
  return ends_.is_server || job_.iterations == 0 ? Outcome() : feed.PostNext(job_.messages);
}

Outcome Exchange::Give(uint64_t sequence) {
  if (job_.check) FillPattern(sequence, Source());
  for (uint32_t n = 0; n < job_.messages; ++n) SOFTDAT_TRY(PostSuppressed(&Exchange::PostTransfer));
  return {};
}

Outcome Exchange::Take(uint64_t sequence) {
  for (uint32_t n = 0; n < job_.messages; ++n) {
    Completion arrival;
    SOFTDAT_TRY(link_.NextReceive(wait_, &arrival));
    if (job_.operation == Operation::kSend && arrival.bytes != job_.size && problem_.empty())
      problem_ =
          fmt::format("message {} has {} bytes instead of {}", sequence, arrival.bytes, job_.size);
  }
  if (job_.check) Verify(sequence, job_.size);
  return {};
}

// An end that polls sees the last byte change, which lands last. An empty message tells an end that
// waits, or any end of a job that asks for it.
Outcome Exchange::WritePingPong() {
  const auto give = [this](uint64_t sequence) -> Outcome {
    if (job_.check) FillPattern(sequence, Source());
    Source().back() = ArrivalMark(sequence);
    SOFTDAT_TRY(PostSuppressed(&Exchange::PostTransfer));
    return NoticesUsed() ? PostSuppressed(&Exchange::PostNotice) : Outcome();
  };
  const auto take = [this](uint64_t sequence) -> Outcome {
    if (NoticesUsed()) {
      SOFTDAT_TRY(link_.NextReceive(wait_, nullptr));
      if (Landing().back() != ArrivalMark(sequence) && problem_.empty())
        problem_ = fmt::format("message {} came before the write that it follows", sequence);
    } else {
      SOFTDAT_TRY(AwaitMark(sequence));
    }
    if (job_.check) Verify(sequence, job_.size - 1);
    return {};
  };
  for (uint64_t i = 0; i < job_.iterations; ++i) {
    if (!ends_.is_server) SOFTDAT_TRY(give(2 * i));
    SOFTDAT_TRY(take(2 * i + (ends_.is_server ? 0 : 1)));
    if (ends_.is_server) SOFTDAT_TRY(give(2 * i + 1));
    if (NoticesUsed()) SOFTDAT_TRY(feeds_[0].PostNext());
    if (ends_.log != nullptr) ends_.log->Lap();
  }
  return {};
}

Outcome Exchange::LayerPingPong() {
  const auto give = [this](uint64_t sequence) -> Outcome {
    if (job_.check) FillPattern(sequence, Source());
    return layer_->Send(Source());
  };
  const auto take = [this](uint64_t sequence) -> Outcome {
    SOFTDAT_TRY(layer_->Receive(Landing()));
    if (job_.check) Verify(sequence, job_.size);
    return {};
  };
  for (uint64_t i = 0; i < job_.iterations; ++i) {
    if (!ends_.is_server) SOFTDAT_TRY(give(2 * i));
    SOFTDAT_TRY(take(2 * i + (ends_.is_server ? 0 : 1)));
    if (ends_.is_server) SOFTDAT_TRY(give(2 * i + 1));
    if (ends_.log != nullptr) ends_.log->Lap();
  }
  return layer_->Finish();
}

Outcome Exchange::AwaitMark(uint64_t sequence) {
  const std::atomic_ref<uint8_t> last(Landing().back());
  const uint8_t mark = ArrivalMark(sequence);
  // An end that looks only at memory must still learn when the connection is over.
  const uint32_t looks = wait_ == WaitMode::kMemory ? 1u << 24 : 1;
  for (uint32_t n = 1; last.load(std::memory_order_acquire) != mark; ++n) {
    if (n % looks == 0) SOFTDAT_TRY(link_.PollForTrouble());
  }
  return {};
}

Outcome Exchange::OneByOne() {
  for (uint64_t i = 0; i < job_.iterations; ++i) {
    if (job_.check) std::memset(Landing().data(), 0xff, job_.size);
    SOFTDAT_TRY(PostTransfer(DAT_COMPLETION_DEFAULT_FLAG));
    SOFTDAT_TRY(link_.NextRequest(wait_, nullptr));
    if (job_.check) Verify(kStreamSequence, job_.size);
    if (ends_.log != nullptr) ends_.log->Lap();
  }
  return {};
}

}  // namespace softdat::tools
