// SPDX-License-Identifier: BSD-3-Clause
// For tests: two streams joined by two byte pipes. What moves when, and in what pieces, is drawn
// from a seeded generator, so a failing seed replays. With delays, time is virtual: bytes are on
// their way until the clock is advanced to their arrival, and the streams' timers go off by it.
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
  // Bytes at the end of `bytes` that have not arrived, in order of their arrival.
  struct Flight {
    size_t bytes;
    uint64_t at_us;
  };
  std::deque<Flight> flights;
  size_t on_way = 0;
  uint64_t last_at_us = 0;    // nothing overtakes: arrival of what was sent last
  size_t capacity = 1 << 20;  // what TCP buffers
  bool fin = false;
  bool reset = false;
  uint64_t carried = 0;         // bytes that ever went in
  std::optional<uint64_t> cut;  // the connection breaks when that many bytes went in
  bool cut_resets = false;      // with an error of the path, not with a FIN
  bool cut_is_gone = false;     // with a reset of the peer's system
  std::vector<uint8_t> log;     // everything that went in, if wanted
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
  bool share_receives = false;  // side 1 receives from an SRQ
  uint64_t rnr_timeout_us = 0;
  bool extensions = true;
  bool short_reads = false;
  bool confirm = false;
  bool empty_reads = true;
  uint16_t confirmation_slots = 0;  // requests on the wire beyond `depth`
  // Virtual time. Each piece takes up to this long; one in `loss_one_in` is lost once and takes
  // kRetransmitUs more (0: none is).
  uint64_t max_delay_us = 0;
  uint64_t loss_one_in = 0;
};

inline constexpr uint64_t kRetransmitUs = 200000;

// What a side was ever told to do, as bits: StreamActions of many calls in one word.
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

// A region as a bind names it.
class FakeRegion : public transport::MemoryRegion {
 public:
  explicit FakeRegion(uint32_t key) : key_(key) {}
  uint32_t local_key() const override { return key_; }
  uint32_t remote_key() const override { return key_; }

 private:
  uint32_t key_;
};

// Counts upcalls.
struct CountingSink : transport::CompletionSink {
  void OnCompletion() override { ++completions; }
  void OnOverflow() override { ++overflows; }
  int completions = 0, overflows = 0;
};

class Side {
 public:
  Side(MemoryTable* memory, bool initiator, const PairOptions& options);

  // Registers `size` bytes with guard bytes around them; index into buffers.
  size_t AddBuffer(size_t size, uint32_t privileges = kPrivLocalWrite | kPrivRemoteRead |
                                                      kPrivRemoteWrite | kPrivRemoteAtomic);
  uint8_t* data(size_t buffer) { return buffers[buffer].bytes.data() + kGuard; }
  size_t size(size_t buffer) const { return buffers[buffer].bytes.size() - 2 * kGuard; }
  Segment Local(size_t buffer, uint64_t offset, uint32_t length);
  DAT_RMR_TRIPLET Remote(size_t buffer, uint64_t offset, uint32_t length);
  bool GuardsIntact() const;

  Code Send(uint64_t cookie, std::vector<Segment> local, uint8_t flags = 0);
  Code Receive(uint64_t cookie, std::vector<Segment> local);
  Code Write(uint64_t cookie, std::vector<Segment> local, DAT_RMR_TRIPLET remote,
             uint8_t flags = 0);
  Code Read(uint64_t cookie, std::vector<Segment> local, DAT_RMR_TRIPLET remote, uint8_t flags = 0);

  // Everything completed since the last call.
  std::vector<transport::Completion> Reap(CompletionRing& ring);
  std::vector<transport::Completion> Sends() { return Reap(send_ring); }
  std::vector<transport::Completion> Receives() { return Reap(receive_ring); }
  bool saw(uint32_t action) const { return (actions_seen & action) != 0; }

  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kGuardByte = 0xa5;
  struct Buffer {
    std::vector<uint8_t> bytes;
    uint32_t key = 0;
  };

  MemoryTable* memory;
  StreamBlocks blocks;
  uint32_t pd, qp;
  SendQueue send_queue;
  ReceiveQueue receive_queue;
  std::unique_ptr<SharedReceiveQueue> shared;
  CountingSink send_sink, receive_sink;
  CompletionRing send_ring, receive_ring;
  std::unique_ptr<Stream> stream;
  std::vector<Buffer> buffers;
  uint32_t actions_seen = 0;
  int ends_seen = 0;
  uint64_t timer_due_us = 0;  // in virtual time, while stream->timer().id is not 0
};

class StreamPair {
 public:
  explicit StreamPair(const PairOptions& options);

  // Moves bytes in random pieces until nothing moves any more. False after an absurd number of
  // steps.
  bool Run();
  // One random step of side `i`; whether anything moved.
  bool Transmit(int i);
  bool Receive(int i);
  // One step of each kind; whether any moved.
  bool StepAll();
  // To the next arrival or timer, if there are delays; false if nothing is on its way.
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
  void Dispatch(Pipe* pipe, size_t bytes);

  PairOptions options_;
  std::mt19937_64 random_;
  uint64_t now_us_ = 0;
};

// A byte of the pattern that tests fill buffers with.
inline uint8_t Pattern(uint64_t stream, uint64_t at) {
  return static_cast<uint8_t>((at * 31 + (at >> 8) * 7 + stream * 101) & 0xff);
}

}  // namespace softdat::softnet::testing

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_PAIR_H_
