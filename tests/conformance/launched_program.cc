// SPDX-License-Identifier: BSD-3-Clause
// The program of launched_program_test. Two ends in one process send each other a message, and then
// the process leaves in the way that it is told.
//
//   launched_program IA close|abrupt|return|exit
//
// The exit status is 0 and standard output is "done" if all went well. Everything else on standard
// output or error is a fault of the library, which prints nothing.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/conformance/dat.h"

#ifdef __SANITIZE_ADDRESS__
static bool g_closed = true;
// LeakSanitizer asks this at exit. If a program closes nothing, threads of the library are still
// running then. The tracer cannot look at them (LLVM 14), and what they use is no leak.
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off() { return g_closed ? 0 : 1; }
#endif

namespace {

using softdat::conformance::CreateLmr;
using softdat::conformance::SegmentLength;

constexpr DAT_TIMEOUT kPatienceUs = 20'000'000;

void Check(const char* what, DAT_RETURN ret) {
  if (ret == DAT_SUCCESS) return;
  const char* major = "";
  const char* minor = "";
  dat_strerror(ret, &major, &minor);
  std::fprintf(stderr, "launched_program: %s: %s %s\n", what, major, minor);
  std::_Exit(1);
}

void Expect(const char* what, bool holds) {
  if (holds) return;
  std::fprintf(stderr, "launched_program: not so: %s\n", what);
  std::_Exit(1);
}

// One end with one event dispatcher.
struct End {
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT context = 0;
  char memory[64] = {};

  explicit End(char* name) {
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    Check("dat_ia_open", dat_ia_open(name, 8, &async, &ia));
    Check("dat_pz_create", dat_pz_create(ia, &pz));
    Check("dat_evd_create", dat_evd_create(ia, 32, DAT_HANDLE_NULL, DAT_EVD_DEFAULT_FLAG, &evd));
    Check("dat_ep_create", dat_ep_create(ia, pz, evd, evd, evd, nullptr, &ep));
    DAT_REGION_DESCRIPTION region{};
    region.for_va = memory;
    Check("dat_lmr_create",
          CreateLmr(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz, DAT_MEM_PRIV_ALL_FLAG,
                    &lmr, &context, nullptr, nullptr, nullptr));
  }
  DAT_EVENT Next() const {
    DAT_EVENT event{};
    DAT_COUNT nmore = 0;
    Check("dat_evd_wait", dat_evd_wait(evd, kPatienceUs, 1, &event, &nmore));
    return event;
  }
  DAT_LMR_TRIPLET Segment() const {
    DAT_LMR_TRIPLET segment{};
    segment.virtual_address = reinterpret_cast<uintptr_t>(memory);
    segment.segment_length = static_cast<SegmentLength>(sizeof memory);
    segment.lmr_context = context;
    return segment;
  }
  void Free() const {
    Check("dat_ep_free", dat_ep_free(ep));
    Check("dat_lmr_free", dat_lmr_free(lmr));
    Check("dat_evd_free", dat_evd_free(evd));
    Check("dat_pz_free", dat_pz_free(pz));
    Check("dat_ia_close", dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
  }
};

void Join(const End& a, const End& b) {
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  Check("dat_psp_create_any",
        dat_psp_create_any(b.ia, &qualifier, b.evd, DAT_PSP_CONSUMER_FLAG, &psp));
  DAT_IA_ATTR attr{};
  Check("dat_ia_query", dat_ia_query(b.ia, nullptr, DAT_IA_FIELD_ALL, &attr, 0, nullptr));
  Check("dat_ep_connect",
        dat_ep_connect(a.ep, attr.ia_address_ptr, qualifier, DAT_TIMEOUT_INFINITE, 0, nullptr,
                       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  const DAT_EVENT request = b.Next();
  Expect("a request comes", request.event_number == DAT_CONNECTION_REQUEST_EVENT);
  Check("dat_cr_accept",
        dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, b.ep, 0, nullptr));
  Expect("a is connected", a.Next().event_number == DAT_CONNECTION_EVENT_ESTABLISHED);
  Expect("b is connected", b.Next().event_number == DAT_CONNECTION_EVENT_ESTABLISHED);
  Check("dat_psp_free", dat_psp_free(psp));
}

void Pass(End& from, End& to) {
  DAT_DTO_COOKIE cookie{};
  DAT_LMR_TRIPLET in = to.Segment(), out = from.Segment();
  std::snprintf(from.memory, sizeof from.memory, "message of %d", getpid());
  Check("dat_ep_post_recv", dat_ep_post_recv(to.ep, 1, &in, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  Check("dat_ep_post_send",
        dat_ep_post_send(from.ep, 1, &out, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  Expect("the message arrives",
         to.Next().event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS);
  Expect("the send completes",
         from.Next().event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS);
  Expect("the message is whole", std::strcmp(from.memory, to.memory) == 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  static End a(argv[1]), b(argv[1]);
  Join(a, b);
  Pass(a, b);
  Pass(b, a);
  const char* const way = argv[2];
  if (std::strcmp(way, "close") == 0) {
    a.Free();
    b.Free();
  } else if (std::strcmp(way, "abrupt") == 0) {
    Check("dat_ia_close", dat_ia_close(a.ia, DAT_CLOSE_ABRUPT_FLAG));
    Check("dat_ia_close", dat_ia_close(b.ia, DAT_CLOSE_ABRUPT_FLAG));
  }
#ifdef __SANITIZE_ADDRESS__
  g_closed = std::strcmp(way, "return") != 0;
#endif
  std::puts("done");
  std::fflush(stdout);
  if (std::strcmp(way, "exit") == 0) _exit(0);
  return 0;
}
