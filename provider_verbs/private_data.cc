// SPDX-License-Identifier: BSD-3-Clause
// Private data fields: writer and reader.
#include "provider_verbs/private_data.h"

#include <algorithm>
#include <cstring>

namespace softdat::verbs {
namespace {

constexpr uint64_t kQualifierMagic = 0x53444154'435101bf;
constexpr uint64_t kRefusalMagic = 0x53444154'4e5001bf;
constexpr size_t kTrailerSize = 4;
constexpr uint8_t kTrailerVersion = 1;

// IBTA vol. 1 §12.6 less the 36 bytes that rdma_cm takes of a request (annex A11).
constexpr size_t FieldSize(CmField field) {
  switch (field) {
    case CmField::kRequest:
      return 56;
    case CmField::kReply:
      return 196;
    case CmField::kReject:
      return 148;
  }
  return 0;
}

void StoreBe64(uint8_t* out, uint64_t value) {
  for (int i = 7; i >= 0; --i, value >>= 8) out[i] = static_cast<uint8_t>(value);
}

uint64_t LoadBe64(const uint8_t* in) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | in[i];
  return value;
}

}  // namespace

size_t MaxPrivateData(bool iwarp) {
  // rdma_cm's own length is one byte (255); leave room for the header.
  return iwarp ? 255 - kQualifierHeaderSize : FieldSize(CmField::kRequest) - kTrailerSize;
}

FieldWriter::FieldWriter(CmField field, bool padded, std::optional<uint64_t> qualifier,
                         std::span<const uint8_t> data) {
  size_t used = 0;
  if (qualifier.has_value()) {
    StoreBe64(bytes_.data(), kQualifierMagic);
    StoreBe64(bytes_.data() + 8, *qualifier);
    used = kQualifierHeaderSize;
  }
  const size_t room = (padded ? FieldSize(field) - kTrailerSize : bytes_.size()) - used;
  const size_t n = std::min(data.size(), room);
  if (n > 0) std::memcpy(bytes_.data() + used, data.data(), n);
  used += n;
  if (padded) {
    uint8_t* const trailer = bytes_.data() + FieldSize(field) - kTrailerSize;
    trailer[0] = 0x53;
    trailer[1] = 0x44;
    trailer[2] = kTrailerVersion;
    trailer[3] = static_cast<uint8_t>(used);
    used = FieldSize(field);
  }
  size_ = static_cast<uint8_t>(used);
}

FieldWriter FieldWriter::Refusal(bool padded) {
  std::array<uint8_t, kQualifierHeaderSize> bytes{};
  StoreBe64(bytes.data(), kRefusalMagic);
  return FieldWriter(CmField::kReject, padded, std::nullopt, bytes);
}

FieldView ReadField(CmField field, std::span<const uint8_t> bytes, bool iwarp) {
  FieldView view;
  view.data = bytes;
  const size_t size = FieldSize(field);
  if (!iwarp && bytes.size() >= size) {
    const uint8_t* const trailer = bytes.data() + size - kTrailerSize;
    if (trailer[0] == 0x53 && trailer[1] == 0x44 && trailer[2] == kTrailerVersion &&
        trailer[3] <= size - kTrailerSize) {
      view.trailer = true;
      view.data = bytes.first(trailer[3]);
    }
  }
  if (view.data.size() >= kQualifierHeaderSize) {
    const uint64_t magic = LoadBe64(view.data.data());
    if (field == CmField::kRequest && magic == kQualifierMagic) {
      view.qualifier = LoadBe64(view.data.data() + 8);
      view.data = view.data.subspan(kQualifierHeaderSize);
    } else if (field == CmField::kReject && magic == kRefusalMagic) {
      view.refusal = true;
      view.data = {};
    }
  }
  return view;
}

}  // namespace softdat::verbs
