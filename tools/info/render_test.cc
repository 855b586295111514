// SPDX-License-Identifier: BSD-3-Clause
// Tests of tables, attributes and JSON of dat_info.
#include "tools/info/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tools/info/attributes.h"

namespace softdat::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

ProbedIa Available() {
  DAT_NAMED_ATTR named[] = {{"DAT_IB_RDMA_READ", "TRUE"}, {nullptr, "x"}, {"EMPTY", nullptr}};
  DAT_IA_ATTR ia{};
  std::strcpy(ia.adapter_name, "lo");
  ia.max_eps = 1234;
  ia.zb_supported = DAT_TRUE;
  ia.extension_supported = DAT_EXTENSION_IB;
  DAT_PROVIDER_ATTR provider{};
  // A bit that the API does not define.
  const uint32_t foreign = DAT_COMPLETION_SUPPRESS_FLAG | 0x100;
  std::memcpy(&provider.completion_flags_supported, &foreign, sizeof foreign);
  provider.num_provider_specific_attr = 3;
  provider.provider_specific_attr = named;
  ProbedIa probed;
  probed.entry = {"softnet-lo", "2.0", true, "/lib/libdaplsoftnet.so.2", "found"};
  probed.state.ok = true;
  probed.state.address = "127.0.0.1";
  probed.state.ia = IaAttributes(ia);
  probed.state.provider = ProviderAttributes(provider);
  return probed;
}

ProbedIa Unavailable() {
  ProbedIa probed;
  probed.entry = {"x", "2.0", false, "", "/etc/dat.conf:3"};
  probed.state.error = "DAT_INTERNAL_ERROR (0x80040000)";
  probed.state.reasons = {"cannot load libx.so", "no such file"};
  return probed;
}

TEST(Render, TableWithAvailableOnesFirstAndTheLastReason) {
  EXPECT_EQ(
      RenderTable({Unavailable(), Available()}),
      "NAME        STATE        ADDRESS    PROVIDER             FROM             REASON\n"
      "softnet-lo  ok           127.0.0.1  libdaplsoftnet.so.2  found\n"
      "x           unavailable  -          -                    /etc/dat.conf:3  no such file\n");
}

TEST(Render, VerboseShowsEveryKindOfAttribute) {
  const std::string text = RenderVerbose(Available());
  for (const char* part :
       {"adapter_name", "1234\n", "extension_supported", "IB\n", "zb_supported", "yes\n",
        "default, suppress, 0x100\n", "    DAT_IB_RDMA_READ", "TRUE\n", "transport_attr", "none\n"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(RenderVerbose(Unavailable()), HasSubstr("because: no such file"));
}

TEST(Render, Why) {
  EXPECT_EQ(RenderWhy(Available()),
            "softnet-lo can be opened: address 127.0.0.1, served by /lib/libdaplsoftnet.so.2\n");
  EXPECT_THAT(RenderWhy(Unavailable()), HasSubstr("x cannot be opened: DAT_INTERNAL_ERROR"));
}

TEST(Render, Json) {
  const auto brief = IaJson(Available(), false);
  EXPECT_EQ(brief["available"], true);
  EXPECT_FALSE(brief.contains("ia_attr"));
  const auto full = IaJson(Available(), true);
  EXPECT_EQ(full["ia_attr"]["max_eps"], 1234);
  EXPECT_EQ(full["provider_attr"]["provider_specific_attr"]["DAT_IB_RDMA_READ"], "TRUE");
  EXPECT_EQ(full["provider_attr"]["provider_specific_attr"]["EMPTY"], "");
  const auto failed = IaJson(Unavailable(), true);
  EXPECT_EQ(failed["available"], false);
  EXPECT_TRUE(failed["address"].is_null());
  EXPECT_EQ(failed["reasons"][1], "no such file");
}

TEST(Attributes, StreamMerging) {
  DAT_PROVIDER_ATTR provider{};
  EXPECT_TRUE(ProviderAttributes(provider)["evd_stream_merging_supported"].empty());
  auto* merging = const_cast<DAT_BOOLEAN*>(&provider.evd_stream_merging_supported[0][0]);
  merging[2 * 6 + 3] = DAT_TRUE;
  EXPECT_EQ(ProviderAttributes(provider)["evd_stream_merging_supported"][0], "DTO + connection");
  for (int i = 0; i < 36; ++i) merging[i] = DAT_TRUE;
  EXPECT_EQ(ProviderAttributes(provider)["evd_stream_merging_supported"], "all");
}

}  // namespace
}  // namespace softdat::tools
