// SPDX-License-Identifier: BSD-3-Clause
// Every (operation x status) of a completion, as an event.
#include "dat/engine/events/dto_event.h"

#include <gtest/gtest.h>

#include <cstring>

#include "dat2/dat_ib_extensions.h"
#include "dat2/softdat.h"

namespace softdat::engine {
namespace {

using transport::Completion;
using transport::Op;
using transport::WorkStatus;

char g_ep, g_evd;

Completion Some(Op op, WorkStatus status = WorkStatus::kSuccess) {
  Completion c;
  c.context = &g_ep;
  c.cookie = 0xfedcba9876543210;
  c.length = 1234;
  c.key = 0x7777;
  c.op = op;
  c.status = status;
  return c;
}

struct Case {
  Op op;
  int event_number;
  int operation;
  int extension_type;  // of IB_DTO_EVENT
};

// covers: semantics 5.7, 10.4, 15.2
const Case kCases[] = {
    {Op::kSend, DAT_DTO_COMPLETION_EVENT, DAT_DTO_SEND, 0},
    {Op::kSendInvalidate, DAT_DTO_COMPLETION_EVENT, DAT_DTO_SEND, 0},
    {Op::kRdmaWrite, DAT_DTO_COMPLETION_EVENT, DAT_DTO_RDMA_WRITE, 0},
    {Op::kRdmaRead, DAT_DTO_COMPLETION_EVENT, DAT_DTO_RDMA_READ, 0},
    {Op::kReceive, DAT_DTO_COMPLETION_EVENT, DAT_DTO_RECEIVE, 0},
    {Op::kReceiveInvalidate, DAT_DTO_COMPLETION_EVENT, DAT_DTO_RECEIVE_WITH_INVALIDATE, 0},
    {Op::kRdmaWriteImmediate, DAT_IB_DTO_EVENT, DAT_IB_DTO_RDMA_WRITE_IMMED,
     DAT_IB_RDMA_WRITE_IMMED},
    {Op::kReceiveImmediate, DAT_IB_DTO_EVENT, DAT_IB_DTO_RECV_IMMED, DAT_IB_RDMA_WRITE_IMMED_DATA},
    {Op::kFetchAdd, DAT_IB_DTO_EVENT, DAT_IB_DTO_FETCH_ADD, DAT_IB_FETCH_AND_ADD},
    {Op::kCompareSwap, DAT_IB_DTO_EVENT, DAT_IB_DTO_CMP_SWAP, DAT_IB_CMP_AND_SWAP},
    {Op::kSendDatagram, DAT_IB_DTO_EVENT, DAT_IB_DTO_SEND_UD, DAT_IB_UD_SEND},
    {Op::kReceiveDatagram, DAT_IB_DTO_EVENT, DAT_IB_DTO_RECV_UD, DAT_IB_UD_RECV},
    {Op::kReceiveDatagramImmediate, DAT_IB_DTO_EVENT, DAT_IB_DTO_RECV_UD_IMMED, DAT_IB_UD_RECV},
};

// What was posted with SOFTDAT_COMPLETION_EXTENSION_FLAG, whatever became of it.
// covers: semantics 15.2
TEST(DtoEventTest, ExtendedOnes) {
  const Case cases[] = {
      {Op::kRdmaWrite, DAT_IB_DTO_EVENT, SOFTDAT_DTO_RDMA_WRITE, SOFTDAT_EXT_RDMA_WRITE},
      {Op::kReceive, DAT_IB_DTO_EVENT, SOFTDAT_DTO_RECEIVE, SOFTDAT_EXT_RECV},
      {Op::kReceiveInvalidate, DAT_IB_DTO_EVENT, SOFTDAT_DTO_RECEIVE, SOFTDAT_EXT_RECV},
      {Op::kReceiveImmediate, DAT_IB_DTO_EVENT, DAT_IB_DTO_RECV_IMMED,
       DAT_IB_RDMA_WRITE_IMMED_DATA},
      {Op::kRdmaWriteImmediate, DAT_IB_DTO_EVENT, DAT_IB_DTO_RDMA_WRITE_IMMED,
       DAT_IB_RDMA_WRITE_IMMED},
  };
  for (const Case& c : cases) {
    for (const WorkStatus status : {WorkStatus::kSuccess, WorkStatus::kFlushed}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(c.op));
      DAT_EVENT event;
      std::memset(&event, 0xaa, sizeof(event));
      Completion completion = Some(c.op, status);
      completion.flags = transport::kExtended;
      FillDtoEvent(completion, &g_evd, &event);
      EXPECT_EQ(event.event_number, c.event_number);
      const DAT_DTO_COMPLETION_EVENT_DATA& dto = event.event_data.dto_completion_event_data;
      EXPECT_EQ(dto.status, static_cast<int>(status));
      EXPECT_EQ(dto.operation, c.operation);
      EXPECT_EQ(dto.rmr_context, c.op == Op::kReceiveInvalidate ? 0x7777u : 0u);
      DAT_IB_EXTENSION_EVENT_DATA data;
      std::memcpy(&data, event.event_extension_data, sizeof(data));
      EXPECT_EQ(data.type, c.extension_type);
    }
  }
}

TEST(DtoEventTest, EveryOperationWithEveryStatus) {
  for (const Case& c : kCases) {
    for (int status = DAT_DTO_SUCCESS; status <= DAT_RMR_OPERATION_FAILED; ++status) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(c.op) << " status " << status);
      DAT_EVENT event;
      std::memset(&event, 0xaa, sizeof(event));
      FillDtoEvent(Some(c.op, static_cast<WorkStatus>(status)), &g_evd, &event);
      EXPECT_EQ(event.event_number, c.event_number);
      EXPECT_EQ(event.evd_handle, &g_evd);
      const auto& dto = event.event_data.dto_completion_event_data;
      EXPECT_EQ(dto.ep_handle, &g_ep);
      EXPECT_EQ(dto.user_cookie.as_64, 0xfedcba9876543210u);
      EXPECT_EQ(dto.status, status);
      EXPECT_EQ(dto.transfered_length, 1234u);
      EXPECT_EQ(static_cast<int>(dto.operation), c.operation);
      EXPECT_EQ(dto.rmr_context, c.op == Op::kReceiveInvalidate ? 0x7777u : 0u);
      if (c.event_number != DAT_IB_DTO_EVENT) continue;
      DAT_IB_EXTENSION_EVENT_DATA extension;
      std::memcpy(&extension, event.event_extension_data, sizeof(extension));
      EXPECT_EQ(extension.type, c.extension_type);
      EXPECT_EQ(extension.status, status == DAT_DTO_SUCCESS ? DAT_OP_SUCCESS : DAT_IB_OP_ERR);
      const bool immediate = c.op == Op::kReceiveImmediate || c.op == Op::kReceiveDatagramImmediate;
      EXPECT_EQ(extension.val.immed.data, immediate ? 0x7777u : 0u);
      EXPECT_EQ(extension.remote_ah.qpn, c.op == Op::kReceiveDatagram ? 0x7777u : 0u);
    }
  }
}

// covers: semantics 5.7
TEST(DtoEventTest, BindNamesTheWindow) {
  DAT_EVENT event;
  char rmr;
  Completion completion = Some(Op::kBind, WorkStatus::kFlushed);
  completion.context = &rmr;
  FillDtoEvent(completion, &g_evd, &event);
  EXPECT_EQ(event.event_number, DAT_RMR_BIND_COMPLETION_EVENT);
  EXPECT_EQ(event.event_data.rmr_completion_event_data.rmr_handle, &rmr);
  EXPECT_EQ(event.event_data.rmr_completion_event_data.user_cookie.as_64, 0xfedcba9876543210u);
  EXPECT_EQ(event.event_data.rmr_completion_event_data.status, DAT_RMR_BIND_FAILURE);
}

}  // namespace
}  // namespace softdat::engine
