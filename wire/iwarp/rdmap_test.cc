// SPDX-License-Identifier: BSD-3-Clause
// RDMAP payloads of fixed size, and the arithmetic of RFC 7306 atomics.

#include "wire/iwarp/rdmap.h"

#include <gtest/gtest.h>

#include "wire/test_support.h"

namespace softdat::iwarp {
namespace {

using wire_test::Bytes;
using wire_test::TestRandom;

// Encodes into a buffer of exactly `size` octets, followed by a guard octet.
template <typename Message>
Bytes Encoded(void (*encode)(uint8_t*, const Message&), const Message& m, size_t size) {
  Bytes out(size + 1, 0xee);
  encode(out.data(), m);
  EXPECT_EQ(out.back(), 0xee);
  out.pop_back();
  return out;
}

// Every other size must be refused, and the output left alone.
template <typename Message>
void ExpectOnlySize(bool (*parse)(ByteSpan, Message*), size_t size) {
  for (size_t n = 0; n < 80; ++n) {
    const Bytes payload(n, 0x5a);
    Message m{};
    EXPECT_EQ(parse(payload, &m), n == size) << n;
    if (n == size) continue;
    EXPECT_EQ(m, Message{}) << n;
  }
}

TEST(RdmapTest, ReadRequestsRoundTrip) {
  TestRandom random;
  for (int i = 0; i < 20000; ++i) {
    const ReadRequest m{random.Edgy32(), random.Edgy64(), random.Edgy32(), random.Edgy32(),
                        random.Edgy64()};
    ReadRequest parsed;
    ASSERT_TRUE(ParseReadRequest(Encoded(EncodeReadRequest, m, kReadRequestSize), &parsed));
    ASSERT_EQ(parsed, m);
  }
}

TEST(RdmapTest, ReadRequestFpduHeadIsHeaderAndPayload) {
  const ReadRequest m{1, 2, 3, 4, 5};
  Bytes head(kReadRequestFpduHeadSize + 1, 0xee);
  EncodeReadRequestFpduHead(head.data(), 77, m);
  EXPECT_EQ(head.back(), 0xee);
  EXPECT_EQ(FpduSize(LoadBe16(head.data())), kReadRequestFpduHeadSize + kFpduCrcSize);
  head.pop_back();
  DdpHeader h;
  const ByteSpan ulpdu = ByteSpan(head).subspan(kFpduLengthSize);
  ASSERT_EQ(ParseDdpHeader(ulpdu, &h), DdpParse::kOk);
  EXPECT_EQ(h.opcode, Opcode::kReadRequest);
  EXPECT_TRUE(h.last);
  EXPECT_EQ(h.msn, 77u);
  EXPECT_EQ(h.mo, 0u);
  ReadRequest parsed;
  ASSERT_TRUE(ParseReadRequest(ulpdu.subspan(h.size), &parsed));
  EXPECT_EQ(parsed, m);
}

TEST(RdmapTest, AtomicsRoundTrip) {
  TestRandom random;
  for (int i = 0; i < 20000; ++i) {
    const AtomicRequest m{static_cast<uint8_t>(random.Below(16)),
                          random.Edgy32(),
                          random.Edgy32(),
                          random.Edgy64(),
                          random.Edgy64(),
                          random.Edgy64(),
                          random.Edgy64(),
                          random.Edgy64()};
    AtomicRequest parsed;
    ASSERT_TRUE(ParseAtomicRequest(Encoded(EncodeAtomicRequest, m, kAtomicRequestSize), &parsed));
    ASSERT_EQ(parsed, m);
    const AtomicResponse r{random.Edgy32(), random.Edgy64()};
    AtomicResponse response;
    ASSERT_TRUE(
        ParseAtomicResponse(Encoded(EncodeAtomicResponse, r, kAtomicResponseSize), &response));
    ASSERT_EQ(response, r);
  }
}

TEST(RdmapTest, ReservedBitsBesideTheAtomicOpcodeAreIgnored) {
  Bytes wire(kAtomicRequestSize);
  wire[0] = wire[1] = wire[2] = 0xff;
  wire[3] = 0xf2;
  AtomicRequest m;
  ASSERT_TRUE(ParseAtomicRequest(wire, &m));
  EXPECT_EQ(m.op, kAtomicCmpSwap);
}

TEST(RdmapTest, ImmediateUsesTheFirstFourOctets) {
  Bytes wire(kImmediateSize, 0xee);
  EncodeImmediate(wire.data(), 0xdeadbeef);
  EXPECT_EQ(wire_test::ToHex(wire), "deadbeef00000000");
  wire[7] = 0xff;
  uint32_t immediate = 0;
  ASSERT_TRUE(ParseImmediate(wire, &immediate));
  EXPECT_EQ(immediate, 0xdeadbeefu);
}

TEST(RdmapTest, OnlyTheRightSizeIsTaken) {
  ExpectOnlySize(ParseReadRequest, kReadRequestSize);
  ExpectOnlySize(ParseAtomicRequest, kAtomicRequestSize);
  ExpectOnlySize(ParseAtomicResponse, kAtomicResponseSize);
  ExpectOnlySize(ParseImmediate, kImmediateSize);
}

// The definition, one bit at a time: a carry out of a bit whose mask bit is 1 is dropped.
uint64_t FetchAddBitByBit(uint64_t value, uint64_t add, uint64_t mask) {
  uint64_t sum = 0;
  unsigned carry = 0;
  for (int i = 0; i < 64; ++i) {
    const unsigned bits = ((value >> i) & 1) + ((add >> i) & 1) + carry;
    sum |= uint64_t{bits & 1} << i;
    carry = ((mask >> i) & 1) != 0 ? 0 : bits >> 1;
  }
  return sum;
}

TEST(RdmapTest, FetchAddWithMasks) {
  EXPECT_EQ(FetchAddResult(41, 1, 0), 42u);
  EXPECT_EQ(FetchAddResult(~uint64_t{0}, 1, 0), 0u);
  EXPECT_EQ(FetchAddResult(0x00000000ffffffff, 1, 0x80000000), 0u);  // two 32-bit adders
  EXPECT_EQ(FetchAddResult(5, 3, ~uint64_t{0}), 6u);                 // 64 one-bit adders: xor
  TestRandom random;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t value = random.Edgy64();
    const uint64_t add = random.Edgy64();
    const uint64_t mask = random.Edgy64() & (random.Coin() ? ~uint64_t{0} : random.Next());
    ASSERT_EQ(FetchAddResult(value, add, mask), FetchAddBitByBit(value, add, mask))
        << std::hex << value << " " << add << " " << mask;
  }
}

TEST(RdmapTest, CmpSwapWithMasks) {
  constexpr uint64_t kAll = ~uint64_t{0};
  EXPECT_EQ(CmpSwapResult(7, 7, kAll, 9, kAll), 9u);
  EXPECT_EQ(CmpSwapResult(8, 7, kAll, 9, kAll), 8u);
  EXPECT_EQ(CmpSwapResult(0xab07, 0x07, 0xff, 0x55, 0xff), 0xab55u);  // only the low octet counts
  EXPECT_EQ(CmpSwapResult(0xab08, 0x07, 0xff, 0x55, 0xff), 0xab08u);
  EXPECT_EQ(CmpSwapResult(1, 2, 0, 0xf0, 0xf0), 0xf1u);  // nothing compared: always swaps
}

}  // namespace
}  // namespace softdat::iwarp
