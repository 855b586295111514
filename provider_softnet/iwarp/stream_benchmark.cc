// SPDX-License-Identifier: BSD-3-Clause
// What the protocol costs: work is posted, transmitted, received and completed between two streams,
// in one thread. One buffer replaces TCP: each byte is copied into it and out again.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "provider_softnet/iwarp/stream_pair.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet::testing {
namespace {

using transport::Op;

constexpr uint32_t kQueue = 128;

class Link {
 public:
  Link(uint32_t size, size_t emss, bool crc)
      : pair_(Options(emss, crc)),
        size_(size),
        near_(a_.AddBuffer(size)),
        far_(b_.AddBuffer(size)) {
    pair_.Run();  // the ready-to-receive message
    for (uint32_t i = 0; i < size; ++i) a_.data(near_)[i] = Pattern(1, i);
  }

  // Does `count` operations, gathered. Returns whether all of them came through.
  bool Exchange(Op op, uint32_t count) {
    transport::SendRequest request;
    request.op = op;
    request.local = {&source_, 1};
    if (op != Op::kSend) request.remote = remote_;
    for (uint32_t i = 0; i < count; ++i) {
      request.cookie = i;
      if (op == Op::kSend && b_.stream->PostReceive({i, {&sink_, 1}}) != Code::kOk) return false;
      if (a_.stream->PostSend(request) != Code::kOk) return false;
    }
    if (!Move(&a_, &b_) || (op == Op::kRdmaRead && !Move(&b_, &a_))) return false;
    return a_.send_ring.Poll(done_) == count &&
           b_.receive_ring.Poll(done_) == (op == Op::kSend ? count : 0);
  }
  // Whether both buffers are the same. To be called after an exchange.
  bool Arrived() { return std::memcmp(a_.data(near_), b_.data(far_), size_) == 0; }

 private:
  static PairOptions Options(size_t emss, bool crc) {
    PairOptions o;
    o.whole_steps = true;
    o.mulpdu = iwarp::Mulpdu(emss);
    o.crc = crc;
    o.queue = o.depth = kQueue;
    return o;
  }

  // A driver's turn on both sides: moves everything that `from` has to send.
  bool Move(Side* from, Side* to) {
    iovec iov[256];
    while (from->stream->wants_transmit()) {
      const Stream::Batch batch = from->stream->TransmitVector(iov, 256, 1 << 20);
      if (batch.count == 0) break;
      if (batch.bytes > wire_.size()) return false;
      size_t sent = 0;
      for (size_t i = 0; i < batch.count; ++i) {
        std::memcpy(wire_.data() + sent, iov[i].iov_base, iov[i].iov_len);
        sent += iov[i].iov_len;
      }
      from->stream->OnTransmitted(sent);
      for (size_t at = 0; at < sent;) {
        const size_t count = to->stream->ReceiveVector(iov, 16);
        if (count == 0) return false;
        const size_t before = at;
        for (size_t i = 0; i < count && at < sent; ++i) {
          const size_t n = std::min(iov[i].iov_len, sent - at);
          std::memcpy(iov[i].iov_base, wire_.data() + at, n);
          at += n;
        }
        to->stream->OnReceived(at - before);
      }
    }
    from->stream->TakeActions();
    to->stream->TakeActions();
    return true;
  }

  StreamPair pair_;
  Side& a_ = pair_.a();
  Side& b_ = pair_.b();
  const uint32_t size_;
  const size_t near_, far_;
  const Segment source_ = a_.Local(near_, 0, size_), sink_ = b_.Local(far_, 0, size_);
  const DAT_RMR_TRIPLET remote_ = b_.Remote(far_, 0, size_);
  std::vector<uint8_t> wire_ = std::vector<uint8_t>(1 << 20);
  std::array<transport::Completion, kQueue> done_;
};

// Arguments: bytes, operations at a time, TCP's segment size (Ethernet, loopback), CRC.
void Exchange(benchmark::State& state, Op op) {
  const auto size = static_cast<uint32_t>(state.range(0));
  const auto count = static_cast<uint32_t>(state.range(1));
  Link link(size, static_cast<size_t>(state.range(2)), state.range(3) != 0);
  for (auto _ : state) {
    if (!link.Exchange(op, count)) {
      state.SkipWithError("an operation did not complete");
      return;
    }
  }
  if (!link.Arrived()) state.SkipWithError("the bytes did not arrive");
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * count);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * count * size);
}

void Small(benchmark::internal::Benchmark* b) {
  b->ArgNames({"size", "gathered", "emss", "crc"});
  for (const int gathered : {1, 64}) {
    for (const int crc : {0, 1}) b->Args({64, gathered, 1448, crc});
  }
}

void Page(benchmark::internal::Benchmark* b) {
  b->ArgNames({"size", "gathered", "emss", "crc"});
  for (const int emss : {1448, 65483}) {
    for (const int crc : {0, 1}) b->Args({4096, 1, emss, crc});
  }
}

BENCHMARK_CAPTURE(Exchange, send, Op::kSend)->Apply(Small);
BENCHMARK_CAPTURE(Exchange, write, Op::kRdmaWrite)->Apply(Small)->Apply(Page);
// The data go the other way: read requests go there, and responses come back.
BENCHMARK_CAPTURE(Exchange, read, Op::kRdmaRead)->Apply(Small);

}  // namespace
}  // namespace softdat::softnet::testing

BENCHMARK_MAIN();
