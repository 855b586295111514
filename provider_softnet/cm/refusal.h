// SPDX-License-Identifier: BSD-3-Clause
// What a REJ means for the consumer whose request it refuses (semantics 9.2).
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_REFUSAL_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_REFUSAL_H_

#include "provider_softnet/cm/cm_events.h"
#include "wire/rdmacm/cm_messages.h"

namespace softdat::softnet {

CmFailed MeaningOf(const rdmacm::CmRej& rej, const sockaddr_storage& peer);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_REFUSAL_H_
