// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: MADs with CM messages. An input that parses encodes to a MAD that parses to the
// same.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "wire/rdmacm/mad.h"

namespace softdat::rdmacm {
namespace {

using Octets = std::array<uint8_t, kMadSize>;

void Require(bool condition) {
  if (!condition) std::abort();
}

bool IsWithin(ByteSpan part, ByteSpan whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void CheckTexts(const CmMessage& message) {
  Require(CmMessageText(message) != nullptr);
  if (const auto* rej = std::get_if<CmRej>(&message); rej != nullptr) {
    Require(RejectReasonText(rej->reason) != nullptr && rej->info.size() <= kInfoSize);
  }
  if (const auto* rep = std::get_if<SidrRep>(&message); rep != nullptr) {
    Require(SidrStatusText(rep->status) != nullptr && rep->info.size() <= kInfoSize);
  }
}

void Fuzz(ByteSpan in) {
  Mad mad;
  const MadParse parsed = ParseMad(in, &mad);
  Require(MadParseText(parsed) != nullptr);
  if (parsed != MadParse::kOk) return;
  CheckTexts(mad.message);
  Require(std::visit([in](const auto& m) { return IsWithin(m.private_data, in); }, mad.message));
  Octets wire;
  Require(EncodeMad(mad, wire));
  // Only reserved bits and octets after additional information are left out.
  for (size_t i = 0; i < kMadSize; ++i) Require((wire[i] & ~in[i]) == 0);
  Mad same;
  Require(ParseMad(wire, &same) == MadParse::kOk);
  Require(same.transaction_id == mad.transaction_id);
  Require(same.message.index() == mad.message.index());
  Octets again;
  Require(EncodeMad(same, again) && again == wire);
}

}  // namespace
}  // namespace softdat::rdmacm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::rdmacm::Fuzz({data, size});
  // Only one size is right, and a fuzzer seldom hits it.
  softdat::rdmacm::Octets whole = {};
  std::copy_n(data, std::min(size, whole.size()), whole.begin());
  softdat::rdmacm::Fuzz(whole);
  return 0;
}
