// SPDX-License-Identifier: BSD-3-Clause
// What a peer sends on a connection, put together to messages, each of them once. It outlives the
// connections below it.
#ifndef SOFTDAT_RDS_PROTOCOL_RECEIVE_STREAM_H_
#define SOFTDAT_RDS_PROTOCOL_RECEIVE_STREAM_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "rds/protocol/header.h"
#include "rds/protocol/message.h"
#include "wire/bytes.h"

namespace softdat::rds {

class ReceiveStream {
 public:
  enum class Result : uint8_t {
    kIncomplete,       // the rest of the message is to come
    kMessage,          // message() is whole
    kDuplicate,        // it came on an earlier connection
    kCongestionMap,    // message() is the peer's map
    kAcknowledgement,  // its header says everything
    kBroken,  // no peer that keeps to the protocol sends this: the connection is to be given up
  };

  // `fragment`: octets of payload that each but the last one of a message has.
  explicit ReceiveStream(size_t fragment = kFragmentSize) : fragment_(fragment) {}

  // One fragment: its header, and what came behind that.
  Result Take(const Header& header, ByteSpan payload);
  // Memory of a payload that nobody needs any more: for the next one that comes. Not much of it, or
  // small messages that wait would hold large pieces.
  void Reuse(std::vector<uint8_t>&& memory) {
    if (!current_ && memory.capacity() <= kMostReused) message_.payload.swap(memory);
  }
  // The last one that Take() has completed.
  Message& message() { return message_; }
  // Of kBroken.
  std::string_view why() const { return why_; }

  // The next fragment is not the first one of its message.
  bool within_message() const { return current_.has_value(); }

  // There is a new connection: what came of a message on the old one will come again.
  void Restart() {
    current_.reset();
    returns_waiting_ = returns_;
  }

  // The highest sequence that came, for the next header.
  uint64_t ack() const { return Below(returns_waiting_); }
  // The same for a new connection.
  uint64_t ack_of_restart() const { return Below(returns_); }
  // A message that came is to be returned. Its sender is not to hear that it came before it hears
  // that it returns: both go the same way, one behind the other.
  void BeginReturn(uint64_t sequence) {
    returns_.insert(sequence);
    returns_waiting_.insert(sequence);
  }
  // That leaves now.
  void ReturnSent(uint64_t sequence) {
    if (returns_waiting_.erase(sequence) != 0) owes_ack_ = news_ = true;
  }
  // The sender has it again.
  void EndReturn(uint64_t sequence) {
    returns_.erase(sequence);
    returns_waiting_.erase(sequence);
  }
  // The peer has asked to hear of it.
  bool owes_ack() const { return owes_ack_; }
  // Something has come of which no header has told yet.
  bool has_news() const { return news_; }
  // The news are to be told, with or without something else.
  void OweAck() { owes_ack_ = owes_ack_ || news_; }
  void AckSent() { owes_ack_ = news_ = false; }

 private:
  Result Broken(std::string_view why) {
    why_ = why;
    return Result::kBroken;
  }
  uint64_t Below(const std::set<uint64_t>& unsaid) const {
    return unsaid.empty() ? ack_ : *unsaid.begin() - 1;
  }
  Result Begin(const Header& header);
  Result Complete();

  static constexpr size_t kMostReused = 4096;

  const size_t fragment_;
  std::optional<Header> current_;  // of the message that is being put together
  Message message_;
  uint64_t ack_ = 0;                    // the highest sequence that came
  std::set<uint64_t> returns_;          // of which the sender may know nothing
  std::set<uint64_t> returns_waiting_;  // of these, what was not sent on this connection
  bool owes_ack_ = false;
  bool news_ = false;
  std::string_view why_;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PROTOCOL_RECEIVE_STREAM_H_
