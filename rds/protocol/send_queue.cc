// SPDX-License-Identifier: BSD-3-Clause
#include "rds/protocol/send_queue.h"

#include <algorithm>
#include <utility>

namespace softdat::rds {

void SendQueue::Add(OutgoingMessage&& message) {
  entries_.push_back({std::move(message), next_sequence_++, /*sent_before=*/false});
}

std::optional<SendQueue::Fragment> SendQueue::Next() const {
  if (!has_next()) return std::nullopt;
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
  for (size_t i = 0; i < entries_.size(); ++i) entries_[i].sequence = next_sequence_++;
}

SendQueue::Restarted SendQueue::Restart(uint64_t ack) {
  Restarted out;
  const size_t unsent = entries_.size() - sent_ - (offset_ > 0 ? 1 : 0);
  // Parts of a message are no message, so the peer cannot have that one.
  out.done = Acknowledge(ack);
  size_t left = entries_.size() - unsent;
  sent_ = 0;
  offset_ = 0;
  for (size_t i = 0; left > 0; --left) {
    Entry& e = entries_[i];
    if (e.nobodys) {
      entries_.Erase(i);
    } else if (e.message.behind_rdma) {
      out.dropped.push_back(e.message.id);
      entries_.Erase(i);
    } else {
      e.sent_before = true;
      ++i;
    }
  }
  return out;
}

std::vector<uint64_t> SendQueue::Cancel(
    const std::function<bool(const OutgoingMessage&)>& unwanted) {
  std::vector<uint64_t> ids;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    if (!e.nobodys && unwanted(e.message)) ids.push_back(e.message.id);
  }
  Take(unwanted);
  if (offset_ > 0 && unwanted(entries_[sent_].message)) entries_[sent_].nobodys = true;
  return ids;
}

std::vector<SendQueue::Taken> SendQueue::Take(
    const std::function<bool(const OutgoingMessage&)>& wanted) {
  std::vector<Taken> out;
  Ring<Entry> kept;
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

std::optional<size_t> SendQueue::Find(uint64_t id) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].message.id == id) return i;
  }
  return std::nullopt;
}

std::optional<size_t> SendQueue::FindSequence(uint32_t sequence) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (static_cast<uint32_t>(entries_[i].sequence) == sequence) return i;
  }
  return std::nullopt;
}

void SendQueue::SetCarried(uint32_t sequence, uint32_t carried) {
  if (const auto at = FindSequence(sequence)) {
    entries_[*at].message.message.extensions.carried = carried;
  }
}

void SendQueue::Fail(uint64_t id) {
  if (const auto at = Find(id)) entries_[*at].message.behind_rdma = true;
}

std::optional<OutgoingMessage> SendQueue::TakeReturned(uint32_t sequence, uint16_t port) {
  const std::optional<size_t> at = FindSequence(sequence);
  if (!at) return std::nullopt;
  Entry& found = entries_[*at];
  if (found.nobodys || found.message.message.destination_port != port) return std::nullopt;
  if (*at >= sent_ && !found.sent_before) return std::nullopt;
  if (*at == sent_ && offset_ > 0) {
    found.nobodys = true;
    return found.message;
  }
  std::optional<OutgoingMessage> out = std::move(found.message);
  if (*at < sent_) --sent_;
  entries_.Erase(*at);
  return out;
}

bool SendQueue::Complete(uint64_t id) {
  const std::optional<size_t> at = Find(id);
  if (!at) return false;
  if (*at < sent_) --sent_;
  entries_.Erase(*at);
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
