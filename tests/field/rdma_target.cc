// SPDX-License-Identifier: BSD-3-Clause
// The passive program of other_process_test. It registers memory, prints where that is, and accepts
// one connection. Then it makes no DAT call at all, but polls the last byte of its buffer until the
// writer has finished all rounds. The exit status is 0 if every round arrived whole.
//
//   rdma_target BYTES ROUNDS    writes "QUALIFIER ADDRESS CONTEXT\n" to standard output
#include <sched.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "tests/field/plain.h"

namespace softdat::field {
namespace {

// Round r fills the buffer with r. The answer is r in the word after the buffer, which the writer
// reads by RDMA.
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

int Main(int argc, char** argv) {
  if (argc != 3) return 2;
  const size_t bytes = std::strtoull(argv[1], nullptr, 10);
  const int rounds = std::atoi(argv[2]);
  const char* ia_name = std::getenv("SOFTDAT_TEST_IA");
  PlainIa ia(ia_name != nullptr ? ia_name : "softnet-lo");
  const PlainMemory memory(ia, (bytes + 7) / 8 + 1);
  const DAT_EVD_HANDLE dto = ia.NewEvd(DAT_EVD_DTO_FLAG, 16);
  const DAT_EVD_HANDLE connection = ia.NewEvd(DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG, 16);
  const DAT_EP_HANDLE ep = ia.NewEp({dto, dto, connection});
  client::ServicePoint service;
  MUST(service.ListenAny(ia.ia, connection));
  std::printf("%" PRIu64 " %" PRIu64 " %u\n", uint64_t{service.qualifier()}, memory.address(),
              memory.rmr_context());
  std::fflush(stdout);
  MUST(client::ConnectionRequest(ia.ia, MustWait(connection, DAT_CONNECTION_REQUEST_EVENT))
           .Accept(ep));
  MustWait(connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  if (!PollRounds(memory.data(), bytes, rounds)) return 1;
  // The writer reads the last answer before it disconnects.
  DAT_EVENT end{};
  MUST(client::WaitEvent(connection, kPlainPatienceUs, &end));
  MUST(ia.ia.Close());
  return 0;
}

}  // namespace
}  // namespace softdat::field

int main(int argc, char** argv) { return softdat::field::Main(argc, argv); }
