// SPDX-License-Identifier: BSD-3-Clause
// The passive program of other_process_test: registers memory, tells where it is, accepts one
// connection and then makes no DAT call at all: it polls the last byte of its buffer until the
// writer has been through all rounds. Exit status 0 when every round arrived whole.
//
//   rdma_target BYTES ROUNDS    writes "QUALIFIER ADDRESS CONTEXT\n" to standard output
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "dat2/udat.h"

namespace {

[[noreturn]] void Fail(const char* what, DAT_RETURN ret) {
  const char* major = "";
  const char* minor = "";
  dat_strerror(ret, &major, &minor);
  std::fprintf(stderr, "rdma_target: %s: %s %s\n", what, major, minor);
  std::exit(1);
}

void Check(const char* what, DAT_RETURN ret) {
  if (ret != DAT_SUCCESS) Fail(what, ret);
}

DAT_EVD_HANDLE NewEvd(DAT_IA_HANDLE ia, int flags) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  Check("dat_evd_create",
        dat_evd_create(ia, 16, DAT_HANDLE_NULL, static_cast<DAT_EVD_FLAGS>(flags), &evd));
  return evd;
}

// Round r fills the buffer with r; the answer is r in the word behind it, which the writer reads by
// RDMA.
bool PollRounds(uint8_t* buffer, size_t bytes, int rounds) {
  uint64_t* const answer = reinterpret_cast<uint64_t*>(buffer + (bytes + 7) / 8 * 8);
  for (int round = 1; round <= rounds; ++round) {
    const auto value = static_cast<uint8_t>(round);
    while (__atomic_load_n(buffer + bytes - 1, __ATOMIC_ACQUIRE) != value) sched_yield();
    for (size_t i = 0; i < bytes; ++i) {
      if (buffer[i] == value) continue;
      std::fprintf(stderr, "rdma_target: byte %zu of round %d came after the last one\n", i, round);
      return false;
    }
    __atomic_store_n(answer, static_cast<uint64_t>(round), __ATOMIC_RELEASE);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const size_t bytes = std::strtoull(argv[1], nullptr, 10);
  const int rounds = std::atoi(argv[2]);
  char name[256];
  const char* ia_name = std::getenv("SOFTDAT_TEST_IA");
  std::snprintf(name, sizeof(name), "%s", ia_name != nullptr ? ia_name : "softnet-lo");
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  Check("dat_ia_open", dat_ia_open(name, 8, &async, &ia));
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  Check("dat_pz_create", dat_pz_create(ia, &pz));
  std::vector<uint64_t> memory((bytes + 7) / 8 + 1);
  DAT_REGION_DESCRIPTION region{};
  region.for_va = memory.data();
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT local = 0;
  DAT_RMR_CONTEXT remote = 0;
  DAT_VLEN size = 0;
  DAT_VADDR address = 0;
  Check("dat_lmr_create", dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, memory.size() * 8, pz,
                                         DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, &local,
                                         &remote, &size, &address));
  const DAT_EVD_HANDLE dto = NewEvd(ia, DAT_EVD_DTO_FLAG);
  const DAT_EVD_HANDLE connection = NewEvd(ia, DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  Check("dat_ep_create", dat_ep_create(ia, pz, dto, dto, connection, nullptr, &ep));
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  Check("dat_psp_create_any",
        dat_psp_create_any(ia, &qualifier, connection, DAT_PSP_CONSUMER_FLAG, &psp));
  std::printf("%llu %llu %u\n", static_cast<unsigned long long>(qualifier),
              static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(memory.data())), remote);
  std::fflush(stdout);
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  Check("wait for a request", dat_evd_wait(connection, 30'000'000, 1, &event, &nmore));
  Check("dat_cr_accept",
        dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, nullptr));
  Check("wait for the connection", dat_evd_wait(connection, 30'000'000, 1, &event, &nmore));
  if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) Fail("not established", DAT_SUCCESS);
  if (!PollRounds(reinterpret_cast<uint8_t*>(memory.data()), bytes, rounds)) return 1;
  // The writer reads the last answer before it disconnects.
  Check("wait for the end", dat_evd_wait(connection, 30'000'000, 1, &event, &nmore));
  Check("dat_ia_close", dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
  return 0;
}
