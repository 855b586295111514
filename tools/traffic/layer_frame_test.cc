// SPDX-License-Identifier: BSD-3-Clause
// Tests of the head of a message layer's messages.
#include "tools/traffic/layer_frame.h"

#include <gtest/gtest.h>

#include <array>

namespace softdat::tools {
namespace {

using Bytes = std::array<uint8_t, kLayerFrameBytes>;

TEST(LayerFrame, ComesBackAsItWas) {
  using enum LayerFrame::Kind;
  for (const auto kind : {kEager, kRequest, kAnswer, kFinish}) {
    Bytes bytes;
    EncodeLayerFrame({kind, 255, {0x123456789abcdef0, UINT32_MAX, 0xdeadbeef}}, bytes.data());
    const auto frame = DecodeLayerFrame(bytes);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->kind, kind);
    EXPECT_EQ(frame->credits, 255);
    EXPECT_EQ(frame->memory.address, 0x123456789abcdef0u);
    EXPECT_EQ(frame->memory.bytes, UINT32_MAX);
    EXPECT_EQ(frame->memory.context, 0xdeadbeefu);
  }
}

TEST(LayerFrame, TooFewBytesAndAnUnknownKindAreNone) {
  Bytes bytes;
  EncodeLayerFrame({LayerFrame::Kind::kFinish, 0, {}}, bytes.data());
  EXPECT_TRUE(DecodeLayerFrame(bytes));
  EXPECT_FALSE(DecodeLayerFrame(std::span(bytes).first(kLayerFrameBytes - 1)));
  EXPECT_FALSE(DecodeLayerFrame({}));
  ++bytes[0];
  EXPECT_FALSE(DecodeLayerFrame(bytes));
}

}  // namespace
}  // namespace softdat::tools
