// SPDX-License-Identifier: BSD-3-Clause
// The program of handoff_process_test to which connection requests are handed. It listens on the
// qualifier HERE, or if that is 0, on one that the provider chooses, and prints it.
//
//   handoff_target serve QLEN HERE   for each line on standard input: takes the next request,
//                                    accepts it with the private data that it came with, sends one
//                                    message back as it came, and says "served"
//   handoff_target pass QUAL HERE    for each line: takes the next request, hands it on to QUAL,
//                                    and says "passed"
//
// A line "pass QUAL" is carried out as it says, whatever the mode.
// QLEN is the length of the queue for requests. The program ends at the end of its input. Its exit
// status is 0 if everything went well.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "tests/field/plain.h"

namespace softdat::field {
namespace {

std::string IaName() {
  const char* name = std::getenv("SOFTDAT_TEST_IA");
  return name != nullptr ? name : "softnet-lo";
}

struct Target {
  PlainIa ia{IaName()};
  DAT_EVD_HANDLE requests;
  DAT_EVD_HANDLE work = ia.NewEvd(DAT_EVD_DTO_FLAG, 16);
  DAT_EVD_HANDLE connection = ia.NewEvd(DAT_EVD_CONNECTION_FLAG, 16);
  PlainMemory memory{ia, 512};
  client::ServicePoint service;

  Target(DAT_COUNT qlen, DAT_CONN_QUAL here) : requests(ia.NewEvd(DAT_EVD_CR_FLAG, qlen)) {
    MUST(here == 0 ? service.ListenAny(ia.ia, requests) : service.Listen(ia.ia, requests, here));
  }

  // Takes the next request, which names this service point.
  client::ConnectionRequest TakeRequest() const {
    const DAT_EVENT event = MustWait(requests, DAT_CONNECTION_REQUEST_EVENT);
    const auto& request = event.event_data.cr_arrival_event_data;
    if (request.conn_qual != service.qualifier() || request.sp_handle.psp_handle != service.get()) {
      Die("the request names another service point");
    }
    return {ia.ia, event};
  }

  void Serve() {
    client::ConnectionRequest request = TakeRequest();
    DAT_CR_PARAM param{};
    MUST(dat_cr_query(request, DAT_CR_FIELD_ALL, &param));
    const DAT_EP_HANDLE ep = ia.NewEp({work, work, connection});
    MUST(client::PostReceive(ep, memory.Local(0, memory.size()), 0));
    MUST(request.Accept(ep, {static_cast<const uint8_t*>(param.private_data),
                             static_cast<size_t>(param.private_data_size)}));
    MustWait(connection, DAT_CONNECTION_EVENT_ESTABLISHED);
    const DAT_VLEN received = MustComplete(work).transfered_length;
    MUST(client::PostSend(ep, memory.Local(0, received), 0));
    MustWait(work, DAT_DTO_COMPLETION_EVENT);
    MustWait(connection, DAT_CONNECTION_EVENT_DISCONNECTED);
    MUST(dat_ep_free(ep));
    std::puts("served");
  }

  void Pass(DAT_CONN_QUAL to) const {
    MUST(TakeRequest().HandOff(to));
    std::puts("passed");
  }
};

int Main(int argc, char** argv) {
  if (argc != 4) return 2;
  const bool serve = std::strcmp(argv[1], "serve") == 0;
  const unsigned long long number = std::strtoull(argv[2], nullptr, 10);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Target target(serve ? static_cast<DAT_COUNT>(number) : 8, std::strtoull(argv[3], nullptr, 10));
  std::printf("%" PRIu64 "\n", uint64_t{target.service.qualifier()});
  std::string line;
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    unsigned long long other = 0;
    if (std::sscanf(std::exchange(line, {}).c_str(), "pass %llu", &other) == 1) {
      target.Pass(other);
    } else if (serve) {
      target.Serve();
    } else {
      target.Pass(number);
    }
  }
  MUST(target.service.Free());
  MUST(target.ia.ia.Close());
  return 0;
}

}  // namespace
}  // namespace softdat::field

int main(int argc, char** argv) { return softdat::field::Main(argc, argv); }
