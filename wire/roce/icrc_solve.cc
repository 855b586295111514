// SPDX-License-Identifier: BSD-3-Clause
// Runs the difference of two ICRCs back to the identification. A step of the CRC over a zero bit
// multiplies the state by x modulo the polynomial, so a step back multiplies it by the inverse of
// x, and the way back over n octets is one multiplication by a power of it.

#include "wire/roce/icrc_solve.h"

#include <array>

namespace softdat::roce {
namespace {

constexpr uint32_t kPolynomial = 0xedb88320;  // reflected: bit 31 is the coefficient of x^0
constexpr uint32_t kOne = 0x80000000;
constexpr size_t kMostOctets = 0xffff;
/// Octets of both headers from the identification on: 16 of IPv4, 8 of UDP.
constexpr size_t kHeaderTail = 24;
constexpr size_t kIcrcOctets = 4;

/// a * x, and a / x.
constexpr uint32_t Forward(uint32_t a) { return (a >> 1) ^ ((a & 1) != 0 ? kPolynomial : 0); }
constexpr uint32_t Back(uint32_t a) {
  return (a & kOne) != 0 ? ((a ^ kPolynomial) << 1) | 1 : a << 1;
}
static_assert(Back(Forward(0x12345678)) == 0x12345678 && Forward(Back(0x9abcdef1)) == 0x9abcdef1);

constexpr uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = kOne; bit != 0; bit >>= 1) {
    product ^= (0 - static_cast<uint32_t>((a & bit) != 0)) & b;
    b = Forward(b);
  }
  return product;
}

/// The ways back over 0..255 octets, and over 0..255 times 256 octets.
struct WaysBack {
  std::array<uint32_t, 256> octets;
  std::array<uint32_t, 256> blocks;
};

constexpr WaysBack MakeWaysBack() {
  WaysBack ways{};
  uint32_t way = kOne;
  for (uint32_t& entry : ways.octets) {
    entry = way;
    for (int bit = 0; bit < 8; ++bit) way = Back(way);
  }
  const uint32_t block = way;
  way = kOne;
  for (uint32_t& entry : ways.blocks) {
    entry = way;
    way = Multiply(way, block);
  }
  return ways;
}
constexpr WaysBack kWaysBack = MakeWaysBack();

}  // namespace

std::optional<uint16_t> SolveIdentification(uint32_t computed, uint32_t received,
                                            size_t udp_payload) {
  if (udp_payload < kIcrcOctets || udp_payload > kMostOctets - kHeaderTail) return std::nullopt;
  const size_t octets = kHeaderTail + udp_payload - kIcrcOctets;
  const uint32_t way = Multiply(kWaysBack.blocks[octets >> 8], kWaysBack.octets[octets & 0xff]);
  // What the two octets of the identification were added to the state as: the first is the low one.
  const uint32_t found = Multiply(way, computed ^ received);
  if (found > 0xffff) return std::nullopt;
  return static_cast<uint16_t>(found << 8 | found >> 8);
}

}  // namespace softdat::roce
