// SPDX-License-Identifier: BSD-3-Clause
// How the consumer's private data travel in the private data fields of rdma_cm.
//
// Header. A request to a qualifier above 65535 starts with the header that softnet also puts into
// its MPA frames (wire/private_header.h). So does a refusal by the back end itself.
//
// Trailer. InfiniBand and RoCE deliver whole fields, zero-padded, so the length is lost. Therefore
// the last four octets of each field are 53 44, a version, and the number of octets meant. A peer
// that does not know the trailer sees some octets after those that it looks at. iWARP keeps lengths
// and has no trailer.
//
// Fields. A field is the consumer's part of a message's private data. A request has the header of
// rdma_cm before it (ip_header.h). A SIDR_REQ also has the identity after it (datagram_identity.h).

#ifndef SOFTDAT_WIRE_RDMACM_PRIVATE_DATA_H_
#define SOFTDAT_WIRE_RDMACM_PRIVATE_DATA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/bytes.h"

namespace softdat::rdmacm {

// A SIDR_REP is a reply or a reject, as its status says.
enum class CmField : uint8_t { kRequest, kReply, kReject, kSidrRequest, kSidrReply, kSidrReject };

// Octets of a field: IBTA vol. 1 §12.6 and §12.11, without the parts before and after it.
inline constexpr size_t kRequestFieldSize = 56;
inline constexpr size_t kReplyFieldSize = 196;
inline constexpr size_t kRejectFieldSize = 148;
inline constexpr size_t kSidrRequestFieldSize = 168;
inline constexpr size_t kSidrReplyFieldSize = 136;

// The most octets that a consumer can be promised, in each direction. For an InfiniBand request
// that is its field without the trailer. With a qualifier above 65535 a request holds
// kPrivateHeaderSize less.
size_t MaxPrivateData(bool iwarp);

// The content of a field, made from the consumer's data.
class FieldWriter {
 public:
  // `padded`: with the trailer (not on iWARP; answers have it only if the peer used it).
  // `data` must fit: at most MaxPrivateData.
  FieldWriter(CmField field, bool padded, std::optional<uint64_t> qualifier, ByteSpan data);
  // The back end's own reject. `field`: kReject or kSidrReject.
  static FieldWriter Refusal(bool padded, CmField field = CmField::kReject);

  const uint8_t* data() const { return bytes_.data(); }
  uint8_t size() const { return size_; }

 private:
  std::array<uint8_t, 255> bytes_{};
  uint8_t size_ = 0;
};

// The meaning of a field that arrived. The bytes may go on after the field, as in a SIDR_REQ.
struct FieldView {
  bool trailer = false;  // whether the peer is ours
  bool refusal = false;
  std::optional<uint64_t> qualifier;  // of requests of both kinds
  ByteSpan data;
};
FieldView ReadField(CmField field, ByteSpan bytes, bool iwarp);

}  // namespace softdat::rdmacm

#endif  // SOFTDAT_WIRE_RDMACM_PRIVATE_DATA_H_
