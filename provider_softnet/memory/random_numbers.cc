// SPDX-License-Identifier: BSD-3-Clause
// A key from getrandom(), and ChaCha20 after that.
#include "provider_softnet/memory/random_numbers.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cstddef>

namespace softdat::softnet {
namespace {

void QuarterRound(ChaChaBlock* block, size_t a, size_t b, size_t c, size_t d) {
  ChaChaBlock& x = *block;
  x[a] += x[b];
  x[d] = std::rotl(x[d] ^ x[a], 16);
  x[c] += x[d];
  x[b] = std::rotl(x[b] ^ x[c], 12);
  x[a] += x[b];
  x[d] = std::rotl(x[d] ^ x[a], 8);
  x[c] += x[d];
  x[b] = std::rotl(x[b] ^ x[c], 7);
}

constexpr size_t kNumbersOfBlock = sizeof(ChaChaBlock) / sizeof(uint64_t);

}  // namespace

ChaChaBlock ChaCha20(const ChaChaKey& key, uint64_t counter, uint64_t nonce) {
  const auto low = [](uint64_t n) { return static_cast<uint32_t>(n); };
  const auto high = [](uint64_t n) { return static_cast<uint32_t>(n >> 32); };
  // "expand 32-byte k"
  const ChaChaBlock input = {0x61707865,   0x3320646e,    0x79622d32, 0x6b206574, key[0], key[1],
                             key[2],       key[3],        key[4],     key[5],     key[6], key[7],
                             low(counter), high(counter), low(nonce), high(nonce)};
  ChaChaBlock block = input;
  constexpr int kDoubleRounds = 10;
  for (int i = 0; i < kDoubleRounds; ++i) {
    for (size_t column = 0; column < 4; ++column)
      QuarterRound(&block, column, 4 + column, 8 + column, 12 + column);
    for (size_t diagonal = 0; diagonal < 4; ++diagonal)
      QuarterRound(&block, diagonal, 4 + (diagonal + 1) % 4, 8 + (diagonal + 2) % 4,
                   12 + (diagonal + 3) % 4);
  }
  for (size_t i = 0; i < block.size(); ++i) block[i] += input[i];
  return block;
}

Result<std::function<uint64_t()>> RandomNumbers() {
  ChaChaKey key;
  ssize_t got = 0;
  // getrandom() never splits so few bytes.
  do {
    got = getrandom(key.data(), sizeof key, 0);
  } while (got < 0 && errno == EINTR);
  if (got != ssize_t{sizeof key}) {
    return Status(Code::kNoResources,
                  fmt::format("the kernel gives no random numbers, and without them the keys of "
                              "memory could be guessed: getrandom: {}",
                              strerror(errno)));
  }
  return std::function<uint64_t()>(
      [key, counter = uint64_t{0}, block = ChaChaBlock{}, left = size_t{0}]() mutable {
        if (left == 0) {
          block = ChaCha20(key, counter++, 0);
          left = kNumbersOfBlock;
        }
        --left;
        return uint64_t{block[2 * left]} << 32 | block[2 * left + 1];
      });
}

}  // namespace softdat::softnet
