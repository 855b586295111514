// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: a received UDP payload through ICRC, BTH, extended headers, pad and the receiver's
// checks. An input that parses encodes to a packet that parses to the same.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "wire/roce/aeth.h"
#include "wire/roce/packet.h"

namespace softdat::roce {
namespace {

constexpr uint32_t kStart = 0x12345678;

void Require(bool condition) {
  if (!condition) std::abort();
}

bool IsWithin(ByteSpan part, ByteSpan whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

// Every syndrome has one of the kinds. Those that are not reserved can be written again.
void CheckSyndrome(uint8_t octet) {
  const Syndrome s = ParseSyndrome(octet);
  if (s.kind == AethKind::kAck) Require(AckSyndrome(s.code) == octet);
  if (s.kind == AethKind::kRnrNak) Require(RnrNakSyndrome(s.code) == octet);
  if (s.kind == AethKind::kNak) Require(NakSyndrome(static_cast<NakCode>(s.code)) == octet);
  Require(RnrTimerUs(octet) >= 10);
  Require(CreditsOf(octet).value_or(0) <= 32768);
}

// Our encoder writes the same octets, except for reserved bits that a peer may set.
void CheckAgain(const Packet& packet, ByteSpan in) {
  static std::array<uint8_t, kMaxPacketSize> out;
  const size_t size = EncodePacket(packet, kStart, out);
  Require(size == in.size());
  const ByteSpan again = ByteSpan(out).first(size);
  const size_t front = HeaderSize(packet.bth.opcode);
  for (size_t i = 0; i < front; ++i) Require((again[i] & ~in[i]) == 0);
  Require(std::ranges::equal(again.subspan(front, packet.payload.size()), packet.payload));
  Require(IcrcOk(kStart, again));
  Packet same;
  Require(ParsePacket(again, &same) == PacketParse::kOk);
  Require(same.bth == packet.bth && same.headers == packet.headers);
  Require(same.payload.size() == packet.payload.size());
}

void Fuzz(ByteSpan in) {
  if (!in.empty()) CheckSyndrome(in[0]);
  const bool right = IcrcOk(kStart, in);
  Packet packet;
  const PacketParse parsed = ParsePacket(in, &packet);
  Require(PacketParseText(parsed) != nullptr);
  Bth bth;
  const BthParse front = ParseBth(in, &bth);
  Require(BthParseText(front) != nullptr && OpcodeText(bth.opcode) != nullptr);
  if (parsed != PacketParse::kOk) {
    Require(!right || in.size() >= kBthSize + kIcrcSize);
    return;
  }
  Require(front == BthParse::kOk && bth == packet.bth);
  Require(IsWithin(packet.payload, in));
  Require(PacketSize(bth.opcode, packet.payload.size()) == in.size());
  const PayloadCheck fits = CheckPayload(bth.opcode, packet.payload.size(), 1024);
  Require(PayloadCheckText(fits) != nullptr);
  if (TraitsOf(bth.opcode).has(kHasAeth)) CheckSyndrome(packet.headers.aeth.syndrome);
  CheckAgain(packet, in);
}

}  // namespace
}  // namespace softdat::roce

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::roce::Fuzz({data, std::min(size, softdat::roce::kMaxPacketSize)});
  return 0;
}
