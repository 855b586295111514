// SPDX-License-Identifier: BSD-3-Clause
// Opcodes of the reliable connection and unreliable datagram services, and the contents of a packet
// with each of them: IBTA vol. 1 §9.2.1, and annex A17 for the congestion notification packet.

#ifndef SOFTDAT_WIRE_ROCE_OPCODE_H_
#define SOFTDAT_WIRE_ROCE_OPCODE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace softdat::roce {

enum class Opcode : uint8_t {
  kSendFirst = 0x00,
  kSendMiddle = 0x01,
  kSendLast = 0x02,
  kSendLastImmediate = 0x03,
  kSendOnly = 0x04,
  kSendOnlyImmediate = 0x05,
  kWriteFirst = 0x06,
  kWriteMiddle = 0x07,
  kWriteLast = 0x08,
  kWriteLastImmediate = 0x09,
  kWriteOnly = 0x0a,
  kWriteOnlyImmediate = 0x0b,
  kReadRequest = 0x0c,
  kReadResponseFirst = 0x0d,
  kReadResponseMiddle = 0x0e,
  kReadResponseLast = 0x0f,
  kReadResponseOnly = 0x10,
  kAcknowledge = 0x11,
  kAtomicAcknowledge = 0x12,
  kCompareSwap = 0x13,
  kFetchAdd = 0x14,
  kSendLastInvalidate = 0x16,
  kSendOnlyInvalidate = 0x17,
  kUdSendOnly = 0x64,
  kUdSendOnlyImmediate = 0x65,
  kCongestionNotification = 0x81,
};

/// The operation to which a packet belongs.
enum class Operation : uint8_t {
  kUnknown,  ///< No opcode of RC or UD.
  kSend,
  kWrite,
  kReadRequest,
  kReadResponse,
  kAcknowledge,
  kAtomicAcknowledge,
  kAtomic,
  kDatagram,
  kNotification,
};

/// The place of a packet in its message.
enum class Position : uint8_t { kFirst, kMiddle, kLast, kOnly };

/// The amount of payload that a packet has (IBTA vol. 1 §9.7.4.1.6).
enum class PayloadRule : uint8_t {
  kNone,
  kFull,  ///< Exactly the path MTU.
  kSome,  ///< One octet up to the path MTU.
  kAny,   ///< Nothing up to the path MTU.
};

/// Extended headers as a set of bits, in the order in which they follow the BTH.
inline constexpr uint8_t kHasDeth = 0x01;
inline constexpr uint8_t kHasReth = 0x02;
inline constexpr uint8_t kHasAtomicEth = 0x04;
inline constexpr uint8_t kHasAeth = 0x08;
inline constexpr uint8_t kHasAtomicAckEth = 0x10;
inline constexpr uint8_t kHasImmediate = 0x20;
inline constexpr uint8_t kHasIeth = 0x40;

/// Octets of each extended header (IBTA vol. 1 §9.3).
inline constexpr size_t kDethSize = 8;
inline constexpr size_t kRethSize = 16;
inline constexpr size_t kAtomicEthSize = 28;
inline constexpr size_t kAethSize = 4;
inline constexpr size_t kAtomicAckEthSize = 8;
inline constexpr size_t kImmediateSize = 4;
inline constexpr size_t kIethSize = 4;
inline constexpr size_t kMaxExtendedSize = kAtomicEthSize;

struct OpcodeTraits {
  Operation operation = Operation::kUnknown;
  Position position = Position::kOnly;
  PayloadRule payload = PayloadRule::kNone;
  uint8_t headers = 0;        ///< The kHas... bits.
  uint8_t extended_size = 0;  ///< Octets of all extended headers.

  constexpr bool known() const { return operation != Operation::kUnknown; }
  constexpr bool has(uint8_t header) const { return (headers & header) != 0; }
  /// Whether the packet ends its message.
  constexpr bool ends() const { return position == Position::kLast || position == Position::kOnly; }
};

