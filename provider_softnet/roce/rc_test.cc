// SPDX-License-Identifier: BSD-3-Clause
// For the tests here: a pair of reliable connections with memory at both ends.
#include "provider_softnet/roce/rc_test.h"

#include <cstring>

#include "wire/roce/aeth.h"

namespace softdat::softnet::testing {

using transport::Op;
using transport::SendRequest;

Statuses StatusesOf(const std::vector<transport::Completion>& all) {
  Statuses s;
  for (const transport::Completion& c : all) s.push_back(c.status);
  return s;
}

namespace {

std::vector<uint8_t> PatternOf(uint64_t stream, size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = Pattern(stream, i);
  return bytes;
}

}  // namespace

void RcTest::Make(const RcPairOptions& options) {
  options_ = options;
  pair = std::make_unique<RcPair>(options);
  pair->keep_log = true;
  near = a().AddBuffer(kBytes);
  far = b().AddBuffer(kBytes);
  static const std::vector<uint8_t> kPatterns[2] = {PatternOf(1, kBytes), PatternOf(2, kBytes)};
  std::memcpy(a().data(near), kPatterns[0].data(), kBytes);
  std::memcpy(b().data(far), kPatterns[1].data(), kBytes);
  told_[0] = told_[1] = 0;
}

// -------------------------------------------------------------------------------------------------
// Posts

SendRequest RcTest::Request(Op op, uint64_t cookie, const Segment* local, uint64_t offset,
                            uint32_t length) {
  SendRequest r;
  r.op = op;
  r.cookie = cookie;
  if (local->segment_length > 0) r.local = {local, 1};
  r.remote = b().Remote(far, offset, length);
  return r;
}

void RcTest::Send(uint64_t cookie, uint32_t length, uint8_t flags) {
  const Segment local = a().Local(near, 0, length);
  SendRequest r = Request(Op::kSend, cookie, &local, 0, 0);
  r.flags = flags;
  ASSERT_EQ(a().PostSend(r), Code::kOk);
}

void RcTest::Write(uint64_t cookie, uint32_t length, uint64_t offset, uint8_t flags) {
  const Segment local = a().Local(near, offset, length);
  SendRequest r = Request(Op::kRdmaWrite, cookie, &local, offset, length);
  r.flags = flags;
  ASSERT_EQ(a().PostSend(r), Code::kOk);
}

void RcTest::WriteImmediate(uint64_t cookie, uint32_t length, uint32_t immediate) {
  const Segment local = a().Local(near, 0, length);
  SendRequest r = Request(Op::kRdmaWriteImmediate, cookie, &local, 0, length);
  r.key = immediate;
  ASSERT_EQ(a().PostSend(r), Code::kOk);
}

void RcTest::Read(uint64_t cookie, uint32_t length, uint64_t offset, uint8_t flags) {
  const Segment local = a().Local(near, offset, length);
  SendRequest r = Request(Op::kRdmaRead, cookie, &local, offset, length);
  r.flags = flags;
  ASSERT_EQ(a().PostSend(r), Code::kOk);
}

void RcTest::Add(uint64_t cookie, uint64_t value, uint64_t offset) {
  Add(cookie, value, offset, offset);
}

void RcTest::Add(uint64_t cookie, uint64_t value, uint64_t offset, uint64_t sink) {
  const Segment local = a().Local(near, sink, 8);
  SendRequest r = Request(Op::kFetchAdd, cookie, &local, offset, 8);
  r.atomic = {.compare = 0, .swap_or_add = value};
  ASSERT_EQ(a().PostSend(r), Code::kOk);
}

void RcTest::SendInvalidate(uint64_t cookie, uint32_t length, uint32_t key) {
  const Segment local = a().Local(near, 0, length);
  SendRequest r = Request(Op::kSendInvalidate, cookie, &local, 0, 0);
  r.key = key;
  ASSERT_EQ(a().PostSend(r), Code::kOk);
}

void RcTest::Receive(uint64_t cookie, uint32_t length) {
  std::vector<Segment> local;
  if (length > 0) local.push_back(b().Local(far, 0, length));
  ASSERT_EQ(b().Receive(cookie, local), Code::kOk);
}

// -------------------------------------------------------------------------------------------------
// Memory

bool RcTest::SameBytes(uint32_t length, uint64_t offset) {
  return std::memcmp(a().data(near) + offset, b().data(far) + offset, length) == 0 &&
         a().GuardsIntact() && b().GuardsIntact();
}

uint64_t RcTest::Word(RcSide* side, size_t buffer, uint64_t offset) {
  uint64_t value = 0;
  std::memcpy(&value, side->data(buffer) + offset, sizeof value);
  return value;
}

void RcTest::SetWord(RcSide* side, size_t buffer, uint64_t value, uint64_t offset) {
  std::memcpy(side->data(buffer) + offset, &value, sizeof value);
}

// -------------------------------------------------------------------------------------------------
// Packets

namespace {

// The first PSN of the requests of side `i`.
uint32_t FirstOf(int i, uint32_t first_psn) { return i == 0 ? first_psn : first_psn ^ 0x5a5a5a; }

bool IsAnswer(roce::Operation operation) {
  return operation == roce::Operation::kReadResponse ||
         operation == roce::Operation::kAcknowledge ||
         operation == roce::Operation::kAtomicAcknowledge;
}

std::string Hex(uint8_t octet) {
  constexpr char kDigits[] = "0123456789abcdef";
  return {kDigits[octet >> 4], kDigits[octet & 15]};
}

}  // namespace

roce::Packet RcTest::PacketTo(int i, roce::Opcode opcode, uint32_t psn) const {
  const bool answer = IsAnswer(roce::TraitsOf(opcode).operation);
  roce::Packet p;
  p.bth.opcode = opcode;
  p.bth.psn = (FirstOf(answer ? i : 1 - i, options_.first_psn) + psn) & roce::kMask24;
  p.bth.ack_request = !answer;
  return p;
}

std::string RcTest::TextOf(int i, const roce::Packet& packet) const {
  const roce::OpcodeTraits& traits = roce::TraitsOf(packet.bth.opcode);
  const uint32_t first = FirstOf(IsAnswer(traits.operation) ? 1 - i : i, options_.first_psn);
  const uint32_t psn = (packet.bth.psn - first) & roce::kMask24;
  std::string text = roce::OpcodeText(packet.bth.opcode);
  if (packet.bth.opcode == roce::Opcode::kAcknowledge) {
    const uint8_t syndrome = packet.headers.aeth.syndrome;
    text = syndrome == roce::AckSyndrome(roce::kCreditsUnused) ? "ACK" : "NAK " + Hex(syndrome);
  }
  // Of the PSN before the first one: nothing was received yet.
  text += psn == roce::kMask24 ? " -1" : " " + std::to_string(psn);
  if (packet.bth.ack_request) text += " A";
  if (packet.bth.solicited) text += " SE";
  if (traits.has(roce::kHasAeth)) text += " MSN " + std::to_string(packet.headers.aeth.msn);
  if (!packet.payload.empty()) text += " " + std::to_string(packet.payload.size()) + " bytes";
  return text;
}

std::vector<std::string> RcTest::Sent(int i) {
  std::vector<std::string> all;
  for (; told_[i] < pair->log[i].size(); ++told_[i]) {
    roce::Packet packet;
    EXPECT_EQ(roce::ParsePacket(pair->log[i][told_[i]], &packet), roce::PacketParse::kOk);
    all.push_back(TextOf(i, packet));
  }
  return all;
}

}  // namespace softdat::softnet::testing
