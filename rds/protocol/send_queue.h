// SPDX-License-Identifier: BSD-3-Clause
// The messages of a connection that its peer has not acknowledged, in order: those that were sent,
// perhaps one that is being sent, and those that wait. It outlives the connections below it.
#ifndef SOFTDAT_RDS_PROTOCOL_SEND_QUEUE_H_
#define SOFTDAT_RDS_PROTOCOL_SEND_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "rds/protocol/header.h"
#include "rds/protocol/message.h"
#include "rds/protocol/ring.h"

namespace softdat::rds {

class SendQueue {
 public:
  struct Fragment {
    const OutgoingMessage* message = nullptr;  // until the queue is changed
    uint64_t sequence = 0;
    uint32_t offset = 0;  // in the payload
    uint32_t size = 0;
    bool retransmitted = false;
    bool last = false;
  };

  // `fragment`: octets at most.
  explicit SendQueue(size_t fragment = kFragmentSize) : fragment_(fragment) {}

  void Add(OutgoingMessage&& message);

  bool has_next() const { return sent_ < entries_.size(); }
  // What is to be sent next; nothing when everything was.
  std::optional<Fragment> Next() const;
  // This one, which Next() has given, was sent.
  void Sent(const Fragment& fragment);

  // The peer has all messages up to this sequence. Of what was never sent it can say nothing.
  // Returns the ids of those that are done, in order.
  std::vector<uint64_t> Acknowledge(uint64_t ack) {
    std::vector<uint64_t> done;
    Acknowledge(ack, [&](const OutgoingMessage& message) { done.push_back(message.id); });
    return done;
  }
  // The same, with a call for each, which may keep what it is given.
  template <typename Done>
  void Acknowledge(uint64_t ack, Done done) {
    while (sent_ > 0 && entries_.front().sequence <= ack) {
      if (!entries_.front().nobodys) done(entries_.front().message);
      entries_.pop_front();
      --sent_;
    }
  }

  // Before anything is sent: the peer counts behind this sequence, which is of messages that are
  // none of this queue's.
  void StartBehind(uint64_t sequence);

  struct Restarted {
    std::vector<uint64_t> done;     // the peer had them
    std::vector<uint64_t> dropped;  // what of them was carried out is not known (behind_rdma)
  };
  // There is a new connection, whose peer has all messages up to this sequence. Whatever else was
  // sent, in part or in full, is sent again.
  Restarted Restart(uint64_t ack);

  // Takes back what `unwanted` says, sent or not. Of the one that is being sent the rest goes, too,
  // as its fragments belong together; but it is not sent again, and nobody hears of it. Returns the
  // ids, in order.
  std::vector<uint64_t> Cancel(const std::function<bool(const OutgoingMessage&)>& unwanted);

  // An operation of this message has failed, so it is not to be sent again. Until there is another
  // connection it stays where it is.
  void Fail(uint64_t id);

  struct Taken {
    OutgoingMessage message;
    bool begun = false;  // it was sent, in part at least, on this connection or an earlier one
  };
  // Gives such messages back, in order, but not the one that is being sent.
  std::vector<Taken> Take(const std::function<bool(const OutgoingMessage&)>& wanted);

  // The peer has this one (the lower half of its sequence), and it is not for the peer after all.
  // Gives it back. Nothing: it is not here, is for another port, or was never sent.
  std::optional<OutgoingMessage> TakeReturned(uint32_t sequence, uint16_t port);

  // Where this message (the lower half of its sequence) goes on to, it has that sequence.
  void SetCarried(uint32_t sequence, uint32_t carried);

  // This one needs no acknowledgement: it was silent, and its operations have been carried out.
  // False: it is not here.
  bool Complete(uint64_t id);

  // Empties the queue.
  std::vector<Taken> TakeAll();

  // Calls `visit(message, sequence, sent)` for each, in order. `sent`: in full, on this connection.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; i < entries_.size(); ++i) {
      visit(entries_[i].message, entries_[i].sequence, i < sent_);
    }
  }

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // Of the next message that is added.
  uint64_t next_sequence() const { return next_sequence_; }

 private:
  struct Entry {
    OutgoingMessage message;
    uint64_t sequence;
    bool sent_before;      // on an earlier connection
    bool nobodys = false;  // it was taken, but what has begun has to end
  };

  // Places in the queue.
  std::optional<size_t> Find(uint64_t id) const;
  std::optional<size_t> FindSequence(uint32_t sequence) const;

  const size_t fragment_;
  Ring<Entry> entries_;
  size_t sent_ = 0;      // entries in front that were sent in full, on this connection
  uint32_t offset_ = 0;  // of the next fragment of the one behind them
  uint64_t next_sequence_ = 1;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PROTOCOL_SEND_QUEUE_H_
