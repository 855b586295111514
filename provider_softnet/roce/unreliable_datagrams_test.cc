// SPDX-License-Identifier: BSD-3-Clause
// Datagrams without I/O: what leaves, what is received, and what is lost.
#include "provider_softnet/roce/unreliable_datagrams.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "provider_softnet/queue/completion_ring.h"
#include "wire/roce/opcode.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {
namespace {

using roce::Opcode;
using transport::Completion;
using transport::Op;
using transport::WorkStatus;

constexpr uint32_t kQkey = 0x01234567;
constexpr uint32_t kLongest = 1024;
constexpr uint32_t kOwnQpn = 0x44, kPeerQpn = 0x77;
constexpr size_t kHeader = transport::kDatagramHeader;

class UnreliableDatagramsTest : public ::testing::Test {
 protected:
  UnreliableDatagramsTest() {
    std::iota(source_.begin(), source_.end(), uint8_t{1});
    header_.fill(0x40);
    Make(false);
  }

  void Make(bool shared) {
    config_ = {};
    config_.context = this;
    config_.memory = &memory_;
    config_.send_queue = &sends_;
    config_.receive_queue = shared ? nullptr : &receives_;
    config_.shared_receives = shared ? &shared_ : nullptr;
    config_.send_completions = &sent_;
    config_.receive_completions = &received_;
    config_.pd = pd_;
    config_.qp = 9;
    pair_.emplace(config_, kQkey, kLongest);
  }

  static Segment Part(uint32_t key, void* address, size_t length) {
    Segment s{};
    s.lmr_context = key;
    s.virtual_address = reinterpret_cast<uint64_t>(address);
    s.segment_length = length;
    return s;
  }
  Segment From(size_t offset, size_t length) {
    return Part(source_key_, source_.data() + offset, length);
  }
  Segment Into(size_t offset, size_t length) {
    return Part(target_key_, target_.data() + offset, length);
  }

  Code Send(const std::vector<Segment>& local, uint8_t flags = 0, uint64_t cookie = 5) {
    transport::SendRequest r;
    r.op = Op::kSendDatagram;
    r.flags = flags;
    r.cookie = cookie;
    r.local = local;
    r.datagram = {.to = nullptr, .number = kPeerQpn, .qkey = kQkey + 1};
    return pair_->PostSend(r);
  }
  Code Receive(const std::vector<Segment>& local, uint64_t cookie = 6) {
    transport::ReceiveRequest r;
    r.cookie = cookie;
    r.local = local;
    return config_.shared_receives != nullptr ? shared_.Post(r) : pair_->PostReceive(r);
  }

  roce::Packet Packet(size_t payload, Opcode opcode = Opcode::kUdSendOnly) {
    roce::Packet packet;
    packet.bth.opcode = opcode;
    packet.bth.dest_qpn = kOwnQpn;
    packet.headers.deth = {kQkey, kPeerQpn};
    packet.payload = ByteSpan(source_).first(payload);
    return packet;
  }
  void Arrive(const roce::Packet& packet) { pair_->OnPacket(packet, header_); }

  static std::vector<Completion> Reap(CompletionRing& ring) {
    std::array<Completion, 16> out;
    const size_t n = ring.Poll(out);
    return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n)};
  }
  Completion OnlyReceived() {
    const std::vector<Completion> all = Reap(received_);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Completion() : all[0];
  }
  bool NothingReceived() { return Reap(received_).empty(); }

  MemoryTable memory_;
  const uint32_t pd_ = memory_.NewProtectionDomainId();
  std::vector<uint8_t> source_ = std::vector<uint8_t>(2048);
  std::vector<uint8_t> target_ = std::vector<uint8_t>(2048);
  uint32_t source_key_ = memory_.RegisterRegion(source_.data(), source_.size(), kPrivLocalRead,
                                                /*zero_based=*/false, pd_);
  uint32_t target_key_ = memory_.RegisterRegion(
      target_.data(), target_.size(), kPrivLocalRead | kPrivLocalWrite, /*zero_based=*/false, pd_);
  std::array<uint8_t, kHeader> header_{};
  SendQueue sends_{4, 3};
  ReceiveQueue receives_{4, 3};
  SharedReceiveQueue shared_{4, 3, pd_};
  CompletionRing sent_{16, nullptr}, received_{16, nullptr};
  WorkLedgerConfig config_;
  std::optional<UnreliableDatagrams> pair_;
};

