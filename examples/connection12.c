/* SPDX-License-Identifier: BSD-3-Clause */
/* connection12.c: two programs of uDAPL 1.2 connect, exchange a message each way, and disconnect.
 * The other one may be a program of 2.0 (connection.c), because there is no difference on the wire.
 *
 * The server makes a public service point (PSP) and waits for a connection request (CR). It looks
 * at the private data of the request and rejects it, or accepts it with an end point (EP). The
 * client connects its EP to the address and connection qualifier of the service point.
 *
 *   cc -o connection12 connection12.c $(pkg-config --cflags --libs dat)
 *   ./connection12 server               prints QUALIFIER
 *   ./connection12 client QUALIFIER     in another terminal; ./connection12 --help says more
 */
#include <arpa/inet.h>
#include <dat/udat.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kFailedCall = 1, kUsage = 2, kNotConnected = 3 }; /* exit statuses */
enum { kBufferSize = 64, kPatienceUs = 30000000 };
static char kGreeting[] = "hello"; /* the private data that the server accepts */

/* The objects that both sides have. */
struct side {
  DAT_IA_HANDLE ia;
  DAT_PZ_HANDLE pz;
  DAT_EVD_HANDLE async_evd, cr_evd, connect_evd, dto_evd;
  DAT_EP_HANDLE ep;
  DAT_LMR_HANDLE lmr;
  DAT_LMR_CONTEXT lmr_context;
  char buffer[2][kBufferSize]; /* to receive into, to send from */
};

#define CHECK(call) check((call), #call)
static void check(DAT_RETURN result, const char* call) {
  const char *type = "?", *subtype = "?";
  if (result == DAT_SUCCESS) return;
  dat_strerror(result, &type, &subtype);
  fprintf(stderr, "connection12: %s: %s %s\n", call, type, subtype);
  exit(kFailedCall);
}

static void fail(const char* what, int number) {
  fprintf(stderr, "connection12: %s %#x\n", what, number);
  exit(kNotConnected);
}

static DAT_EVENT next_event(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout_us) {
  DAT_EVENT event;
  DAT_COUNT more;
  CHECK(dat_evd_wait(evd, timeout_us, 1, &event, &more));
  return event;
}

/* The next event of the connection must be this one. */
static void expect_connection_event(struct side* side, DAT_EVENT_NUMBER wanted) {
  const DAT_EVENT event = next_event(side->connect_evd, kPatienceUs);
  if (event.event_number == wanted) return;
  if (event.event_number == DAT_CONNECTION_EVENT_PEER_REJECTED)
    fail("rejected: event", event.event_number);
  fail("no connection, or lost: event", event.event_number);
}

static void print_state(struct side* side) {
  static const char* const names[] = {[DAT_EP_STATE_UNCONNECTED] = "UNCONNECTED",
                                      [DAT_EP_STATE_CONNECTED] = "CONNECTED",
                                      [DAT_EP_STATE_DISCONNECTED] = "DISCONNECTED"};
  DAT_EP_STATE state;
  CHECK(dat_ep_get_status(side->ep, &state, NULL, NULL));
  printf("end point: %s\n", names[state]);
}

static DAT_LMR_TRIPLET segment(struct side* side, int buffer, DAT_VLEN size) {
  return (DAT_LMR_TRIPLET){.virtual_address = (uintptr_t)side->buffer[buffer],
                           .segment_length = size,
                           .lmr_context = side->lmr_context};
}

static void open_side(struct side* side, char* ia_name) {
  DAT_REGION_DESCRIPTION region = {.for_va = side->buffer};
  DAT_LMR_TRIPLET target;
  check(dat_ia_open(ia_name, 8, &side->async_evd, &side->ia), ia_name);
  CHECK(dat_pz_create(side->ia, &side->pz));
  CHECK(dat_evd_create(side->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &side->cr_evd));
  CHECK(dat_evd_create(side->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &side->connect_evd));
  CHECK(dat_evd_create(side->ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &side->dto_evd));
  CHECK(dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(side->buffer), side->pz,
                       DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &side->lmr,
                       &side->lmr_context, NULL, NULL, NULL));
  CHECK(dat_ep_create(side->ia, side->pz, side->dto_evd, side->dto_evd, side->connect_evd, NULL,
                      &side->ep));
  print_state(side);
  /* Posted before the peer can send, because a message needs a receive that waits for it. */
  target = segment(side, 0, kBufferSize);
  CHECK(dat_ep_post_recv(side->ep, 1, &target, (DAT_DTO_COOKIE){.as_64 = 0},
                         DAT_COMPLETION_DEFAULT_FLAG));
}

