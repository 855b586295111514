// SPDX-License-Identifier: BSD-3-Clause
// Every split in two of every frame of up to 256 bytes, with both CRC settings, and random splits
// of longer frames.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "provider_softnet/iwarp/mpa_handshake.h"
#include "provider_softnet/iwarp/stream_pair.h"

namespace softdat::sim {
namespace {

using softnet::Rtr;
using softnet::Segment;
using softnet::testing::PairOptions;
using softnet::testing::Pattern;
using softnet::testing::Side;
using softnet::testing::StreamPair;
using transport::Completion;
using transport::Op;
using transport::SendRequest;
using transport::WorkStatus;

using Bytes = std::vector<uint8_t>;

constexpr size_t kFrame = 256;

PairOptions Options(bool crc, size_t mulpdu) {
  PairOptions o;
  o.crc = crc;
  o.whole_steps = true;
  o.mulpdu = mulpdu;
  return o;
}

// An established pair whose bytes the test moves. Side a sends, and side b answers.
class StreamSplitTest : public testing::TestWithParam<bool> {
 protected:
  explicit StreamSplitTest(size_t mulpdu = 1024) : pair_(Options(GetParam(), mulpdu)) {
    near_ = a_.AddBuffer(kBuffer);
    far_ = b_.AddBuffer(kBuffer);
    EXPECT_TRUE(pair_.Run());  // the RTR frame
  }

  // Takes what side `i` has to send now, as bytes.
  Bytes Take(int i) {
    while (pair_.Transmit(i)) {
    }
    Bytes bytes;
    bytes.swap(pair_.pipes[i].bytes);
    pair_.pipes[i].Clear();
    return bytes;
  }
  void Deliver(int to, const uint8_t* from, size_t size) {
    pair_.Inject(to, {from, from + size});
    while (pair_.Receive(to)) {
    }
  }
  void Deliver(int to, const Bytes& bytes, size_t split) {
    if (split > 0) Deliver(to, bytes.data(), split);
    if (split < bytes.size()) Deliver(to, bytes.data() + split, bytes.size() - split);
  }
  // Fills a's `size` bytes with a pattern of their own, and b's with another.
  void Prepare(uint64_t run, size_t size) {
    for (size_t k = 0; k < size; ++k) a_.data(near_)[k] = Pattern(run, k);
    std::memset(b_.data(far_), static_cast<int>(~run & 0xff), size + 1);
  }
  // Whether `size` bytes are equal at both ends, and b's next byte has not changed.
  bool Arrived(uint64_t run, size_t size) {
    return std::memcmp(a_.data(near_), b_.data(far_), size) == 0 &&
           b_.data(far_)[size] == static_cast<uint8_t>(~run);
  }
  // Returns the single completion of a ring.
  static Completion One(const std::vector<Completion>& all) {
    EXPECT_EQ(all.size(), 1u);
    if (all.size() != 1) return {};
    EXPECT_EQ(all[0].status, WorkStatus::kSuccess);
    return all[0];
  }
  void Post(Op op, uint32_t length, uint32_t key = 0) {
    SendRequest r;
    r.op = op;
    const Segment part = a_.Local(near_, 0, length);
    r.local = {&part, 1};
    r.remote = b_.Remote(far_, 0, length);
    r.key = key;
    r.atomic = {.compare = 0, .swap_or_add = 1};
    EXPECT_EQ(a_.stream->PostSend(r), Code::kOk);
  }
  // For each payload whose frame has at most kFrame bytes: calls `once(length, split)` for each
  // split. It returns the length of the frame.
  void EverySplit(const std::function<size_t(uint32_t, size_t)>& once) {
    size_t longest = 0;
    for (uint32_t length = 0; longest < kFrame - 4; ++length) {
      size_t size = 0;
      for (size_t split = 0; split <= size; ++split) {
        size = once(length, split);
        ASSERT_FALSE(HasFailure()) << "payload of " << length << " split at " << split;
        ASSERT_LE(size, kFrame);
      }
      ASSERT_GT(size, longest > 3 ? longest - 1 : 0) << "a longer payload makes no shorter frame";
      longest = std::max(longest, size);
    }
  }