namespace opcode_internal {

constexpr uint8_t ExtendedSize(uint8_t headers) {
  size_t size = 0;
  if ((headers & kHasDeth) != 0) size += kDethSize;
  if ((headers & kHasReth) != 0) size += kRethSize;
  if ((headers & kHasAtomicEth) != 0) size += kAtomicEthSize;
  if ((headers & kHasAeth) != 0) size += kAethSize;
  if ((headers & kHasAtomicAckEth) != 0) size += kAtomicAckEthSize;
  if ((headers & kHasImmediate) != 0) size += kImmediateSize;
  if ((headers & kHasIeth) != 0) size += kIethSize;
  return static_cast<uint8_t>(size);
}

constexpr PayloadRule RuleOf(Position position) {
  switch (position) {
    case Position::kFirst:
    case Position::kMiddle:
      return PayloadRule::kFull;
    case Position::kLast:
      return PayloadRule::kSome;
    case Position::kOnly:
      return PayloadRule::kAny;
  }
  return PayloadRule::kNone;
}

using Table = std::array<OpcodeTraits, 256>;

constexpr void Set(Table* table, Opcode op, Operation operation, Position position,
                   PayloadRule payload, uint8_t headers) {
  (*table)[static_cast<uint8_t>(op)] = {operation, position, payload, headers,
                                        ExtendedSize(headers)};
}

constexpr void WithData(Table* table, Opcode op, Operation operation, Position position,
                        uint8_t headers) {
  Set(table, op, operation, position, RuleOf(position), headers);
}

constexpr void WithoutData(Table* table, Opcode op, Operation operation, uint8_t headers) {
  Set(table, op, operation, Position::kOnly, PayloadRule::kNone, headers);
}

constexpr Table MakeTable() {
  using enum Opcode;
  using enum Position;
  Table t{};
  WithData(&t, kSendFirst, Operation::kSend, kFirst, 0);
  WithData(&t, kSendMiddle, Operation::kSend, kMiddle, 0);
  WithData(&t, kSendLast, Operation::kSend, kLast, 0);
  WithData(&t, kSendLastImmediate, Operation::kSend, kLast, kHasImmediate);
  WithData(&t, kSendLastInvalidate, Operation::kSend, kLast, kHasIeth);
  WithData(&t, kSendOnly, Operation::kSend, kOnly, 0);
  WithData(&t, kSendOnlyImmediate, Operation::kSend, kOnly, kHasImmediate);
  WithData(&t, kSendOnlyInvalidate, Operation::kSend, kOnly, kHasIeth);
  WithData(&t, kWriteFirst, Operation::kWrite, kFirst, kHasReth);
  WithData(&t, kWriteMiddle, Operation::kWrite, kMiddle, 0);
  WithData(&t, kWriteLast, Operation::kWrite, kLast, 0);
  WithData(&t, kWriteLastImmediate, Operation::kWrite, kLast, kHasImmediate);
  WithData(&t, kWriteOnly, Operation::kWrite, kOnly, kHasReth);
  WithData(&t, kWriteOnlyImmediate, Operation::kWrite, kOnly, kHasReth | kHasImmediate);
  WithData(&t, kReadResponseFirst, Operation::kReadResponse, kFirst, kHasAeth);
  WithData(&t, kReadResponseMiddle, Operation::kReadResponse, kMiddle, 0);
  WithData(&t, kReadResponseLast, Operation::kReadResponse, kLast, kHasAeth);
  WithData(&t, kReadResponseOnly, Operation::kReadResponse, kOnly, kHasAeth);
  WithData(&t, kUdSendOnly, Operation::kDatagram, kOnly, kHasDeth);
  WithData(&t, kUdSendOnlyImmediate, Operation::kDatagram, kOnly, kHasDeth | kHasImmediate);
  WithData(&t, kCongestionNotification, Operation::kNotification, kOnly, 0);
  WithoutData(&t, kReadRequest, Operation::kReadRequest, kHasReth);
  WithoutData(&t, kAcknowledge, Operation::kAcknowledge, kHasAeth);
  WithoutData(&t, kAtomicAcknowledge, Operation::kAtomicAcknowledge, kHasAeth | kHasAtomicAckEth);
  WithoutData(&t, kCompareSwap, Operation::kAtomic, kHasAtomicEth);
  WithoutData(&t, kFetchAdd, Operation::kAtomic, kHasAtomicEth);
  return t;
}

inline constexpr Table kTable = MakeTable();

}  // namespace opcode_internal

/// The contents of a packet with this opcode. Any octet is allowed, and most are unknown opcodes.
constexpr const OpcodeTraits& TraitsOf(Opcode op) {
  return opcode_internal::kTable[static_cast<uint8_t>(op)];
}

/// A fixed name for logs ("SEND First", ...); "unknown" outside the known opcodes.
const char* OpcodeText(Opcode op);

}  // namespace softdat::roce

#endif  // SOFTDAT_WIRE_ROCE_OPCODE_H_
