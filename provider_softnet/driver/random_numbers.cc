// SPDX-License-Identifier: BSD-3-Clause
// getrandom(), by the buffer.
#include "provider_softnet/driver/random_numbers.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace softdat::softnet {

std::function<uint64_t()> KernelRandomNumbers() {
  // getrandom() gives up to 256 bytes whole.
  return [numbers = std::array<uint64_t, 32>{}, left = size_t{0}]() mutable {
    while (left == 0) {
      if (getrandom(numbers.data(), sizeof numbers, 0) == ssize_t{sizeof numbers}) {
        left = numbers.size();
      } else if (errno != EINTR) {
        std::abort();  // a kernel without it (before 3.17): keys could be guessed
      }
    }
    return numbers[--left];
  };
}

}  // namespace softdat::softnet
