/* SPDX-License-Identifier: BSD-3-Clause */
/* every_call_transfer.c: the calls that move data, of shared receive queues and of memory windows.
 */
#include <string.h>

#include "tests/bridge/every_call.h"

enum { kSource = 0, kSink = 1024, kWindow = 2048, kReply = 3072 };

static DAT_DTO_COOKIE cookie(uint64_t value) {
  DAT_DTO_COOKIE result;
  result.as_64 = value;
  return result;
}

static DAT_RMR_TRIPLET remote(struct world* world, DAT_RMR_CONTEXT context, size_t offset,
                              DAT_VLEN length) {
  DAT_RMR_TRIPLET triplet;
  memset(&triplet, 0, sizeof(triplet));
  triplet.rmr_context = context;
  triplet.target_address = (uintptr_t)world->memory + offset;
  triplet.segment_length = length;
  return triplet;
}

static void completed(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, uint64_t number, DAT_VLEN length) {
  const DAT_EVENT event = next_event(evd, DAT_DTO_COMPLETION_EVENT);
  const DAT_DTO_COMPLETION_EVENT_DATA* data = &event.event_data.dto_completion_event_data;
  EXPECT(data->ep_handle == ep && data->user_cookie.as_64 == number);
  EXPECT(data->status == DAT_DTO_SUCCESS);
  EXPECT(data->transfered_length == length);
}

/* A message into the buffer at the head of the shared receive queue. */
static void send_to_passive(struct world* world, uint64_t number, const char* text) {
  const DAT_VLEN length = strlen(text) + 1;
  DAT_LMR_TRIPLET source = local(world, kSource, length);
  memcpy(world->memory + kSource, text, length);
  CALL(dat_ep_post_send, world->active, 1, &source, cookie(number), DAT_COMPLETION_DEFAULT_FLAG);
  completed(world->request_evd, world->active, number, length);
}

static void shared_receives(struct world* world) {
  DAT_LMR_TRIPLET sink = local(world, kSink, 64);
  DAT_SRQ_PARAM param;
  DAT_COUNT held = -1, span = -1;
  CALL(dat_srq_resize, world->srq, 16);
  CALL(dat_srq_post_recv, world->srq, 1, &sink, cookie(10));
  CALL(dat_srq_post_recv, world->srq, 1, &sink, cookie(11));
  CALL(dat_srq_set_lw, world->srq, 1);
  CALL(dat_srq_query, world->srq, DAT_SRQ_FIELD_ALL, &param);
  EXPECT(param.ia_handle == world->ia && param.pz_handle == world->pz);
  EXPECT(param.srq_state == DAT_SRQ_STATE_OPERATIONAL);
  EXPECT(param.max_recv_dtos >= 16 && param.low_watermark == 1);
  EXPECT(param.available_dto_count == 2);
  CALL(dat_ep_set_watermark, world->passive, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE);
  CALL(dat_ep_recv_query, world->passive, &held, &span);
  EXPECT(held == 0);
  send_to_passive(world, 1, "by a shared receive");
  completed(world->recv_evd, world->passive, 10, sizeof("by a shared receive"));
  EXPECT(strcmp(world->memory + kSink, "by a shared receive") == 0);
}

void transfer(struct world* world) {
  DAT_LMR_TRIPLET source = local(world, kSource, 32), sink = local(world, kReply, 32);
  DAT_RMR_TRIPLET target = remote(world, world->rmr_context, kSink, 32);
  shared_receives(world);
  CALL(dat_ep_post_recv, world->active, 1, &sink, cookie(2), DAT_COMPLETION_DEFAULT_FLAG);
  strcpy(world->memory + kSource, "the other way");
  CALL(dat_ep_post_send, world->passive, 1, &source, cookie(3), DAT_COMPLETION_DEFAULT_FLAG);
  completed(world->request_evd, world->passive, 3, 32);
  completed(world->recv_evd, world->active, 2, 32);
  EXPECT(strcmp(world->memory + kReply, "the other way") == 0);

  strcpy(world->memory + kSource, "written");
  CALL(dat_ep_post_rdma_write, world->active, 1, &source, cookie(4), &target,
       DAT_COMPLETION_DEFAULT_FLAG);
  completed(world->request_evd, world->active, 4, 32);
  CALL(dat_ep_post_rdma_read, world->active, 1, &sink, cookie(5), &target,
       DAT_COMPLETION_DEFAULT_FLAG);
  completed(world->request_evd, world->active, 5, 32);
  EXPECT(strcmp(world->memory + kReply, "written") == 0);
}

/* The peer writes through the context that the bind returns. Length 0 unbinds the window. */
void bind_window(struct world* world) {
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  DAT_RMR_CONTEXT context = 0, none = 0;
  DAT_RMR_PARAM param;
  DAT_EVENT event;
  DAT_LMR_TRIPLET part = local(world, kWindow, 64), source = local(world, kSource, 32);
  DAT_LMR_TRIPLET sink = local(world, kSink, 64);
  DAT_RMR_TRIPLET target;
  CALL(dat_rmr_create, world->pz, &rmr);
  CALL(dat_rmr_bind, rmr, &part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, world->passive, cookie(6),
       DAT_COMPLETION_DEFAULT_FLAG, &context);
  event = next_event(world->request_evd, DAT_RMR_BIND_COMPLETION_EVENT);
  EXPECT(event.event_data.rmr_completion_event_data.rmr_handle == rmr);
  EXPECT(event.event_data.rmr_completion_event_data.user_cookie.as_64 == 6);
  EXPECT(event.event_data.rmr_completion_event_data.status == DAT_RMR_BIND_SUCCESS);
  CALL(dat_rmr_query, rmr, DAT_RMR_FIELD_ALL, &param);
  EXPECT(param.ia_handle == world->ia && param.pz_handle == world->pz);
  EXPECT(param.lmr_triplet.lmr_context == world->lmr_context);
  EXPECT(param.lmr_triplet.virtual_address == part.virtual_address);
  EXPECT(param.lmr_triplet.segment_length == 64 && param.rmr_context == context);
  EXPECT(param.mem_priv == DAT_MEM_PRIV_REMOTE_WRITE_FLAG);

  target = remote(world, context, kWindow, 32);
  strcpy(world->memory + kSource, "through the window");
  CALL(dat_ep_post_rdma_write, world->active, 1, &source, cookie(7), &target,
       DAT_COMPLETION_DEFAULT_FLAG);
  completed(world->request_evd, world->active, 7, 32);
  /* A message cannot arrive before the write that it follows. */
  CALL(dat_srq_post_recv, world->srq, 1, &sink, cookie(12));
  send_to_passive(world, 8, "it is there");
  completed(world->recv_evd, world->passive, 11, sizeof("it is there"));
  EXPECT(strcmp(world->memory + kWindow, "through the window") == 0);

  part.segment_length = 0;
  CALL(dat_rmr_bind, rmr, &part, DAT_MEM_PRIV_NONE_FLAG, world->passive, cookie(9),
       DAT_COMPLETION_DEFAULT_FLAG, &none);
  next_event(world->request_evd, DAT_RMR_BIND_COMPLETION_EVENT);
  CALL(dat_rmr_free, rmr);
}
