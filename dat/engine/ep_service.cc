// SPDX-License-Identifier: BSD-3-Clause
// What all services of an endpoint do.
#include "dat/engine/ep_service.h"

#include "dat/engine/ia.h"

namespace softdat::engine {

void EpService::OnReceiveWatermark() {
  const UpcallPin pin(&ep_);
  if (!pin) return;
  ep_.ia().PostAsync(DAT_ASYNC_ERROR_EP_BROKEN, ep_.handle(), DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
}

}  // namespace softdat::engine
