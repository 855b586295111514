// SPDX-License-Identifier: BSD-3-Clause
// The consumer's status of a failed request: what the device says or, where soft devices are vague,
// what the local segments show.
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
