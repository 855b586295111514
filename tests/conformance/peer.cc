// SPDX-License-Identifier: BSD-3-Clause
// The other process of peer_test. It serves one connection and obeys one-word commands on its
// standard input. While it waits for a command it makes no DAT call.
//
// usage: peer IA BYTES QUALIFIER
//   listens on QUALIFIER, or if that is 0, on one that the provider chooses
//   prints "listening QUALIFIER", then "connected" when it is connected; then reads
//     sum        prints "sum N", the sum of its buffer's bytes
//     receive N  posts N receives into its buffer, prints "posted"
//     leave      exits without closing anything
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "tests/conformance/dat.h"
#include "tests/conformance/peer_protocol.h"

namespace {

using softdat::conformance::CreateLmr;
using softdat::conformance::SegmentLength;
using softdat::conformance::TargetDescription;

// Ends the process with one line when a call fails.
void Check(DAT_RETURN ret, const char* what) {
  if (ret == DAT_SUCCESS) return;
  const char* major = "?";
  const char* minor = "?";
  dat_strerror(ret, &major, &minor);
  std::cout << "failed " << what << ' ' << major << ' ' << minor << std::endl;
  std::_Exit(1);
}

DAT_EVENT Wait(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER expected, const char* what) {
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  Check(dat_evd_wait(evd, 20'000'000, 1, &event, &nmore), what);
  if (event.event_number != expected) Check(DAT_INTERNAL_ERROR, what);
  return event;
}

struct Target {
  explicit Target(size_t bytes) : buffer(bytes) {}

  void Open(std::string name) {
    Check(dat_ia_open(name.data(), 8, &async_evd, &ia), "dat_ia_open");
    Check(dat_pz_create(ia, &pz), "dat_pz_create");
    Check(dat_evd_create(ia, 64, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &dto_evd), "dat_evd_create");
    Check(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connect_evd),
          "dat_evd_create");
    Check(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &cr_evd), "dat_evd_create");
    Check(dat_ep_create(ia, pz, dto_evd, dto_evd, connect_evd, nullptr, &ep), "dat_ep_create");
    DAT_REGION_DESCRIPTION region{};
    region.for_va = buffer.data();
    Check(CreateLmr(ia, DAT_MEM_TYPE_VIRTUAL, region, buffer.size(), pz, DAT_MEM_PRIV_ALL_FLAG,
                    &lmr, &lmr_context, &rmr_context, nullptr, nullptr),
          "dat_lmr_create");
  }

  void Serve(DAT_CONN_QUAL qualifier) {
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    Check(qualifier == 0 ? dat_psp_create_any(ia, &qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp)
                         : dat_psp_create(ia, qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp),
          "dat_psp_create");
    std::cout << "listening " << qualifier << std::endl;
    const DAT_EVENT event = Wait(cr_evd, DAT_CONNECTION_REQUEST_EVENT, "connection request");
    TargetDescription target{reinterpret_cast<uintptr_t>(buffer.data()), buffer.size(),
                             rmr_context};
    Check(
        dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, sizeof target, &target),
        "dat_cr_accept");
    Wait(connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED, "established");
    std::cout << "connected" << std::endl;
  }

  void Receive(int count) {
    for (int i = 0; i < count; ++i) {
      DAT_LMR_TRIPLET iov{};
      iov.virtual_address = reinterpret_cast<uintptr_t>(buffer.data());
      iov.segment_length = static_cast<SegmentLength>(buffer.size());
      iov.lmr_context = lmr_context;
      DAT_DTO_COOKIE cookie{};
      Check(dat_ep_post_recv(ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_recv");
    }
    std::cout << "posted" << std::endl;
  }

  // ThreadSanitizer sees a race, because another process has this one's helper write the memory.
  __attribute__((no_sanitize("thread"))) uint64_t Sum() const {
    uint64_t sum = 0;
    for (const uint8_t* p = buffer.data(); p != buffer.data() + buffer.size(); ++p) sum += *p;
    return sum;
  }

  std::vector<uint8_t> buffer;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE dto_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connect_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE cr_evd = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context = 0;
  DAT_RMR_CONTEXT rmr_context = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: peer IA BYTES QUALIFIER\n";
    return 2;
  }
  Target target(std::strtoull(argv[2], nullptr, 10));
  target.Open(argv[1]);
  target.Serve(std::strtoull(argv[3], nullptr, 10));
  std::string command;
  while (std::cin >> command && command != "leave") {
    if (command == "sum") {
      std::cout << "sum " << target.Sum() << std::endl;
    } else if (command == "receive") {
      int count = 0;
      std::cin >> count;
      target.Receive(count);
    }
  }
  std::_Exit(0);
}
