/* SPDX-License-Identifier: BSD-3-Clause */
/* event_loop.c: a server of uDAPL 2.0 in a loop of libuv, which sends back what it receives.
 *
 * The program sleeps in its own loop, which may have sockets, timers and signals beside DAT. All
 * event dispatchers (EVDs) belong to one consumer notification object (CNO) that has a file
 * descriptor. When this is readable, dat_cno_trigger() moves data and takes the trigger, and the
 * program takes all events that are there. It may find none, because the descriptor is also
 * readable when the provider only has data to move.
 *
 *   cc -o event_loop event_loop.c $(pkg-config --cflags --libs dat2 libuv)
 *   ./event_loop [IA]            prints QUALIFIER; ends on Ctrl-C
 *   ./connection client QUALIFIER
 */
#include <dat2/udat.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { kFailedCall = 1, kUsage = 2 }; /* exit statuses */
enum { kBufferSize = 64, kQueue = 64 };
enum { kRequests, kConnections, kTransfers, kEvds };

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_CNO_HANDLE cno;
static DAT_EVD_HANDLE evds[kEvds];
static int clients;

/* One connection. Its buffer is in a receive or in a send at any time, until the connection ends.
 * The end and the last completion come in any order, so each releases a reference. */
struct client {
  DAT_EP_HANDLE ep;
  DAT_LMR_HANDLE lmr;
  DAT_LMR_CONTEXT lmr_context;
  int references;
  enum { kReceiving, kSending } doing;
  char buffer[kBufferSize];
};

#define CHECK(call) check((call), #call)
static void check(DAT_RETURN result, const char* call) {
  const char *type = "?", *subtype = "?";
  if (result == DAT_SUCCESS) return;
  dat_strerror(result, &type, &subtype);
  fprintf(stderr, "event_loop: %s: %s %s\n", call, type, subtype);
  exit(kFailedCall);
}

/* Whether the call that takes an event or a trigger found one. */
static int took(DAT_RETURN result, const char* call) {
  if (DAT_GET_TYPE(result) == DAT_QUEUE_EMPTY) return 0;
  check(result, call);
  return 1;
}

static void check_uv(int result, const char* call) {
  if (result >= 0) return;
  fprintf(stderr, "event_loop: %s: %s\n", call, uv_strerror(result));
  exit(kFailedCall);
}

static void release(struct client* client) {
  if (--client->references > 0) return;
  CHECK(dat_ep_free(client->ep));
  CHECK(dat_lmr_free(client->lmr));
  free(client);
  printf("clients: %d\n", --clients);
}

