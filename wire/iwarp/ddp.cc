// SPDX-License-Identifier: BSD-3-Clause
// Names of opcodes and of DDP parse results.

#include "wire/iwarp/ddp.h"

namespace softdat::iwarp {

const char* OpcodeText(Opcode op) {
  switch (op) {
    case Opcode::kWrite:
      return "RDMA Write";
    case Opcode::kReadRequest:
      return "RDMA Read Request";
    case Opcode::kReadResponse:
      return "RDMA Read Response";
    case Opcode::kSend:
      return "Send";
    case Opcode::kSendInvalidate:
      return "Send with Invalidate";
    case Opcode::kSendSolicited:
      return "Send with Solicited Event";
    case Opcode::kSendSolicitedInvalidate:
      return "Send with Solicited Event and Invalidate";
    case Opcode::kTerminate:
      return "Terminate";
    case Opcode::kImmediate:
      return "Immediate Data";
    case Opcode::kImmediateSolicited:
      return "Immediate Data with Solicited Event";
    case Opcode::kAtomicRequest:
      return "Atomic Request";
    case Opcode::kAtomicResponse:
      return "Atomic Response";
  }
  return "unknown";
}

const char* DdpParseText(DdpParse result) {
  switch (result) {
    case DdpParse::kOk:
      return "ok";
    case DdpParse::kTooShort:
      return "segment shorter than its DDP header";
    case DdpParse::kBadTaggedVersion:
    case DdpParse::kBadUntaggedVersion:
      return "DDP version is not 1";
    case DdpParse::kBadQn:
      return "untagged queue number that no message uses";
    case DdpParse::kBadRdmapVersion:
      return "RDMAP version is not 1";
    case DdpParse::kUnexpectedOpcode:
      return "RDMAP opcode unknown, or not for this queue or model";
  }
  return "unknown DDP parse result";
}

}  // namespace softdat::iwarp
