// SPDX-License-Identifier: BSD-3-Clause
// How the consumer's private data travel in the private data fields of rdma_cm.
//
// Header. A request to a qualifier above 65535 starts with the header that softnet also puts into
// its MPA frames (wire/private_header.h). So does a refusal by the back end itself.
//
// Trailer. InfiniBand and RoCE deliver whole fields (56, 196 and 148 octets), zero-padded, so the
// length is lost. Therefore the last four octets of each field are 53 44, a version, and the number
// of octets meant. A peer that does not know the trailer sees some octets behind those that it
// looks at. iWARP keeps lengths and has no trailer.

#ifndef SOFTDAT_WIRE_RDMACM_PRIVATE_DATA_H_
#define SOFTDAT_WIRE_RDMACM_PRIVATE_DATA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/bytes.h"

namespace softdat::rdmacm {

enum class CmField : uint8_t { kRequest, kReply, kReject };

// The most that a consumer can be promised, in each direction. Of an InfiniBand request that is 56
// bytes less the trailer. With a qualifier above 65535 a request holds kPrivateHeaderSize less.
size_t MaxPrivateData(bool iwarp);

// The content of a field, made from the consumer's data.
class FieldWriter {
 public:
  // `padded`: with the trailer (not on iWARP; in answers only to peers that used it themselves).
  // `data` must fit: at most MaxPrivateData.
  FieldWriter(CmField field, bool padded, std::optional<uint64_t> qualifier, ByteSpan data);
  // The back end's own reject.
  static FieldWriter Refusal(bool padded);

  const uint8_t* data() const { return bytes_.data(); }
  uint8_t size() const { return size_; }

 private:
  std::array<uint8_t, 255> bytes_{};
  uint8_t size_ = 0;
};

// The meaning of a field that arrived.
struct FieldView {
  bool trailer = false;  // the peer is ours
  bool refusal = false;
  std::optional<uint64_t> qualifier;  // requests only
  ByteSpan data;
};
FieldView ReadField(CmField field, ByteSpan bytes, bool iwarp);

}  // namespace softdat::rdmacm

#endif  // SOFTDAT_WIRE_RDMACM_PRIVATE_DATA_H_
