// SPDX-License-Identifier: BSD-3-Clause
// Names of the status codes.
#include "dat/base/status.h"

namespace softdat {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "Ok";
    case Code::kInvalidArgument:
      return "InvalidArgument";
    case Code::kOutOfBounds:
      return "OutOfBounds";
    case Code::kLength:
      return "Length";
    case Code::kProtection:
      return "Protection";
    case Code::kPrivileges:
      return "Privileges";
    case Code::kNotMapped:
      return "NotMapped";
    case Code::kInvalidState:
      return "InvalidState";
    case Code::kQueueFull:
      return "QueueFull";
    case Code::kNoMemory:
      return "NoMemory";
    case Code::kNoResources:
      return "NoResources";
    case Code::kInUse:
      return "InUse";
    case Code::kNoFreeQualifier:
      return "NoFreeQualifier";
    case Code::kAddressMalformed:
      return "AddressMalformed";
    case Code::kAddressUnsupported:
      return "AddressUnsupported";
    case Code::kUnreachable:
      return "Unreachable";
    case Code::kNotFound:
      return "NotFound";
    case Code::kNotSupported:
      return "NotSupported";
    case Code::kNotImplemented:
      return "NotImplemented";
    case Code::kForked:
      return "Forked";
    case Code::kInternal:
      return "Internal";
  }
  return "Unknown";
}

}  // namespace softdat
