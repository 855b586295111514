// SPDX-License-Identifier: BSD-3-Clause
// What the data path costs: no allocation, and no more packets than the wire asks for.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "provider_softnet/roce/rc_test.h"

namespace {
std::atomic<uint64_t> allocations{0};
}

// Counts every allocation of this program.
void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* p = std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) std::abort();
  return p;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return operator new(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace softdat::softnet::testing {
namespace {

using transport::Op;

struct RcCostTest : RcTest {
  // One batch of side `i` goes to the other side, without the packets of `lost_one_in`. Whether
  // there was any.
  bool Carry(int i, uint64_t lose_one_in) {
    PacketBatch batch;
    ReliableConnection& from = *pair->sides[i]->connection;
    from.PayOwed();
    from.Transmit(&batch, now_us);
    from.TakeActions();
    for (size_t k = 0; k < batch.size(); ++k) {
      if (lose_one_in != 0 && ++carried % lose_one_in == 0) continue;
      const OutgoingPacket& p = batch.at(k);
      size_t size = p.header_size;
      std::memcpy(wire, p.header, size);
      for (const iovec& piece : batch.pieces(p)) {
        std::memcpy(wire + size, piece.iov_base, piece.iov_len);
        size += piece.iov_len;
      }
      size += roce::PadOf(p.payload_size) + roce::kIcrcSize;
      roce::Packet packet;
      if (roce::ParsePacket({wire, size}, &packet) != roce::PacketParse::kOk) std::abort();
      pair->sides[1 - i]->connection->OnPacket(packet, now_us);
      pair->sides[1 - i]->connection->TakeActions();
    }
    return !batch.empty();
  }
  void RunRounds(uint64_t lose_one_in) {
    const Segment local = a().Local(near, 0, 50000), sink = b().Local(far, 0, 50000),
                  word = a().Local(near, 0, 8);
    transport::Completion done[8];
    uint64_t before = 0, completed = 0;
    for (int round = 0; round < 20; ++round) {
      if (round == 4) before = allocations.load();
      transport::SendRequest r;
      r.local = {&local, 1};
      EXPECT_EQ(b().connection->PostReceive({1, {&sink, 1}}), Code::kOk);
      EXPECT_EQ(a().connection->PostSend(r), Code::kOk);
      r.remote = b().Remote(far, 0, 50000);
      for (const Op op : {Op::kRdmaWrite, Op::kRdmaRead}) {
        r.op = op;
        EXPECT_EQ(a().connection->PostSend(r), Code::kOk);
      }
      r.op = Op::kFetchAdd;
      r.local = {&word, 1};
      EXPECT_EQ(a().connection->PostSend(r), Code::kOk);
      for (;;) {
        const bool one = Carry(0, lose_one_in), other = Carry(1, lose_one_in);
        if (one || other) continue;
        now_us = a().connection->deadline_us();
        if (now_us == 0) break;
        a().connection->OnTime(now_us);
      }
      completed += a().send_ring.Poll(done) + b().receive_ring.Poll(done);
    }
    EXPECT_EQ(allocations.load(), before);
    EXPECT_EQ(completed, 20u * 5);
    EXPECT_TRUE(a().GuardsIntact() && b().GuardsIntact());
  }

  uint8_t wire[roce::kMaxHeaderSize + roce::kMaxMtu + roce::kMaxTrailerSize];
  uint64_t now_us = 1, carried = 0;
};

TEST_F(RcCostTest, TheDataPathAllocatesNothing) { RunRounds(0); }

TEST_F(RcCostTest, NorDoLosses) { RunRounds(37); }

// 50 packets and what they need of acknowledgements.
TEST_F(RcCostTest, PacketsOfAWrite) {
  Write(1, 50 * 1024);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(counters(0).packets_sent, 50u);
  EXPECT_LE(counters(1).packets_sent, 50u / 16 + 4);
  EXPECT_EQ(counters(0).requests_resent, 0u);
}

}  // namespace
}  // namespace softdat::softnet::testing
