// SPDX-License-Identifier: BSD-3-Clause
// Compares the bridge's tables with the tables of the two binary interfaces: every constant and
// every member of attributes that both have.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "dat/bridge/attributes.h"
#include "dat/bridge/masks.h"
#include "dat/bridge/return_words.h"

namespace softdat::bridge {
namespace {

constexpr uint32_t kError = DAT_CLASS_ERROR;
constexpr uint32_t kState = DAT_INVALID_STATE;

struct Constant {
  std::string_view group;  // its enum, or "macro"
  std::string_view name;
  int64_t of_12;
  int64_t of_2;
  bool In(std::string_view prefix) const { return name.starts_with(prefix); }
};

constexpr Constant kConstants[] = {
#define CONSTANT(group, name, of_12, of_2) {group, name, of_12, of_2},
#include "dat/bridge/shared_names.inc"
#undef CONSTANT
};

// A mask of one bit must become that bit, and a mask of all bits must become all bits that 1.2 has.
void ExpectMask(const Constant& constant, uint64_t translated, uint64_t all_of_2) {
  const bool is_sum = constant.name.ends_with("_ALL");
  if (is_sum) {
    EXPECT_NE(translated, 0u);
    EXPECT_EQ(translated & ~all_of_2, 0u);
  } else {
    EXPECT_EQ(translated, static_cast<uint64_t>(constant.of_2));
  }
}

void ExpectTranslated(const Constant& constant) {
  const auto of_12 = static_cast<uint64_t>(constant.of_12);
  const auto of_2 = static_cast<uint64_t>(constant.of_2);
  const auto word_12 = static_cast<uint32_t>(of_12), word_2 = static_cast<uint32_t>(of_2);
  if (constant.group == "DAT_RETURN_SUBTYPE") {
    EXPECT_EQ(ReturnTo12(kError | kState | word_2), kError | kState | word_12);
    EXPECT_EQ(ReturnTo2(kError | kState | word_12), kError | kState | word_2);
  } else if (constant.group == "DAT_RETURN_TYPE" && constant.of_2 != DAT_SUCCESS) {
    EXPECT_EQ(ReturnTo12(kError | word_2), kError | word_12);
    EXPECT_EQ(ReturnTo2(kError | word_12), kError | word_2);
  } else if (constant.group == "DAT_SRQ_STATE") {
    EXPECT_EQ(To12(static_cast<::DAT_SRQ_STATE>(of_2)), static_cast<dat12::DAT_SRQ_STATE>(of_12));
  } else if (constant.In("DAT_IA_FIELD_") || constant.In("DAT_IA_ALL")) {
    ExpectMask(constant, IaMaskTo2(of_12), DAT_IA_FIELD_ALL);
  } else if (constant.In("DAT_PROVIDER_FIELD_")) {
    ExpectMask(constant, ProviderMaskTo2(of_12), DAT_PROVIDER_FIELD_ALL);
  } else if (constant.In("DAT_EP_FIELD_")) {
    ExpectMask(constant, EpMaskTo2(of_12), DAT_EP_FIELD_ALL);
  } else if (constant.group == "DAT_LMR_PARAM_MASK") {
    ExpectMask(constant, LmrMaskTo2(static_cast<dat12::DAT_LMR_PARAM_MASK>(of_12)),
               DAT_LMR_FIELD_ALL);
  } else if (constant.group == "DAT_RMR_PARAM_MASK") {
    ExpectMask(constant, RmrMaskTo2(static_cast<dat12::DAT_RMR_PARAM_MASK>(of_12)),
               DAT_RMR_FIELD_ALL);
  } else if (constant.group == "DAT_CNO_PARAM_MASK") {
    EXPECT_EQ(CnoMaskTo2(static_cast<dat12::DAT_CNO_PARAM_MASK>(of_12)), DAT_CNO_FIELD_ALL);
  } else if (!constant.In("DAT_VERSION_")) {
    EXPECT_EQ(constant.of_12, constant.of_2) << "goes through as it is";
  }
}

// covers: semantics 18
TEST(BridgeTables, EveryConstantThatBothHave) {
  int different = 0;
  for (const Constant& constant : kConstants) {
    SCOPED_TRACE(constant.name);
    ExpectTranslated(constant);
    if (constant.of_12 != constant.of_2) ++different;
  }
  EXPECT_EQ(different, 107);
}

// covers: semantics 1, 18
TEST(BridgeTables, WordsThatOnlyOneHas) {
  EXPECT_EQ(ReturnTo12(DAT_SUCCESS), 0u);
  EXPECT_EQ(ReturnTo12(kError | DAT_PORT_IN_USE), kError | dat12::DAT_CONN_QUAL_IN_USE);
  EXPECT_EQ(ReturnTo12(kError | DAT_COMM_NOT_SUPPORTED), kError | dat12::DAT_MODEL_NOT_SUPPORTED);
  EXPECT_EQ(ReturnTo12(kError | DAT_EXTENSION_BASE), kError | dat12::DAT_INTERNAL_ERROR);
  EXPECT_EQ(ReturnTo12(kError | kState | DAT_INVALID_STATE_SRQ_SHUTDOWN),
            kError | kState | dat12::DAT_INVALID_STATE_SRQ_ERROR);
  EXPECT_EQ(ReturnTo12(kError | DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_CSP),
            kError | dat12::DAT_INVALID_HANDLE);
  EXPECT_EQ(ReturnTo12(kError | kState | 0xffff), kError | kState);
  // The class stays, because some providers report an empty queue without one.
  EXPECT_EQ(ReturnTo12(DAT_QUEUE_EMPTY), uint32_t{dat12::DAT_QUEUE_EMPTY});
  EXPECT_EQ(ReturnTo12(DAT_CLASS_WARNING | kState), DAT_CLASS_WARNING | kState);
}

TEST(BridgeTables, BitsThat12DoesNotHaveAreRefusedBy2) {
  EXPECT_NE(IaMaskTo2(dat12::kDAT_IA_FIELD_ALL + 1) & ~DAT_IA_FIELD_ALL, 0u);
  EXPECT_NE(ProviderMaskTo2(dat12::kDAT_PROVIDER_FIELD_ALL + 1) & ~DAT_PROVIDER_FIELD_ALL, 0u);
  EXPECT_NE(EpMaskTo2(0x800) & ~DAT_EP_FIELD_ALL, 0u) << "a hole in 1.2";
  EXPECT_NE(LmrMaskTo2(static_cast<dat12::DAT_LMR_PARAM_MASK>(0x400)) & ~DAT_LMR_FIELD_ALL, 0);
  EXPECT_NE(RmrMaskTo2(static_cast<dat12::DAT_RMR_PARAM_MASK>(0x20)) & ~DAT_RMR_FIELD_ALL, 0);
  EXPECT_GT(CnoMaskTo2(static_cast<dat12::DAT_CNO_PARAM_MASK>(0x4)), DAT_CNO_FIELD_ALL);
  EXPECT_EQ(EpMaskTo2(0), 0u);
}

// -------------------------------------------------------------------------------------------------
// Members

// Other structures hold handles, or are the same in both.
template <typename Of12, typename Of2>
struct Checker {
  template <typename Member>
  static void Check(const Member&, int) {}
};

template <typename Value>
void Set(Value* member, int value) {
  if constexpr (std::is_pointer_v<Value>) {
    *member = reinterpret_cast<Value>(static_cast<uintptr_t>(value));
  } else {
    *member = static_cast<Value>(value);
  }
}

template <typename Value>
int64_t Get(const Value& member) {
  if constexpr (std::is_pointer_v<Value>) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(member));
  } else {
    return static_cast<int64_t>(member);
  }
}

