// SPDX-License-Identifier: BSD-3-Clause
// Events that are not plain DTO completions.
#include "dat/engine/events/dto_event.h"

#include <cstring>

#include "dat2/dat_ib_extensions.h"
#include "dat2/softdat.h"

namespace softdat::engine {
namespace {

using transport::Completion;
using transport::Op;
using transport::WorkStatus;

static_assert(static_cast<int>(WorkStatus::kBindFailed) == DAT_RMR_OPERATION_FAILED);
static_assert(sizeof(DAT_IB_EXTENSION_EVENT_DATA) <= sizeof(DAT_EVENT::event_extension_data));

int ExtensionType(Op op) {
  switch (op) {
    case Op::kRdmaWrite:  // with SOFTDAT_COMPLETION_EXTENSION_FLAG, and so are the receives
      return SOFTDAT_EXT_RDMA_WRITE;
    case Op::kReceive:
    case Op::kReceiveInvalidate:
      return SOFTDAT_EXT_RECV;
    case Op::kRdmaWriteImmediate:
      return DAT_IB_RDMA_WRITE_IMMED;
    case Op::kReceiveImmediate:
      return DAT_IB_RDMA_WRITE_IMMED_DATA;
    case Op::kFetchAdd:
      return DAT_IB_FETCH_AND_ADD;
    case Op::kSendDatagram:
      return DAT_IB_UD_SEND;
    case Op::kReceiveDatagram:
    case Op::kReceiveDatagramImmediate:
      return DAT_IB_UD_RECV;
    default:
      return DAT_IB_CMP_AND_SWAP;
  }
}

}  // namespace

void FillSpecialEvent(const Completion& completion, DAT_EVENT* event) {
  if (completion.op == Op::kBind) {
    event->event_number = DAT_RMR_BIND_COMPLETION_EVENT;
    auto& bind = event->event_data.rmr_completion_event_data;
    bind.rmr_handle = completion.context;
    bind.user_cookie.as_64 = completion.cookie;
    bind.status = static_cast<DAT_DTO_COMPLETION_STATUS>(completion.status);
    return;
  }
  FillDtoData(completion, event);
  DAT_DTO_COMPLETION_EVENT_DATA& dto = event->event_data.dto_completion_event_data;
  if (completion.op == Op::kReceiveInvalidate) dto.rmr_context = completion.key;
  const bool extended = (completion.flags & transport::kExtended) != 0;
  if (completion.op == Op::kReceiveInvalidate && !extended) return;
  if (extended && completion.op == Op::kRdmaWrite)
    dto.operation = static_cast<DAT_DTOS>(SOFTDAT_DTO_RDMA_WRITE);
  if (extended && (completion.op == Op::kReceive || completion.op == Op::kReceiveInvalidate))
    dto.operation = static_cast<DAT_DTOS>(SOFTDAT_DTO_RECEIVE);
  event->event_number = static_cast<DAT_EVENT_NUMBER>(DAT_IB_DTO_EVENT);
  DAT_IB_EXTENSION_EVENT_DATA data;
  std::memset(&data, 0, sizeof(data));
  data.type = static_cast<DAT_IB_EXT_TYPE>(ExtensionType(completion.op));
  data.status = completion.status == WorkStatus::kSuccess ? DAT_OP_SUCCESS : DAT_IB_OP_ERR;
  if (completion.op == Op::kReceiveImmediate || completion.op == Op::kReceiveDatagramImmediate)
    data.val.immed.data = completion.key;
  if (completion.op == Op::kReceiveDatagram) data.remote_ah.qpn = completion.key;
  std::memcpy(event->event_extension_data, &data, sizeof(data));
}

}  // namespace softdat::engine
