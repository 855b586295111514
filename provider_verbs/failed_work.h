// SPDX-License-Identifier: BSD-3-Clause
// The consumer's status of a failed request. It comes from the device or, when a soft device is
// vague, from the local segments.
#ifndef SOFTDAT_PROVIDER_VERBS_FAILED_WORK_H_
#define SOFTDAT_PROVIDER_VERBS_FAILED_WORK_H_

#include <infiniband/verbs.h>

#include <span>

#include "dat/transport/transport.h"
#include "provider_verbs/device.h"
#include "provider_verbs/work_slots.h"

namespace softdat::verbs {

transport::WorkStatus StatusOfSend(Device& device, ibv_wc_status status, const SendSlot& slot);
transport::WorkStatus StatusOfReceive(const Device& device, ibv_wc_status status,
                                      std::span<const ibv_sge> sge);

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_FAILED_WORK_H_
