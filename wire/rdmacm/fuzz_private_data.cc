// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: private data fields of rdma_cm. The meaning of a field must make a field with the
// same meaning. The first octet of the input chooses the field and whether the device is iWARP.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/rdmacm/private_data.h"

namespace softdat::rdmacm {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

bool IsWithin(ByteSpan part, ByteSpan whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

FieldWriter Again(CmField field, const FieldView& view) {
  if (view.refusal) return FieldWriter::Refusal(view.trailer, field);
  return FieldWriter(field, view.trailer, view.qualifier, view.data);
}

void Fuzz(uint8_t choice, ByteSpan in) {
  const int kind = (choice & 3) % 3 + ((choice & 8) != 0 ? 3 : 0);
  const auto field = static_cast<CmField>(kind);
  const bool iwarp = (choice & 4) != 0;
  const FieldView view = ReadField(field, in, iwarp);
  Require(IsWithin(view.data, in));
  Require(!view.refusal || view.data.empty());
  Require(!view.qualifier || field == CmField::kRequest || field == CmField::kSidrRequest);
  Require(!view.trailer || !iwarp);
  const FieldWriter again = Again(field, view);
  const FieldView same = ReadField(field, {again.data(), again.size()}, iwarp);
  Require(same.trailer == view.trailer && same.refusal == view.refusal);
  Require(same.qualifier == view.qualifier && std::ranges::equal(same.data, view.data));
}

}  // namespace
}  // namespace softdat::rdmacm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kLongestField = 255;  // rdma_cm's lengths are one octet
  if (size == 0) return 0;
  softdat::rdmacm::Fuzz(data[0], {data + 1, std::min(size - 1, kLongestField)});
  return 0;
}
