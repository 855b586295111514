// SPDX-License-Identifier: BSD-3-Clause
// Loss on demand: what is understood, how often each thing happens, and that it can be repeated.
#include "provider_softnet/udp/impairment.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

namespace softdat::softnet {
namespace {

using std::chrono::microseconds;
using Time = Impairment::Time;
using Bytes = std::vector<uint8_t>;

constexpr Time kNow{std::chrono::seconds(1000)};
constexpr uint32_t kMany = 10000;

ImpairmentSpec Spec(std::string_view text) {
  Result<ImpairmentSpec> spec = ParseImpairment(text);
  EXPECT_TRUE(spec.ok()) << spec.status().reason();
  return spec.value();
}

Bytes Datagram(uint32_t n) {
  return {static_cast<uint8_t>(n >> 8), static_cast<uint8_t>(n), 0, 0, 0, 0};
}
uint32_t NumberOf(const HeldDatagram& datagram) {
  return static_cast<uint32_t>(datagram.bytes[0] << 8 | datagram.bytes[1]);
}

// Numbers of what arrives of kMany, one each microsecond.
std::vector<uint32_t> Arrivals(std::string_view text) {
  Impairment impairment(Spec(text));
  std::vector<uint32_t> out;
  Time now = kNow;
  for (uint32_t i = 0; i < kMany; ++i, now += microseconds(1)) {
    const auto passage = impairment.Offer(now, {}, Datagram(i));
    out.insert(out.end(), passage.times, i);
    for (const HeldDatagram& d : impairment.TakeDue(now)) out.push_back(NumberOf(d));
  }
  for (const HeldDatagram& d : impairment.TakeDue(Time::max())) out.push_back(NumberOf(d));
  EXPECT_FALSE(impairment.next_due().has_value());
  return out;
}

TEST(ImpairmentSpec, UnderstandsEachPart) {
  const ImpairmentSpec spec = Spec("1%;reorder=2%;delay=200us;corrupt=0.25%;duplicate=100%;seed=7");
  EXPECT_EQ(spec.loss, 10'000u);
  EXPECT_EQ(spec.reorder, 20'000u);
  EXPECT_EQ(spec.delay, microseconds(200));
  EXPECT_EQ(spec.corrupt, 2'500u);
  EXPECT_EQ(spec.duplicate, 1'000'000u);
  EXPECT_EQ(spec.seed, 7u);
  EXPECT_TRUE(spec.active());
  EXPECT_EQ(Spec("loss=3%").loss, 30'000u);
  EXPECT_FALSE(Spec("").active());
  EXPECT_FALSE(Spec("0%;seed=3").active());
}

TEST(ImpairmentSpec, NamesWhatIsWrong) {
  for (const char* wrong : {"1", "101%", "-1%", "%", "1%%", "reorder=x%", "delay=soon",
                            "seed=", "jitter=1%", "1%;;2%", "nan%", "=1%"}) {
    const auto parsed = ParseImpairment(wrong);
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument) << wrong;
  }
  const auto parsed = ParseImpairment("1%;jitter=2%");
  const std::string reason(parsed.status().reason());
  EXPECT_NE(reason.find("\"jitter=2%\" in SOFTDAT_UDP_LOSS"), std::string::npos) << reason;
}

TEST(Impairment, LosesItsShare) {
  const size_t arrived = Arrivals("10%").size();
  EXPECT_GT(arrived, kMany * 88 / 100);
  EXPECT_LT(arrived, kMany * 92 / 100);
  EXPECT_EQ(Arrivals("100%").size(), 0u);
}

TEST(Impairment, TheSeedDecides) {
  EXPECT_EQ(Arrivals("10%;reorder=10%;seed=3"), Arrivals("10%;reorder=10%;seed=3"));
  EXPECT_NE(Arrivals("10%;seed=3"), Arrivals("10%;seed=4"));
}

TEST(Impairment, LaterOnesOvertakeWhatIsHeldBack) {
  const std::vector<uint32_t> arrived = Arrivals("reorder=5%");
  ASSERT_EQ(arrived.size(), kMany);
  size_t overtaken = 0;
  for (size_t i = 1; i < arrived.size(); ++i) overtaken += arrived[i] < arrived[i - 1] ? 1 : 0;
  EXPECT_GT(overtaken, kMany * 4 / 100);
  EXPECT_LT(overtaken, kMany * 6 / 100);
}

TEST(Impairment, DoublesItsShare) {
  const std::vector<uint32_t> arrived = Arrivals("duplicate=10%");
  EXPECT_EQ(std::set<uint32_t>(arrived.begin(), arrived.end()).size(), kMany);
  EXPECT_GT(arrived.size(), kMany * 108 / 100);
  EXPECT_LT(arrived.size(), kMany * 112 / 100);
}

TEST(Impairment, FlipsOneBit) {
  Impairment impairment(Spec("corrupt=100%"));
  const Bytes sent(100);
  for (uint32_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(impairment.Offer(kNow, {}, sent).impaired);
    const auto arrived = impairment.TakeDue(kNow);
    ASSERT_EQ(arrived.size(), 1u);
    int flipped = 0;
    for (const uint8_t byte : arrived[0].bytes) flipped += std::popcount(byte);
    EXPECT_EQ(flipped, 1);
  }
  impairment.Offer(kNow, {}, {});
  EXPECT_EQ(impairment.TakeDue(kNow).size(), 1u) << "an empty one has no bit";
}

TEST(Impairment, DelaysAllInOrder) {
  Impairment impairment(Spec("delay=200us"));
  for (uint32_t i = 1; i <= 2; ++i) {
    const auto passage = impairment.Offer(kNow, {}, Datagram(i), /*segment=*/i);
    EXPECT_TRUE(passage.held && !passage.impaired);
    EXPECT_EQ(passage.times, 0u);
  }
  EXPECT_EQ(impairment.next_due(), kNow + microseconds(200));
  EXPECT_TRUE(impairment.TakeDue(kNow + microseconds(199)).empty());
  const auto arrived = impairment.TakeDue(kNow + microseconds(200));
  ASSERT_EQ(arrived.size(), 2u);
  EXPECT_EQ(NumberOf(arrived[0]), 1u);
  EXPECT_EQ(NumberOf(arrived[1]), 2u);
  EXPECT_EQ(arrived[1].segment, 2u) << "or its ICRC would have to be solved for";
}

// What is lost or doubled needs no copy, and neither does what nothing happens to.
TEST(Impairment, CopiesOnlyWhatItHoldsOrDamages) {
  Impairment impairment(Spec("20%;duplicate=20%"));
  uint32_t times[3] = {};
  for (uint32_t i = 0; i < kMany; ++i) {
    const auto passage = impairment.Offer(kNow, {}, Datagram(i));
    ASSERT_LE(passage.times, 2u);
    EXPECT_EQ(passage.impaired, passage.times != 1);
    EXPECT_FALSE(passage.held);
    ++times[passage.times];
  }
  EXPECT_GT(times[0], kMany * 18 / 100);
  EXPECT_GT(times[1], kMany * 60 / 100);
  EXPECT_GT(times[2], kMany * 14 / 100);
  EXPECT_FALSE(impairment.next_due().has_value()) << "no copy was kept";
}

}  // namespace
}  // namespace softdat::softnet
