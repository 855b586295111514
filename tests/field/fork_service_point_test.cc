// SPDX-License-Identifier: BSD-3-Clause
// A forked child that opens the IA anew knows nothing of its parent's service points. To the child
// they belong to another process.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <thread>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// Qualifiers above 65535 with this distance fold to one port (dat/backend_kit/qualifier_port.h).
constexpr DAT_CONN_QUAL kSamePort = 32768 - 1024;

class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe2(fds_, O_CLOEXEC), 0); }
  ~Pipe() {
    close(fds_[0]);
    close(fds_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void Tell() const { EXPECT_EQ(write(fds_[1], "", 1), 1); }
  void Await() const {
    char byte = 0;
    pollfd p{fds_[0], POLLIN, 0};
    ASSERT_EQ(poll(&p, 1, kPatienceUs / 1000), 1);
    EXPECT_EQ(read(fds_[0], &byte, 1), 1);
  }

 private:
  int fds_[2] = {-1, -1};
};

// A request that reached the child is handed to `qualifier`, where the parent listens.
void HandOff(const Ia& ia, DAT_CONN_QUAL qualifier) {
  const End peer(ia);
  const End here(ia);
  client::ServicePoint psp;
  ASSERT_DAT_OK(psp.ListenAny(ia, here.cr_evd));
  ASSERT_DAT_OK(StartConnect(peer.ep, ia.address(), psp.qualifier()));
  DAT_EVENT event{};
  ASSERT_TRUE(Expect(here.cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event));
  ASSERT_DAT_OK(dat_cr_handoff(event.event_data.cr_arrival_event_data.cr_handle, qualifier));
  EXPECT_TRUE(Expect(peer.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  EXPECT_DAT_OK(psp.Free());
}

// `qualifier` and its neighbour on the same port are both free, and take connections.
void ListenThere(const Ia& ia, DAT_CONN_QUAL qualifier) {
  for (const DAT_CONN_QUAL first : {qualifier, qualifier + kSamePort}) {
    const DAT_CONN_QUAL second = first == qualifier ? qualifier + kSamePort : qualifier;
    const End active(ia);
    const End passive(ia);
    client::ServicePoint psp;
    client::ServicePoint beside;
    ASSERT_DAT_OK(psp.Listen(ia, passive.cr_evd, first));
    ASSERT_DAT_OK(beside.Listen(ia, passive.cr_evd, second));
    EXPECT_DAT_OK(StartConnect(active.ep, ia.address(), second));
    EXPECT_TRUE(AcceptNext(passive.cr_evd, passive.ep));
    EXPECT_TRUE(Expect(active.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
    EXPECT_DAT_OK(psp.Free());
    EXPECT_DAT_OK(beside.Free());
  }
}

TEST(ForkServicePoint, TheParentsIsAnotherProcesss) {
  const Ia ia;
  const End here(ia);
  const DAT_CONN_QUAL qualifier = FreeLargeQualifier(ia);
  client::ServicePoint psp;
  ASSERT_DAT_OK(psp.Listen(ia, here.cr_evd, qualifier));
  const Pipe taken;
  const Pipe freed;
  const int child = StartChild([&]() -> int {
    const Ia own;
    HandOff(own, qualifier);
    const End end(own);
    client::ServicePoint none;
    EXPECT_DAT_TYPE(none.Listen(own, end.cr_evd, qualifier), DAT_CONN_QUAL_IN_USE);
    EXPECT_DAT_TYPE(none.Listen(own, end.cr_evd, qualifier + kSamePort), DAT_CONN_QUAL_IN_USE);
    taken.Tell();
    freed.Await();
    ListenThere(own, qualifier);
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_TRUE(AcceptNext(here.cr_evd, here.ep));
  EXPECT_TRUE(Expect(here.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  taken.Await();
  EXPECT_DAT_OK(psp.Free());
  freed.Tell();
  EXPECT_EQ(WaitForChild(child), 0);
}

// The child listens, whichever lock a thread of the parent holds at the moment of the fork.
TEST(ForkServicePoint, WhileThreadsOfTheParentOpenAndListen) {
  constexpr int kForks = 100;
  const auto listen_once = [] {
    const Ia ia;
    const End end(ia);
    client::ServicePoint psp;
    EXPECT_DAT_OK(psp.ListenAny(ia, end.cr_evd));
    EXPECT_DAT_OK(psp.Free());
  };
  const Ia keeper;  // the library stays loaded
  std::jthread churn([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) listen_once();
  });
  for (int i = 0; i < kForks; ++i) {
    ASSERT_EQ(WaitForChild(StartChild([&]() -> int {
                listen_once();
                return testing::Test::HasFailure() ? 1 : 0;
              })),
              0)
        << "fork " << i;
  }
}

}  // namespace
}  // namespace softdat::field
