/* SPDX-License-Identifier: BSD-3-Clause */
/* every_call.c: a program of uDAPL 1.2 that calls every function with success: adapter and memory.
 *
 *   every_call [IA]      prints the name of each function that it has called */
#include "tests/bridge/every_call.h"

#include <dat/dat_registry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void succeeded(const char* file, int line, const char* function, DAT_RETURN result) {
  const char *type = "?", *subtype = "?";
  if (result == DAT_SUCCESS) {
    printf("%s\n", function);
    return;
  }
  dat_strerror(result, &type, &subtype);
  fprintf(stderr, "%s:%d: %s: %s %s\n", file, line, function, type, subtype);
  exit(1);
}

void refused(const char* file, int line, const char* call, DAT_RETURN type, DAT_RETURN result) {
  if (DAT_GET_TYPE(result) == type) return;
  fprintf(stderr, "%s:%d: %s: %#x instead of type %#x\n", file, line, call, result, type);
  exit(1);
}

void expect(const char* file, int line, const char* what, int holds) {
  if (holds) return;
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
  exit(1);
}

DAT_EVENT next_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number) {
  DAT_EVENT event;
  DAT_COUNT more = -1;
  memset(&event, 0, sizeof(event));
  CALL(dat_evd_wait, evd, kPatienceUs, 1, &event, &more);
  if (event.event_number != number)
    fprintf(stderr, "event %#x instead of %#x\n", event.event_number, number);
  EXPECT(event.event_number == number);
  EXPECT(event.evd_handle == evd);
  EXPECT(more >= 0);
  return event;
}

static DAT_EVD_HANDLE make_evd(struct world* world, int flags) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  CALL(dat_evd_create, world->ia, 32, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)flags, &evd);
  return evd;
}

/* The list must have the adapter, under the version of this API. */
static void find_in_registry(const char* ia_name) {
  enum { kMost = 1000 };
  static DAT_PROVIDER_INFO entries[kMost];
  DAT_PROVIDER_INFO* list[kMost];
  DAT_COUNT count = 0;
  int found = 0;
  for (int i = 0; i < kMost; ++i) list[i] = &entries[i];
  CALL(dat_registry_list_providers, kMost, &count, list);
  for (int i = 0; i < count && i < kMost; ++i) {
    if (strcmp(list[i]->ia_name, ia_name) != 0) continue;
    found = 1;
    EXPECT(list[i]->dapl_version_major == 1 && list[i]->dapl_version_minor == 2);
  }
  EXPECT(found);
}

/* What a provider does when it is loaded and unloaded. */
static void announce_provider(void) {
  static DAT_PROVIDER table;
  DAT_PROVIDER_INFO info;
  memset(&info, 0, sizeof(info));
  strcpy(info.ia_name, "announced");
  info.dapl_version_major = 1;
  info.dapl_version_minor = 2;
  table.device_name = info.ia_name;
  CALL(dat_registry_add_provider, &table, &info);
  REFUSED(DAT_PROVIDER_ALREADY_REGISTERED, dat_registry_add_provider(&table, &info));
  CALL(dat_registry_remove_provider, &table, &info);
  REFUSED(DAT_PROVIDER_NOT_FOUND, dat_registry_remove_provider(&table, &info));
}

/* Exported, but in no header: translates an adapter's number to the provider's own handle. */
extern DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE, DAT_IA_HANDLE*);
static void ask_for_handle(struct world* world) {
  DAT_IA_HANDLE own = DAT_HANDLE_NULL, number = DAT_HANDLE_NULL;
  CALL(dats_get_ia_handle, world->ia, &own);
  CALL(dats_get_ia_handle, own, &number);
  EXPECT(own != world->ia && number == world->ia);
}

