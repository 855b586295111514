// SPDX-License-Identifier: BSD-3-Clause
// Private data fields: writer and reader.
#include "wire/rdmacm/private_data.h"

#include <algorithm>
#include <cstring>

#include "wire/private_header.h"

namespace softdat::rdmacm {
namespace {

constexpr size_t kTrailerSize = 4;
constexpr uint8_t kTrailerVersion = 1;

constexpr size_t FieldSize(CmField field) {
  switch (field) {
    case CmField::kRequest:
      return kRequestFieldSize;
    case CmField::kReply:
      return kReplyFieldSize;
    case CmField::kReject:
      return kRejectFieldSize;
    case CmField::kSidrRequest:
      return kSidrRequestFieldSize;
    case CmField::kSidrReply:
    case CmField::kSidrReject:
      return kSidrReplyFieldSize;
  }
  return 0;
}

constexpr bool IsRequest(CmField field) {
  return field == CmField::kRequest || field == CmField::kSidrRequest;
}

constexpr bool IsReject(CmField field) {
  return field == CmField::kReject || field == CmField::kSidrReject;
}

}  // namespace

size_t MaxPrivateData(bool iwarp) {
  // rdma_cm's own length is one byte (255). The header needs room, too.
  return iwarp ? 255 - kPrivateHeaderSize : FieldSize(CmField::kRequest) - kTrailerSize;
}

FieldWriter::FieldWriter(CmField field, bool padded, std::optional<uint64_t> qualifier,
                         ByteSpan data) {
  size_t used = 0;
  if (qualifier.has_value()) {
    StorePrivateHeader(bytes_.data(), kQualifierMagic, *qualifier);
    used = kPrivateHeaderSize;
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

FieldWriter FieldWriter::Refusal(bool padded, CmField field) {
  std::array<uint8_t, kPrivateHeaderSize> bytes;
  StorePrivateHeader(bytes.data(), kRefusalMagic, /*value=*/0);
  return FieldWriter(field, padded, std::nullopt, bytes);
}

FieldView ReadField(CmField field, ByteSpan bytes, bool iwarp) {
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
  uint64_t number = 0;
  if (IsRequest(field) && FindPrivateHeader(view.data, kQualifierMagic, &number)) {
    view.qualifier = number;
    view.data = view.data.subspan(kPrivateHeaderSize);
  } else if (IsReject(field) && FindPrivateHeader(view.data, kRefusalMagic, &number)) {
    view.refusal = true;
    view.data = {};
  }
  return view;
}

}  // namespace softdat::rdmacm
