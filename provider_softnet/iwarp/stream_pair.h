// SPDX-License-Identifier: BSD-3-Clause
// For tests: two streams joined by two byte pipes. A seeded generator decides what moves when and
// in what pieces, so that a failing seed can be repeated. With delays, time is virtual. Bytes are
// on their way until the clock reaches their arrival, and the clock also drives the streams'
// timers.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_PAIR_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_PAIR_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "provider_softnet/iwarp/stream.h"
#include "provider_softnet/queue/engine_side.h"

namespace softdat::softnet::testing {

// One direction of a connection.
struct Pipe {
  std::vector<uint8_t> bytes;  // sent; the first `taken` are received
  size_t taken = 0;
  size_t size() const { return bytes.size() - taken; }
  bool empty() const { return size() == 0; }
  // What the receiver can read now.
  size_t available() const { return size() - on_way; }
  void Clear() {
    bytes.clear();
    taken = on_way = 0;
    flights.clear();
  }
  // The bytes at the end of `bytes` that have not arrived, in order of arrival.
  struct Flight {
    size_t bytes;
    uint64_t at_us;
  };
  std::deque<Flight> flights;
  size_t on_way = 0;
  uint64_t last_at_us = 0;    // when the last bytes arrive, so that nothing overtakes them
  size_t capacity = 1 << 20;  // what TCP buffers
  bool fin = false;
  bool reset = false;
  uint64_t carried = 0;         // bytes that ever went in
  std::optional<uint64_t> cut;  // the connection breaks when this many bytes went in
  bool cut_resets = false;      // with an error of the path, not with a FIN
  bool cut_is_gone = false;     // with a reset of the peer's system
  std::vector<uint8_t> log;     // everything that went in, if requested
  bool keep_log = false;
};

struct PairOptions {
  uint64_t seed = 1;
  bool crc = false;
  size_t mulpdu = 1460;
  size_t direct_payload = 16 * 1024;
  uint16_t depth = 4;  // ird and ord, both ways
  Rtr rtr = Rtr::kWrite;
  uint32_t queue = 64;  // work queue entries
  uint32_t max_segments = 4;
  size_t pipe_capacity = 1 << 20;
  bool whole_steps = false;     // no random splits
  bool single_bytes = false;    // each byte arrives alone
  bool in_place = false;        // bytes are taken in place if the stream will; else now and then
  bool share_receives = false;  // side 1 takes its receives from an SRQ
  uint64_t rnr_timeout_us = 0;
  bool extensions = true;
  bool short_reads = false;
  bool confirm = false;
  bool empty_reads = true;
  uint16_t confirmation_slots = 0;  // requests on the wire beyond `depth`
  // Virtual time. Each piece takes up to this long. One in `loss_one_in` is lost once and takes
  // kRetransmitUs more. 0: none is lost.
  uint64_t max_delay_us = 0;
  uint64_t loss_one_in = 0;
};

inline constexpr uint64_t kRetransmitUs = 200000;

// Everything that a side was ever told to do, as bits: StreamActions of many calls in one word.
enum : uint32_t {
  kActEstablished = 1u << 0,
  kActStalled = 1u << 1,
  kActResumed = 1u << 2,
  kActTimer = 1u << 3,
  kActEnded = 1u << 4,
  kActCloseWrite = 1u << 5,
  kActAbort = 1u << 6,
  kActSharedLimit = 1u << 7,
  kActWatermark = 1u << 8,
};
uint32_t BitsOf(const StreamActions& actions);

class Side final : public EngineSide {
 public:
  Side(MemoryTable* table, bool initiator, const PairOptions& options);

  Code PostSend(const transport::SendRequest& request) override {
    return stream->PostSend(request);
  }
  void Disconnect(transport::DisconnectMode mode) { stream->Disconnect(mode); }
  bool ended() const { return stream->ended(); }
  const StreamEnd& end() const { return stream->end(); }
  bool wants_transmit() const { return stream->wants_transmit(); }
  bool stalled() const { return stream->stalled(); }
  bool timer_runs() const { return stream->timer().id != 0; }
  uint32_t held_receives() const { return stream->held_receives(); }
  uint64_t packets_sent() const { return stream->counters().fpdus_sent; }
  bool saw(uint32_t action) const { return (actions_seen & action) != 0; }

  StreamBlocks blocks;
  std::unique_ptr<Stream> stream;
  uint32_t actions_seen = 0;
  uint64_t timer_due_us = 0;  // in virtual time, while stream->timer().id is not 0

 private:
  Code PostReceive(const transport::ReceiveRequest& request) override {
    return stream->PostReceive(request);
  }
  void OnSharedReceive() override { stream->OnReceivePosted(); }
};

class StreamPair {
 public:
  explicit StreamPair(const PairOptions& options);

  // Moves bytes in random pieces until nothing moves any more. Returns false after an absurd number
  // of steps.
  bool Run();
  // One random step of side `i`. Returns whether anything moved.
  bool Transmit(int i);
  bool Receive(int i);
  // One step of each kind. Returns whether anything moved.
  bool StepAll();
  // Goes on to the next arrival or timer, if there are delays. Returns false if nothing is on its
  // way.
  bool AdvanceClock();
  uint64_t now_us() const { return now_us_; }
  // Delivers raw bytes to side `i` as if its peer had sent them.
  void Inject(int i, const std::vector<uint8_t>& bytes);
  uint64_t Draw(uint64_t bound) { return random_() % bound; }

  MemoryTable memory[2];
  std::array<std::unique_ptr<Side>, 2> sides;
  Side& a() { return *sides[0]; }  // initiator
  Side& b() { return *sides[1]; }
  std::array<Pipe, 2> pipes;  // [i]: from side i

 private:
  void Act(int i);
  // Shows side `i` what has arrived. Returns whether it has used some of it.
  bool ReceiveInPlace(int i);
  void Dispatch(Pipe* pipe, size_t bytes);

  PairOptions options_;
  std::mt19937_64 random_;
  uint64_t now_us_ = 0;
};

}  // namespace softdat::softnet::testing

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_PAIR_H_
