/* SPDX-License-Identifier: BSD-3-Clause */
/* window12.c: a memory window (RMR) of uDAPL 1.2, from its bind to the end of the connection that
 * still wanted to use it.
 *
 * Two connected end points (EPs) play two programs. The owner binds a window to a part of its
 * memory and advertises it by a message. The writer puts data there by RDMA write. The owner then
 * unbinds the window, which costs a request and no registration, and the writer tries again. Such a
 * write is refused: it completes with DAT_DTO_ERR_REMOTE_ACCESS, and the connection breaks at both
 * ends. iWARP adapters, and softnet with SOFTDAT_COMPLETION=taken, complete a write when their TCP
 * has it, and know no more at that time. They report it as a success before the connection breaks.
 *
 *   cc -o window12 window12.c $(pkg-config --cflags --libs dat)
 *   ./window12 [IA]
 */
#include <dat/udat.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kFailedCall = 1, kUsage = 2, kUnexpected = 3 }; /* exit statuses */
enum { kMemorySize = 4096, kWindowOffset = 1024, kWindowSize = 256, kPatienceUs = 30000000 };

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;

/* One of the two programs. */
struct side {
  DAT_EVD_HANDLE connect_evd, recv_evd, request_evd;
  DAT_EP_HANDLE ep;
  DAT_LMR_HANDLE lmr;
  DAT_LMR_CONTEXT lmr_context;
  char memory[kMemorySize];
};

/* The owner's message to the writer. It is no triplet, since those of 1.2 and 2.0 differ. */
struct advertisement {
  uint64_t address;
  uint32_t length, context;
};

#define CHECK(call) check((call), #call)
static void check(DAT_RETURN result, const char* call) {
  const char *type = "?", *subtype = "?";
  if (result == DAT_SUCCESS) return;
  dat_strerror(result, &type, &subtype);
  fprintf(stderr, "window12: %s: %s %s\n", call, type, subtype);
  exit(kFailedCall);
}

static DAT_EVENT next_event(DAT_EVD_HANDLE evd) {
  DAT_EVENT event;
  DAT_COUNT more;
  CHECK(dat_evd_wait(evd, kPatienceUs, 1, &event, &more));
  return event;
}

/* `number`, an event or a status, must be the one that the step should give. */
static void expect(const char* step, int number, int wanted) {
  if (number == wanted) return;
  fprintf(stderr, "window12: %s: %#x came instead of %#x\n", step, number, wanted);
  exit(kUnexpected);
}

static int dto_status(DAT_EVD_HANDLE evd) {
  return next_event(evd).event_data.dto_completion_event_data.status;
}

static DAT_LMR_TRIPLET local(struct side* side, size_t offset, DAT_VLEN length) {
  return (DAT_LMR_TRIPLET){.virtual_address = (uintptr_t)side->memory + offset,
                           .segment_length = length,
                           .lmr_context = side->lmr_context};
}

/* The window grants remote write. The context of the region stays with its owner. */
static void open_side(struct side* side) {
  const DAT_EVD_FLAGS request_flags = DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG;
  const DAT_REGION_DESCRIPTION region = {.for_va = side->memory};
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &side->connect_evd));
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &side->recv_evd));
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, request_flags, &side->request_evd));
  CHECK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, kMemorySize, pz, DAT_MEM_PRIV_ALL_FLAG,
                       &side->lmr, &side->lmr_context, NULL, NULL, NULL));
  CHECK(
      dat_ep_create(ia, pz, side->recv_evd, side->request_evd, side->connect_evd, NULL, &side->ep));
}

static void close_side(struct side* side) {
  CHECK(dat_ep_free(side->ep));
  CHECK(dat_lmr_free(side->lmr));
  CHECK(dat_evd_free(side->request_evd));
  CHECK(dat_evd_free(side->recv_evd));
  CHECK(dat_evd_free(side->connect_evd));
}