/* If the connection has ended, the completion comes at once, as flushed. */
static void post(struct client* client, int what, DAT_SEG_LENGTH size) {
  const DAT_DTO_COOKIE cookie = {.as_ptr = client};
  DAT_LMR_TRIPLET segment = {.virtual_address = (uintptr_t)client->buffer,
                             .segment_length = size,
                             .lmr_context = client->lmr_context};
  client->doing = what;
  if (what == kReceiving)
    CHECK(dat_ep_post_recv(client->ep, 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  else
    CHECK(dat_ep_post_send(client->ep, 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void on_request(DAT_CR_HANDLE cr) {
  struct client* client = calloc(1, sizeof(*client));
  if (client == NULL) {
    CHECK(dat_cr_reject(cr, 0, NULL));
    return;
  }
  const DAT_REGION_DESCRIPTION region = {.for_va = client->buffer};
  const DAT_CONTEXT context = {.as_ptr = client};
  CHECK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, kBufferSize, pz,
                       DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_VA_TYPE_VA,
                       &client->lmr, &client->lmr_context, NULL, NULL, NULL));
  CHECK(dat_ep_create(ia, pz, evds[kTransfers], evds[kTransfers], evds[kConnections], NULL,
                      &client->ep));
  CHECK(dat_set_consumer_context(client->ep, context)); /* events of the connection name the EP */
  client->references = 2;
  post(client, kReceiving, kBufferSize);
  CHECK(dat_cr_accept(cr, client->ep, 0, NULL));
  printf("clients: %d\n", ++clients);
}

/* An accept whose client has gone, a disconnect and a broken connection all end it alike. */
static void on_connection(DAT_EVENT_NUMBER number, DAT_EP_HANDLE ep) {
  DAT_CONTEXT context;
  if (number == DAT_CONNECTION_EVENT_ESTABLISHED) return;
  CHECK(dat_get_consumer_context(ep, &context));
  release(context.as_ptr);
}

static void on_transfer(const DAT_DTO_COMPLETION_EVENT_DATA* data) {
  struct client* client = data->user_cookie.as_ptr;
  if (data->status != DAT_DTO_SUCCESS)
    release(client); /* flushed by the end of the connection */
  else if (client->doing == kReceiving)
    post(client, kSending, data->transfered_length);
  else
    post(client, kReceiving, kBufferSize);
}

static void on_readable(uv_poll_t* poll, int status, int events) {
  DAT_EVD_HANDLE first; /* an EVD that has events; the others may have some, too */
  DAT_EVENT event;
  (void)poll, (void)events;
  check_uv(status, "uv_poll");
  took(dat_cno_trigger(cno, &first), "dat_cno_trigger");
  for (int i = 0; i < kEvds; ++i) {
    while (took(dat_evd_dequeue(evds[i], &event), "dat_evd_dequeue")) {
      if (i == kRequests)
        on_request(event.event_data.cr_arrival_event_data.cr_handle);
      else if (i == kConnections)
        on_connection(event.event_number, event.event_data.connect_event_data.ep_handle);
      else
        on_transfer(&event.event_data.dto_completion_event_data);
    }
  }
  fflush(stdout);
}

static void on_signal(uv_signal_t* watcher, int number) {
  printf("ends on signal %d\n", number);
  uv_stop(watcher->loop);
}

static void run(DAT_FD descriptor) {
  uv_loop_t* loop = uv_default_loop();
  uv_poll_t readable;
  uv_signal_t signals[2];
  check_uv(uv_poll_init(loop, &readable, descriptor), "uv_poll_init");
  check_uv(uv_poll_start(&readable, UV_READABLE, on_readable), "uv_poll_start");
  for (int i = 0; i < 2; ++i) {
    check_uv(uv_signal_init(loop, &signals[i]), "uv_signal_init");
    check_uv(uv_signal_start(&signals[i], on_signal, i == 0 ? SIGINT : SIGTERM), "uv_signal_start");
  }
  check_uv(uv_run(loop, UV_RUN_DEFAULT), "uv_run");
  /* The descriptor belongs to the CNO, so the loop must release it first. */
  uv_close((uv_handle_t*)&readable, NULL);
  for (int i = 0; i < 2; ++i) uv_close((uv_handle_t*)&signals[i], NULL);
  check_uv(uv_run(loop, UV_RUN_DEFAULT), "uv_run");
  check_uv(uv_loop_close(loop), "uv_loop_close");
}

int main(int argc, char** argv) {
  static const DAT_EVD_FLAGS flags[kEvds] = {DAT_EVD_CR_FLAG, DAT_EVD_CONNECTION_FLAG,
                                             DAT_EVD_DTO_FLAG};
  char* ia_name = argc > 1 ? argv[1] : "softnet-lo";
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  DAT_PSP_HANDLE psp;
  DAT_CONN_QUAL qualifier;
  DAT_FD descriptor;
  if (argc > 2 || ia_name[0] == '-') {
    const int help = strcmp(ia_name, "--help") == 0;
    fprintf(help ? stdout : stderr,
            "usage: event_loop [IA]\n"
            "exit status: 0 ended by a signal, 1 a call failed, 2 usage\n");
    return help ? 0 : kUsage;
  }
  check(dat_ia_open(ia_name, kQueue, &async_evd, &ia), ia_name);
  CHECK(dat_pz_create(ia, &pz));
  CHECK(dat_cno_fd_create(ia, &descriptor, &cno));
  for (int i = 0; i < kEvds; ++i) CHECK(dat_evd_create(ia, kQueue, cno, flags[i], &evds[i]));
  CHECK(dat_psp_create_any(ia, &qualifier, evds[kRequests], DAT_PSP_CONSUMER_FLAG, &psp));
  printf("connection qualifier: %" PRIu64 "\n", qualifier);
  fflush(stdout);
  run(descriptor);
  /* The close also frees everything that is left: service point, clients, EVDs, CNO. */
  CHECK(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
  return 0;
}
