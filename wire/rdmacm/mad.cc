// SPDX-License-Identifier: BSD-3-Clause
// Management datagrams: header, and the message that the attribute names.

#include "wire/rdmacm/mad.h"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/rdmacm/cm_fields.h"
#include "wire/rdmacm/cm_layout.h"

namespace softdat::rdmacm {
namespace {

static_assert(kMadHeaderSize + kCmBodySize == kMadSize);

constexpr uint8_t kBaseVersion = 1;
constexpr uint8_t kCmClass = 7;
constexpr uint8_t kCmClassVersion = 2;
constexpr uint8_t kMethodSend = 3;

using Body = std::span<const uint8_t, kCmBodySize>;
constexpr size_t kMessageCount = std::variant_size_v<CmMessage>;

template <size_t kIndex>
bool ReadMessage(Body body, CmMessage* out) {
  std::variant_alternative_t<kIndex, CmMessage> message;
  CmFieldReader reader(body);
  Layout(&reader, &message);
  if (reader.ok()) *out = message;
  return reader.ok();
}

using Reader = bool (*)(Body, CmMessage*);

template <size_t... kIndex>
constexpr std::array<Reader, kMessageCount> Readers(std::index_sequence<kIndex...>) {
  return {&ReadMessage<kIndex>...};
}

constexpr std::array<Reader, kMessageCount> kReaders =
    Readers(std::make_index_sequence<kMessageCount>());

}  // namespace

MadParse ParseMad(ByteSpan in, Mad* out) {
  if (in.size() != kMadSize) return MadParse::kWrongSize;
  const uint8_t* p = in.data();
  if (p[0] != kBaseVersion) return MadParse::kBadBaseVersion;
  if (p[1] != kCmClass) return MadParse::kOtherClass;
  if (p[2] != kCmClassVersion) return MadParse::kBadClassVersion;
  if (p[3] != kMethodSend) return MadParse::kOtherMethod;
  // An attribute below the first one wraps, and is then above the last one.
  const size_t index = static_cast<uint16_t>(LoadBe16(p + 16) - kFirstCmAttribute);
  if (index >= kReaders.size()) return MadParse::kUnknownAttribute;
  if (!kReaders[index](in.subspan<kMadHeaderSize, kCmBodySize>(), &out->message)) {
    return MadParse::kInfoTooLong;
  }
  out->transaction_id = LoadBe64(p + 8);
  return MadParse::kOk;
}

bool EncodeMad(const Mad& mad, std::span<uint8_t, kMadSize> out) {
  std::fill(out.begin(), out.end(), uint8_t{0});
  uint8_t* p = out.data();
  p[0] = kBaseVersion;
  p[1] = kCmClass;
  p[2] = kCmClassVersion;
  p[3] = kMethodSend;
  StoreBe64(p + 8, mad.transaction_id);
  StoreBe16(p + 16, static_cast<uint16_t>(kFirstCmAttribute + mad.message.index()));
  CmFieldWriter writer(out.subspan<kMadHeaderSize, kCmBodySize>());
  // Passed by value, because Layout also takes messages that it writes.
  std::visit([&writer](auto message) { Layout(&writer, &message); }, mad.message);
  return writer.ok();
}

const char* CmMessageText(const CmMessage& message) {
  static constexpr std::array<const char*, kMessageCount> kTexts = {
      "REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP"};
  return kTexts[message.index()];
}

const char* MadParseText(MadParse result) {
  switch (result) {
    case MadParse::kOk:
      return "ok";
    case MadParse::kWrongSize:
      return "MAD is not 256 octets long";
    case MadParse::kBadBaseVersion:
      return "MAD base version is not 1";
    case MadParse::kOtherClass:
      return "MAD is not of communication management";
    case MadParse::kBadClassVersion:
      return "CM class version is not 2";
    case MadParse::kOtherMethod:
      return "MAD method is not Send";
    case MadParse::kUnknownAttribute:
      return "MAD attribute is no CM message that is known";
    case MadParse::kInfoTooLong:
      return "additional information longer than its field";
  }
  return "unknown MAD parse result";
}

}  // namespace softdat::rdmacm