  static constexpr size_t kBuffer = 8192;
  StreamPair pair_;
  Side &a_ = pair_.a(), &b_ = pair_.b();
  size_t near_ = 0, far_ = 0;
  uint64_t run_ = 0;
};

TEST_P(StreamSplitTest, Sends) {
  EverySplit([this](uint32_t length, size_t split) {
    Prepare(++run_, length);
    b_.Receive(run_, {b_.Local(far_, 0, 1024)});
    a_.Send(run_, {a_.Local(near_, 0, length)}, run_ % 2 == 0 ? transport::kSolicited : 0);
    const Bytes frame = Take(0);
    Deliver(1, frame, split);
    const Completion got = One(b_.Receives());
    EXPECT_EQ(got.cookie, run_);
    EXPECT_EQ(got.length, length);
    EXPECT_EQ(got.solicited, run_ % 2 == 0);
    EXPECT_TRUE(Arrived(run_, length));
    One(a_.Sends());
    return frame.size();
  });
}

TEST_P(StreamSplitTest, SendsWithInvalidate) {
  const uint32_t window = b_.memory->CreateWindow(b_.pd, false);
  EverySplit([this, window](uint32_t length, size_t split) {
    Prepare(++run_, length);
    softnet::MemoryTable::BindRequest bind;
    bind.key = b_.memory->NextWindowKey(window);
    bind.region = b_.buffers[far_].key;
    bind.offset = b_.Local(far_, 0, 0).virtual_address;
    bind.length = 8;
    bind.privileges = softnet::kPrivRemoteRead;
    bind.pd = b_.pd;
    bind.qp = b_.qp;
    EXPECT_EQ(b_.memory->Bind(bind), softnet::AccessError::kNone);
    b_.Receive(run_, {b_.Local(far_, 0, 1024)});
    Post(Op::kSendInvalidate, length, bind.key);
    const Bytes frame = Take(0);
    Deliver(1, frame, split);
    EXPECT_EQ(One(b_.Receives()).key, bind.key);
    EXPECT_FALSE(b_.memory->IsLive(bind.key));
    EXPECT_TRUE(Arrived(run_, length));
    One(a_.Sends());
    return frame.size();
  });
}

TEST_P(StreamSplitTest, Writes) {
  EverySplit([this](uint32_t length, size_t split) {
    Prepare(++run_, length);
    Post(Op::kRdmaWrite, length);
    const Bytes frame = Take(0);
    Deliver(1, frame, split);
    EXPECT_TRUE(Arrived(run_, length));
    EXPECT_EQ(One(a_.Sends()).length, length);
    return frame.size();
  });
}

TEST_P(StreamSplitTest, ReadResponses) {
  EverySplit([this](uint32_t length, size_t split) {
    Prepare(++run_, length);
    for (size_t k = 0; k < length; ++k) b_.data(far_)[k] = Pattern(run_ + 7, k);
    Post(Op::kRdmaRead, length);
    const Bytes request = Take(0);
    Deliver(1, request, split % (request.size() + 1));
    const Bytes frame = Take(1);
    Deliver(0, frame, split);
    EXPECT_EQ(One(a_.Sends()).length, length);
    EXPECT_TRUE(Arrived(run_, length));
    return frame.size();
  });
}

// Requests and answers have one size.
TEST_P(StreamSplitTest, ReadAndAtomicRequestsAndAnswers) {
  for (const Op op : {Op::kRdmaRead, Op::kFetchAdd, Op::kCompareSwap}) {
    size_t request_size = 0, answer_size = 0;
    for (size_t split = 0; split <= std::max(request_size, answer_size); ++split) {
      Prepare(++run_, 8);
      const uint64_t before = 0x0102030405060708 + run_;
      std::memcpy(b_.data(far_), &before, 8);
      Post(op, 8);
      const Bytes request = Take(0);
      Deliver(1, request, std::min(split, request.size()));
      const Bytes answer = Take(1);
      Deliver(0, answer, std::min(split, answer.size()));
      request_size = request.size();
      answer_size = answer.size();
      ASSERT_LE(std::max(request_size, answer_size), kFrame);
      uint64_t result = 0;
      std::memcpy(&result, a_.data(near_), 8);
      EXPECT_EQ(result, before);
      One(a_.Sends());
      ASSERT_FALSE(HasFailure()) << "operation " << static_cast<int>(op) << " split at " << split;
    }
    EXPECT_GT(std::min(request_size, answer_size), 20u);
  }
}

TEST_P(StreamSplitTest, WritesWithImmediate) {
  for (uint32_t length = 0; length <= 200; ++length) {
    size_t size = 0;
    for (size_t split = 0; split <= size; ++split) {
      Prepare(++run_, length);
      b_.Receive(run_, {});
      Post(Op::kRdmaWriteImmediate, length, static_cast<uint32_t>(run_));
      const Bytes frames = Take(0);
      size = frames.size();
      Deliver(1, frames, split);
      const Completion got = One(b_.Receives());
      EXPECT_EQ(got.op, Op::kReceiveImmediate);
      EXPECT_EQ(got.key, static_cast<uint32_t>(run_));
      EXPECT_TRUE(Arrived(run_, length));
      One(a_.Sends());
      ASSERT_FALSE(HasFailure()) << "payload of " << length << " split at " << split;
    }
  }
}

// A Terminate is a connection's last frame, so each split needs a pair.
TEST_P(StreamSplitTest, Terminates) {
  size_t size = 0;
  for (size_t split = 0; split <= size; ++split) {
    StreamPair pair(Options(GetParam(), 1024));
    const size_t near = pair.a().AddBuffer(64), far = pair.b().AddBuffer(64);
    ASSERT_TRUE(pair.Run());
    DAT_RMR_TRIPLET remote = pair.b().Remote(far, 0, 8);
    remote.rmr_context ^= 0xff;
    pair.a().Read(1, {pair.a().Local(near, 0, 8)}, remote);
    while (pair.Transmit(0) || pair.Receive(1) || pair.Transmit(1)) {
    }
    Bytes frame;
    frame.swap(pair.pipes[1].bytes);
    pair.pipes[1].Clear();
    size = frame.size();
    ASSERT_GT(size, 20u);
    ASSERT_LE(size, kFrame);
    for (const auto& [from, to] : {std::pair<size_t, size_t>{0, split}, {split, size}}) {
      if (from == to) continue;
      ASSERT_FALSE(pair.a().stream->ended());
      const auto at = frame.begin();
      pair.Inject(0, {at + static_cast<ptrdiff_t>(from), at + static_cast<ptrdiff_t>(to)});
      while (pair.pipes[1].size() > 0 && pair.Receive(0)) {
      }
    }
    ASSERT_TRUE(pair.a().stream->ended()) << "split at " << split;
    EXPECT_EQ(pair.a().stream->end().reason, transport::EndReason::kBroken);
    const auto sent = pair.a().Sends();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].status, WorkStatus::kRemoteAccess);
  }
}

