// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/router.h"

#include <algorithm>
#include <utility>

namespace softdat::rds {

void Router::Keep(const Address& own, const SocketName& to, OutgoingMessage message, Time now) {
  // It may be answered at once, so the message has to be there first.
  const Way way{own, to.address};
  Asking& asking = asking_[way];
  const bool first = !asking.waiting.contains(to.port);
  asking.waiting[to.port].push_back(std::move(message));
  if (!first) return;
  asking.ports.push_back(to.port);
  if (asking.channel == 0 && !asking.retry_at) Next(way, asking, now);
}

bool Router::IsAsking(const Address& own, const SocketName& to) const {
  const auto found = asking_.find({own, to.address});
  return found != asking_.end() && found->second.waiting.contains(to.port);
}

std::vector<uint64_t> Router::Cancel(const std::function<bool(const OutgoingMessage&)>& unwanted) {
  std::vector<uint64_t> ids;
  for (auto& [way, asking] : asking_) {
    for (auto& [port, waiting] : asking.waiting) {
      const bool in_question = asking.channel != 0 && port == asking.ports.front();
      for (size_t i = 0; i < waiting.size();) {
        if (!unwanted(waiting[i])) {
          ++i;
          continue;
        }
        ids.push_back(waiting[i].id);
        waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(i));
        if (in_question && i < asking.asked) --asking.asked;
      }
    }
  }
  return ids;
}

// The question stays, and nobody waits for its answer.
std::deque<std::pair<Address, OutgoingMessage>> Router::Take(const SocketName& to) {
  std::deque<std::pair<Address, OutgoingMessage>> out;
  for (auto& [way, asking] : asking_) {
    const auto waiting = asking.waiting.find(to.port);
    if (way.second != to.address || waiting == asking.waiting.end()) continue;
    for (OutgoingMessage& message : waiting->second)
      out.emplace_back(way.first, std::move(message));
    waiting->second.clear();
    if (to.port == asking.ports.front()) asking.asked = 0;
  }
  return out;
}

// ---- questions ----

void Router::Next(const Way& way, Asking& asking, Time now) {
  if (asking.ports.empty()) return;
  if (host_.IsKernel(way.first, way.second)) {
    NextAtKernel(way, asking, now);
    return;
  }
  Introduction question;
  question.kind = Introduction::Kind::kLocate;
  question.own = way.first;
  question.peer = way.second;
  question.port = asking.ports.front();
  asking.asked = asking.waiting.at(question.port).size();
  question.instance = self_;
  question.credit = link_.credit(way.first);
  const std::optional<ChannelId> channel =
      link_.Connect(way.first, way.second, way.second.ipv6 ? kPort6 : kPort, Encode(question));
  if (!channel) {
    RetryLater(asking, now);
    return;
  }
  asking.channel = *channel;
}

// Another process takes over in a moment, so the wait is short.
void Router::NextAtKernel(const Way& way, Asking& asking, Time now) {
  if (host_.ReachKernel(way.first, way.second)) {
    StopAsking(Address(way.first), Address(way.second));
    return;
  }
  constexpr Time kMoment = std::chrono::milliseconds(50);
  RetryLater(asking, now);
  asking.retry_at = std::min(*asking.retry_at, now + kMoment);
}

void Router::RetryLater(Asking& asking, Time now) {
  asking.channel = 0;
  asking.retry_at = now + asking.backoff.Next();
}

Router::Asking* Router::Of(ChannelId channel, Way* way) {
  for (auto& [key, asking] : asking_) {
    if (asking.channel != channel) continue;
    *way = key;
    return &asking;
  }
  return nullptr;
}

bool Router::OnEstablished(ChannelId channel, ByteSpan data, Time now) {
  Way way;
  Asking* const asking = Of(channel, &way);
  if (asking == nullptr) return false;
  const std::optional<Introduction> introduction = ParseIntroduction(data, way.second.ipv6);
  if (!introduction || introduction->kind != Introduction::Kind::kKernel) {
    // No version that is understood, or an instance that ought to have answered otherwise.
    link_.Close(channel);
    RetryLater(*asking, now);
    return true;
  }
  asking->channel = 0;
  host_.OnKernel(way.first, way.second, channel, *introduction);
  NextAtKernel(way, *asking, now);
  return true;
}

bool Router::OnRejected(ChannelId channel, const Refusal& refusal, Time now) {
  Way way;
  Asking* const asking = Of(channel, &way);
  if (asking == nullptr) return false;
  link_.Close(channel);
  if (refusal.kind == Refusal::Kind::kLocated) {
    asking->channel = 0;
    asking->backoff.Reset();
    Located(way, refusal.location, now);
  } else {
    RetryLater(*asking, now);
  }
  return true;
}

bool Router::OnBroken(ChannelId channel, Time now) {
  Way way;
  Asking* const asking = Of(channel, &way);
  if (asking == nullptr) return false;
  link_.Close(channel);
  RetryLater(*asking, now);
  return true;
}

void Router::Located(const Way& way, const Location& location, Time now) {
  Asking& asking = asking_[way];
  const uint16_t port = asking.ports.front();
  asking.ports.pop_front();
  std::deque<OutgoingMessage> waiting = std::move(asking.waiting.extract(port).mapped());
  // Somebody may have taken the port before these were sent.
  if (location.service == 0 && waiting.size() > asking.asked) {
    std::deque<OutgoingMessage>& later = asking.waiting[port];
    for (; waiting.size() > asking.asked; waiting.pop_back()) {
      later.push_front(std::move(waiting.back()));
    }
    asking.ports.push_back(port);
  }
  if (asking.ports.empty()) {
    asking_.erase(way);
  } else {
    Next(way, asking, now);
  }
  host_.OnLocated(way.first, {way.second, port}, location, std::move(waiting));
}

void Router::StopAsking(const Address& own, const Address& peer) {
  const auto found = asking_.find({own, peer});
  if (found == asking_.end()) return;
  const Asking asking = std::move(found->second);
  asking_.erase(found);
  if (asking.channel != 0) link_.Close(asking.channel);
  const Location kernel{kKernelInstance, peer.ipv6 ? kPort6 : kPort};
  for (const uint16_t port : asking.ports) {
    host_.OnLocated(own, {peer, port}, kernel, asking.waiting.at(port));
  }
}

// ---- time ----

void Router::OnTimer(Time now) {
  std::vector<Way> due;
  for (const auto& [way, asking] : asking_) {
    if (asking.retry_at && *asking.retry_at <= now) due.push_back(way);
  }
  for (const Way& way : due) {
    const auto asking = asking_.find(way);
    if (asking == asking_.end() || !asking->second.retry_at) continue;
    asking->second.retry_at.reset();
    Next(way, asking->second, now);
  }
}

void Router::Hurry(const Address& own, Time now) {
  for (auto& [way, asking] : asking_) {
    if (way.first == own && asking.retry_at) asking.retry_at = now;
  }
}

std::optional<Time> Router::deadline() const {
  std::optional<Time> first;
  for (const auto& [way, asking] : asking_) {
    if (asking.retry_at && (!first || *asking.retry_at < *first)) first = asking.retry_at;
  }
  return first;
}

}  // namespace softdat::rds
