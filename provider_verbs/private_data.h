// SPDX-License-Identifier: BSD-3-Clause
// How the consumer's private data travel in rdma_cm's private data fields.
//
// Qualifier header. A connection qualifier above 65535 does not fit a port. Then, and only then, 16
// bytes stand before the data of a request: magic 53 44 41 54 43 51 01 bf, the qualifier
// big-endian; the same as softnet's in its MPA request, so that the two understand each other.
//
// Refusal. A reject by the back end itself carries, instead of data, magic 53 44 41 54 4e 50 01 bf
// and a reason number, big-endian; softnet's again.
//
// Trailer. InfiniBand and RoCE deliver whole fields (56, 196 and 148 bytes), zero-padded: the
// length is lost. So the last four bytes of each field are 53 44, a version, the number of bytes
// meant. Peers that do not know it see some bytes behind what they look at. iWARP keeps lengths and
// has no trailer.
#ifndef SOFTDAT_PROVIDER_VERBS_PRIVATE_DATA_H_
#define SOFTDAT_PROVIDER_VERBS_PRIVATE_DATA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace softdat::verbs {

enum class CmField : uint8_t { kRequest, kReply, kReject };

inline constexpr uint64_t kMaxPortQualifier = 65535;
inline constexpr size_t kQualifierHeaderSize = 16;

// The most that a consumer can be promised, each way. Of an InfiniBand request that is 56 bytes
// less the trailer; with a qualifier above 65535 a request holds kQualifierHeaderSize less.
size_t MaxPrivateData(bool iwarp);

// What goes into a field, made from the consumer's data.
class FieldWriter {
 public:
  // `padded`: with trailer (not on iWARP; in answers only to peers that used it themselves).
  // `data` fits: at most MaxPrivateData.
  FieldWriter(CmField field, bool padded, std::optional<uint64_t> qualifier,
              std::span<const uint8_t> data);
  // The back end's own reject.
  static FieldWriter Refusal(bool padded);

  const uint8_t* data() const { return bytes_.data(); }
  uint8_t size() const { return size_; }

 private:
  std::array<uint8_t, 255> bytes_{};
  uint8_t size_ = 0;
};

// What a field that arrived says.
struct FieldView {
  bool trailer = false;  // the peer is ours
  bool refusal = false;
  std::optional<uint64_t> qualifier;  // requests only
  std::span<const uint8_t> data;
};
FieldView ReadField(CmField field, std::span<const uint8_t> bytes, bool iwarp);

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_PRIVATE_DATA_H_
