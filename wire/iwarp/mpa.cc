// SPDX-License-Identifier: BSD-3-Clause
// MPA start-up frames: the codec.

#include "wire/iwarp/mpa.h"

#include <algorithm>
#include <cstring>

namespace softdat::iwarp {
namespace {

constexpr size_t kFlagsAt = 16;
constexpr size_t kRevisionAt = 17;
constexpr size_t kPdLengthAt = 18;

constexpr uint8_t kFlagMarkers = 0x80;
constexpr uint8_t kFlagCrc = 0x40;
constexpr uint8_t kFlagReject = 0x20;
constexpr uint8_t kFlagEnhanced = 0x10;

constexpr uint16_t kWordHigh = 0x8000;  // A in the IRD word, C in the ORD word
constexpr uint16_t kWordLow = 0x4000;   // B in the IRD word, D in the ORD word
constexpr uint16_t kDepthMask = 0x3fff;

bool MatchesKey(ByteSpan in, const char* key) {
  return std::memcmp(in.data(), key, std::min(in.size(), kMpaKeySize)) == 0;
}

MpaEnhanced ParseWords(const uint8_t* p) {
  const uint16_t ird = LoadBe16(p);
  const uint16_t ord = LoadBe16(p + 2);
  MpaEnhanced words;
  words.peer_to_peer = (ird & kWordHigh) != 0;
  words.rtr_send = (ird & kWordLow) != 0;
  words.rtr_write = (ord & kWordHigh) != 0;
  words.rtr_read = (ord & kWordLow) != 0;
  words.ird = ird & kDepthMask;
  words.ord = ord & kDepthMask;
  return words;
}

void StoreWords(const MpaEnhanced& words, uint8_t* p) {
  StoreBe16(p, static_cast<uint16_t>((words.peer_to_peer ? kWordHigh : 0) |
                                     (words.rtr_send ? kWordLow : 0) | words.ird));
  StoreBe16(p + 2, static_cast<uint16_t>((words.rtr_write ? kWordHigh : 0) |
                                         (words.rtr_read ? kWordLow : 0) | words.ord));
}

}  // namespace

MpaParseResult ParseMpaStart(ByteSpan in, MpaStart* out) {
  if (in.empty()) return {MpaParseStatus::kNeedMore, kMpaHeaderSize};
  const bool request = MatchesKey(in, kMpaRequestKey);
  const bool reply = MatchesKey(in, kMpaReplyKey);
  if (!request && !reply) return {MpaParseStatus::kBadKey, 0};
  if (in.size() < kMpaHeaderSize) return {MpaParseStatus::kNeedMore, kMpaHeaderSize};

  const size_t pd_length = LoadBe16(&in[kPdLengthAt]);
  const uint8_t flags = in[kFlagsAt];
  const uint8_t revision = in[kRevisionAt];
  const bool enhanced = (flags & kFlagEnhanced) != 0 && revision >= kMpaRevision2;
  if (pd_length > kMpaMaxPrivateData) return {MpaParseStatus::kPrivateDataTooLong, 0};
  if (enhanced && pd_length < kMpaEnhancedSize) return {MpaParseStatus::kEnhancedTooShort, 0};
  if (in.size() < kMpaHeaderSize + pd_length) {
    return {MpaParseStatus::kNeedMore, kMpaHeaderSize + pd_length};
  }

  const size_t lead = enhanced ? kMpaEnhancedSize : 0;
  out->reply = reply;
  out->markers = (flags & kFlagMarkers) != 0;
  out->crc = (flags & kFlagCrc) != 0;
  out->reject = (flags & kFlagReject) != 0;
  out->enhanced = enhanced;
  out->revision = revision;
  out->words = enhanced ? ParseWords(&in[kMpaHeaderSize]) : MpaEnhanced{};
  out->private_data = in.subspan(kMpaHeaderSize + lead, pd_length - lead);
  return {MpaParseStatus::kOk, kMpaHeaderSize + pd_length};
}

size_t EncodeMpaStart(const MpaStart& frame, std::span<uint8_t> out) {
  // The length is checked before anything is added to it, so that no size can wrap.
  if (frame.private_data.size() > kMpaMaxPrivateData) return 0;
  const size_t size = MpaStartSize(frame);
  const size_t pd_length = size - kMpaHeaderSize;
  if (pd_length > kMpaMaxPrivateData || out.size() < size) return 0;
  if (frame.enhanced && (frame.revision < kMpaRevision2 || frame.words.ird > kDepthMask ||
                         frame.words.ord > kDepthMask)) {
    return 0;
  }
  uint8_t* p = out.data();
  std::memcpy(p, frame.reply ? kMpaReplyKey : kMpaRequestKey, kMpaKeySize);
  p[kFlagsAt] =
      static_cast<uint8_t>((frame.markers ? kFlagMarkers : 0) | (frame.crc ? kFlagCrc : 0) |
                           (frame.reject ? kFlagReject : 0) | (frame.enhanced ? kFlagEnhanced : 0));
  p[kRevisionAt] = frame.revision;
  StoreBe16(p + kPdLengthAt, static_cast<uint16_t>(pd_length));
  p += kMpaHeaderSize;
  if (frame.enhanced) {
    StoreWords(frame.words, p);
    p += kMpaEnhancedSize;
  }
  if (!frame.private_data.empty()) {
    std::memcpy(p, frame.private_data.data(), frame.private_data.size());
  }
  return size;
}

const char* MpaParseStatusText(MpaParseStatus status) {
  switch (status) {
    case MpaParseStatus::kOk:
      return "ok";
    case MpaParseStatus::kNeedMore:
      return "MPA start-up frame is incomplete";
    case MpaParseStatus::kBadKey:
      return "no MPA start-up frame: the key is neither Request nor Reply";
    case MpaParseStatus::kPrivateDataTooLong:
      return "MPA private data longer than 512 octets";
    case MpaParseStatus::kEnhancedTooShort:
      return "enhanced MPA frame without room for its IRD/ORD words";
  }
  return "unknown MPA parse status";
}

}  // namespace softdat::iwarp
