// SPDX-License-Identifier: BSD-3-Clause
// The parts that all jobs need: memory, receives, posting, completions that are taken late.
#include "tools/traffic/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tools/traffic/pattern.h"

namespace softdat::tools {
namespace {

RemoteMemory Part(const RemoteMemory& memory, size_t offset, uint32_t bytes) {
  return RemoteMemory{memory.address + offset, bytes, memory.context};
}

}  // namespace

Exchange::Exchange(Link* link, client::Memory* memory, const Job& job, const Ends& ends)
    : link_(*link),
      memory_(*memory),
      job_(job),
      ends_(ends),
      // Two streams have completions on two EVDs, and dat_evd_wait knows only one.
      wait_(job.both_ways && ends.wait == WaitMode::kWait ? WaitMode::kCno : ends.wait),
      is_two_sided_(job.operation == Operation::kSend ||
                    job.operation == Operation::kWriteImmediate),
      remote_source_(Part(ends.remote, SourceOffset(), job.size)),
      remote_landing_(Part(ends.remote, LandingOffset(job), job.size)),
      source_(memory->Local(SourceOffset(), job.size)),
      landing_(memory->Local(LandingOffset(job), job.size)),
      // Two batches may be under way: one that is done but not taken, and one that is being posted.
      signal_every_(std::max(1, link->depths().requests / 4)) {
  MakeLanes();
  if (IsLayered(job_.operation)) {
    MakeLayer();
  } else {
    MakeFeeds();
  }
}

void Exchange::MakeLayer() {
  MessageLayer::Plan plan;
  plan.wait = wait_;
  plan.by_read = job_.operation == Operation::kMessageByRead;
  plan.size = job_.size;
  plan.messages = job_.iterations;
  plan.receives = ends_.receives;
  plan.peer_receives = ends_.peer_receives;
  plan.control = ends_.control;
  layer_.emplace(&link_, plan);
}

void Exchange::MakeFeeds() {
  const bool messages = job_.operation == Operation::kSend;
  const DAT_LMR_TRIPLET data = messages ? landing_ : memory_.Local(0, 0);
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    uint64_t count = 0;
    if (job_.IsStream()) {
      count = lanes_[i].to_take + lanes_[i].to_be_granted;
    } else if (is_two_sided_ || NoticesUsed()) {
      count = job_.iterations * job_.TransfersInARow();
    }
    feeds_.emplace_back(&link_, i, data, count,
                        i == 0 ? std::optional(ends_.control) : std::nullopt);
  }
}

Outcome Exchange::Prepare() {
  SOFTDAT_TRY(link_.PrepareWait(wait_));
  std::memset(memory_.data(), 0, memory_.size());
  const bool is_source = job_.operation == Operation::kRead ? ends_.is_server : !ends_.is_server;
  if (job_.check && is_source && !job_.IsPingPong()) FillPattern(kStreamSequence, Source());
  if (layer_) return layer_->Prepare();
  for (auto& feed : feeds_) SOFTDAT_TRY(feed.Prime(std::max<uint64_t>(1, ends_.receives)));
  return {};
}

Outcome Exchange::Run() {
  if (ends_.log != nullptr) ends_.log->Start(job_.iterations);
  if (job_.IsStream()) {
    if (job_.both_ways && is_two_sided_) return StreamBothWays();
    if (Sends()) return StreamOut();
    return is_two_sided_ ? StreamIn() : Outcome();
  }
  if (layer_) {
    SOFTDAT_TRY(LayerPingPong());
  } else if (job_.operation == Operation::kWrite) {
    SOFTDAT_TRY(WritePingPong());
  } else if (is_two_sided_) {
    SOFTDAT_TRY(SendPingPong());
  } else if (!ends_.is_server) {
    SOFTDAT_TRY(OneByOne());
  }
  return TakeSignalled(0);
}

std::string Exchange::DataProblem() {
  const bool landed =
      job_.IsStream() && (job_.operation == Operation::kRead ? !ends_.is_server : ends_.is_server);
  if (job_.check && landed) Verify(kStreamSequence, job_.size);
  return problem_;
}

Outcome Exchange::PostTransferOn(uint32_t connection, DAT_COMPLETION_FLAGS flags) {
  if (job_.operation == Operation::kSend) return link_.PostSend(source_, flags, connection);
  const bool fetches = IsOneSided(job_.operation);
  return link_.PostRdma(job_.operation, fetches ? landing_ : source_,
                        fetches ? remote_source_ : remote_landing_, flags, connection);
}

Outcome Exchange::PostNotice(DAT_COMPLETION_FLAGS flags) {
  return link_.PostSend(memory_.Local(0, 0), flags);
}

Outcome Exchange::PostSuppressed(Outcome (Exchange::*post)(DAT_COMPLETION_FLAGS)) {
  if (++since_signalled_ < signal_every_) return (this->*post)(DAT_COMPLETION_SUPPRESS_FLAG);
  since_signalled_ = 0;
  SOFTDAT_TRY(TakeSignalled(1));
  ++signalled_;
  return (this->*post)(DAT_COMPLETION_DEFAULT_FLAG);
}

Outcome Exchange::TakeSignalled(uint32_t leave) {
  for (; signalled_ > leave; --signalled_) SOFTDAT_TRY(link_.NextRequest(wait_, nullptr));
  return {};
}

void Exchange::Verify(uint64_t sequence, size_t bytes) {
  if (!problem_.empty()) return;
  if (const auto at = FindMismatch(sequence, Landing().first(bytes)))
    problem_ = fmt::format("transfer {}: byte {} of {} is {:#04x} instead of {:#04x}", sequence,
                           *at, job_.size, Landing()[*at], PatternByte(sequence, *at));
}

}  // namespace softdat::tools
