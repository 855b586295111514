// SPDX-License-Identifier: BSD-3-Clause
// The Terminate that answers a refused access (RFC 5040 §4.8, RFC 5041 §8.2).
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_ACCESS_TERMINATE_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_ACCESS_TERMINATE_H_

#include "provider_softnet/memory/memory_table.h"
#include "wire/iwarp/terminate_code.h"

namespace softdat::softnet {

// A tagged segment (RDMA write, read response) was refused. DDP's codes are used, except for access
// rights, which only RDMAP knows.
constexpr iwarp::TerminateCode TaggedTerminate(AccessError error) {
  switch (error) {
    case AccessError::kNone:
      return iwarp::kAccept;
    case AccessError::kInvalidKey:
    case AccessError::kGone:
      return iwarp::kTermTaggedInvalidStag;
    case AccessError::kProtectionDomain:
    case AccessError::kQueuePair:
      return iwarp::kTermTaggedStagNotAssociated;
    case AccessError::kRights:
      return iwarp::kTermRemoteAccess;
    case AccessError::kBounds:
      return iwarp::kTermTaggedBounds;
    case AccessError::kWrap:
      return iwarp::kTermTaggedToWrap;
  }
  return iwarp::kTermDdpLocalCatastrophic;
}

// The source of a read request or the target of an atomic was refused.
constexpr iwarp::TerminateCode RequestTerminate(AccessError error) {
  switch (error) {
    case AccessError::kNone:
      return iwarp::kAccept;
    case AccessError::kInvalidKey:
    case AccessError::kGone:
      return iwarp::kTermRemoteInvalidStag;
    case AccessError::kProtectionDomain:
    case AccessError::kQueuePair:
      return iwarp::kTermRemoteStagNotAssociated;
    case AccessError::kRights:
      return iwarp::kTermRemoteAccess;
    case AccessError::kBounds:
      return iwarp::kTermRemoteBounds;
    case AccessError::kWrap:
      return iwarp::kTermRemoteToWrap;
  }
  return iwarp::kTermLocalCatastrophic;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_ACCESS_TERMINATE_H_