/* A graceful close refuses if an object is left, so this shows that nothing was forgotten. */
static void close_side(struct side* side) {
  CHECK(dat_ep_free(side->ep));
  CHECK(dat_lmr_free(side->lmr));
  CHECK(dat_evd_free(side->cr_evd));
  CHECK(dat_evd_free(side->connect_evd));
  CHECK(dat_evd_free(side->dto_evd));
  CHECK(dat_pz_free(side->pz));
  CHECK(dat_ia_close(side->ia, DAT_CLOSE_GRACEFUL_FLAG));
}

/* With this flag a send that succeeds gives no event. The buffer is not used again. */
static void send_text(struct side* side, const char* text) {
  DAT_LMR_TRIPLET source = segment(side, 1, strlen(text));
  memcpy(side->buffer[1], text, strlen(text));
  CHECK(dat_ep_post_send(side->ep, 1, &source, (DAT_DTO_COOKIE){.as_64 = 1},
                         DAT_COMPLETION_SUPPRESS_FLAG));
}

static void print_received(struct side* side) {
  const DAT_EVENT event = next_event(side->dto_evd, kPatienceUs);
  const DAT_DTO_COMPLETION_EVENT_DATA* data = &event.event_data.dto_completion_event_data;
  if (data->status != DAT_DTO_SUCCESS) fail("a transfer failed with status", data->status);
  printf("received: %.*s\n", (int)data->transfered_length, side->buffer[0]);
}

static void server(char* ia_name) {
  struct side side = {.async_evd = DAT_HANDLE_NULL};
  DAT_PSP_HANDLE psp;
  DAT_CONN_QUAL qualifier;
  DAT_CR_PARAM request;
  open_side(&side, ia_name);
  CHECK(dat_psp_create_any(side.ia, &qualifier, side.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  printf("connection qualifier: %" PRIu64 "\n", qualifier);
  fflush(stdout);
  for (;;) {
    const DAT_EVENT event = next_event(side.cr_evd, DAT_TIMEOUT_INFINITE);
    const DAT_CR_HANDLE cr = event.event_data.cr_arrival_event_data.cr_handle;
    CHECK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
    if (request.private_data_size >= (DAT_COUNT)sizeof(kGreeting) &&
        memcmp(request.private_data, kGreeting, sizeof(kGreeting)) == 0) {
      CHECK(dat_cr_accept(cr, side.ep, 0, NULL));
      break;
    }
    CHECK(dat_cr_reject(cr)); /* gives no reason: no private data in 1.2 */
  }
  CHECK(dat_psp_free(psp));
  expect_connection_event(&side, DAT_CONNECTION_EVENT_ESTABLISHED);
  print_state(&side);
  print_received(&side);
  send_text(&side, "welcome");
  expect_connection_event(&side, DAT_CONNECTION_EVENT_DISCONNECTED);
  print_state(&side);
  close_side(&side);
}

/* Without an address the client connects to that of its own adapter. */
static void client(char* ia_name, DAT_CONN_QUAL qualifier, char* greeting, DAT_SOCK_ADDR* address) {
  struct side side = {.async_evd = DAT_HANDLE_NULL};
  DAT_IA_ATTR attr;
  open_side(&side, ia_name);
  CHECK(dat_ia_query(side.ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL));
  if (address == NULL) address = attr.ia_address_ptr;
  CHECK(dat_ep_connect(side.ep, address, qualifier, kPatienceUs, strlen(greeting) + 1, greeting,
                       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  expect_connection_event(&side, DAT_CONNECTION_EVENT_ESTABLISHED);
  print_state(&side);
  send_text(&side, "a message");
  print_received(&side);
  CHECK(dat_ep_disconnect(side.ep, DAT_CLOSE_GRACEFUL_FLAG));
  expect_connection_event(&side, DAT_CONNECTION_EVENT_DISCONNECTED);
  print_state(&side);
  close_side(&side);
}

int main(int argc, char** argv) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  DAT_CONN_QUAL qualifier = 0;
  char *ia_name = "softnet-lo", *end = "";
  if (argc >= 2 && argc <= 3 && strcmp(argv[1], "server") == 0) {
    server(argc > 2 ? argv[2] : ia_name);
  } else if (argc >= 3 && argc <= 6 && strcmp(argv[1], "client") == 0 &&
             (qualifier = strtoull(argv[2], &end, 10)) != 0 && *end == '\0' &&
             (argc < 6 || inet_pton(AF_INET, argv[5], &address.sin_addr) == 1)) {
    client(argc > 3 ? argv[3] : ia_name, qualifier, argc > 4 ? argv[4] : kGreeting,
           argc > 5 ? (DAT_SOCK_ADDR*)&address : NULL);
  } else {
    const int help = argc == 2 && strcmp(argv[1], "--help") == 0;
    fprintf(help ? stdout : stderr,
            "usage: connection12 server [IA]\n"
            "       connection12 client QUALIFIER [IA [GREETING [IPV4-ADDRESS]]]\n"
            "exit status: 0 all went well, 1 a call failed, 2 usage, 3 no connection\n");
    return help ? 0 : kUsage;
  }
}
