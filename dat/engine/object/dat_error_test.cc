// SPDX-License-Identifier: BSD-3-Clause
// The table from internal codes to DAT return values, cell by cell. A back end's failure must reach
// the consumer as the semantics name it.
#include "dat/engine/object/dat_error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace softdat::engine {
namespace {

struct Cell {
  Code code;
  DAT_RETURN_TYPE type;
  DAT_RETURN_SUBTYPE subtype;
  Subject subject = Subject::kNone;
};

// covers: semantics 1
constexpr Cell kTable[] = {
    {Code::kInvalidArgument, DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE},
    {Code::kOutOfBounds, DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE},
    {Code::kLength, DAT_LENGTH_ERROR, DAT_NO_SUBTYPE},
    {Code::kProtection, DAT_PROTECTION_VIOLATION, DAT_NO_SUBTYPE},
    {Code::kPrivileges, DAT_PRIVILEGES_VIOLATION, DAT_NO_SUBTYPE},
    {Code::kNotMapped, DAT_INVALID_ADDRESS, DAT_NO_SUBTYPE},
    {Code::kInvalidState, DAT_INVALID_STATE, DAT_NO_SUBTYPE},
    {Code::kQueueFull, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP, Subject::kEp},
    {Code::kQueueFull, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ, Subject::kSrq},
    {Code::kNoMemory, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY},
    {Code::kNoMemory, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, Subject::kEp},
    {Code::kNoResources, DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE},
    {Code::kNoResources, DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE, Subject::kQualifier},
    {Code::kNoResources, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP, Subject::kEp},
    {Code::kNoResources, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD, Subject::kEvd},
    {Code::kNoResources, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION, Subject::kMemory},
    {Code::kNoResources, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_PROTECTION_DOMAIN, Subject::kPz},
    {Code::kNoResources, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ, Subject::kSrq},
    {Code::kInUse, DAT_CONN_QUAL_IN_USE, DAT_NO_SUBTYPE},
    {Code::kNoFreeQualifier, DAT_CONN_QUAL_UNAVAILABLE, DAT_NO_SUBTYPE},
    {Code::kAddressMalformed, DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_MALFORMED},
    {Code::kAddressUnsupported, DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED},
    {Code::kUnreachable, DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNREACHABLE},
    {Code::kNotFound, DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED},
    {Code::kNotSupported, DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE},
    {Code::kNotImplemented, DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE},
    {Code::kForked, DAT_INVALID_HANDLE, DAT_NO_SUBTYPE},
    {Code::kInternal, DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE},
};

TEST(DatErrorTest, EveryCodeHasItsReturnValue) {
  EXPECT_EQ(ToDat(Code::kOk), DAT_RETURN{DAT_SUCCESS});
  std::set<Code> seen{Code::kOk};
  for (const Cell& cell : kTable) {
    seen.insert(cell.code);
    EXPECT_EQ(ToDat(cell.code, cell.subject), Error(cell.type, cell.subtype))
        << CodeName(cell.code) << ", subject " << static_cast<int>(cell.subject);
  }
  // kInternal is the last code.
  EXPECT_EQ(seen.size(), static_cast<size_t>(Code::kInternal) + 1);
}

TEST(DatErrorTest, AFailureKeepsItsReasonForTheThread) {
  EXPECT_EQ(Fail(Status(Code::kInUse, "port 62000 is taken"), Subject::kQualifier),
            Error(DAT_CONN_QUAL_IN_USE));
  EXPECT_NE(LastReasons().find("port 62000 is taken"), std::string::npos) << LastReasons();
}

// covers: semantics 1, 8.3
TEST(DatErrorTest, TheWrongStateIsNamed) {
  constexpr struct {
    DAT_EP_STATE state;
    DAT_RETURN_SUBTYPE subtype;
  } kStates[] = {
      {DAT_EP_STATE_UNCONNECTED, DAT_INVALID_STATE_EP_UNCONNECTED},
      {DAT_EP_STATE_RESERVED, DAT_INVALID_STATE_EP_RESERVED},
      {DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, DAT_INVALID_STATE_EP_PASSCONNPENDING},
      {DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING, DAT_INVALID_STATE_EP_TENTCONNPENDING},
      {DAT_EP_STATE_ACTIVE_CONNECTION_PENDING, DAT_INVALID_STATE_EP_ACTCONNPENDING},
      {DAT_EP_STATE_COMPLETION_PENDING, DAT_INVALID_STATE_EP_COMPLPENDING},
      {DAT_EP_STATE_CONNECTED, DAT_INVALID_STATE_EP_CONNECTED},
      {DAT_EP_STATE_DISCONNECT_PENDING, DAT_INVALID_STATE_EP_DISCPENDING},
      {DAT_EP_STATE_DISCONNECTED, DAT_INVALID_STATE_EP_DISCONNECTED},
  };
  for (const auto& row : kStates) {
    EXPECT_EQ(WrongEpState(row.state), Error(DAT_INVALID_STATE, row.subtype)) << row.state;
  }
}

}  // namespace
}  // namespace softdat::engine