template <typename From, typename To, typename Member, typename Translation>
void ExpectCopied(const Member& member, int value, const Translation& translation) {
  From from{};
  To to{};
  Set(&member(from), value);
  translation(from, &to);
  EXPECT_EQ(Get(member(to)), value);
}

template <typename Of12, typename Of2>
struct AttributeChecker {
  template <typename Member>
  static void Check(const Member& member, int value) {
    ExpectCopied<Of2, Of12>(member, value, [](const Of2& from, Of12* to) { To12(from, to); });
  }
};

template <>
struct Checker<dat12::DAT_IA_ATTR, ::DAT_IA_ATTR>
    : AttributeChecker<dat12::DAT_IA_ATTR, ::DAT_IA_ATTR> {};
template <>
struct Checker<dat12::DAT_PROVIDER_ATTR, ::DAT_PROVIDER_ATTR>
    : AttributeChecker<dat12::DAT_PROVIDER_ATTR, ::DAT_PROVIDER_ATTR> {};
template <>
struct Checker<dat12::DAT_EP_ATTR, ::DAT_EP_ATTR> {
  template <typename Member>
  static void Check(const Member& member, int value) {
    AttributeChecker<dat12::DAT_EP_ATTR, ::DAT_EP_ATTR>::Check(member, value);
    ExpectCopied<dat12::DAT_EP_ATTR, ::DAT_EP_ATTR>(
        member, value, [](const dat12::DAT_EP_ATTR& from, ::DAT_EP_ATTR* to) { To2(from, to); });
  }
};

