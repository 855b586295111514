/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/bridge/library_of_12.h"

#include <dat/udat.h>
#include <string.h>

enum { kPatienceUs = 60 * 1000 * 1000 };

#define CHECK(call) \
  if ((call) != DAT_SUCCESS) return "1.2: " #call

const char* send_by_12(char* ia_name, unsigned long qualifier, const char* text, void* foreign) {
  static char buffer[64];
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL, evd;
  DAT_IA_HANDLE ia;
  DAT_IA_ATTR attr;
  DAT_PZ_HANDLE pz;
  DAT_EP_HANDLE ep;
  DAT_LMR_HANDLE lmr;
  DAT_LMR_CONTEXT context;
  DAT_VLEN size;
  DAT_VADDR address;
  DAT_EVENT event;
  DAT_COUNT more;
  DAT_DTO_COOKIE cookie;
  DAT_LMR_TRIPLET segment;
  DAT_REGION_DESCRIPTION region;
  region.for_va = buffer;
  cookie.as_64 = 12;
  CHECK(dat_ia_open(ia_name, 8, &async_evd, &ia));
  CHECK(dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL));
  CHECK(dat_pz_create(ia, &pz));
  if (DAT_GET_TYPE(dat_pz_free(foreign)) != DAT_INVALID_HANDLE) return "1.2 takes a handle of 2.0";
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG | DAT_EVD_DTO_FLAG, &evd));
  CHECK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(buffer), pz, DAT_MEM_PRIV_ALL_FLAG,
                       &lmr, &context, NULL, &size, &address));
  CHECK(dat_ep_create(ia, pz, evd, evd, evd, NULL, &ep));
  CHECK(dat_ep_connect(ep, attr.ia_address_ptr, qualifier, kPatienceUs, 0, NULL,
                       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  CHECK(dat_evd_wait(evd, kPatienceUs, 1, &event, &more));
  if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) return "1.2: not connected";
  strcpy(buffer, text);
  memset(&segment, 0, sizeof(segment));
  segment.lmr_context = context;
  segment.virtual_address = (uintptr_t)buffer;
  segment.segment_length = strlen(text) + 1;
  CHECK(dat_ep_post_send(ep, 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  CHECK(dat_evd_wait(evd, kPatienceUs, 1, &event, &more));
  if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS) return "1.2: not sent";
  CHECK(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
  CHECK(dat_evd_wait(evd, kPatienceUs, 1, &event, &more));
  if (event.event_number != DAT_CONNECTION_EVENT_DISCONNECTED) return "1.2: not disconnected";
  CHECK(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
  return NULL;
}
