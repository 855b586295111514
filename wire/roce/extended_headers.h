// SPDX-License-Identifier: BSD-3-Clause
// The extended transport headers of RC and UD: IBTA vol. 1 §9.3.

#ifndef SOFTDAT_WIRE_ROCE_EXTENDED_HEADERS_H_
#define SOFTDAT_WIRE_ROCE_EXTENDED_HEADERS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"
#include "wire/roce/opcode.h"

namespace softdat::roce {

/// For datagrams: the queue pair that sent the packet, and the key that the receiving one asks for.
struct Deth {
  uint32_t qkey = 0;
  uint32_t source_qpn = 0;  ///< 24 bits.

  bool operator==(const Deth&) const = default;
};

/// For RDMA: the memory that is written or read.
struct Reth {
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint32_t length = 0;  ///< Of the whole message.

  bool operator==(const Reth&) const = default;
};

struct AtomicEth {
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint64_t swap_or_add = 0;
  uint64_t compare = 0;  ///< CmpSwap only.

  bool operator==(const AtomicEth&) const = default;
};

struct Aeth {
  uint8_t syndrome = 0;  ///< See aeth.h.
  uint32_t msn = 0;      ///< 24 bits: messages that the responder has completed.

  bool operator==(const Aeth&) const = default;
};

/// All extended headers. The opcode of a packet says which of them it has. The others stay as they
/// were.
struct ExtendedHeaders {
  Deth deth = {};
  Reth reth = {};
  AtomicEth atomic = {};
  Aeth aeth = {};
  uint64_t original = 0;         ///< AtomicAckETH: the value before the atomic.
  uint32_t immediate = 0;        ///< ImmDt.
  uint32_t invalidate_rkey = 0;  ///< IETH.

  bool operator==(const ExtendedHeaders&) const = default;
};

/// Reads the headers that belong to the opcode. Reserved bits are ignored. If `in` is shorter than
/// the headers, returns false and leaves `out` untouched.
bool ParseExtendedHeaders(Opcode op, ByteSpan in, ExtendedHeaders* out);

/// Writes the headers that belong to the opcode. Returns the number of octets written, or 0 if
/// `out` is too small or there are no headers. Numbers with 24 bits are written with their low 24
/// bits.
size_t EncodeExtendedHeaders(Opcode op, const ExtendedHeaders& headers, std::span<uint8_t> out);

}  // namespace softdat::roce

#endif  // SOFTDAT_WIRE_ROCE_EXTENDED_HEADERS_H_
