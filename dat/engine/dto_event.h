// SPDX-License-Identifier: BSD-3-Clause
// From a back end's completion to the event that the consumer sees (semantics 5.7, 10.4, 15.2).
#ifndef SOFTDAT_DAT_ENGINE_DTO_EVENT_H_
#define SOFTDAT_DAT_ENGINE_DTO_EVENT_H_

#include "dat/transport/transport.h"
#include "dat2/udat.h"

namespace softdat::engine {

// Writes every field of `event` that its kind defines. `Completion::context` is the EP handle, or
// for a bind the RMR handle. Data path: no lock, no allocation, follows no handle.
//   sends, RDMA, receives       DTO_COMPLETION_EVENT
//   binds                       RMR_BIND_COMPLETION_EVENT
//   immediate data and atomics  IB_DTO_EVENT, with DAT_IB_EXTENSION_EVENT_DATA
void FillDtoEvent(const transport::Completion& completion, DAT_EVD_HANDLE evd, DAT_EVENT* event);

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_DTO_EVENT_H_
