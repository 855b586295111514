// SPDX-License-Identifier: BSD-3-Clause
// The RNR timer codes.

#include "wire/roce/aeth.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace softdat::roce {
namespace {

// Code 0 is the longest time. The other times grow with the code.
constexpr std::array<uint32_t, 32> kRnrTimersUs = {
    655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
    480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
    20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};

}  // namespace

uint32_t RnrTimerUs(uint8_t code) { return kRnrTimersUs[code & 0x1f]; }

uint8_t RnrTimerCode(uint32_t us) {
  const auto* const found = std::lower_bound(kRnrTimersUs.begin() + 1, kRnrTimersUs.end(), us);
  if (found == kRnrTimersUs.end()) return 0;
  return static_cast<uint8_t>(std::distance(kRnrTimersUs.begin(), found));
}

}  // namespace softdat::roce
