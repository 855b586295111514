// SPDX-License-Identifier: BSD-3-Clause
// Ten thousand lives of a connection, from several threads at once. Endpoints are created,
// connected, disconnected in every way, and freed. Every connection has its events, and nothing is
// left.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kCycles = 100;
#else
constexpr int kCycles = 2'500;  // of each thread
#endif
constexpr int kThreads = 4;

// The endpoints of one thread, with the service point that joins them.
class Couple {
 public:
  explicit Couple(const Ia& ia) : ia_(ia), a_(ia), b_(ia) {
    EXPECT_DAT_OK(service_.ListenAny(ia, b_.cr_evd));
  }
  ~Couple() { EXPECT_DAT_OK(service_.Free()); }
  Couple(const Couple&) = delete;
  Couple& operator=(const Couple&) = delete;

  // One life of a connection. The number chooses how it ends.
  void Cycle(int number) {
    ASSERT_DAT_OK(StartConnect(a_.ep, ia_.address(), service_.qualifier()));
    ASSERT_TRUE(AcceptNext(b_.cr_evd, b_.ep));
    ASSERT_TRUE(ExpectOf(a_, DAT_CONNECTION_EVENT_ESTABLISHED));
    ASSERT_TRUE(ExpectOf(b_, DAT_CONNECTION_EVENT_ESTABLISHED));
    End& first = number % 2 == 0 ? a_ : b_;
    End& second = number % 2 == 0 ? b_ : a_;
    switch (number % 5) {
      case 0:
        ASSERT_DAT_OK(dat_ep_disconnect(first.ep, DAT_CLOSE_ABRUPT_FLAG));
        break;
      case 1:
        ASSERT_DAT_OK(dat_ep_disconnect(first.ep, DAT_CLOSE_GRACEFUL_FLAG));
        break;
      case 2:
        ASSERT_DAT_OK(dat_ep_disconnect(first.ep, DAT_CLOSE_ABRUPT_FLAG));
        ASSERT_DAT_OK(dat_ep_disconnect(second.ep, DAT_CLOSE_GRACEFUL_FLAG));
        break;
      default:
        // Frees the connected endpoint. The other end learns of it.
        Renew(first);
    }
    if (number % 5 < 3) {
      ASSERT_TRUE(ExpectOf(first, DAT_CONNECTION_EVENT_DISCONNECTED));
      Renew(first);
    }
    if (number % 5 == 4) {
      // The second endpoint is freed too. It may or may not have learned of the end.
      Renew(second);
      DAT_EVENT event{};
      while (dat_evd_dequeue(second.connect_evd, &event) == DAT_SUCCESS) {
        EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
      }
    } else {
      ASSERT_TRUE(ExpectOf(second, DAT_CONNECTION_EVENT_DISCONNECTED));
      Renew(second);
    }
    for (const End* end : {&a_, &b_}) {
      DAT_EVENT more{};
      EXPECT_DAT_TYPE(dat_evd_dequeue(end->connect_evd, &more), DAT_QUEUE_EMPTY);
    }
  }

 private:
  // Expects that the next connection event is this one, of the end's own endpoint.
  static bool ExpectOf(const End& end, DAT_EVENT_NUMBER number) {
    DAT_EVENT event{};
    if (!Expect(end.connect_evd, number, &event)) return false;
    EXPECT_EQ(event.event_data.connect_event_data.ep_handle, end.ep);
    return event.event_data.connect_event_data.ep_handle == end.ep;
  }
  // Frees the endpoint and makes another one.
  void Renew(End& end) {
    EXPECT_DAT_OK(end.ep.Free());
    EXPECT_DAT_OK(end.ep.Create(ia_, ia_.pz(), end.evds()));
  }

  const Ia& ia_;
  End a_;
  End b_;
  client::ServicePoint service_;
};

void Storm(const Ia& ia, int cycles) {
  std::atomic<int> done{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&ia, &done, cycles, t] {
        Couple couple(ia);
        for (int i = 0; i < cycles && !testing::Test::HasFailure(); ++i) {
          couple.Cycle(i + t);
          ++done;
        }
      });
    }
  }
  EXPECT_EQ(done.load(), kThreads * cycles);
}

TEST(CycleStormTest, TenThousandLivesFromSeveralThreads) {
  Ia ia;
  Storm(ia, kCycles / 50);
  ASSERT_TRUE(Eventually([&] {  // descriptors that the first ones leave while TCP says goodbye
    const size_t now = OpenDescriptors().size();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return OpenDescriptors().size() == now;
  }));
  const size_t fds = OpenDescriptors().size();
  const size_t threads = Threads();
  Storm(ia, kCycles);
  EXPECT_TRUE(Eventually([&] { return OpenDescriptors().size() <= fds && Threads() <= threads; }))
      << OpenDescriptors().size() << " descriptors, " << fds << " before; " << Threads()
      << " threads, " << threads << " before";
  DAT_EVENT event{};
  EXPECT_DAT_TYPE(dat_evd_dequeue(ia.async_evd(), &event), DAT_QUEUE_EMPTY);
  EXPECT_DAT_OK(ia.Close(DAT_CLOSE_ABRUPT_FLAG));
}

}  // namespace
}  // namespace softdat::field