// covers: semantics 18
TEST(BridgeTables, EveryMemberOfAttributes) {
  int value = 1;
#define MEMBER(structure, name)                              \
  {                                                          \
    SCOPED_TRACE(#structure "." #name);                      \
    Checker<dat12::structure, ::structure>::Check(           \
        [](auto& of) -> auto& { return of.name; }, value++); \
  }
#include "dat/bridge/shared_names.inc"
#undef MEMBER
  EXPECT_GT(value, 200);
}

TEST(BridgeTables, Texts) {
  ::DAT_IA_ATTR ia{};
  std::strcpy(ia.adapter_name, "lo");
  std::strcpy(ia.vendor_name, "nobody");
  dat12::DAT_IA_ATTR ia_12{};
  To12(ia, &ia_12);
  EXPECT_STREQ(ia_12.adapter_name, "lo");
  EXPECT_STREQ(ia_12.vendor_name, "nobody");

  ::DAT_BOOLEAN merging[6][6] = {};
  merging[1][5] = DAT_TRUE;
  ::DAT_PROVIDER_ATTR provider{};
  std::strcpy(provider.provider_name, "softnet-lo");
  std::memcpy(const_cast<::DAT_BOOLEAN(*)[6]>(provider.evd_stream_merging_supported), merging,
              sizeof(merging));
  dat12::DAT_PROVIDER_ATTR provider_12{};
  To12(provider, &provider_12);
  EXPECT_STREQ(provider_12.provider_name, "softnet-lo");
  EXPECT_EQ(std::memcmp(provider_12.evd_stream_merging_supported, merging, sizeof(merging)), 0);
}

// covers: semantics 18
TEST(BridgeTables, WhatDoesNotFitInto32Bits) {
  constexpr uint64_t kTooMuch = uint64_t{1} << 32;
  dat12::DAT_EP_ATTR ep{};
  ep.max_message_size = kTooMuch;
  ep.max_rdma_size = kTooMuch - 1;
  ::DAT_EP_ATTR ep_2{};
  To2(ep, &ep_2);
  EXPECT_EQ(ep_2.max_message_size, UINT32_MAX);
  EXPECT_EQ(ep_2.max_rdma_size, UINT32_MAX);

  dat12::DAT_LMR_TRIPLET local{7, 0, 0x123456789abc, kTooMuch - 1};
  ::DAT_LMR_TRIPLET local_2{};
  EXPECT_TRUE(To2(local, &local_2));
  EXPECT_EQ(local_2.lmr_context, 7u);
  EXPECT_EQ(local_2.virtual_address, 0x123456789abcu);
  EXPECT_EQ(local_2.segment_length, UINT32_MAX);
  dat12::DAT_LMR_TRIPLET back{};
  To12(local_2, &back);
  EXPECT_EQ(std::memcmp(&back, &local, sizeof(back)), 0);
  local.segment_length = kTooMuch;
  EXPECT_FALSE(To2(local, &local_2));

  dat12::DAT_RMR_TRIPLET remote{9, 0, 0xabcdef, 5};
  ::DAT_RMR_TRIPLET remote_2{};
  EXPECT_TRUE(To2(remote, &remote_2));
  EXPECT_EQ(remote_2.rmr_context, 9u);
  EXPECT_EQ(remote_2.virtual_address, 0xabcdefu);
  EXPECT_EQ(remote_2.segment_length, 5u);
  remote.segment_length = kTooMuch;
  EXPECT_FALSE(To2(remote, &remote_2));
}

}  // namespace
}  // namespace softdat::bridge
