// SPDX-License-Identifier: BSD-3-Clause
// From a back end's completion to the event that the consumer sees (semantics 5.7, 10.4, 15.2).
#ifndef SOFTDAT_DAT_ENGINE_EVENTS_DTO_EVENT_H_
#define SOFTDAT_DAT_ENGINE_EVENTS_DTO_EVENT_H_

#include <array>
#include <cstddef>

#include "dat/transport/transport.h"
#include "dat2/dat_ib_extensions.h"
#include "dat2/udat.h"

namespace softdat::engine {

// The `operation` field of an event; by transport::Op.
inline constexpr std::array<uint8_t, 14> kOperationNames = {
    DAT_DTO_SEND,
    DAT_DTO_SEND,  // with invalidate
    DAT_DTO_RDMA_WRITE,
    DAT_IB_DTO_RDMA_WRITE_IMMED,
    DAT_DTO_RDMA_READ,
    DAT_IB_DTO_FETCH_ADD,
    DAT_IB_DTO_CMP_SWAP,
    DAT_DTO_BIND_MW,
    DAT_IB_DTO_SEND_UD,
    DAT_DTO_RECEIVE,
    DAT_DTO_RECEIVE_WITH_INVALIDATE,
    DAT_IB_DTO_RECV_IMMED,
    DAT_IB_DTO_RECV_UD,
    DAT_IB_DTO_RECV_UD_IMMED,
};

// Operations of which the event says more than FillDtoData() does, a bit each.
constexpr uint32_t OpBit(transport::Op op) { return uint32_t{1} << static_cast<unsigned>(op); }
inline constexpr uint32_t kSpecialOps =
    OpBit(transport::Op::kRdmaWriteImmediate) | OpBit(transport::Op::kFetchAdd) |
    OpBit(transport::Op::kCompareSwap) | OpBit(transport::Op::kBind) |
    OpBit(transport::Op::kSendDatagram) | OpBit(transport::Op::kReceiveInvalidate) |
    OpBit(transport::Op::kReceiveImmediate) | OpBit(transport::Op::kReceiveDatagram) |
    OpBit(transport::Op::kReceiveDatagramImmediate);

// A DTO_COMPLETION_EVENT without what is special.
inline void FillDtoData(const transport::Completion& completion, DAT_EVENT* event) {
  auto& dto = event->event_data.dto_completion_event_data;
  dto.ep_handle = completion.context;
  dto.user_cookie.as_64 = completion.cookie;
  dto.status = static_cast<DAT_DTO_COMPLETION_STATUS>(completion.status);
  dto.transfered_length = static_cast<DAT_SEG_LENGTH>(completion.length);
  dto.operation = static_cast<DAT_DTOS>(kOperationNames[static_cast<size_t>(completion.op)]);
  dto.rmr_context = 0;
  event->event_number = DAT_DTO_COMPLETION_EVENT;
}
void FillSpecialEvent(const transport::Completion& completion, DAT_EVENT* event);

// Writes every field of `event` that its kind defines. `Completion::context` is the EP handle, or
// for a bind the RMR handle. Data path: no lock, no allocation, follows no handle.
//   sends, RDMA, receives       DTO_COMPLETION_EVENT
//   binds                       RMR_BIND_COMPLETION_EVENT
//   immediate data, atomics and datagrams
//                               IB_DTO_EVENT, with DAT_IB_EXTENSION_EVENT_DATA
//   posted with kExtended       the same (softdat.h)
inline void FillDtoEvent(const transport::Completion& completion, DAT_EVD_HANDLE evd,
                         DAT_EVENT* event) {
  event->evd_handle = evd;
  if ((OpBit(completion.op) & kSpecialOps) != 0 || (completion.flags & transport::kExtended) != 0)
      [[unlikely]]
    return FillSpecialEvent(completion, event);
  FillDtoData(completion, event);
}

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EVENTS_DTO_EVENT_H_
