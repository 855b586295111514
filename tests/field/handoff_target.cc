// SPDX-License-Identifier: BSD-3-Clause
// The program of handoff_process_test that connection requests are handed to. It listens on a
// qualifier that the provider chooses and says which.
//
//   handoff_target serve QLEN   for each line on standard input: takes the next request, accepts it
//                               with the private data that it came with, sends one message back as
//                               it came, and says "served"
//   handoff_target pass QUAL    for each line: takes the next request, hands it on to QUAL, and
//                               says "passed"
//
// QLEN is the length of the queue for requests. Ends at the end of its input, with 0 when
// everything went as it should.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dat2/udat.h"

namespace {

constexpr DAT_TIMEOUT kPatienceUs = 30'000'000;

[[noreturn]] void Fail(const char* what, DAT_RETURN ret) {
  const char* major = "";
  const char* minor = "";
  dat_strerror(ret, &major, &minor);
  std::fprintf(stderr, "handoff_target: %s: %s %s\n", what, major, minor);
  std::exit(1);
}

void Check(const char* what, DAT_RETURN ret) {
  if (ret != DAT_SUCCESS) Fail(what, ret);
}

DAT_EVENT Next(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number) {
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  Check("dat_evd_wait", dat_evd_wait(evd, kPatienceUs, 1, &event, &nmore));
  if (event.event_number == number) return event;
  std::fprintf(stderr, "handoff_target: event %#x instead of %#x\n", event.event_number, number);
  std::exit(1);
}

struct Target {
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE requests = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE work = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connection = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT memory = 0;
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  uint8_t bytes[4096];

  DAT_EVD_HANDLE NewEvd(int flags, DAT_COUNT qlen) const {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    Check("dat_evd_create",
          dat_evd_create(ia, qlen, DAT_HANDLE_NULL, static_cast<DAT_EVD_FLAGS>(flags), &evd));
    return evd;
  }

  explicit Target(DAT_COUNT qlen) {
    char name[256];
    const char* ia_name = std::getenv("SOFTDAT_TEST_IA");
    std::snprintf(name, sizeof(name), "%s", ia_name != nullptr ? ia_name : "softnet-lo");
    Check("dat_ia_open", dat_ia_open(name, 8, &async, &ia));
    Check("dat_pz_create", dat_pz_create(ia, &pz));
    requests = NewEvd(DAT_EVD_CR_FLAG, qlen);
    work = NewEvd(DAT_EVD_DTO_FLAG, 16);
    connection = NewEvd(DAT_EVD_CONNECTION_FLAG, 16);
    DAT_REGION_DESCRIPTION region{};
    region.for_va = bytes;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_RMR_CONTEXT remote = 0;
    DAT_VLEN size = 0;
    DAT_VADDR address = 0;
    Check("dat_lmr_create",
          dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(bytes), pz, DAT_MEM_PRIV_ALL_FLAG,
                         DAT_VA_TYPE_VA, &lmr, &memory, &remote, &size, &address));
    Check("dat_psp_create_any",
          dat_psp_create_any(ia, &qualifier, requests, DAT_PSP_CONSUMER_FLAG, &psp));
  }

  // The next request, which names this service point.
  DAT_CR_HANDLE TakeRequest() const {
    const auto request =
        Next(requests, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
    if (request.conn_qual != qualifier || request.sp_handle.psp_handle != psp) {
      Fail("the request names another service point", DAT_SUCCESS);
    }
    return request.cr_handle;
  }

  void Serve() {
    const DAT_CR_HANDLE cr = TakeRequest();
    DAT_CR_PARAM param{};
    Check("dat_cr_query", dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    Check("dat_ep_create", dat_ep_create(ia, pz, work, work, connection, nullptr, &ep));
    DAT_LMR_TRIPLET iov{};
    iov.virtual_address = reinterpret_cast<uintptr_t>(bytes);
    iov.segment_length = sizeof(bytes);
    iov.lmr_context = memory;
    DAT_DTO_COOKIE cookie{};
    Check("dat_ep_post_recv", dat_ep_post_recv(ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    Check("dat_cr_accept", dat_cr_accept(cr, ep, param.private_data_size, param.private_data));
    Next(connection, DAT_CONNECTION_EVENT_ESTABLISHED);
    const auto received = Next(work, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
    if (received.status != DAT_DTO_SUCCESS) Fail("the receive failed", DAT_SUCCESS);
    iov.segment_length = static_cast<DAT_SEG_LENGTH>(received.transfered_length);
    Check("dat_ep_post_send", dat_ep_post_send(ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    Next(work, DAT_DTO_COMPLETION_EVENT);
    Next(connection, DAT_CONNECTION_EVENT_DISCONNECTED);
    Check("dat_ep_free", dat_ep_free(ep));
    std::puts("served");
  }

  void Pass(DAT_CONN_QUAL to) const {
    Check("dat_cr_handoff", dat_cr_handoff(TakeRequest(), to));
    std::puts("passed");
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool serve = std::strcmp(argv[1], "serve") == 0;
  const unsigned long long number = std::strtoull(argv[2], nullptr, 10);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  static Target target(serve ? static_cast<DAT_COUNT>(number) : 8);
  std::printf("%llu\n", static_cast<unsigned long long>(target.qualifier));
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != '\n') continue;
    if (serve) {
      target.Serve();
    } else {
      target.Pass(number);
    }
  }
  Check("dat_psp_free", dat_psp_free(target.psp));
  Check("dat_ia_close", dat_ia_close(target.ia, DAT_CLOSE_ABRUPT_FLAG));
  return 0;
}
