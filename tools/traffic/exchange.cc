// SPDX-License-Identifier: BSD-3-Clause
// The timed loops.
#include "tools/traffic/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "tools/traffic/pattern.h"

namespace softdat::tools {
namespace {

// A stream's data, and what reads find, are those of one transfer.
constexpr uint64_t kStreamSequence = 0;

RemoteMemory Part(const RemoteMemory& memory, size_t offset, uint32_t bytes) {
  return RemoteMemory{memory.address + offset, bytes, memory.context};
}

}  // namespace

Outcome ReceiveFeed::Prime(uint64_t depth) {
  while (posted_ < std::min(depth, data_count_ + 1)) SOFTDAT_TRY(PostNext());
  return {};
}

Outcome ReceiveFeed::PostNext() {
  if (posted_ > data_count_) return {};
  return link_.PostReceive(posted_++ < data_count_ ? data_ : control_);
}

Exchange::Exchange(Link* link, Memory* memory, const Job& job, WaitMode mode,
                   const RemoteMemory& remote, DAT_LMR_TRIPLET control, uint64_t depth)
    : link_(*link),
      memory_(*memory),
      job_(job),
      mode_(mode),
      remote_source_(Part(remote, SourceOffset(), job.size)),
      remote_landing_(Part(remote, LandingOffset(job), job.size)),
      source_(memory->Local(SourceOffset(), job.size)),
      landing_(memory->Local(LandingOffset(job), job.size)),
      feed_(link, memory->Local(LandingOffset(job), NoticesUsed() ? 0 : job.size), DataReceives(),
            control),
      depth_(depth),
      // Two batches may be under way: one done but not taken, one being posted.
      signal_every_(std::max(1, link->depths().requests / 4)) {}

uint64_t Exchange::DataReceives() const {
  return job_.kind == JobKind::kSendPingPong || NoticesUsed() ? job_.iterations : 0;
}

Outcome Exchange::Prepare(bool is_server) {
  std::memset(memory_.data(), 0, memory_.size());
  const bool stream_source =
      is_server ? job_.kind == JobKind::kReadPingPong || job_.kind == JobKind::kReadStream
                : job_.kind == JobKind::kWriteStream;
  if (stream_source && job_.check) FillPattern(kStreamSequence, Source());
  return feed_.Prime(depth_);
}

Outcome Exchange::RunClient() {
  switch (job_.kind) {
    case JobKind::kSendPingPong:
      SOFTDAT_TRY(SendPingPong(false));
      return TakeSignalled(0);
    case JobKind::kWritePingPong:
      SOFTDAT_TRY(WritePingPong(false));
      return TakeSignalled(0);
    case JobKind::kReadPingPong:
      return ReadPingPong();
    case JobKind::kWriteStream:
    case JobKind::kReadStream:
      return Stream();
  }
  return {};
}

Outcome Exchange::RunServer() {
  if (job_.kind == JobKind::kSendPingPong) SOFTDAT_TRY(SendPingPong(true));
  if (job_.kind == JobKind::kWritePingPong) SOFTDAT_TRY(WritePingPong(true));
  return TakeSignalled(0);
}

std::string Exchange::DataProblem(bool is_server) {
  const JobKind wanted = is_server ? JobKind::kWriteStream : JobKind::kReadStream;
  if (job_.check && job_.kind == wanted) Verify(kStreamSequence, job_.size);
  return problem_;
}

// Transfers are numbered through: the client's are even, the server's odd.
Outcome Exchange::SendPingPong(bool is_server) {
  for (uint64_t i = 0; i < job_.iterations; ++i) {
    const uint64_t own = 2 * i + (is_server ? 1 : 0);
    const uint64_t other = 2 * i + (is_server ? 0 : 1);
    if (!is_server) SOFTDAT_TRY(Give(own));
    // The receive that the last message took is replaced while this one is on its way.
    if (!is_server && i > 0) SOFTDAT_TRY(feed_.PostNext());
    SOFTDAT_TRY(Take(other));
    if (is_server) {
      SOFTDAT_TRY(Give(own));
      SOFTDAT_TRY(feed_.PostNext());
    }
  }
  return is_server || job_.iterations == 0 ? Outcome() : feed_.PostNext();
}

Outcome Exchange::Give(uint64_t sequence) {
  if (job_.check) FillPattern(sequence, Source());
  return PostSuppressed(&Exchange::PostMessage);
}

Outcome Exchange::Take(uint64_t sequence) {
  uint32_t bytes = 0;
  SOFTDAT_TRY(link_.NextReceive(mode_, &bytes));
  if (bytes != job_.size && problem_.empty())
    problem_ = fmt::format("message {} has {} bytes instead of {}", sequence, bytes, job_.size);
  if (job_.check) Verify(sequence, job_.size);
  return {};
}

// Who polls sees the last byte change (it lands last); who waits is told by an empty message.
Outcome Exchange::WritePingPong(bool is_server) {
  const auto give = [this](uint64_t sequence) -> Outcome {
    if (job_.check) FillPattern(sequence, Source());
    Source().back() = ArrivalMark(sequence);
    SOFTDAT_TRY(PostSuppressed(&Exchange::PostWrite));
    return NoticesUsed() ? PostSuppressed(&Exchange::PostNotice) : Outcome();
  };
  const auto take = [this](uint64_t sequence) -> Outcome {
    if (NoticesUsed()) {
      SOFTDAT_TRY(link_.NextReceive(mode_, nullptr));
      if (Landing().back() != ArrivalMark(sequence) && problem_.empty())
        problem_ = fmt::format("message {} came before the write that it follows", sequence);
    } else {
      SOFTDAT_TRY(AwaitMark(sequence));
    }
    if (job_.check) Verify(sequence, job_.size - 1);
    return {};
  };
  for (uint64_t i = 0; i < job_.iterations; ++i) {
    if (!is_server) SOFTDAT_TRY(give(2 * i));
    SOFTDAT_TRY(take(2 * i + (is_server ? 0 : 1)));
    if (is_server) SOFTDAT_TRY(give(2 * i + 1));
    if (NoticesUsed()) SOFTDAT_TRY(feed_.PostNext());
  }
  return {};
}

Outcome Exchange::AwaitMark(uint64_t sequence) {
  const std::atomic_ref<uint8_t> last(Landing().back());
  const uint8_t mark = ArrivalMark(sequence);
  while (last.load(std::memory_order_acquire) != mark) SOFTDAT_TRY(link_.PollForTrouble());
  return {};
}

Outcome Exchange::ReadPingPong() {
  for (uint64_t i = 0; i < job_.iterations; ++i) {
    if (job_.check) std::memset(Landing().data(), 0xff, job_.size);
    SOFTDAT_TRY(PostTransfer());
    SOFTDAT_TRY(link_.NextRequest(mode_));
    if (job_.check) Verify(kStreamSequence, job_.size);
  }
  return {};
}

Outcome Exchange::Stream() {
  const uint64_t window =
      std::min<uint64_t>(job_.window, static_cast<uint64_t>(std::max(1, link_.depths().requests)));
  uint64_t posted = 0;
  for (uint64_t done = 0; done < job_.iterations; ++done) {
    for (; posted < job_.iterations && posted - done < window; ++posted)
      SOFTDAT_TRY(PostTransfer());
    SOFTDAT_TRY(link_.NextRequest(mode_));
  }
  return {};
}

Outcome Exchange::PostTransfer() {
  const bool read = job_.kind == JobKind::kReadPingPong || job_.kind == JobKind::kReadStream;
  return read ? link_.PostRead(landing_, remote_source_, DAT_COMPLETION_DEFAULT_FLAG)
              : link_.PostWrite(source_, remote_landing_, DAT_COMPLETION_DEFAULT_FLAG);
}

Outcome Exchange::PostSuppressed(Outcome (Exchange::*post)(DAT_COMPLETION_FLAGS)) {
  if (++since_signalled_ < signal_every_) return (this->*post)(DAT_COMPLETION_SUPPRESS_FLAG);
  since_signalled_ = 0;
  SOFTDAT_TRY(TakeSignalled(1));
  ++signalled_;
  return (this->*post)(DAT_COMPLETION_DEFAULT_FLAG);
}

Outcome Exchange::TakeSignalled(uint32_t leave) {
  for (; signalled_ > leave; --signalled_) SOFTDAT_TRY(link_.NextRequest(mode_));
  return {};
}

Outcome Exchange::PostMessage(DAT_COMPLETION_FLAGS flags) { return link_.PostSend(source_, flags); }

Outcome Exchange::PostWrite(DAT_COMPLETION_FLAGS flags) {
  return link_.PostWrite(source_, remote_landing_, flags);
}

Outcome Exchange::PostNotice(DAT_COMPLETION_FLAGS flags) {
  return link_.PostSend(memory_.Local(0, 0), flags);
}

void Exchange::Verify(uint64_t sequence, size_t bytes) {
  if (!problem_.empty()) return;
  if (const auto at = FindMismatch(sequence, Landing().first(bytes)))
    problem_ = fmt::format("transfer {}: byte {} of {} is {:#04x} instead of {:#04x}", sequence,
                           *at, job_.size, Landing()[*at], PatternByte(sequence, *at));
}

}  // namespace softdat::tools
