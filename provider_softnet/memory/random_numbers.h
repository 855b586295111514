// SPDX-License-Identifier: BSD-3-Clause
// Unpredictable numbers, for the keys of memory.
#ifndef SOFTDAT_PROVIDER_SOFTNET_MEMORY_RANDOM_NUMBERS_H_
#define SOFTDAT_PROVIDER_SOFTNET_MEMORY_RANDOM_NUMBERS_H_

#include <array>
#include <cstdint>
#include <functional>

#include "dat/base/status.h"

namespace softdat::softnet {

// One block of the ChaCha20 key stream (RFC 8439 §2.3). The last four of the 16 words of its input
// are `counter` and `nonce`, the low words first.
using ChaChaKey = std::array<uint32_t, 8>;
using ChaChaBlock = std::array<uint32_t, 16>;
ChaChaBlock ChaCha20(const ChaChaKey& key, uint64_t counter, uint64_t nonce);

// A generator with a secret key from the kernel. The kernel is asked only this once, so that a
// program that later forbids itself system calls can still register memory. Fails when the kernel
// gives no key. One caller at a time.
Result<std::function<uint64_t()>> RandomNumbers();

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_MEMORY_RANDOM_NUMBERS_H_
