/* SPDX-License-Identifier: BSD-3-Clause */
/* every_call_connection.c: the calls of end points, service points and connection requests. Both
 * ends of each connection are in this program. */
#include <string.h>
#include <unistd.h>

#include "tests/bridge/every_call.h"

static char greeting[] = "from a program of 1.2";

static void expect_state(DAT_EP_HANDLE ep, DAT_EP_STATE wanted) {
  DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
  DAT_BOOLEAN recv_idle = DAT_FALSE, request_idle = DAT_FALSE;
  CALL(dat_ep_get_status, ep, &state, &recv_idle, &request_idle);
  EXPECT(state == wanted);
}

static void start_connect(struct world* world, DAT_EP_HANDLE ep, DAT_CONN_QUAL qualifier) {
  CALL(dat_ep_connect, ep, world->address, qualifier, kPatienceUs, sizeof(greeting), greeting,
       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

/* The next request, which must be for this service point and carry the greeting. */
static DAT_CR_HANDLE request(struct world* world, DAT_CONN_QUAL qualifier, DAT_CR_PARAM* param) {
  const DAT_EVENT event = next_event(world->cr_evd, DAT_CONNECTION_REQUEST_EVENT);
  const DAT_CR_ARRIVAL_EVENT_DATA* arrival = &event.event_data.cr_arrival_event_data;
  EXPECT(arrival->conn_qual == qualifier);
  CALL(dat_cr_query, arrival->cr_handle, DAT_CR_FIELD_ALL, param);
  EXPECT(param->private_data_size >= (DAT_COUNT)sizeof(greeting));
  EXPECT(memcmp(param->private_data, greeting, sizeof(greeting)) == 0);
  return arrival->cr_handle;
}

/* Both ends must get the same event, in any order. */
static void both(struct world* world, DAT_EVENT_NUMBER number, DAT_EP_HANDLE a, DAT_EP_HANDLE b) {
  const DAT_EVENT one = next_event(world->connect_evd, number);
  const DAT_EVENT two = next_event(world->connect_evd, number);
  const DAT_EP_HANDLE first = one.event_data.connect_event_data.ep_handle;
  const DAT_EP_HANDLE second = two.event_data.connect_event_data.ep_handle;
  EXPECT((first == a && second == b) || (first == b && second == a));
}

static DAT_EP_HANDLE make_ep(struct world* world) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  CALL(dat_ep_create, world->ia, world->pz, world->recv_evd, world->request_evd, world->connect_evd,
       NULL, &ep);
  return ep;
}

/* Made without a protection zone. dat_ep_modify() sets it later. */
static void make_active(struct world* world) {
  DAT_EP_PARAM param;
  CALL(dat_ep_create, world->ia, DAT_HANDLE_NULL, world->recv_evd, world->request_evd,
       world->connect_evd, NULL, &world->active);
  expect_state(world->active, DAT_EP_STATE_UNCONNECTED);
  memset(&param, 0, sizeof(param));
  param.pz_handle = world->pz;
  CALL(dat_ep_modify, world->active, DAT_EP_FIELD_PZ_HANDLE, &param);
  CALL(dat_ep_query, world->active, DAT_EP_FIELD_ALL, &param);
  EXPECT(param.ia_handle == world->ia && param.ep_state == DAT_EP_STATE_UNCONNECTED);
  EXPECT(param.pz_handle == world->pz && param.recv_evd_handle == world->recv_evd);
  EXPECT(param.request_evd_handle == world->request_evd);
  EXPECT(param.connect_evd_handle == world->connect_evd && param.srq_handle == DAT_HANDLE_NULL);
}

static void make_passive(struct world* world) {
  DAT_EP_PARAM param;
  DAT_EP_ATTR ep_attr;
  DAT_SRQ_ATTR attr;
  memset(&ep_attr, 0, sizeof(ep_attr));
  ep_attr.service_type = DAT_SERVICE_TYPE_RC;
  ep_attr.qos = DAT_QOS_BEST_EFFORT;
  ep_attr.max_request_dtos = 16;
  ep_attr.max_request_iov = 1;
  ep_attr.max_rdma_read_in = 1;
  ep_attr.srq_soft_hw = DAT_HW_DEFAULT;
  memset(&attr, 0, sizeof(attr));
  attr.max_recv_dtos = 8;
  attr.max_recv_iov = 1;
  attr.low_watermark = DAT_SRQ_LW_DEFAULT;
  CALL(dat_srq_create, world->ia, world->pz, &attr, &world->srq);
  CALL(dat_ep_create_with_srq, world->ia, world->pz, world->recv_evd, world->request_evd,
       world->connect_evd, world->srq, &ep_attr, &world->passive);
  CALL(dat_ep_query, world->passive, DAT_EP_FIELD_SRQ_HANDLE, &param);
  EXPECT(param.srq_handle == world->srq);
}

/* A service point with a qualifier that the program chooses: the first that nobody has. Numbers
 * above 65535 are nobody's ports. */
static DAT_CONN_QUAL make_psp(struct world* world) {
  DAT_CONN_QUAL qualifier = UINT64_C(0x100000000) * (DAT_CONN_QUAL)getpid();
  DAT_PSP_PARAM param;
  DAT_RETURN result;
  do {
    result =
        dat_psp_create(world->ia, ++qualifier, world->cr_evd, DAT_PSP_CONSUMER_FLAG, &world->psp);
  } while (DAT_GET_TYPE(result) == DAT_CONN_QUAL_IN_USE);
  succeeded(__FILE__, __LINE__, "dat_psp_create", result);
  CALL(dat_psp_query, world->psp, DAT_PSP_FIELD_ALL, &param);
  EXPECT(param.ia_handle == world->ia && param.conn_qual == qualifier);
  EXPECT(param.evd_handle == world->cr_evd && param.psp_flags == DAT_PSP_CONSUMER_FLAG);
  return qualifier;
}

/* One more connection to the place to which the active end point is connected. */
static void duplicate(struct world* world, DAT_CONN_QUAL qualifier) {
  const DAT_EP_HANDLE twin = make_ep(world), peer = make_ep(world);
  DAT_CR_PARAM param;
  CALL(dat_ep_dup_connect, twin, world->active, kPatienceUs, sizeof(greeting), greeting,
       DAT_QOS_BEST_EFFORT);
  CALL(dat_cr_accept, request(world, qualifier, &param), peer, 0, NULL);
  both(world, DAT_CONNECTION_EVENT_ESTABLISHED, twin, peer);
  CALL(dat_ep_disconnect, twin, DAT_CLOSE_GRACEFUL_FLAG);
  both(world, DAT_CONNECTION_EVENT_DISCONNECTED, twin, peer);
  CALL(dat_ep_free, twin);
  CALL(dat_ep_free, peer);
}

/* A reserved service point brings its end point. */
static void connect_reserved(struct world* world) {
  const DAT_EP_HANDLE caller = make_ep(world), reserved = make_ep(world);
  DAT_CONN_QUAL qualifier = UINT64_C(0x100000000) * (DAT_CONN_QUAL)getpid();
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  DAT_RSP_PARAM param;
  DAT_CR_PARAM cr;
  DAT_RETURN result;
  do {
    result = dat_rsp_create(world->ia, ++qualifier, reserved, world->cr_evd, &rsp);
  } while (DAT_GET_TYPE(result) == DAT_CONN_QUAL_IN_USE);
  succeeded(__FILE__, __LINE__, "dat_rsp_create", result);
  CALL(dat_rsp_query, rsp, DAT_RSP_FIELD_ALL, &param);
  EXPECT(param.ia_handle == world->ia && param.conn_qual == qualifier);
  EXPECT(param.evd_handle == world->cr_evd && param.ep_handle == reserved);
  expect_state(reserved, DAT_EP_STATE_RESERVED);
  start_connect(world, caller, qualifier);
  CALL(dat_cr_accept, request(world, qualifier, &cr), DAT_HANDLE_NULL, 0, NULL);
  EXPECT(cr.local_ep_handle == reserved);
  both(world, DAT_CONNECTION_EVENT_ESTABLISHED, caller, reserved);
  CALL(dat_rsp_free, rsp);
  CALL(dat_ep_disconnect, caller, DAT_CLOSE_ABRUPT_FLAG);
  both(world, DAT_CONNECTION_EVENT_DISCONNECTED, caller, reserved);
  CALL(dat_ep_free, caller);
  CALL(dat_ep_free, reserved);
}

void connect_pair(struct world* world) {
  DAT_CONN_QUAL qualifier, other = 0;
  DAT_CR_PARAM param;
  DAT_CR_HANDLE cr;
  DAT_EVENT event;
  make_active(world);
  make_passive(world);
  qualifier = make_psp(world);
  CALL(dat_psp_create_any, world->ia, &other, world->cr_evd, DAT_PSP_CONSUMER_FLAG,
       &world->other_psp);
  /* A rejected request, and then another one with the same end point. */
  start_connect(world, world->active, other);
  CALL(dat_cr_reject, request(world, other, &param));
  event = next_event(world->connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT(event.event_data.connect_event_data.ep_handle == world->active);
  CALL(dat_ep_reset, world->active);
  expect_state(world->active, DAT_EP_STATE_UNCONNECTED);
  /* The request is handed on to the second service point, and arrives there. */
  start_connect(world, world->active, qualifier);
  CALL(dat_cr_handoff, request(world, qualifier, &param), other);
  cr = request(world, other, &param);
  CALL(dat_cr_accept, cr, world->passive, sizeof(greeting), greeting);
  both(world, DAT_CONNECTION_EVENT_ESTABLISHED, world->active, world->passive);
  expect_state(world->active, DAT_EP_STATE_CONNECTED);
  duplicate(world, qualifier);
  connect_reserved(world);
  CALL(dat_psp_free, world->psp);
  CALL(dat_psp_free, world->other_psp);
}

void disconnect_pair(struct world* world) {
  DAT_EVENT event;
  CALL(dat_ep_disconnect, world->active, DAT_CLOSE_GRACEFUL_FLAG);
  both(world, DAT_CONNECTION_EVENT_DISCONNECTED, world->active, world->passive);
  /* This end point must not hold a receive of the shared queue any more. */
  event = next_event(world->async_evd, DAT_ASYNC_ERROR_EP_BROKEN);
  EXPECT(event.event_data.asynch_error_event_data.dat_handle == world->passive);
  CALL(dat_ep_reset, world->active);
  CALL(dat_ep_free, world->active);
  REFUSED(DAT_INVALID_STATE, dat_srq_free(world->srq));
  CALL(dat_ep_free, world->passive);
  CALL(dat_srq_free, world->srq);
}
