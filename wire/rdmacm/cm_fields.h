// SPDX-License-Identifier: BSD-3-Clause
// Reads or writes the fields of a CM message at the places that its layout names (cm_layout.h), so
// that decoder and encoder cannot disagree. A field is a number of up to 64 bits, most significant
// bit first, anywhere in the message.

#ifndef SOFTDAT_WIRE_RDMACM_CM_FIELDS_H_
#define SOFTDAT_WIRE_RDMACM_CM_FIELDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"
#include "wire/rdmacm/cm_messages.h"

namespace softdat::rdmacm {

/// Octets of a MAD behind its header: the layouts name places in these.
inline constexpr size_t kCmBodySize = 232;

class CmFieldReader {
 public:
  explicit CmFieldReader(std::span<const uint8_t, kCmBodySize> body) : body_(body) {}

  /// Whether everything that was read makes sense.
  bool ok() const { return ok_; }

  /// Reads the number of `bits` bits that starts `bit` bits after the front of octet `at`.
  template <typename T>
  void Bits(size_t at, size_t bit, size_t bits, T* value) {
    const size_t end = at * 8 + bit + bits;
    uint64_t number = 0;
    for (size_t i = at; i <= (end - 1) / 8; ++i) number = number << 8 | body_[i];
    number >>= (8 - end % 8) % 8;
    if (bits < 64) number &= (uint64_t{1} << bits) - 1;
    *value = static_cast<T>(number);
  }

  void Octets(size_t at, std::span<uint8_t> value) {
    std::copy_n(body_.begin() + static_cast<ptrdiff_t>(at), value.size(), value.begin());
  }

  void PrivateData(size_t at, size_t size, ByteSpan* data) { *data = body_.subspan(at, size); }

  /// Reads the additional information at `at`. Its length is a number as in Bits.
  void Info(size_t length_at, size_t length_bits, size_t at, ByteSpan* info) {
    size_t length = 0;
    Bits(length_at, 0, length_bits, &length);
    ok_ = ok_ && length <= kInfoSize;
    *info = body_.subspan(at, std::min(length, kInfoSize));
  }

 private:
  const std::span<const uint8_t, kCmBodySize> body_;
  bool ok_ = true;
};

/// Writes into a body of zeros.
class CmFieldWriter {
 public:
  explicit CmFieldWriter(std::span<uint8_t, kCmBodySize> body) : body_(body) {}

  /// Whether each value fits its field.
  bool ok() const { return ok_; }

  template <typename T>
  void Bits(size_t at, size_t bit, size_t bits, const T* value) {
    const size_t end = at * 8 + bit + bits;
    uint64_t number = static_cast<uint64_t>(*value);
    ok_ = ok_ && (bits == 64 || number >> bits == 0);
    if (bits < 64) number &= (uint64_t{1} << bits) - 1;
    number <<= (8 - end % 8) % 8;
    for (size_t i = (end - 1) / 8 + 1; i-- > at; number >>= 8) {
      body_[i] |= static_cast<uint8_t>(number);
    }
  }

  void Octets(size_t at, ByteSpan value) {
    std::copy(value.begin(), value.end(), body_.begin() + static_cast<ptrdiff_t>(at));
  }

  void PrivateData(size_t at, size_t size, const ByteSpan* data) {
    ok_ = ok_ && data->size() <= size;
    Octets(at, data->first(std::min(data->size(), size)));
  }

  void Info(size_t length_at, size_t length_bits, size_t at, const ByteSpan* info) {
    const size_t length = info->size();
    Bits(length_at, 0, length_bits, &length);
    PrivateData(at, kInfoSize, info);
  }

 private:
  const std::span<uint8_t, kCmBodySize> body_;
  bool ok_ = true;
};

}  // namespace softdat::rdmacm

#endif  // SOFTDAT_WIRE_RDMACM_CM_FIELDS_H_
