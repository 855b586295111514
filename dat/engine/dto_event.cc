// SPDX-License-Identifier: BSD-3-Clause
// Conversion of completions to DTO, bind and extension events.
#include "dat/engine/dto_event.h"

#include <cstring>

#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {
namespace {

using transport::Completion;
using transport::Op;
using transport::WorkStatus;

static_assert(static_cast<int>(WorkStatus::kBindFailed) == DAT_RMR_OPERATION_FAILED);
static_assert(sizeof(DAT_IB_EXTENSION_EVENT_DATA) <= sizeof(DAT_EVENT::event_extension_data));

constexpr int kNoExtension = -1;

// What an operation is called in events: the `operation` field, and the type of the extension event
// if it completes as one.
struct Naming {
  int operation;
  int extension_type;
};

constexpr Naming NameOf(Op op) {
  switch (op) {
    case Op::kSend:
    case Op::kSendInvalidate:
      return {DAT_DTO_SEND, kNoExtension};
    case Op::kRdmaWrite:
      return {DAT_DTO_RDMA_WRITE, kNoExtension};
    case Op::kRdmaRead:
      return {DAT_DTO_RDMA_READ, kNoExtension};
    case Op::kReceive:
      return {DAT_DTO_RECEIVE, kNoExtension};
    case Op::kReceiveInvalidate:
      return {DAT_DTO_RECEIVE_WITH_INVALIDATE, kNoExtension};
    case Op::kRdmaWriteImmediate:
      return {DAT_IB_DTO_RDMA_WRITE_IMMED, DAT_IB_RDMA_WRITE_IMMED};
    case Op::kReceiveImmediate:
      return {DAT_IB_DTO_RECV_IMMED, DAT_IB_RDMA_WRITE_IMMED_DATA};
    case Op::kFetchAdd:
      return {DAT_IB_DTO_FETCH_ADD, DAT_IB_FETCH_AND_ADD};
    case Op::kCompareSwap:
      return {DAT_IB_DTO_CMP_SWAP, DAT_IB_CMP_AND_SWAP};
    case Op::kBind:
      break;
  }
  return {DAT_DTO_BIND_MW, kNoExtension};
}

[[gnu::noinline]] void FillExtension(const Completion& completion, int type, DAT_EVENT* event) {
  DAT_IB_EXTENSION_EVENT_DATA data;
  std::memset(&data, 0, sizeof(data));
  data.type = static_cast<DAT_IB_EXT_TYPE>(type);
  data.status = completion.status == WorkStatus::kSuccess ? DAT_OP_SUCCESS : DAT_IB_OP_ERR;
  if (completion.op == Op::kReceiveImmediate) data.val.immed.data = completion.key;
  std::memcpy(event->event_extension_data, &data, sizeof(data));
}

}  // namespace

void FillDtoEvent(const Completion& completion, DAT_EVD_HANDLE evd, DAT_EVENT* event) {
  event->evd_handle = evd;
  const auto status = static_cast<DAT_DTO_COMPLETION_STATUS>(completion.status);
  if (completion.op == Op::kBind) [[unlikely]] {
    event->event_number = DAT_RMR_BIND_COMPLETION_EVENT;
    auto& bind = event->event_data.rmr_completion_event_data;
    bind.rmr_handle = completion.context;
    bind.user_cookie.as_64 = completion.cookie;
    bind.status = status;
    return;
  }
  const Naming naming = NameOf(completion.op);
  auto& dto = event->event_data.dto_completion_event_data;
  dto.ep_handle = completion.context;
  dto.user_cookie.as_64 = completion.cookie;
  dto.status = status;
  dto.transfered_length = static_cast<DAT_SEG_LENGTH>(completion.length);
  dto.operation = static_cast<DAT_DTOS>(naming.operation);
  dto.rmr_context = completion.op == Op::kReceiveInvalidate ? completion.key : 0;
  if (naming.extension_type == kNoExtension) [[likely]] {
    event->event_number = DAT_DTO_COMPLETION_EVENT;
    return;
  }
  event->event_number = static_cast<DAT_EVENT_NUMBER>(DAT_IB_DTO_EVENT);
  FillExtension(completion, naming.extension_type, event);
}

}  // namespace softdat::engine
