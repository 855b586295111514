/* SPDX-License-Identifier: BSD-3-Clause */
/* every_call_events.c: the calls of event dispatchers and of consumer notification objects, with
 * software events, which need nothing else. */
#include <string.h>

#include "tests/bridge/every_call.h"

static DAT_EVD_HANDLE told; /* what the agent was called with */

static void agent(DAT_PVOID instance_data, DAT_EVD_HANDLE evd) {
  EXPECT(instance_data == &told);
  told = evd;
}

static void post(DAT_EVD_HANDLE evd, void* pointer) {
  DAT_EVENT event;
  memset(&event, 0, sizeof(event));
  event.event_number = DAT_SOFTWARE_EVENT;
  event.event_data.software_event_data.pointer = pointer;
  CALL(dat_evd_post_se, evd, &event);
}

static void call_cno(DAT_IA_HANDLE ia, DAT_CNO_HANDLE cno, DAT_EVD_HANDLE evd) {
  DAT_CNO_PARAM param;
  DAT_OS_WAIT_PROXY_AGENT ours;
  DAT_EVD_HANDLE from = DAT_HANDLE_NULL;
  int word = 0;
  ours.instance_data = &told;
  ours.proxy_agent_func = agent;
  post(evd, &word);
  CALL(dat_cno_wait, cno, kPatienceUs, &from);
  EXPECT(from == evd);
  CALL(dat_cno_modify_agent, cno, ours);
  CALL(dat_cno_query, cno, DAT_CNO_FIELD_ALL, &param);
  EXPECT(param.ia_handle == ia);
  EXPECT(param.agent.proxy_agent_func == agent && param.agent.instance_data == &told);
  post(evd, &word);
  CALL(dat_cno_wait, cno, kPatienceUs, &from);
}

void call_events(struct world* world) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  DAT_EVD_PARAM param;
  DAT_EVENT event;
  DAT_COUNT more = 0;
  DAT_HANDLE_TYPE type = DAT_HANDLE_TYPE_CR;
  int one = 1, two = 2;
  const DAT_OS_WAIT_PROXY_AGENT none = DAT_OS_WAIT_PROXY_AGENT_NULL;
  CALL(dat_cno_create, world->ia, none, &cno);
  CALL(dat_get_handle_type, cno, &type);
  EXPECT(type == DAT_HANDLE_TYPE_CNO);
  CALL(dat_evd_create, world->ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd);
  call_cno(world->ia, cno, evd);
  REFUSED(DAT_INVALID_STATE, dat_cno_free(cno));
  CALL(dat_evd_modify_cno, evd, DAT_HANDLE_NULL);
  CALL(dat_cno_free, cno); /* the agent has returned before that does */
  EXPECT(told == evd);
  while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) continue;

  CALL(dat_evd_resize, evd, 100);
  CALL(dat_evd_disable, evd);
  CALL(dat_evd_query, evd, DAT_EVD_FIELD_ALL, &param);
  EXPECT(param.ia_handle == world->ia && param.evd_qlen >= 100);
  EXPECT(param.cno_handle == DAT_HANDLE_NULL && param.evd_flags == DAT_EVD_SOFTWARE_FLAG);
  EXPECT((param.evd_state & DAT_EVD_STATE_DISABLED) != 0);
  CALL(dat_evd_enable, evd);
  CALL(dat_evd_set_unwaitable, evd);
  REFUSED(DAT_INVALID_STATE, dat_evd_wait(evd, 0, 1, &event, &more));
  CALL(dat_evd_clear_unwaitable, evd);
  REFUSED(DAT_TIMEOUT_EXPIRED, dat_evd_wait(evd, 0, 1, &event, &more));

  post(evd, &one);
  post(evd, &two);
  CALL(dat_evd_dequeue, evd, &event);
  EXPECT(event.event_number == DAT_SOFTWARE_EVENT && event.evd_handle == evd);
  EXPECT(event.event_data.software_event_data.pointer == &one);
  CALL(dat_evd_dequeued, evd, &event);
  EXPECT(event.event_data.software_event_data.pointer == &two);
  REFUSED(DAT_QUEUE_EMPTY, dat_evd_dequeue(evd, &event));
  CALL(dat_evd_free, evd);
}
