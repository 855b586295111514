// SPDX-License-Identifier: BSD-3-Clause
// The counters of an EP. Posts are counted by the threads that post, receives by the EVD that takes
// their completions, in the tally of the EP.
#ifndef SOFTDAT_DAT_ENGINE_EP_COUNTERS_H_
#define SOFTDAT_DAT_ENGINE_EP_COUNTERS_H_

#include <span>

#include "dat/engine/events/receive_tally.h"
#include "dat/engine/object/counters.h"
#include "dat/transport/transport.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {

class EpCounters {
 public:
  static constexpr size_t kCount = DCNT_EP_ALL_COUNTERS;

  // Any thread.
  void Count(DAT_EP_COUNTERS which) { posts_.Add(which); }
  // The number of bytes that a post moves.
  static uint64_t Bytes(std::span<const DAT_LMR_TRIPLET> local) {
    if (local.size() == 1) [[likely]]
      return local[0].segment_length;
    uint64_t bytes = 0;
    for (const DAT_LMR_TRIPLET& segment : local) bytes += segment.segment_length;
    return bytes;
  }
  // Data path. Counts a post that was taken.
  [[gnu::always_inline]] void CountSend(transport::Op op, uint64_t bytes) {
    switch (op) {
      case transport::Op::kSend:
      case transport::Op::kSendInvalidate:
        return CountPost(DCNT_EP_POST_SEND, bytes);
      case transport::Op::kRdmaWrite:
        return CountPost(DCNT_EP_POST_WRITE, bytes);
      case transport::Op::kRdmaRead:
        return CountPost(DCNT_EP_POST_READ, bytes);
      case transport::Op::kRdmaWriteImmediate:
        return CountPost(DCNT_EP_POST_WRITE_IMM, bytes);
      case transport::Op::kFetchAdd:
        return posts_.Add(DCNT_EP_POST_FETCH_ADD);
      case transport::Op::kCompareSwap:
        return posts_.Add(DCNT_EP_POST_CMP_SWAP);
      case transport::Op::kSendDatagram:
        return CountPost(DCNT_EP_POST_SEND_UD, bytes);
      default:
        return;  // binds have no counter
    }
  }
  void CountReceive(uint64_t bytes) { CountPost(DCNT_EP_POST_RECV, bytes); }

  // `received` is the tally of the EP. If the EP is for datagrams, the messages that it receives
  // are datagrams.
  void Read(const ReceiveTally& received, bool datagrams, size_t which, bool reset, uint64_t* out) {
    reader_.Read(which, reset, out, [&](size_t i) {
      const std::atomic<uint64_t>* const arrived =
          FindReceived(received, datagrams ? OfDatagrams(i) : i);
      return arrived != nullptr ? arrived->load(std::memory_order_relaxed) : posts_.value(i);
    });
  }

 private:
  // Turns the counter of messages into that of datagrams, and the other way round.
  static size_t OfDatagrams(size_t which) {
    switch (which) {
      case DCNT_EP_RECV:
        return DCNT_EP_RECV_UD;
      case DCNT_EP_RECV_DATA:
        return DCNT_EP_RECV_UD_DATA;
      case DCNT_EP_RECV_UD:
        return DCNT_EP_RECV;
      case DCNT_EP_RECV_UD_DATA:
        return DCNT_EP_RECV_DATA;
      default:
        return which;
    }
  }
  static const std::atomic<uint64_t>* FindReceived(const ReceiveTally& received, size_t which) {
    switch (which) {
      case DCNT_EP_RECV:
        return &received.messages;
      case DCNT_EP_RECV_DATA:
        return &received.message_bytes;
      case DCNT_EP_RECV_RDMA_IMM:
        return &received.immediates;
      case DCNT_EP_RECV_RDMA_IMM_DATA:
        return &received.immediate_bytes;
      default:
        return nullptr;
    }
  }
  // The counter of the bytes follows that of the posts.
  void CountPost(DAT_EP_COUNTERS posts, uint64_t bytes) { posts_.AddBoth(posts, bytes); }

  BiasedCounters<kCount> posts_;
  CounterReader<kCount> reader_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EP_COUNTERS_H_