static void connect_sides(struct side* owner, struct side* writer) {
  DAT_EVD_HANDLE cr_evd;
  DAT_PSP_HANDLE psp;
  DAT_CONN_QUAL qualifier;
  DAT_IA_ATTR attr;
  CHECK(dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL));
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &cr_evd));
  CHECK(dat_psp_create_any(ia, &qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  CHECK(dat_ep_connect(writer->ep, attr.ia_address_ptr, qualifier, kPatienceUs, 0, NULL,
                       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  const DAT_EVENT request = next_event(cr_evd);
  CHECK(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, owner->ep, 0, NULL));
  expect("accept", next_event(owner->connect_evd).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect("connect", next_event(writer->connect_evd).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
  CHECK(dat_psp_free(psp));
  CHECK(dat_evd_free(cr_evd));
}

/* Sends a message from the start of the sender's memory to the start of the receiver's. */
static void send_message(struct side* from, struct side* to, DAT_VLEN size) {
  DAT_LMR_TRIPLET source = local(from, 0, size), target = local(to, 0, size);
  const DAT_DTO_COOKIE cookie = {.as_64 = 0};
  CHECK(dat_ep_post_recv(to->ep, 1, &target, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  CHECK(dat_ep_post_send(from->ep, 1, &source, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  expect("send", dto_status(from->request_evd), DAT_DTO_SUCCESS);
  expect("receive", dto_status(to->recv_evd), DAT_DTO_SUCCESS);
}

/* The triplet's context names the region. Length 0 unbinds. The completion ends the bind. */
static DAT_RMR_CONTEXT bind_window(DAT_RMR_HANDLE rmr, struct side* owner, DAT_VLEN length) {
  const DAT_LMR_TRIPLET part = local(owner, kWindowOffset, length);
  const DAT_RMR_COOKIE cookie = {.as_64 = 0};
  DAT_RMR_CONTEXT context = 0;
  CHECK(dat_rmr_bind(rmr, &part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, owner->ep, cookie,
                     DAT_COMPLETION_DEFAULT_FLAG, &context));
  const DAT_EVENT event = next_event(owner->request_evd);
  expect("bind", event.event_data.rmr_completion_event_data.status, DAT_RMR_BIND_SUCCESS);
  return context;
}

static int write_to(struct side* writer, const struct advertisement* window, const char* text) {
  DAT_LMR_TRIPLET source = local(writer, kWindowOffset, strlen(text) + 1);
  const DAT_RMR_TRIPLET target = {.target_address = window->address,
                                  .segment_length = strlen(text) + 1,
                                  .rmr_context = window->context};
  const DAT_DTO_COOKIE cookie = {.as_64 = 0};
  memcpy(writer->memory + kWindowOffset, text, strlen(text) + 1);
  CHECK(
      dat_ep_post_rdma_write(writer->ep, 1, &source, cookie, &target, DAT_COMPLETION_DEFAULT_FLAG));
  return dto_status(writer->request_evd);
}

static void show_end(const char* who, struct side* side) {
  const DAT_EVENT_NUMBER event = next_event(side->connect_evd).event_number;
  if (event != DAT_CONNECTION_EVENT_DISCONNECTED)
    expect("the end of the connection", event, DAT_CONNECTION_EVENT_BROKEN);
  printf("%s: %s\n", who, event == DAT_CONNECTION_EVENT_BROKEN ? "broken" : "disconnected");
}

int main(int argc, char** argv) {
  static struct side owner, writer;
  struct advertisement window = {.length = kWindowSize};
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  DAT_RMR_HANDLE rmr;
  char* ia_name = argc > 1 ? argv[1] : "softnet-lo";
  if (argc > 2 || ia_name[0] == '-') {
    const int help = strcmp(ia_name, "--help") == 0;
    fprintf(
        help ? stdout : stderr,
        "usage: window12 [IA]\n"
        "exit status: 0 all as it should be, 1 a call failed, 2 usage, 3 something else came\n");
    return help ? 0 : kUsage;
  }
  check(dat_ia_open(ia_name, 8, &async_evd, &ia), ia_name);
  CHECK(dat_pz_create(ia, &pz));
  open_side(&owner);
  open_side(&writer);
  connect_sides(&owner, &writer);
  CHECK(dat_rmr_create(pz, &rmr));

  window.address = (uintptr_t)owner.memory + kWindowOffset;
  window.context = bind_window(rmr, &owner, kWindowSize);
  memcpy(owner.memory, &window, sizeof(window));
  send_message(&owner, &writer, sizeof(window));
  memcpy(&window, writer.memory, sizeof(window));
  printf("writer: a window of %" PRIu32 " bytes\n", window.length);

  expect("write", write_to(&writer, &window, "through the window"), DAT_DTO_SUCCESS);
  send_message(&writer, &owner, 1); /* arrives after the write, so the write has arrived too */
  printf("owner: %s\n", owner.memory + kWindowOffset);

  bind_window(rmr, &owner, 0);
  printf("owner: window revoked\n");
  printf("writer: write completed with status %#x\n", write_to(&writer, &window, "too late"));
  show_end("writer", &writer);
  show_end("owner", &owner);
  printf("owner: %s\n", owner.memory + kWindowOffset);

  CHECK(dat_rmr_free(rmr));
  close_side(&owner);
  close_side(&writer);
  CHECK(dat_pz_free(pz));
  CHECK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
  return 0;
}
