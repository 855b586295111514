// SPDX-License-Identifier: BSD-3-Clause
// TCP as its users see it, in virtual time over the simulated network. Connections succeed, are
// refused, get no answer, or meet themselves. Bytes arrive in order, late instead of lost. There
// are FIN, RST and half-close, buffers that fill up, and nodes that crash or vanish. Nothing of
// TCP's inside is simulated: a lost packet is sent again after a fixed time, and the sender knows
// how much room there is.
//
// The interface looks like non-blocking sockets. Calls return at once, and errors are negated errno
// values. The node's handler is told what happens later, in order of time and never from inside a
// call. A node reads and writes until it gets -EAGAIN, because events tell of changes, not of
// states.
#ifndef SOFTDAT_TESTS_SIM_BYTE_STREAMS_H_
#define SOFTDAT_TESTS_SIM_BYTE_STREAMS_H_

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "tests/sim/network.h"

namespace softdat::sim {

struct Address {
  int node = 0;
  uint16_t port = 0;
  auto operator<=>(const Address&) const = default;
};

// One end of a connection. 0 is none.
using StreamId = uint64_t;

struct StreamEvent {
  enum class Kind : uint8_t {
    kConnected,
    kFailed,    // to connect: error says why
    kAccepted,  // a new stream, by a listener on `port`
    kReadable,
    kWritable,  // there is room again after a short Send
    kClosed,    // the peer sends no more; error is 0 for a FIN. Comes after all readable data
  };
  Kind kind;
  StreamId stream = 0;
  int error = 0;
  uint16_t port = 0;
};

struct ByteStreamOptions {
  size_t send_buffer = 64 * 1024;
  size_t receive_buffer = 64 * 1024;
  size_t segment = 1460;
  uint64_t connect_again_us = 1'000'000;  // without an answer; doubles
  uint64_t connect_patience_us = 60'000'000;
  uint64_t send_again_us = 200'000;  // without an acknowledgement; doubles
  uint64_t send_patience_us = 60'000'000;
  uint64_t probe_us = 0;            // an idle stream asks this often if the peer is there; 0: never
  uint64_t linger_us = 60'000'000;  // an end that its user has closed waits for the peer's FIN
};

class ByteStreams {
 public:
  using Handler = std::function<void(const StreamEvent&)>;

  ByteStreams(VirtualTime* time, Network* network, const ByteStreamOptions& options);

  void SetHandler(int node, Handler handler);

  // Returns 0 or -EADDRINUSE.
  int Listen(Address address);
  void Unlisten(Address address) { listeners_.erase(address); }
  // kConnected or kFailed (ECONNREFUSED, ETIMEDOUT) follows. Port 0 means any free port. That can
  // be the port of `to`: if nobody listens there, the stream meets itself.
  StreamId Connect(int node, Address to, uint16_t local_port = 0);

  // Returns the number of bytes for which there was room, -EAGAIN if there was none, or -EPIPE
  // after an end.
  ssize_t Send(StreamId stream, std::span<const uint8_t> bytes);
  // Returns the number of bytes that came, 0 after the peer's FIN, -EAGAIN if nothing has come yet,
  // -ECONNRESET, -EPIPE (a reset after a FIN), or -ETIMEDOUT.
  ssize_t Receive(StreamId stream, std::span<uint8_t> into);
  // As Receive for one byte, which stays in the buffer.
  ssize_t Peek(StreamId stream);
  // Sends a FIN after the data that was sent. The other direction stays open.
  void ShutdownWrite(StreamId stream);
  // The stream does not belong to the node any more, and no event follows. A FIN follows the data
  // that was sent, or a reset if something was not read.
  void Close(StreamId stream);
  void Reset(StreamId stream);

  Address local(StreamId stream) const { return ends_.at(stream).local; }
  Address remote(StreamId stream) const { return ends_.at(stream).remote; }

  // The other end, or 0 before there is one.
  StreamId peer(StreamId stream) const { return ends_.at(stream).peer; }

  // The node's program ends. Its system closes everything for it.
  void Crash(int node);
  // The node's machine ends. Nobody hears from it again.
  void Vanish(int node);

  // The streams that the node has not closed, and the streams that its system still has.
  size_t open(int node) const;
  size_t remaining(int node) const;

 private:
  enum class State : uint8_t { kAsking, kAsked, kOpen, kBroken };
  // Bytes are counted from the start of their direction.
  struct End {
    StreamId peer = 0;
    Address local, remote;
    State state = State::kAsking;
    bool owned = true;  // not closed by its node
    bool accepted_from_listener = false;
    int error = 0;
    std::deque<uint8_t> out;  // not acknowledged
    uint64_t acknowledged = 0;
    uint64_t sent = 0;
    bool wants_fin = false, fin_sent = false, fin_acknowledged = false;
    bool wants_room = false;
    std::deque<uint8_t> in;  // not read
    uint64_t received = 0;
    std::map<uint64_t, std::vector<uint8_t>> early;  // received, with a gap in front
    std::optional<uint64_t> fin_at;                  // length of the peer's direction
    bool fin_received = false;
    VirtualTime::Id probe = 0;
    uint64_t heard_us = 0;  // when something last came from the peer
    VirtualTime::Id timer = 0;
    uint64_t wait_us = 0;              // of the timer
    uint64_t unanswered_since_us = 0;  // while the timer runs
  };

  End* Find(StreamId id) {
    const auto it = ends_.find(id);
    return it == ends_.end() ? nullptr : &it->second;
  }
  StreamId Add(End end);
  void Remove(StreamId id);
  void Tell(StreamId id, StreamEvent::Kind kind, int error = 0);
  uint16_t FreePort(int node);
  // Carries a packet from the end's node to its peer's.
  void Carry(const End& end, size_t bytes, std::function<void()> arrive);

  // byte_streams_connect.cc
  void Ask(StreamId id);
  void OnAsked(StreamId from);
  void Answer(StreamId id);
  void OnAnswered(StreamId id, StreamId peer);
  bool OnAnswerTaken(StreamId id);
  void OnAskingUnanswered(StreamId id);
  void Opened(StreamId id);
  void SendReset(const End& end, StreamId to);
  void OnReset(StreamId id);
  void Break(StreamId id, int error);

  // byte_streams_data.cc
  size_t Room(const End& end);
  void Pump(StreamId id);
  void SendSegment(StreamId id, End* end, size_t size);
  void OnSegment(StreamId to, StreamId from, uint64_t at, const std::vector<uint8_t>& bytes,
                 bool fin);
  void Acknowledge(const End& end);
  void OnAcknowledged(StreamId id, uint64_t up_to, bool fin);
  void OnUnacknowledged(StreamId id);
  void StartTimer(StreamId id, End* end);
  void RemoveIfOver(StreamId id);
  void StartProbes(StreamId id);
  void OnProbe(StreamId to, StreamId from);
  void ResetUnlessGone(StreamId from);
  bool HasUnacknowledged(const End& end) const {
    return end.sent > end.acknowledged || (end.fin_sent && !end.fin_acknowledged);
  }

  VirtualTime* const time_;
  Network* const network_;
  const ByteStreamOptions options_;
  std::map<StreamId, End> ends_;
  StreamId last_id_ = 0;
  std::set<Address> listeners_;
  std::vector<Handler> handlers_;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_BYTE_STREAMS_H_
