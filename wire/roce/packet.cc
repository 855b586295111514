// SPDX-License-Identifier: BSD-3-Clause
// Whole packets: the codec.

#include "wire/roce/packet.h"

#include <cstring>

namespace softdat::roce {

[[gnu::hot]] PacketParse ParsePacket(ByteSpan udp_payload, Packet* out) {
  if (udp_payload.size() < kBthSize + kIcrcSize) return PacketParse::kTooShort;
  if (udp_payload.size() % 4 != 0) return PacketParse::kUnaligned;
  switch (ParseBth(udp_payload, &out->bth)) {
    case BthParse::kOk:
      break;
    case BthParse::kTooShort:
      return PacketParse::kTooShort;
    case BthParse::kBadVersion:
      return PacketParse::kBadVersion;
    case BthParse::kUnknownOpcode:
      return PacketParse::kUnknownOpcode;
  }
  const Opcode op = out->bth.opcode;
  const ByteSpan behind_bth = udp_payload.first(udp_payload.size() - kIcrcSize).subspan(kBthSize);
  if (!ParseExtendedHeaders(op, behind_bth, &out->headers)) return PacketParse::kHeadersCut;
  const ByteSpan padded = behind_bth.subspan(TraitsOf(op).extended_size);
  if (out->bth.pad > padded.size()) return PacketParse::kBadPad;
  out->payload = padded.first(padded.size() - out->bth.pad);
  return PacketParse::kOk;
}

[[gnu::hot]] PayloadCheck CheckPayload(Opcode op, size_t payload, size_t mtu) {
  switch (TraitsOf(op).payload) {
    case PayloadRule::kNone:
      return payload == 0 ? PayloadCheck::kOk : PayloadCheck::kUnexpected;
    case PayloadRule::kFull:
      return payload == mtu ? PayloadCheck::kOk : PayloadCheck::kNotMtu;
    case PayloadRule::kSome:
      if (payload == 0) return PayloadCheck::kMissing;
      break;
    case PayloadRule::kAny:
      break;
  }
  return payload <= mtu ? PayloadCheck::kOk : PayloadCheck::kTooLong;
}

[[gnu::hot]] size_t EncodeHeaders(const Packet& packet, size_t payload, std::span<uint8_t> out) {
  const Opcode op = packet.bth.opcode;
  const size_t size = HeaderSize(op);
  if (!TraitsOf(op).known() || out.size() < size) return 0;
  Bth bth = packet.bth;
  bth.pad = static_cast<uint8_t>(PadOf(payload));
  EncodeBth(bth, out.first<kBthSize>());
  EncodeExtendedHeaders(op, packet.headers, out.subspan(kBthSize));
  return size;
}

[[gnu::hot]] size_t StoreTrailer(uint8_t* out, size_t payload, uint32_t state) {
  const size_t pad = PadOf(payload);
  StoreLe32(out, 0);
  StoreIcrc(out + pad, IcrcFinish(IcrcExtend(state, {out, pad})));
  return pad + kIcrcSize;
}

size_t EncodePacket(const Packet& packet, uint32_t start, std::span<uint8_t> out) {
  const size_t payload = packet.payload.size();
  if (payload > kMaxPacketSize) return 0;  // so that no size can wrap
  if (out.size() < PacketSize(packet.bth.opcode, payload)) return 0;
  const size_t front = EncodeHeaders(packet, payload, out);
  if (front == 0) return 0;
  uint8_t* p = out.data();
  uint32_t state = IcrcOfBth(start, ByteSpan(out).first<kBthSize>());
  state = IcrcExtend(state, {p + kBthSize, front - kBthSize});
  if (payload != 0) {
    std::memcpy(p + front, packet.payload.data(), payload);
    state = IcrcExtend(state, packet.payload);
  }
  return front + payload + StoreTrailer(p + front + payload, payload, state);
}

const char* PacketParseText(PacketParse result) {
  switch (result) {
    case PacketParse::kOk:
      return "ok";
    case PacketParse::kTooShort:
      return "packet shorter than BTH and ICRC";
    case PacketParse::kUnaligned:
      return "packet length is no multiple of 4";
    case PacketParse::kBadVersion:
      return "transport header version is not 0";
    case PacketParse::kUnknownOpcode:
      return "opcode unknown to RC and UD";
    case PacketParse::kHeadersCut:
      return "packet ends inside its extended headers";
    case PacketParse::kBadPad:
      return "more pad than octets behind the headers";
  }
  return "unknown packet parse result";
}

const char* PayloadCheckText(PayloadCheck result) {
  switch (result) {
    case PayloadCheck::kOk:
      return "ok";
    case PayloadCheck::kUnexpected:
      return "payload with an opcode that has none";
    case PayloadCheck::kMissing:
      return "no payload in the last packet of a message";
    case PayloadCheck::kNotMtu:
      return "payload of a first or middle packet is not the path MTU";
    case PayloadCheck::kTooLong:
      return "payload longer than the path MTU";
  }
  return "unknown payload check result";
}

}  // namespace softdat::roce
