// SPDX-License-Identifier: BSD-3-Clause
// Names of the opcodes.

#include "wire/roce/opcode.h"

namespace softdat::roce {

const char* OpcodeText(Opcode op) {
  switch (op) {
    case Opcode::kSendFirst:
      return "SEND First";
    case Opcode::kSendMiddle:
      return "SEND Middle";
    case Opcode::kSendLast:
      return "SEND Last";
    case Opcode::kSendLastImmediate:
      return "SEND Last with Immediate";
    case Opcode::kSendOnly:
      return "SEND Only";
    case Opcode::kSendOnlyImmediate:
      return "SEND Only with Immediate";
    case Opcode::kWriteFirst:
      return "RDMA WRITE First";
    case Opcode::kWriteMiddle:
      return "RDMA WRITE Middle";
    case Opcode::kWriteLast:
      return "RDMA WRITE Last";
    case Opcode::kWriteLastImmediate:
      return "RDMA WRITE Last with Immediate";
    case Opcode::kWriteOnly:
      return "RDMA WRITE Only";
    case Opcode::kWriteOnlyImmediate:
      return "RDMA WRITE Only with Immediate";
    case Opcode::kReadRequest:
      return "RDMA READ Request";
    case Opcode::kReadResponseFirst:
      return "RDMA READ Response First";
    case Opcode::kReadResponseMiddle:
      return "RDMA READ Response Middle";
    case Opcode::kReadResponseLast:
      return "RDMA READ Response Last";
    case Opcode::kReadResponseOnly:
      return "RDMA READ Response Only";
    case Opcode::kAcknowledge:
      return "Acknowledge";
    case Opcode::kAtomicAcknowledge:
      return "ATOMIC Acknowledge";
    case Opcode::kCompareSwap:
      return "CmpSwap";
    case Opcode::kFetchAdd:
      return "FetchAdd";
    case Opcode::kSendLastInvalidate:
      return "SEND Last with Invalidate";
    case Opcode::kSendOnlyInvalidate:
      return "SEND Only with Invalidate";
    case Opcode::kUdSendOnly:
      return "UD SEND Only";
    case Opcode::kUdSendOnlyImmediate:
      return "UD SEND Only with Immediate";
    case Opcode::kCongestionNotification:
      return "CNP";
  }
  return "unknown";
}

}  // namespace softdat::roce
