/* SPDX-License-Identifier: BSD-3-Clause */
/* every_call.h: what the parts share of the program that calls every function of uDAPL 1.2. */
#ifndef SOFTDAT_TESTS_BRIDGE_EVERY_CALL_H_
#define SOFTDAT_TESTS_BRIDGE_EVERY_CALL_H_

#include <dat/udat.h>
#include <stddef.h>
#include <stdint.h>

enum { kPatienceUs = 60 * 1000 * 1000, kMemorySize = 8192 };

/* Calls a function that must succeed, and prints its name. The test compares what is printed with
 * the table of the binary interface. */
#define CALL(function, ...) succeeded(__FILE__, __LINE__, #function, function(__VA_ARGS__))
void succeeded(const char* file, int line, const char* function, DAT_RETURN result);

/* Calls a function that must refuse with this type. */
#define REFUSED(type, call) refused(__FILE__, __LINE__, #call, (type), (call))
void refused(const char* file, int line, const char* call, DAT_RETURN type, DAT_RETURN result);

#define EXPECT(condition) expect(__FILE__, __LINE__, #condition, (condition))
void expect(const char* file, int line, const char* what, int holds);

/* The open adapter, and what all parts use of it. */
struct world {
  DAT_IA_HANDLE ia;
  DAT_EVD_HANDLE async_evd, cr_evd, connect_evd, recv_evd, request_evd;
  DAT_PZ_HANDLE pz;
  DAT_LMR_HANDLE lmr;
  DAT_LMR_CONTEXT lmr_context;
  DAT_RMR_CONTEXT rmr_context;
  DAT_IA_ADDRESS_PTR address;
  DAT_EP_HANDLE active, passive; /* connected; the passive one has a shared receive queue */
  DAT_SRQ_HANDLE srq;
  DAT_PSP_HANDLE psp, other_psp;
  char memory[kMemorySize];
};

/* The next event, which must have this number. */
DAT_EVENT next_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);

/* The parts, to be called in this order. */
void open_adapter(struct world* world, char* ia_name);
void call_events(struct world* world);
void make_memory(struct world* world);
void connect_pair(struct world* world);
void transfer(struct world* world);
void bind_window(struct world* world);
void disconnect_pair(struct world* world);
void free_memory(struct world* world);
void close_adapter(struct world* world);

DAT_LMR_TRIPLET local(struct world* world, size_t offset, DAT_VLEN length);

#endif /* SOFTDAT_TESTS_BRIDGE_EVERY_CALL_H_ */
