// SPDX-License-Identifier: BSD-3-Clause
#include "rds/protocol/send_queue.h"

#include <algorithm>
#include <utility>

namespace softdat::rds {

void SendQueue::Add(OutgoingMessage message) {
  entries_.push_back({std::move(message), next_sequence_++, /*sent_before=*/false});
}

std::optional<SendQueue::Fragment> SendQueue::Next() const {
  if (sent_ == entries_.size()) return std::nullopt;
  const Entry& e = entries_[sent_];
  const size_t left = e.message.message.payload.size() - offset_;
  Fragment out;
  out.message = &e.message;
  out.sequence = e.sequence;
  out.offset = offset_;
  out.size = static_cast<uint32_t>(std::min(left, fragment_));
  out.retransmitted = e.sent_before;
  out.last = out.size == left;
  return out;
}

void SendQueue::Sent(const Fragment& fragment) {
  offset_ += fragment.size;
  if (!fragment.last) return;
  offset_ = 0;
  ++sent_;
}

void SendQueue::StartBehind(uint64_t sequence) {
  next_sequence_ = sequence + 1;
  for (Entry& e : entries_) e.sequence = next_sequence_++;
}

SendQueue::Restarted SendQueue::Restart(uint64_t ack) {
  Restarted out;
  const size_t unsent = entries_.size() - sent_ - (offset_ > 0 ? 1 : 0);
  // Parts of a message are no message, so the peer cannot have that one.
  out.done = Acknowledge(ack);
  size_t left = entries_.size() - unsent;
  sent_ = 0;
  offset_ = 0;
  for (auto e = entries_.begin(); left > 0; --left) {
    if (e->nobodys) {
      e = entries_.erase(e);
    } else if (e->message.behind_rdma) {
      out.dropped.push_back(e->message.id);
      e = entries_.erase(e);
    } else {
      e->sent_before = true;
      ++e;
    }
  }
  return out;
}

std::vector<uint64_t> SendQueue::Cancel(
    const std::function<bool(const OutgoingMessage&)>& unwanted) {
  std::vector<uint64_t> ids;
  for (const Entry& e : entries_) {
    if (!e.nobodys && unwanted(e.message)) ids.push_back(e.message.id);
  }
  Take(unwanted);
  if (offset_ > 0 && unwanted(entries_[sent_].message)) entries_[sent_].nobodys = true;
  return ids;
}

std::vector<SendQueue::Taken> SendQueue::Take(
    const std::function<bool(const OutgoingMessage&)>& wanted) {
  std::vector<Taken> out;
  std::deque<Entry> kept;
  size_t kept_of_sent = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& e = entries_[i];
    const bool being_sent = i == sent_ && offset_ > 0;
    if (!being_sent && !e.nobodys && wanted(e.message)) {
      out.push_back({std::move(e.message), e.sent_before || i < sent_});
      continue;
    }
    if (i < sent_) ++kept_of_sent;
    kept.push_back(std::move(e));
  }
  entries_ = std::move(kept);
  sent_ = kept_of_sent;
  return out;
}

std::deque<SendQueue::Entry>::iterator SendQueue::Find(uint64_t id) {
  return std::ranges::find_if(entries_, [&](const Entry& e) { return e.message.id == id; });
}

std::deque<SendQueue::Entry>::iterator SendQueue::FindSequence(uint32_t sequence) {
  return std::ranges::find_if(
      entries_, [&](const Entry& e) { return static_cast<uint32_t>(e.sequence) == sequence; });
}

void SendQueue::SetCarried(uint32_t sequence, uint32_t carried) {
  const auto found = FindSequence(sequence);
  if (found != entries_.end()) found->message.message.extensions.carried = carried;
}

void SendQueue::Fail(uint64_t id) {
  const auto found = Find(id);
  if (found != entries_.end()) found->message.behind_rdma = true;
}

std::optional<OutgoingMessage> SendQueue::TakeReturned(uint32_t sequence, uint16_t port) {
  const auto found = FindSequence(sequence);
  if (found == entries_.end() || found->nobodys) return std::nullopt;
  if (found->message.message.destination_port != port) return std::nullopt;
  const auto at = static_cast<size_t>(found - entries_.begin());
  if (at >= sent_ && !found->sent_before) return std::nullopt;
  if (at == sent_ && offset_ > 0) {
    found->nobodys = true;
    return found->message;
  }
  std::optional<OutgoingMessage> out = std::move(found->message);
  if (at < sent_) --sent_;
  entries_.erase(found);
  return out;
}

bool SendQueue::Complete(uint64_t id) {
  const auto found = Find(id);
  if (found == entries_.end()) return false;
  if (static_cast<size_t>(found - entries_.begin()) < sent_) --sent_;
  entries_.erase(found);
  return true;
}

std::vector<SendQueue::Taken> SendQueue::TakeAll() {
  std::vector<Taken> out;
  const size_t begun = sent_ + (offset_ > 0 ? 1 : 0);
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& e = entries_[i];
    if (!e.nobodys) out.push_back({std::move(e.message), e.sent_before || i < begun});
  }
  entries_.clear();
  sent_ = 0;
  offset_ = 0;
  return out;
}

}  // namespace softdat::rds
