// SPDX-License-Identifier: BSD-3-Clause
// Return words between uDAPL 1.2 and 2.0.
#include "dat/bridge/return_words.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace softdat::bridge {
namespace {

struct Subtype {
  uint32_t of_12;
  uint32_t of_2;
};

constexpr Subtype kSubtypes[] = {
#define SUBTYPE(name) {dat12::name, ::name},
#include "dat/bridge/subtypes.inc"
#undef SUBTYPE
    // The nearest subtype, in one direction only.
    {dat12::DAT_INVALID_STATE_SRQ_ERROR, ::DAT_INVALID_STATE_SRQ_SHUTDOWN},
};

constexpr size_t kTable = 128;         // more than the largest subtype
constexpr uint32_t kUnknown = 0xffff;  // a subtype that 2.0 does not have

constexpr auto MakeTable(uint32_t Subtype::*from, uint32_t Subtype::*to) {
  std::array<uint8_t, kTable> table{};  // 0: no subtype
  for (const Subtype& s : kSubtypes) {
    // When a number is in several pairs, the first one counts.
    if (table[s.*from] == 0) table[s.*from] = static_cast<uint8_t>(s.*to);
  }
  return table;
}

constexpr auto kTo12 = MakeTable(&Subtype::of_2, &Subtype::of_12);
constexpr auto kTo2 = MakeTable(&Subtype::of_12, &Subtype::of_2);

constexpr uint32_t Look(const std::array<uint8_t, kTable>& table, uint32_t subtype) {
  return subtype < kTable ? table[subtype] : 0;
}

uint32_t TypeTo12(uint32_t type) {
  switch (type) {
    case ::DAT_PORT_IN_USE:
      return dat12::DAT_CONN_QUAL_IN_USE;
    case ::DAT_COMM_NOT_SUPPORTED:
      return dat12::DAT_MODEL_NOT_SUPPORTED;
    default:
      return type <= ::DAT_CONN_QUAL_UNAVAILABLE ? type : uint32_t{dat12::DAT_INTERNAL_ERROR};
  }
}

}  // namespace

dat12::DAT_RETURN FailureTo12(::DAT_RETURN word) {
  const uint32_t type = DAT_GET_TYPE(word);
  // In 1.2 this is a whole word, including the class bits.
  if (type == ::DAT_NOT_IMPLEMENTED) return dat12::DAT_NOT_IMPLEMENTED;
  const uint32_t subtype = Look(kTo12, DAT_GET_SUBTYPE(word));
  return (word & ~uint32_t{DAT_TYPE_MASK | DAT_SUBTYPE_MASK}) | TypeTo12(type) | subtype;
}

::DAT_RETURN ReturnTo2(dat12::DAT_RETURN word) {
  if (word == dat12::DAT_NOT_IMPLEMENTED) return DAT_CLASS_ERROR | ::DAT_NOT_IMPLEMENTED;
  uint32_t subtype = DAT_GET_SUBTYPE(word);
  if (subtype != 0) {
    subtype = Look(kTo2, subtype);
    if (subtype == 0) subtype = kUnknown;
  }
  return (word & ~uint32_t{DAT_SUBTYPE_MASK}) | subtype;
}

}  // namespace softdat::bridge
