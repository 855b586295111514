// SPDX-License-Identifier: BSD-3-Clause
// The headers that the fields of a test vector describe.

#include "wire/roce/vector_fields.h"

#include "wire/test_support.h"

namespace softdat::roce {
namespace {

using wire_test::Flag;
using wire_test::Number;

uint64_t NumberOr0(const nlohmann::json& fields, const char* name) {
  return fields.contains(name) ? Number(fields, name) : 0;
}

uint32_t Number32Or0(const nlohmann::json& fields, const char* name) {
  return static_cast<uint32_t>(NumberOr0(fields, name));
}

}  // namespace

Bth BthOf(const nlohmann::json& fields) {
  Bth bth;
  bth.opcode = static_cast<Opcode>(Number(fields, "opcode"));
  bth.solicited = Flag(fields, "solicited");
  bth.migrated = Flag(fields, "migreq");
  bth.pad = static_cast<uint8_t>(Number(fields, "padcnt"));
  bth.pkey = static_cast<uint16_t>(Number(fields, "pkey"));
  bth.dest_qpn = static_cast<uint32_t>(Number(fields, "dest_qpn"));
  bth.ack_request = Flag(fields, "ackreq");
  bth.psn = static_cast<uint32_t>(Number(fields, "psn"));
  return bth;
}

ExtendedHeaders ExtendedHeadersOf(const nlohmann::json& fields) {
  ExtendedHeaders h;
  h.deth = {Number32Or0(fields, "qkey"), Number32Or0(fields, "src_qp")};
  h.reth = {NumberOr0(fields, "reth_va"), Number32Or0(fields, "reth_rkey"),
            Number32Or0(fields, "reth_len")};
  const char* operand = fields.contains("swap") ? "swap" : "add";
  h.atomic = {NumberOr0(fields, "va"), Number32Or0(fields, "rkey"), NumberOr0(fields, operand),
              NumberOr0(fields, "compare")};
  h.aeth = {static_cast<uint8_t>(NumberOr0(fields, "aeth_syndrome")),
            Number32Or0(fields, "aeth_msn")};
  h.original = NumberOr0(fields, "original");
  h.immediate = Number32Or0(fields, "immediate");
  h.invalidate_rkey = Number32Or0(fields, "ieth_rkey");
  return h;
}

}  // namespace softdat::roce
