// SPDX-License-Identifier: BSD-3-Clause
// A librds.so for the tests of the preload: it writes down what it is called with. What is sent on
// any of its sockets is received on any.
#ifndef SOFTDAT_RDS_PRELOAD_TESTING_FAKE_LIBRDS_H_
#define SOFTDAT_RDS_PRELOAD_TESTING_FAKE_LIBRDS_H_

#include <string>
#include <vector>

namespace softdat::rds::testing {

struct FakeLibrds {
  // "bind 16", "send 5 flags 64": the name, sizes and numbers. Without descriptors, which differ,
  // but for those of close, forget and duplicated. Without is_socket.
  std::vector<std::string> calls;
  // If not 0, the next call fails with it.
  int next_error = 0;
  // How many messages are ever received.
  int messages_left = 1'000'000;
};

}  // namespace softdat::rds::testing

extern "C" __attribute__((visibility("default"))) softdat::rds::testing::FakeLibrds* fake_librds();

#endif  // SOFTDAT_RDS_PRELOAD_TESTING_FAKE_LIBRDS_H_