void open_adapter(struct world* world, char* ia_name) {
  DAT_IA_ATTR attr;
  DAT_PROVIDER_ATTR provider;
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  DAT_IA_HANDLE second = DAT_HANDLE_NULL;
  DAT_HANDLE_TYPE type = DAT_HANDLE_TYPE_CR;
  const char *major = NULL, *minor = NULL;
  find_in_registry(ia_name);
  announce_provider();
  REFUSED(DAT_PROVIDER_NOT_FOUND, dat_ia_open("no-such-adapter", 8, &async_evd, &second));
  CALL(dat_ia_open, ia_name, 8, &world->async_evd, &world->ia);
  ask_for_handle(world);
  CALL(dat_ia_openv, ia_name, 8, &async_evd, &second, 1, 2, DAT_FALSE);
  EXPECT(second != world->ia);
  CALL(dat_ia_close, second, DAT_CLOSE_GRACEFUL_FLAG);
  CALL(dat_ia_query, world->ia, &async_evd, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL,
       &provider);
  EXPECT(async_evd == world->async_evd);
  EXPECT(attr.max_eps > 0 && attr.max_message_size > 0);
  EXPECT(provider.dapl_version_major == 1 && provider.dapl_version_minor == 2);
  EXPECT(provider.srq_supported == DAT_TRUE);
  world->address = attr.ia_address_ptr;
  CALL(dat_get_handle_type, world->ia, &type);
  EXPECT(type == DAT_HANDLE_TYPE_IA);
  CALL(dat_strerror, DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG3, &major, &minor);
  EXPECT(strcmp(major, "DAT_INVALID_PARAMETER") == 0 && strcmp(minor, "DAT_INVALID_ARG3") == 0);
  world->cr_evd = make_evd(world, DAT_EVD_CR_FLAG);
  world->connect_evd = make_evd(world, DAT_EVD_CONNECTION_FLAG);
  world->recv_evd = make_evd(world, DAT_EVD_DTO_FLAG);
  world->request_evd = make_evd(world, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
}

void make_memory(struct world* world) {
  DAT_REGION_DESCRIPTION region;
  DAT_PZ_PARAM pz;
  DAT_LMR_PARAM lmr;
  DAT_VLEN size = 0;
  DAT_VADDR address = 0;
  DAT_LMR_TRIPLET part;
  DAT_CONTEXT context, returned;
  CALL(dat_pz_create, world->ia, &world->pz);
  CALL(dat_pz_query, world->pz, DAT_PZ_FIELD_ALL, &pz);
  EXPECT(pz.ia_handle == world->ia);
  region.for_va = world->memory;
  CALL(dat_lmr_create, world->ia, DAT_MEM_TYPE_VIRTUAL, region, kMemorySize, world->pz,
       DAT_MEM_PRIV_ALL_FLAG, &world->lmr, &world->lmr_context, &world->rmr_context, &size,
       &address);
  EXPECT(size >= kMemorySize && address <= (uintptr_t)world->memory);
  CALL(dat_lmr_query, world->lmr, DAT_LMR_FIELD_ALL, &lmr);
  EXPECT(lmr.ia_handle == world->ia && lmr.pz_handle == world->pz);
  EXPECT(lmr.region_desc.for_va == world->memory && lmr.length == kMemorySize);
  EXPECT(lmr.mem_priv == DAT_MEM_PRIV_ALL_FLAG);
  EXPECT(lmr.lmr_context == world->lmr_context && lmr.rmr_context == world->rmr_context);
  part = local(world, 0, kMemorySize);
  CALL(dat_lmr_sync_rdma_read, world->ia, &part, 1);
  CALL(dat_lmr_sync_rdma_write, world->ia, &part, 1);
  context.as_64 = UINT64_C(0x0123456789abcdef);
  CALL(dat_set_consumer_context, world->lmr, context);
  CALL(dat_get_consumer_context, world->lmr, &returned);
  EXPECT(returned.as_64 == context.as_64);
}

DAT_LMR_TRIPLET local(struct world* world, size_t offset, DAT_VLEN length) {
  DAT_LMR_TRIPLET triplet;
  memset(&triplet, 0, sizeof(triplet));
  triplet.lmr_context = world->lmr_context;
  triplet.virtual_address = (uintptr_t)world->memory + offset;
  triplet.segment_length = length;
  return triplet;
}

void free_memory(struct world* world) {
  CALL(dat_lmr_free, world->lmr);
  CALL(dat_pz_free, world->pz);
}

/* A graceful close requires that nothing is left. */
void close_adapter(struct world* world) {
  DAT_EVENT event;
  REFUSED(DAT_QUEUE_EMPTY, dat_evd_dequeue(world->async_evd, &event));
  REFUSED(DAT_INVALID_STATE, dat_ia_close(world->ia, DAT_CLOSE_GRACEFUL_FLAG));
  CALL(dat_evd_free, world->request_evd);
  CALL(dat_evd_free, world->recv_evd);
  CALL(dat_evd_free, world->connect_evd);
  CALL(dat_evd_free, world->cr_evd);
  CALL(dat_ia_close, world->ia, DAT_CLOSE_GRACEFUL_FLAG);
}

int main(int argc, char** argv) {
  static struct world world;
  open_adapter(&world, argc > 1 ? argv[1] : "softnet-lo");
  call_events(&world);
  make_memory(&world);
  connect_pair(&world);
  transfer(&world);
  bind_window(&world);
  disconnect_pair(&world);
  free_memory(&world);
  close_adapter(&world);
  return 0;
}
