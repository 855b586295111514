// SPDX-License-Identifier: BSD-3-Clause
// A forked child that opens the IA anew knows nothing of its parent's service points: to it they
// are another process's.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// Qualifiers above 65535 that are so far apart fold to one port (dat/backend_kit/qualifier_port.h).
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

DAT_RETURN Listen(const End& end, DAT_CONN_QUAL qualifier, DAT_PSP_HANDLE* psp) {
  return dat_psp_create(end.ia().handle(), qualifier, end.cr_evd, DAT_PSP_CONSUMER_FLAG, psp);
}

// A request that reached the child goes to `qualifier`, where the parent listens.
void HandOff(const Ia& ia, DAT_CONN_QUAL qualifier) {
  const End peer(ia);
  const End here(ia);
  DAT_CONN_QUAL own = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  ASSERT_DAT_OK(dat_psp_create_any(ia.handle(), &own, here.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  ASSERT_DAT_OK(StartConnect(peer.ep, ia.address(), own));
  DAT_EVENT event{};
  ASSERT_TRUE(Expect(here.cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event));
  ASSERT_DAT_OK(dat_cr_handoff(event.event_data.cr_arrival_event_data.cr_handle, qualifier));
  EXPECT_TRUE(Expect(peer.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  EXPECT_DAT_OK(dat_psp_free(psp));
}

// Both of `qualifier` and its neighbour on the same port are free, and take connections.
void ListenThere(const Ia& ia, DAT_CONN_QUAL qualifier) {
  for (const DAT_CONN_QUAL first : {qualifier, qualifier + kSamePort}) {
    const DAT_CONN_QUAL second = first == qualifier ? qualifier + kSamePort : qualifier;
    const End active(ia);
    const End passive(ia);
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_PSP_HANDLE beside = DAT_HANDLE_NULL;
    ASSERT_DAT_OK(Listen(passive, first, &psp));
    ASSERT_DAT_OK(Listen(passive, second, &beside));
    EXPECT_DAT_OK(StartConnect(active.ep, ia.address(), second));
    EXPECT_TRUE(AcceptNext(passive.cr_evd, passive.ep));
    EXPECT_TRUE(Expect(active.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
    EXPECT_DAT_OK(dat_psp_free(psp));
    EXPECT_DAT_OK(dat_psp_free(beside));
  }
}

TEST(ForkServicePoint, TheParentsIsAnotherProcesss) {
  const Ia ia;
  const End here(ia);
  std::random_device random;
  const DAT_CONN_QUAL qualifier =
      (uint64_t{0xAC} << 56) + (static_cast<uint64_t>(getpid()) << 20) + random() % 1000;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  ASSERT_DAT_OK(Listen(here, qualifier, &psp));
  const Pipe taken;
  const Pipe freed;
  const int child = StartChild([&]() -> int {
    const Ia own;
    HandOff(own, qualifier);
    const End end(own);
    DAT_PSP_HANDLE none = DAT_HANDLE_NULL;
    EXPECT_DAT_TYPE(Listen(end, qualifier, &none), DAT_CONN_QUAL_IN_USE);
    EXPECT_DAT_TYPE(Listen(end, qualifier + kSamePort, &none), DAT_CONN_QUAL_IN_USE);
    taken.Tell();
    freed.Await();
    ListenThere(own, qualifier);
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_TRUE(AcceptNext(here.cr_evd, here.ep));
  EXPECT_TRUE(Expect(here.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  taken.Await();
  EXPECT_DAT_OK(dat_psp_free(psp));
  freed.Tell();
  EXPECT_EQ(WaitForChild(child), 0);
}

// Not under AddressSanitizer: its allocator has locks of its own, which a child of a process with
// busy threads may find held.
#if !defined(__SANITIZE_ADDRESS__)
// Whichever lock a thread of the parent holds at that moment, the child listens.
TEST(ForkServicePoint, WhileThreadsOfTheParentOpenAndListen) {
  constexpr int kForks = 100;
  const auto listen_once = [] {
    const Ia ia;
    const End end(ia);
    DAT_CONN_QUAL qualifier = 0;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    EXPECT_DAT_OK(
        dat_psp_create_any(ia.handle(), &qualifier, end.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
    EXPECT_DAT_OK(dat_psp_free(psp));
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
#endif

}  // namespace
}  // namespace softdat::field