class LongFrameTest : public StreamSplitTest {
 protected:
  LongFrameTest() : StreamSplitTest(8000) {}
};

TEST_P(LongFrameTest, RandomSplits) {
  for (int round = 0; round < 2000; ++round) {
    const auto length = static_cast<uint32_t>(230 + pair_.Draw(7500));
    Prepare(++run_, length);
    const bool write = pair_.Draw(2) == 0;
    if (!write) b_.Receive(run_, {b_.Local(far_, 0, 8000)});
    Post(write ? Op::kRdmaWrite : Op::kSend, length);
    const Bytes frame = Take(0);
    ASSERT_GE(frame.size(), length);
    for (size_t at = 0; at < frame.size();) {
      const size_t piece = std::min<size_t>(1 + pair_.Draw(1 << pair_.Draw(13)), frame.size() - at);
      Deliver(1, frame.data() + at, piece);
      at += piece;
    }
    EXPECT_TRUE(Arrived(run_, length));
    if (!write) {
      EXPECT_EQ(One(b_.Receives()).length, length);
    }
    One(a_.Sends());
    ASSERT_FALSE(HasFailure()) << "payload of " << length << " in round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Crc, StreamSplitTest, testing::Bool());
INSTANTIATE_TEST_SUITE_P(Crc, LongFrameTest, testing::Bool());

void Feed(softnet::MpaHandshake& to, const Bytes& bytes, size_t from, size_t until) {
  while (from < until && to.bytes_wanted() > 0) {
    const size_t n = std::min(until - from, to.bytes_wanted());
    to.OnReceived(bytes.data() + from, n);
    from += n;
  }
  EXPECT_EQ(from, until) << "a start-up frame takes all its bytes";
}

Bytes Output(softnet::MpaHandshake& of) {
  const Bytes bytes(of.output().begin(), of.output().end());
  of.OnSent(bytes.size());
  return bytes;
}

TEST(StartUpSplitTest, RequestsAndReplies) {
  for (const bool crc : {false, true}) {
    softnet::MpaConfig config;
    config.crc = crc ? softnet::CrcPolicy::kOn : softnet::CrcPolicy::kAuto;
    config.max_read_in = config.max_read_out = 4;
    config.conn_qual = 4711;
    for (size_t length = 0; length <= 220; length += length < 40 ? 1 : 20) {
      Bytes data(length);
      for (size_t k = 0; k < length; ++k) data[k] = Pattern(length, k);
      size_t size = 0;
      for (size_t split = 0; split <= size; ++split) {
        softnet::MpaInitiator initiator(config, data);
        softnet::MpaResponder responder(config);
        const Bytes request = Output(initiator);
        size = request.size();
        Feed(responder, request, 0, split);
        ASSERT_EQ(responder.state() == softnet::MpaState::kRequest, split == size);
        Feed(responder, request, split, size);
        ASSERT_EQ(responder.state(), softnet::MpaState::kRequest);
        ASSERT_TRUE(responder.Accept(4, 4, data));
        const Bytes reply = Output(responder);
        const size_t at = std::min(split, reply.size());
        Feed(initiator, reply, 0, at);
        Feed(initiator, reply, at, reply.size());
        ASSERT_EQ(initiator.state(), softnet::MpaState::kEstablished);
        const auto got = initiator.peer_private_data();
        ASSERT_EQ(Bytes(got.begin(), got.end()), data);
        ASSERT_EQ(initiator.agreement().crc, crc);
      }
    }
  }
}

}  // namespace
}  // namespace softdat::sim
