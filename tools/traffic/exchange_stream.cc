// SPDX-License-Identifier: BSD-3-Clause
// Several transfers are outstanding, on one or more connections. A sender of messages (or immediate
// data) never has more of them under way than the peer has receives. The peer grants more as it
// takes them, by empty messages. So a stream also works on transports that end a connection if a
// message finds no receive.
#include <fmt/format.h>

#include <algorithm>

#include "tools/traffic/exchange.h"

namespace softdat::tools {

void Exchange::MakeLanes() {
  lanes_.resize(job_.IsStream() ? link_.connections() : 1);
  if (!job_.IsStream()) return;
  window_ =
      std::min<uint64_t>(job_.window, static_cast<uint64_t>(std::max(1, link_.depths().requests)));
  every_ = std::min<uint64_t>(job_.signal_every, window_);
  const uint64_t count = lanes_.size();
  for (uint64_t i = 0; i < count; ++i) {
    Lane& lane = lanes_[i];
    const uint64_t share = job_.iterations / count + (i < job_.iterations % count ? 1 : 0);
    if (Sends()) {
      lane.to_send = share;
      lane.credits = is_two_sided_ ? Credit(ends_.peer_receives) : share;
      if (is_two_sided_) lane.to_be_granted = Grants(ends_.peer_receives, share);
      left_to_send_ += share;
    }
    if (Takes() && is_two_sided_) {
      lane.to_take = share;
      lane.to_grant = Grants(ends_.receives, share);
      left_to_take_ += share;
    }
  }
}

Outcome Exchange::Fill(uint32_t connection) {
  Lane& lane = lanes_[connection];
  while (lane.posted < lane.to_send && lane.posted - lane.done < window_ && lane.credits > 0) {
    --lane.credits;
    ++lane.posted;
    const bool signalled = lane.posted % every_ == 0 || lane.posted == lane.to_send;
    if (signalled) ++signalled_;
    SOFTDAT_TRY(PostTransferOn(
        connection, signalled ? DAT_COMPLETION_DEFAULT_FLAG : DAT_COMPLETION_SUPPRESS_FLAG));
  }
  return {};
}

Outcome Exchange::OnRequest(const Completion& completion) {
  --signalled_;
  if (completion.is_notice) return {};
  Lane& lane = lanes_[completion.connection];
  const uint64_t done = std::min(lane.done + every_, lane.to_send);
  left_to_send_ -= done - lane.done;
  lane.done = done;
  return Fill(completion.connection);
}

Outcome Exchange::OnReceive(const Completion& completion) {
  // The transfers of a stream in both directions are never empty messages.
  const bool is_grant = !Takes() || (completion.bytes == 0 && !completion.is_immediate);
  return is_grant ? OnGrant(completion) : OnData(completion);
}

Outcome Exchange::OnGrant(const Completion& completion) {
  lanes_[completion.connection].credits += Grant(ends_.peer_receives);
  SOFTDAT_TRY(feeds_[completion.connection].PostNext());
  return Fill(completion.connection);
}

Outcome Exchange::OnData(const Completion& completion) {
  Lane& lane = lanes_[completion.connection];
  if (completion.connection == 0 && lane.taken == lane.to_take) {
    early_end_ = completion;
    return {};
  }
  if (job_.operation == Operation::kSend && completion.bytes != job_.size && problem_.empty())
    problem_ = fmt::format("message {} has {} bytes instead of {}", lane.taken, completion.bytes,
                           job_.size);
  ++lane.taken;
  --left_to_take_;
  SOFTDAT_TRY(feeds_[completion.connection].PostNext());
  if (lane.to_grant == 0 || lane.taken % Grant(ends_.receives) != 0) return {};
  --lane.to_grant;
  ++signalled_;
  return link_.PostNotice(completion.connection);
}

// Waits for completions as long as any are to come. Otherwise credit is missing.
Outcome Exchange::StreamOut() {
  for (uint32_t i = 0; i < lanes_.size(); ++i) SOFTDAT_TRY(Fill(i));
  while (left_to_send_ > 0) {
    Completion completion;
    if (signalled_ == 0) {
      SOFTDAT_TRY(link_.NextReceive(wait_, &completion));
      SOFTDAT_TRY(OnGrant(completion));
      continue;
    }
    SOFTDAT_TRY(link_.NextRequest(wait_, &completion));
    if (ends_.log != nullptr) ends_.log->Lap();
    SOFTDAT_TRY(OnRequest(completion));
    const Lane& lane = lanes_[completion.connection];
    if (lane.credits == 0 && lane.posted < lane.to_send) [[unlikely]] {
      // The grant is probably here already. It must be seen before the other transfers under way
      // run out.
      std::optional<Completion> grant;
      SOFTDAT_TRY(link_.TryReceive(&grant));
      if (grant) SOFTDAT_TRY(OnGrant(*grant));
    }
  }
  return {};
}

Outcome Exchange::StreamIn() {
  // This is enough for the notices of a round, and few enough for the request queue of one
  // connection.
  constexpr uint32_t kNotices = 16;
  while (left_to_take_ > 0) {
    Completion completion;
    SOFTDAT_TRY(link_.NextReceive(wait_, &completion));
    SOFTDAT_TRY(OnData(completion));
    SOFTDAT_TRY(TakeSignalled(kNotices));
  }
  return TakeSignalled(0);
}

Outcome Exchange::StreamBothWays() {
  for (uint32_t i = 0; i < lanes_.size(); ++i) SOFTDAT_TRY(Fill(i));
  while (left_to_send_ > 0 || left_to_take_ > 0) {
    Completion completion;
    SOFTDAT_TRY(link_.NextEither(wait_, &completion));
    SOFTDAT_TRY(completion.is_request ? OnRequest(completion) : OnReceive(completion));
  }
  return TakeSignalled(0);
}

}  // namespace softdat::tools
