// SPDX-License-Identifier: BSD-3-Clause
// Some of the PSNs that are on their way, which lie near one another.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_PSN_SET_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_PSN_SET_H_

#include <array>
#include <cstdint>

#include "provider_softnet/roce/psn.h"

namespace softdat::softnet {

class PsnSet {
 public:
  // All members lie within so many numbers of one another. The caller sees to it.
  static constexpr uint64_t kSpan = 1024;

  bool empty() const { return count_ == 0; }
  uint32_t size() const { return count_; }
  bool Has(Psn psn) const { return (word(psn) & bit(psn)) != 0; }
  // Whether it was not there.
  bool Add(Psn psn) {
    if (Has(psn)) return false;
    words_[psn / 64 % kWords] |= bit(psn);
    ++count_;
    return true;
  }
  // Whether it was there.
  bool Remove(Psn psn) {
    if (!Has(psn)) return false;
    words_[psn / 64 % kWords] &= ~bit(psn);
    --count_;
    return true;
  }
  void RemoveAll(Psn from, Psn end) {
    for (Psn psn = from; psn < end && count_ > 0; ++psn) Remove(psn);
  }
  // The first member from `from` on. There is one.
  Psn First(Psn from) const {
    while (!Has(from)) ++from;
    return from;
  }
  void Clear() {
    words_ = {};
    count_ = 0;
  }

 private:
  static constexpr uint64_t kWords = kSpan / 64;

  static uint64_t bit(Psn psn) { return uint64_t{1} << psn % 64; }
  uint64_t word(Psn psn) const { return words_[psn / 64 % kWords]; }

  std::array<uint64_t, kWords> words_{};
  uint32_t count_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_PSN_SET_H_
