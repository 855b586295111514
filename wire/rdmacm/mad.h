// SPDX-License-Identifier: BSD-3-Clause
// The management datagrams in which CM messages travel: IBTA vol. 1 §13.4.2 and §16.7. Over RoCE
// each is the payload of a UD SEND Only between the queue pairs with number 1.

#ifndef SOFTDAT_WIRE_RDMACM_MAD_H_
#define SOFTDAT_WIRE_RDMACM_MAD_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"
#include "wire/rdmacm/cm_messages.h"

namespace softdat::rdmacm {

inline constexpr size_t kMadSize = 256;
inline constexpr size_t kMadHeaderSize = 24;
/// The queue pair of the general services interface, and its Q_Key.
inline constexpr uint32_t kGsiQpn = 1;
inline constexpr uint32_t kGsiQKey = 0x80010000;

struct Mad {
  /// The sender of a request chooses it. The answers carry the same number.
  uint64_t transaction_id = 0;
  CmMessage message = {};
};

enum class MadParse : uint8_t {
  kOk,
  kWrongSize,         ///< Not 256 octets.
  kBadBaseVersion,    ///< The MAD base version is not 1.
  kOtherClass,        ///< Not of communication management.
  kBadClassVersion,   ///< The class version is not 2.
  kOtherMethod,       ///< Not Send.
  kUnknownAttribute,  ///< No message of cm_messages.h (LAP and APR are none).
  kInfoTooLong,       ///< Additional information longer than its field.
};

/// Reads a MAD. Its status, modifier and reserved fields are ignored. `out` is written only for
/// kOk; its private data and additional information point into `in`.
MadParse ParseMad(ByteSpan in, Mad* out);

/// Writes a MAD. Returns false if it cannot be expressed, because private data or additional
/// information are longer than their field, or a number is wider than its field. The octets are
/// useless then.
bool EncodeMad(const Mad& mad, std::span<uint8_t, kMadSize> out);

/// "REQ", "MRA", ...
const char* CmMessageText(const CmMessage& message);

/// A fixed text for a parse result.
const char* MadParseText(MadParse result);

}  // namespace softdat::rdmacm

#endif  // SOFTDAT_WIRE_RDMACM_MAD_H_