TEST_F(UnreliableDatagramsTest, ADatagramIsOnePacket) {
  ASSERT_EQ(Send({From(0, 3), From(10, 0), From(7, 2)}, transport::kSolicited), Code::kOk);
  EXPECT_TRUE(Reap(sent_).empty());
  PacketBatch batch;
  pair_->Offer(kOwnQpn, &batch);
  ASSERT_EQ(batch.size(), 1u);
  const OutgoingPacket& out = batch.at(0);
  EXPECT_EQ(out.payload_size, 5);
  // As the wire has it: the same octets as those of a whole packet that is parsed again.
  std::vector<uint8_t> bytes(out.header, out.header + out.header_size);
  for (const iovec& piece : batch.pieces(out)) {
    const auto* p = static_cast<const uint8_t*>(piece.iov_base);
    bytes.insert(bytes.end(), p, p + piece.iov_len);
  }
  bytes.resize(bytes.size() + roce::PadOf(5) + roce::kIcrcSize);
  roce::Packet packet;
  ASSERT_EQ(roce::ParsePacket(bytes, &packet), roce::PacketParse::kOk);
  EXPECT_EQ(packet.bth.opcode, Opcode::kUdSendOnly);
  EXPECT_TRUE(packet.bth.solicited);
  EXPECT_FALSE(packet.bth.ack_request);
  EXPECT_EQ(packet.bth.dest_qpn, kPeerQpn);
  EXPECT_EQ(packet.headers.deth.qkey, kQkey + 1);
  EXPECT_EQ(packet.headers.deth.source_qpn, kOwnQpn);
  EXPECT_EQ(std::vector<uint8_t>(packet.payload.begin(), packet.payload.end()),
            std::vector<uint8_t>({1, 2, 3, 8, 9}));
  pair_->Sent();
  const std::vector<Completion> sent = Reap(sent_);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].op, Op::kSendDatagram);
  EXPECT_EQ(sent[0].length, 5u);
  EXPECT_EQ(sent[0].cookie, 5u);
  EXPECT_EQ(sent[0].status, WorkStatus::kSuccess);
  EXPECT_TRUE(sends_.empty());
}

TEST_F(UnreliableDatagramsTest, EachHasTheNextSequenceNumber) {
  for (uint32_t psn = 0; psn < 3; ++psn) {
    ASSERT_EQ(Send({}, transport::kSuppress), Code::kOk);
    PacketBatch batch;
    pair_->Offer(kOwnQpn, &batch);
    roce::Bth bth;
    ASSERT_EQ(roce::ParseBth({batch.at(0).header, batch.at(0).header_size}, &bth),
              roce::BthParse::kOk);
    EXPECT_EQ(bth.psn, psn);
    pair_->Sent();
  }
  EXPECT_TRUE(Reap(sent_).empty());  // all were suppressed
}

TEST_F(UnreliableDatagramsTest, WhatIsRefusedAtThePost) {
  EXPECT_EQ(Send({From(0, kLongest + 1)}), Code::kLength);
  EXPECT_EQ(Send({From(0, 1), From(0, 1), From(0, 1), From(0, 1)}), Code::kInvalidArgument);
  EXPECT_EQ(Send({Part(source_key_ ^ 1, source_.data(), 1)}), Code::kProtection);
  EXPECT_EQ(Send({From(2000, 100)}), Code::kOutOfBounds);
  transport::SendRequest other;
  EXPECT_EQ(pair_->PostSend(other), Code::kInvalidArgument);
  EXPECT_TRUE(sends_.empty());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Send({From(0, kLongest)}), Code::kOk);
  EXPECT_EQ(Send({}), Code::kQueueFull);
}

TEST_F(UnreliableDatagramsTest, MemoryThatIsGoneFailsItsDatagramAlone) {
  ASSERT_EQ(Send({From(0, 3)}, transport::kSuppress, 1), Code::kOk);
  ASSERT_EQ(Send({Into(0, 3)}, 0, 2), Code::kOk);
  memory_.DeregisterRegion(source_key_);
  PacketBatch batch;
  pair_->Offer(kOwnQpn, &batch);
  EXPECT_TRUE(batch.empty());
  EXPECT_FALSE(batch.holds_memory());
  const std::vector<Completion> failed = Reap(sent_);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].cookie, 1u);
  EXPECT_EQ(failed[0].status, WorkStatus::kLocalProtection);
  pair_->Offer(kOwnQpn, &batch);
  EXPECT_EQ(batch.size(), 1u);
}

TEST_F(UnreliableDatagramsTest, TheHeaderComesFirst) {
  ASSERT_EQ(Receive({Into(0, 33), Into(100, 8), Into(200, 100)}), Code::kOk);
  roce::Packet packet = Packet(9);
  packet.bth.solicited = true;
  Arrive(packet);
  const Completion got = OnlyReceived();
  EXPECT_EQ(got.op, Op::kReceiveDatagram);
  EXPECT_EQ(got.status, WorkStatus::kSuccess);
  EXPECT_EQ(got.length, kHeader + 9);
  EXPECT_EQ(got.key, kPeerQpn);
  EXPECT_EQ(got.cookie, 6u);
  EXPECT_TRUE(got.solicited);
  EXPECT_EQ(target_[32], 0x40);
  EXPECT_EQ(target_[33], 0);
  EXPECT_EQ(target_[106], 0x40);
  EXPECT_EQ(target_[107], 1);  // the 41st byte
  EXPECT_EQ(target_[200], 2);
  EXPECT_EQ(target_[207], 9);
  EXPECT_EQ(target_[208], 0);
}

