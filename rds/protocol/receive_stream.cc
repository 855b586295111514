// SPDX-License-Identifier: BSD-3-Clause
#include "rds/protocol/receive_stream.h"

#include <algorithm>

#include "rds/protocol/congestion_map.h"

namespace softdat::rds {

namespace {

bool IsMap(const Header& h) { return h.flags == kCongestionBitmap; }

bool IsBare(const Header& h) {
  return h.sequence == 0 && h.length == 0 && h.source_port == 0 && h.destination_port == 0;
}

// Whether two fragments are of one message. Acknowledgement and credit may have gone on.
bool IsSameMessage(const Header& a, const Header& b) {
  return a.sequence == b.sequence && a.length == b.length && a.source_port == b.source_port &&
         a.destination_port == b.destination_port &&
         (a.flags & ~kAckRequired) == (b.flags & ~kAckRequired);
}

}  // namespace

ReceiveStream::Result ReceiveStream::Take(const Header& header, ByteSpan payload) {
  if (!current_) {
    if (IsBare(header)) {
      return payload.empty() ? Result::kAcknowledgement
                             : Broken("a header of nothing has a payload");
    }
    if (const Result begun = Begin(header); begun == Result::kBroken) return begun;
  } else if (!IsSameMessage(*current_, header)) {
    return Broken("a message begins in the middle of another one");
  }
  const size_t left = current_->length - message_.payload.size();
  if (payload.size() != std::min(left, fragment_)) {
    return Broken("a fragment is shorter or longer than what is left of its message");
  }
  if ((header.flags & kAckRequired) != 0) current_->flags |= kAckRequired;
  message_.payload.insert(message_.payload.end(), payload.begin(), payload.end());
  return payload.size() == left ? Complete() : Result::kIncomplete;
}

ReceiveStream::Result ReceiveStream::Begin(const Header& header) {
  if (IsMap(header) && header.length != CongestionMap::kSize) {
    return Broken("a congestion map of another size");
  }
  if (header.length > kMaxMessage) return Broken("a message is longer than any socket sends");
  if (!IsMap(header) && header.sequence == 0) return Broken("a message without a sequence");
  current_ = header;
  message_.source_port = header.source_port;
  message_.destination_port = header.destination_port;
  message_.marks = header.flags & (kNumbered | kReturned | kBarrier);
  message_.sequence = header.sequence;
  message_.again = (header.flags & kRetransmitted) != 0;
  message_.extensions = header.extensions;
  message_.payload.clear();
  message_.payload.reserve(header.length);
  return Result::kIncomplete;
}

// A peer whose host has started anew counts from one again. Only what says that it was sent before
// can be a duplicate.
ReceiveStream::Result ReceiveStream::Complete() {
  const Header header = *current_;
  current_.reset();
  if (IsMap(header)) return Result::kCongestionMap;
  if ((header.flags & kAckRequired) != 0) owes_ack_ = true;
  // The peer may have been told too soon: before it had sent it again.
  news_ = true;
  if ((header.flags & kRetransmitted) != 0 && header.sequence <= ack_) return Result::kDuplicate;
  ack_ = header.sequence;
  return Result::kMessage;
}

}  // namespace softdat::rds
