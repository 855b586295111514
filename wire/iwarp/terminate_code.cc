// SPDX-License-Identifier: BSD-3-Clause
// One table of every error that a Terminate can state, with its text.

#include "wire/iwarp/terminate_code.h"

namespace softdat::iwarp {
namespace {

struct Row {
  TerminateCode code;
  const char* text;
};

constexpr Row kRows[] = {
    {kTermLocalCatastrophic, "RDMAP: local catastrophic error"},
    {kTermRemoteInvalidStag, "RDMAP remote protection: invalid STag"},
    {kTermRemoteBounds, "RDMAP remote protection: base or bounds violation"},
    {kTermRemoteAccess, "RDMAP remote protection: access rights violation"},
    {kTermRemoteStagNotAssociated, "RDMAP remote protection: STag not associated with this stream"},
    {kTermRemoteToWrap, "RDMAP remote protection: tagged offset wraps"},
    {kTermRemoteCannotInvalidate, "RDMAP remote protection: STag cannot be invalidated"},
    {kTermRemoteProtectionUnspecified, "RDMAP remote protection: unspecified error"},
    {kTermRdmapVersion, "RDMAP remote operation: invalid RDMAP version"},
    {kTermUnexpectedOpcode, "RDMAP remote operation: unexpected opcode"},
    {kTermStreamCatastrophic, "RDMAP remote operation: catastrophic error, this stream"},
    {kTermAllStreamsCatastrophic, "RDMAP remote operation: catastrophic error, all streams"},
    {kTermOperationCannotInvalidate, "RDMAP remote operation: STag cannot be invalidated"},
    {kTermRemoteOperationUnspecified, "RDMAP remote operation: unspecified error"},
    {kTermDdpLocalCatastrophic, "DDP: local catastrophic error"},
    {kTermTaggedInvalidStag, "DDP tagged buffer: invalid STag"},
    {kTermTaggedBounds, "DDP tagged buffer: base or bounds violation"},
    {kTermTaggedStagNotAssociated, "DDP tagged buffer: STag not associated with this stream"},
    {kTermTaggedToWrap, "DDP tagged buffer: tagged offset wraps"},
    {kTermTaggedDdpVersion, "DDP tagged buffer: invalid DDP version"},
    {kTermInvalidQn, "DDP untagged buffer: invalid queue number"},
    {kTermNoBuffer, "DDP untagged buffer: no buffer available for the message"},
    {kTermMsnRange, "DDP untagged buffer: message sequence number out of range"},
    {kTermInvalidMo, "DDP untagged buffer: invalid message offset"},
    {kTermMessageTooLong, "DDP untagged buffer: message too long for the buffer"},
    {kTermUntaggedDdpVersion, "DDP untagged buffer: invalid DDP version"},
    {kTermMpaConnectionLost, "MPA: TCP connection closed or lost"},
    {kTermMpaCrc, "MPA: CRC error"},
    {kTermMpaMarkerMismatch, "MPA: marker and ULPDU length disagree"},
    {kTermMpaBadStartFrame, "MPA: invalid Request or Reply frame"},
    {kTermMpaLocalCatastrophic, "MPA: local catastrophic error"},
    {kTermMpaInsufficientIrd, "MPA: insufficient IRD resources"},
    {kTermMpaNoMatchingRtr, "MPA: no matching RTR option"},
};

const Row* Find(TerminateCode code) {
  for (const Row& row : kRows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

// DDP error type 3 hands its whole code space to the LLP (RFC 5041 §8.2).
bool IsLlpReserved(TerminateCode code) {
  return code.layer == kLayerDdp && code.etype == kDdpLlpReserved;
}

}  // namespace

const char* TerminateText(uint8_t layer, uint8_t etype, uint8_t code) {
  const TerminateCode wanted{layer, etype, code};
  if (wanted.ok()) return "no error";
  if (const Row* row = Find(wanted)) return row->text;
  if (IsLlpReserved(wanted)) return "DDP: error of the lower layer protocol";
  switch (layer) {
    case kLayerRdmap:
      return "RDMAP: unknown error";
    case kLayerDdp:
      return "DDP: unknown error";
    case kLayerLlp:
      return "MPA: unknown error";
    default:
      return "error of an unknown layer";
  }
}

bool IsKnownTerminate(TerminateCode code) { return IsLlpReserved(code) || Find(code) != nullptr; }

}  // namespace softdat::iwarp
