// SPDX-License-Identifier: BSD-3-Clause
// Every FPDU of the vectors in both directions: bytes to fields, and fields to the same bytes.

#include <gtest/gtest.h>

#include <string>

#include "wire/iwarp/ddp.h"
#include "wire/iwarp/fpdu.h"
#include "wire/iwarp/rdmap.h"
#include "wire/iwarp/terminate.h"
#include "wire/test_support.h"

namespace softdat::iwarp {
namespace {

using nlohmann::json;
using wire_test::Bytes;
using wire_test::Flag;
using wire_test::FromHex;
using wire_test::Number;
using wire_test::ToHex;

uint32_t Number32(const json& f, const char* name) {
  return static_cast<uint32_t>(Number(f, name));
}

Bytes FieldBytes(const json& f, const char* name) {
  return f.contains(name) ? FromHex(f.at(name)) : Bytes();
}

ReadRequest ReadRequestOf(const json& f) {
  return {Number32(f, "sink_stag"), Number(f, "sink_to"), Number32(f, "read_size"),
          Number32(f, "src_stag"), Number(f, "src_to")};
}

AtomicRequest AtomicRequestOf(const json& f) {
  AtomicRequest m;
  m.op = static_cast<uint8_t>(Number(f, "aopcode"));
  m.request_id = Number32(f, "request_id");
  m.stag = Number32(f, "stag");
  m.to = Number(f, "to");
  if (m.op == kAtomicFetchAdd) {
    m.add_or_swap = Number(f, "add_data");
    m.add_or_swap_mask = Number(f, "add_mask");
  } else {
    m.add_or_swap = Number(f, "swap_data");
    m.add_or_swap_mask = Number(f, "swap_mask");
    m.compare = Number(f, "compare_data");
    m.compare_mask = Number(f, "compare_mask");
  }
  return m;
}

Bytes TerminatePayloadOf(const json& f) {
  const Bytes ddp_header = FieldBytes(f, "ddp_header");
  const Bytes read_request = FieldBytes(f, "rdma_header");
  Terminate term;
  term.code = {static_cast<uint8_t>(Number(f, "layer")), static_cast<uint8_t>(Number(f, "etype")),
               static_cast<uint8_t>(Number(f, "ecode"))};
  term.has_segment_length = Flag(f, "hdrct_m");
  if (term.has_segment_length) {
    term.segment_length = static_cast<uint16_t>(Number(f, "ddp_segment_length"));
  }
  term.ddp_header = ddp_header;
  term.read_request = read_request;
  Bytes out(kTerminateMaxPayload);
  out.resize(EncodeTerminatePayload(term, out.data()));
  return out;
}

// The message payload that a vector's fields describe. `wire_payload` replaces it for the
// Terminates of siw, whose layout our encoder rightly does not write.
Bytes PayloadOf(const json& f, ByteSpan wire_payload) {
  Bytes out;
  switch (static_cast<Opcode>(Number(f, "opcode"))) {
    case Opcode::kReadRequest:
      out.resize(kReadRequestSize);
      EncodeReadRequest(out.data(), ReadRequestOf(f));
      return out;
    case Opcode::kAtomicRequest:
      out.resize(kAtomicRequestSize);
      EncodeAtomicRequest(out.data(), AtomicRequestOf(f));
      return out;
    case Opcode::kAtomicResponse:
      out.resize(kAtomicResponseSize);
      EncodeAtomicResponse(out.data(), {Number32(f, "request_id"), Number(f, "original_value")});
      return out;
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
      out.resize(kImmediateSize);
      EncodeImmediate(out.data(), LoadBe32(FromHex(f.at("immediate")).data()));
      return out;
    case Opcode::kTerminate:
      if (f.contains("quirk")) return {wire_payload.begin(), wire_payload.end()};
      return TerminatePayloadOf(f);
    default:
      return FromHex(f.at("payload"));
  }
}

uint32_t InvalidateStagOf(const json& f) {
  return f.contains("inval_stag") ? Number32(f, "inval_stag") : 0;
}

Bytes EncodeFpdu(const json& f, const Bytes& payload) {
  const auto op = static_cast<Opcode>(Number(f, "opcode"));
  Bytes out(kUntaggedFpduHeaderSize + payload.size() + kFpduMaxTrailer);
  size_t size = 0;
  if (Flag(f, "tagged")) {
    EncodeTaggedFpduHeader(out.data(), op, Flag(f, "last"), Number32(f, "stag"), Number(f, "to"),
                           payload.size());
    size = kTaggedFpduHeaderSize;
  } else {
    EncodeUntaggedFpduHeader(out.data(), op, Flag(f, "last"), InvalidateStagOf(f),
                             Number32(f, "qn"), Number32(f, "msn"), Number32(f, "mo"),
                             payload.size());
    size = kUntaggedFpduHeaderSize;
  }
  std::copy(payload.begin(), payload.end(), out.begin() + static_cast<ptrdiff_t>(size));
  size += payload.size();
  const size_t ulpdu = size - kFpduLengthSize;
  size += Flag(f, "crc_enabled")
              ? StoreFpduTrailer(&out[size], ulpdu, Crc32cExtend(kCrc32cInit, out.data(), size))
              : StoreFpduTrailerWithoutCrc(&out[size], ulpdu);
  out.resize(size);
  return out;
}

void ExpectHeader(const DdpHeader& h, const json& f) {
  EXPECT_EQ(static_cast<uint64_t>(h.opcode), Number(f, "opcode"));
  EXPECT_EQ(h.tagged, Flag(f, "tagged"));
  EXPECT_EQ(h.last, Flag(f, "last"));
  if (h.tagged) {
    EXPECT_EQ(h.stag, Number(f, "stag"));
    EXPECT_EQ(h.to, Number(f, "to"));
  } else {
    EXPECT_EQ(h.qn, Number(f, "qn"));
    EXPECT_EQ(h.msn, Number(f, "msn"));
    EXPECT_EQ(h.mo, Number(f, "mo"));
    EXPECT_EQ(h.stag, InvalidateStagOf(f));
  }
}

// The payload parsed by its message's own codec.
void ExpectPayload(Opcode op, ByteSpan payload, const json& f) {
  if (op == Opcode::kReadRequest) {
    ReadRequest m;
    ASSERT_TRUE(ParseReadRequest(payload, &m));
    EXPECT_EQ(m, ReadRequestOf(f));
  } else if (op == Opcode::kAtomicRequest) {
    AtomicRequest m;
    ASSERT_TRUE(ParseAtomicRequest(payload, &m));
    EXPECT_EQ(m, AtomicRequestOf(f));
  } else if (op == Opcode::kAtomicResponse) {
    AtomicResponse m;
    ASSERT_TRUE(ParseAtomicResponse(payload, &m));
    EXPECT_EQ(m.request_id, Number(f, "request_id"));
    EXPECT_EQ(m.original, Number(f, "original_value"));
  } else if (IsImmediate(op)) {
    uint32_t immediate = 0;
    ASSERT_TRUE(ParseImmediate(payload, &immediate));
    EXPECT_EQ(immediate, LoadBe32(FromHex(f.at("immediate")).data()));
  } else if (op == Opcode::kTerminate) {
    DecodedTerminate d;
    ASSERT_TRUE(DecodeTerminate(payload, &d));
    if (f.contains("quirk")) return;  // terminate_test.cc says what these mean
    EXPECT_EQ(d.term.code.layer, Number(f, "layer"));
    EXPECT_EQ(d.term.code.etype, Number(f, "etype"));
    EXPECT_EQ(d.term.code.code, Number(f, "ecode"));
    EXPECT_EQ(d.term.has_segment_length, Flag(f, "hdrct_m"));
    EXPECT_EQ(ToHex(d.term.ddp_header), ToHex(FieldBytes(f, "ddp_header")));
    EXPECT_EQ(ToHex(d.term.read_request), ToHex(FieldBytes(f, "rdma_header")));
    EXPECT_FALSE(d.swapped || d.truncated);
  } else {
    EXPECT_EQ(ToHex(payload), f.at("payload"));
  }
}

TEST(FpduVectorsTest, BothWays) {
  const json vectors = wire_test::ReadJson("wire/iwarp/testdata/iwarp_fpdu.json");
  int checked = 0;
  for (const auto& v : vectors.at("vectors")) {
    SCOPED_TRACE(v.at("name").get<std::string>());
    const json& f = v.at("fields");
    const Bytes wire = FromHex(v.at("hex"));

    FpduView view;
    ASSERT_EQ(PeekFpdu(wire, &view), 0u);
    ASSERT_EQ(view.size, wire.size());
    EXPECT_EQ(view.ulpdu.size(), Number(f, "ulpdu_length"));
    EXPECT_EQ(FpduPad(view.ulpdu.size()), Number(f, "pad"));
    EXPECT_EQ(FpduCrcOk(wire), Flag(f, "crc_enabled"));
    EXPECT_EQ(LoadCrc32c(&wire[FpduCrcOffset(view.ulpdu.size())]), Number(f, "crc32c_value"));

    DdpHeader h;
    ASSERT_EQ(ParseDdpHeader(view.ulpdu, &h), DdpParse::kOk);
    ExpectHeader(h, f);
    const ByteSpan payload = view.ulpdu.subspan(h.size);
    ExpectPayload(h.opcode, payload, f);

    EXPECT_EQ(ToHex(EncodeFpdu(f, PayloadOf(f, payload))), v.at("hex"));
    ++checked;
  }
  EXPECT_EQ(checked, 38);
}

}  // namespace
}  // namespace softdat::iwarp
