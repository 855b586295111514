// SPDX-License-Identifier: BSD-3-Clause
// Attributes and triplets between uDAPL 1.2 and 2.0.
#include "dat/bridge/attributes.h"

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace softdat::bridge {
namespace {

// Copies a value to a member of another type. Enums have the same values in both versions. Sizes
// are cut to what the member can hold.
template <typename To, typename From>
void Copy(const From& from, To* to) {
  if constexpr (std::numeric_limits<To>::is_integer && std::numeric_limits<From>::is_integer) {
    constexpr auto kMost = std::numeric_limits<To>::max();
    *to = std::in_range<To>(from) ? static_cast<To>(from) : kMost;
  } else if constexpr (std::is_pointer_v<To>) {
    *to = reinterpret_cast<To>(from);
  } else {
    *to = static_cast<To>(from);
  }
}

}  // namespace

void To12(const ::DAT_IA_ATTR& from, dat12::DAT_IA_ATTR* to) {
  std::memcpy(to->adapter_name, from.adapter_name, sizeof(to->adapter_name));
  std::memcpy(to->vendor_name, from.vendor_name, sizeof(to->vendor_name));
#define IA_ATTR(member) Copy(from.member, &to->member);
#include "dat/bridge/attribute_members.inc"
#undef IA_ATTR
}

void To12(const ::DAT_PROVIDER_ATTR& from, dat12::DAT_PROVIDER_ATTR* to) {
  // Clears the padding between the members, too. So two answers that say the same are the same
  // bytes, as in 2.0.
  std::memset(static_cast<void*>(to), 0, sizeof(*to));
  std::memcpy(to->provider_name, from.provider_name, sizeof(to->provider_name));
  // const only for its readers, so the cast is allowed here.
  static_assert(sizeof(to->evd_stream_merging_supported) ==
                sizeof(from.evd_stream_merging_supported));
  std::memcpy(const_cast<dat12::DAT_BOOLEAN(*)[6]>(to->evd_stream_merging_supported),
              from.evd_stream_merging_supported, sizeof(to->evd_stream_merging_supported));
#define PROVIDER_ATTR(member) Copy(from.member, &to->member);
#include "dat/bridge/attribute_members.inc"
#undef PROVIDER_ATTR
}

#define EP_ATTR(member) Copy(from.member, &to->member);

void To12(const ::DAT_EP_ATTR& from, dat12::DAT_EP_ATTR* to) {
#include "dat/bridge/attribute_members.inc"
}

void To2(const dat12::DAT_EP_ATTR& from, ::DAT_EP_ATTR* to){
#include "dat/bridge/attribute_members.inc"
}

#undef EP_ATTR

dat12::DAT_SRQ_STATE To12(::DAT_SRQ_STATE state) {
  return state == ::DAT_SRQ_STATE_OPERATIONAL ? dat12::DAT_SRQ_STATE_OPERATIONAL
                                              : dat12::DAT_SRQ_STATE_ERROR;
}

void To12(const ::DAT_LMR_TRIPLET& from, dat12::DAT_LMR_TRIPLET* to) {
  to->lmr_context = from.lmr_context;
  to->pad = 0;
  to->virtual_address = from.virtual_address;
  to->segment_length = from.segment_length;
}

}  // namespace softdat::bridge
