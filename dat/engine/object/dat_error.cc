// SPDX-License-Identifier: BSD-3-Clause
// The table from internal codes to DAT return values.
#include "dat/engine/object/dat_error.h"

namespace softdat::engine {

DAT_RETURN Error(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype, std::string_view reason) {
  SetReason(reason);
  return Error(type, subtype);
}

DAT_RETURN BadArgument(int n, std::string_view reason) {
  SetReason(reason);
  return BadArgument(n);
}

DAT_RETURN WrongEpState(DAT_EP_STATE state) {
  switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED);
    case DAT_EP_STATE_RESERVED:
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_RESERVED);
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PASSCONNPENDING);
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_TENTCONNPENDING);
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_ACTCONNPENDING);
    case DAT_EP_STATE_COMPLETION_PENDING:
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_COMPLPENDING);
    case DAT_EP_STATE_CONNECTED:
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED);
    case DAT_EP_STATE_DISCONNECT_PENDING:
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCPENDING);
    case DAT_EP_STATE_DISCONNECTED:
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCONNECTED);
    default:
      return Error(DAT_INVALID_STATE);
  }
}

namespace {

DAT_RETURN_SUBTYPE ResourceOf(Subject subject) {
  switch (subject) {
    case Subject::kEp:
      return DAT_RESOURCE_TEP;
    case Subject::kEvd:
      return DAT_RESOURCE_TEVD;
    case Subject::kMemory:
      return DAT_RESOURCE_MEMORY_REGION;
    case Subject::kPz:
      return DAT_RESOURCE_PROTECTION_DOMAIN;
    case Subject::kSrq:
      return DAT_RESOURCE_SRQ;
    default:
      return DAT_NO_SUBTYPE;
  }
}

}  // namespace

DAT_RETURN ToDat(Code code, Subject subject) {
  switch (code) {
    case Code::kOk:
      return DAT_SUCCESS;
    case Code::kInvalidArgument:
    case Code::kOutOfBounds:
      return Error(DAT_INVALID_PARAMETER);
    case Code::kLength:
      return Error(DAT_LENGTH_ERROR);
    case Code::kProtection:
      return Error(DAT_PROTECTION_VIOLATION);
    case Code::kPrivileges:
      return Error(DAT_PRIVILEGES_VIOLATION);
    case Code::kNotMapped:
      return Error(DAT_INVALID_ADDRESS);
    case Code::kInvalidState:
      return Error(DAT_INVALID_STATE);
    case Code::kQueueFull:
      return Error(DAT_INSUFFICIENT_RESOURCES,
                   subject == Subject::kSrq ? DAT_RESOURCE_SRQ : DAT_RESOURCE_TEP);
    case Code::kNoMemory:
      return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    case Code::kNoResources:
      return Error(DAT_INSUFFICIENT_RESOURCES, ResourceOf(subject));
    case Code::kInUse:
      return Error(DAT_CONN_QUAL_IN_USE);
    case Code::kNoFreeQualifier:
      return Error(DAT_CONN_QUAL_UNAVAILABLE);
    case Code::kAddressMalformed:
      return Error(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_MALFORMED);
    case Code::kAddressUnsupported:
      return Error(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
    case Code::kUnreachable:
      return Error(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNREACHABLE);
    case Code::kNotFound:
      return Error(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
    case Code::kNotSupported:
      return Error(DAT_MODEL_NOT_SUPPORTED);
    case Code::kNotImplemented:
      return Error(DAT_NOT_IMPLEMENTED);
    case Code::kForked:
      return Error(DAT_INVALID_HANDLE);
    case Code::kInternal:
      break;
  }
  return Error(DAT_INTERNAL_ERROR);
}

DAT_RETURN Fail(const Status& status, Subject subject) { return ToDat(Record(status), subject); }

}  // namespace softdat::engine