TEST_F(UnreliableDatagramsTest, ImmediateDataArrive) {
  ASSERT_EQ(Receive({Into(0, 100)}), Code::kOk);
  roce::Packet packet = Packet(4, Opcode::kUdSendOnlyImmediate);
  const std::array<uint8_t, 4> program = {0x11, 0x22, 0x33, 0x44};  // as they lie in its memory
  packet.headers.immediate = 0x11223344;
  Arrive(packet);
  const Completion got = OnlyReceived();
  EXPECT_EQ(got.op, Op::kReceiveDatagramImmediate);
  EXPECT_EQ(std::memcmp(&got.key, program.data(), program.size()), 0);
  EXPECT_EQ(got.length, kHeader + 4);
}

TEST_F(UnreliableDatagramsTest, WhatIsLostIsCounted) {
  Arrive(Packet(4));
  EXPECT_EQ(pair_->lost().no_receive, 1u);
  ASSERT_EQ(Receive({Into(0, kHeader + 4)}), Code::kOk);
  Arrive(Packet(5));
  EXPECT_EQ(pair_->lost().short_receive, 1u);
  roce::Packet packet = Packet(4);
  packet.headers.deth.qkey = kQkey ^ 1;
  Arrive(packet);
  EXPECT_EQ(pair_->lost().bad_qkey, 1u);
  packet = Packet(4);
  packet.bth.pkey = 0x8001;
  Arrive(packet);
  EXPECT_EQ(pair_->lost().bad_pkey, 1u);
  Arrive(Packet(4, Opcode::kSendOnly));
  EXPECT_EQ(pair_->lost().of_other_service, 1u);
  EXPECT_EQ(pair_->lost().all(), 5u);
  EXPECT_TRUE(NothingReceived());
  EXPECT_EQ(receives_.count(), 1u);
  packet = Packet(4);
  packet.bth.pkey = 0x7fff;  // of a limited member
  Arrive(packet);
  EXPECT_EQ(OnlyReceived().status, WorkStatus::kSuccess);
  EXPECT_EQ(pair_->lost().all(), 5u);
}

TEST_F(UnreliableDatagramsTest, AReceiveWhoseMemoryIsGoneFails) {
  ASSERT_EQ(Receive({Into(0, 100)}, 1), Code::kOk);
  ASSERT_EQ(Receive({Part(source_key_, source_.data(), 100)}, 2), Code::kPrivileges);
  memory_.DeregisterRegion(target_key_);
  Arrive(Packet(4));
  const Completion failed = OnlyReceived();
  EXPECT_EQ(failed.cookie, 1u);
  EXPECT_EQ(failed.op, Op::kReceiveDatagram);
  EXPECT_EQ(failed.status, WorkStatus::kLocalProtection);
  EXPECT_EQ(pair_->lost().bad_memory, 1u);
  EXPECT_TRUE(receives_.empty());
}

TEST_F(UnreliableDatagramsTest, AShortReceiveOfAnSrqIsUsedUp) {
  Make(true);
  ASSERT_EQ(Receive({Into(0, kHeader)}, 1), Code::kOk);
  ASSERT_EQ(Receive({Into(0, 100)}, 2), Code::kOk);
  Arrive(Packet(4));
  const Completion failed = OnlyReceived();
  EXPECT_EQ(failed.cookie, 1u);
  EXPECT_EQ(failed.status, WorkStatus::kLocalLength);
  Arrive(Packet(4));
  const Completion got = OnlyReceived();
  EXPECT_EQ(got.cookie, 2u);
  EXPECT_EQ(got.status, WorkStatus::kSuccess);
  EXPECT_EQ(pair_->PostReceive({}), Code::kInvalidState);
}

TEST_F(UnreliableDatagramsTest, WithoutAProtectionDomainNothingIsReceived) {
  config_.pd = 0;
  pair_.emplace(config_, kQkey, kLongest);
  ASSERT_EQ(Receive({Into(0, 100)}), Code::kOk);
  Arrive(Packet(4));
  EXPECT_EQ(pair_->lost().no_receive, 1u);
  EXPECT_EQ(receives_.count(), 1u);
}

}  // namespace
}  // namespace softdat::softnet
