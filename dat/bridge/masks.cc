// SPDX-License-Identifier: BSD-3-Clause
// Masks from uDAPL 1.2 to 2.0.
#include "dat/bridge/masks.h"

#include <cstdint>

namespace softdat::bridge {
namespace {

enum class Family : uint8_t { kIa, kProvider, kEp, kLmr, kRmr };

struct Bit {
  Family family;
  uint64_t of_12;
  uint64_t of_2;
};

constexpr Bit kBits[] = {
#define MACRO(family, name) {Family::k##family, dat12::k##name, name},
#define ENUM(family, name) {Family::k##family, dat12::name, ::name},
#include "dat/bridge/mask_bits.inc"
#undef MACRO
#undef ENUM
};

// `unknown` is set in the result when 1.2 does not have one of the bits.
constexpr uint64_t To2(Family family, uint64_t mask, uint64_t unknown) {
  uint64_t result = 0;
  for (const Bit& bit : kBits) {
    if (bit.family != family || (mask & bit.of_12) == 0) continue;
    result |= bit.of_2;
    mask &= ~bit.of_12;
  }
  return mask == 0 ? result : result | unknown;
}

constexpr uint64_t kUnknownLong = uint64_t{1} << 63;
constexpr uint64_t kUnknown = uint64_t{1} << 30;

// The mask may have bits that are no enumerators, so it is translated as a number.
template <typename Enum>
Enum EnumTo2(Family family, uint64_t mask) {
  return static_cast<Enum>(To2(family, mask, kUnknown));
}

}  // namespace

::DAT_IA_ATTR_MASK IaMaskTo2(dat12::DAT_IA_ATTR_MASK mask) {
  return To2(Family::kIa, mask, kUnknownLong);
}

::DAT_PROVIDER_ATTR_MASK ProviderMaskTo2(dat12::DAT_PROVIDER_ATTR_MASK mask) {
  return To2(Family::kProvider, mask, kUnknownLong);
}

::DAT_EP_PARAM_MASK EpMaskTo2(dat12::DAT_EP_PARAM_MASK mask) {
  return To2(Family::kEp, mask, kUnknownLong);
}

::DAT_LMR_PARAM_MASK LmrMaskTo2(dat12::DAT_LMR_PARAM_MASK mask) {
  return EnumTo2<::DAT_LMR_PARAM_MASK>(Family::kLmr, static_cast<uint32_t>(mask));
}

::DAT_RMR_PARAM_MASK RmrMaskTo2(dat12::DAT_RMR_PARAM_MASK mask) {
  return EnumTo2<::DAT_RMR_PARAM_MASK>(Family::kRmr, static_cast<uint32_t>(mask));
}

::DAT_CNO_PARAM_MASK CnoMaskTo2(dat12::DAT_CNO_PARAM_MASK mask) {
  const auto bits = static_cast<uint32_t>(mask);
  const bool known = (bits & ~uint32_t{dat12::DAT_CNO_FIELD_ALL}) == 0;
  return known ? ::DAT_CNO_FIELD_ALL : static_cast<::DAT_CNO_PARAM_MASK>(kUnknown);
}

}  // namespace softdat::bridge
