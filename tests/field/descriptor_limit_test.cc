// SPDX-License-Identifier: BSD-3-Clause
// A process has no descriptor left. DAT calls fail with DAT_INSUFFICIENT_RESOURCES, or a connection
// attempt fails with an event. Everything works again when there are descriptors.
#include <memory>
#include <vector>

#include "tests/field/few_descriptors.h"
#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

void Exchange(const End& a, const End& b, const Memory& memory, uint64_t n) {
  ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), n));
  ASSERT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), n));
  ASSERT_TRUE(ExpectDto(b.recv_evd, n, 8));
  ASSERT_TRUE(ExpectDto(a.request_evd, n, 8));
}

// With every number of descriptors left, from none to plenty, an open works or fails cleanly.
TEST(DescriptorLimitTest, OpeningAnIa) {
  WarmUp();
  const std::set<int> before = OpenDescriptors();
  for (int left = 0; left < 12; ++left) {
    {
      const FewDescriptors few(left);
      std::string name = IaName();
      DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
      DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
      const DAT_RETURN ret = dat_ia_open(name.data(), 8, &async, &ia);
      if (ret == DAT_SUCCESS) {
        EXPECT_DAT_OK(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
      } else {
        EXPECT_EQ(DAT_GET_TYPE(ret), DAT_RETURN{DAT_INSUFFICIENT_RESOURCES})
            << Text(ret) << " with " << left << " descriptors left";
      }
    }
    EXPECT_EQ(OpenDescriptors(), before) << "with " << left << " left";
  }
  const Ia works;
}

// Connects with every number of descriptors left. The connection is established, or there is one
// final event on the active side. An older connection goes on.
TEST(DescriptorLimitTest, Connecting) {
  Ia ia;
  Memory memory(ia, 4096);
  End a(ia);
  End b(ia);
  ASSERT_TRUE(Join(a, b));
  client::ServicePoint psp;
  ASSERT_DAT_OK(psp.ListenAny(ia, b.cr_evd));
  const DAT_CONN_QUAL qualifier = psp.qualifier();
  uint64_t n = 0;
  for (int left = 0; left < 6; ++left) {
    SCOPED_TRACE(std::to_string(left) + " descriptors left");
    End active(ia);
    End passive(ia);
    {
      FewDescriptors few(left);
      const DAT_RETURN ret = StartConnect(active.ep, ia.address(), qualifier, 3'000'000);
      Exchange(a, b, memory, ++n);
      if (ret != DAT_SUCCESS) {
        EXPECT_EQ(DAT_GET_TYPE(ret), DAT_RETURN{DAT_INSUFFICIENT_RESOURCES}) << Text(ret);
        EXPECT_EQ(active.state(), DAT_EP_STATE_UNCONNECTED);
        continue;
      }
      DAT_EVENT request{};
      if (client::WaitEvent(b.cr_evd, 1'000'000, &request) == DAT_SUCCESS) {
        EXPECT_DAT_OK(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, passive.ep,
                                    0, nullptr));
      }
      DAT_EVENT event{};
      ASSERT_TRUE(Await(active.connect_evd, &event));
      EXPECT_TRUE(event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED ||
                  event.event_number == DAT_CONNECTION_EVENT_TIMED_OUT ||
                  event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED ||
                  event.event_number == DAT_CONNECTION_EVENT_UNREACHABLE)
          << event.event_number;
      Exchange(a, b, memory, ++n);
    }
    // A request that came late may belong to an attempt that is over.
    DAT_EVENT late{};
    while (dat_evd_dequeue(b.cr_evd, &late) == DAT_SUCCESS) {
      dat_cr_reject(late.event_data.cr_arrival_event_data.cr_handle, 0, nullptr);
    }
  }
  // With enough descriptors everything works.
  End active(ia);
  End passive(ia);
  ASSERT_DAT_OK(StartConnect(active.ep, ia.address(), qualifier));
  ASSERT_TRUE(AcceptNext(b.cr_evd, passive.ep));
  EXPECT_TRUE(Expect(active.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  EXPECT_TRUE(Expect(passive.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  EXPECT_DAT_OK(psp.Free());
}

// A flood of connections reaches the limit, and then goes back.
TEST(DescriptorLimitTest, AFlood) {
  Ia ia;
  End listener(ia);
  client::ServicePoint psp;
  ASSERT_DAT_OK(psp.ListenAny(ia, listener.cr_evd));
  const DAT_CONN_QUAL qualifier = psp.qualifier();
  const std::set<int> before = OpenDescriptors();
  {
    std::vector<std::unique_ptr<End>> ends;
    FewDescriptors few(9);
    for (int i = 0; i < 24; ++i) {
      ends.push_back(std::make_unique<End>(ia));
      const DAT_RETURN ret = StartConnect(ends.back()->ep, ia.address(), qualifier, 2'000'000);
      EXPECT_TRUE(ret == DAT_SUCCESS || DAT_GET_TYPE(ret) == DAT_INSUFFICIENT_RESOURCES)
          << Text(ret);
    }
    ends.clear();  // aborts them all
  }
  DAT_EVENT event{};
  while (dat_evd_dequeue(listener.cr_evd, &event) == DAT_SUCCESS) {
    dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, nullptr);
  }
  EXPECT_TRUE(Eventually([&] {
    while (dat_evd_dequeue(listener.cr_evd, &event) == DAT_SUCCESS) {
      dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, nullptr);
    }
    return OpenDescriptors().size() <= before.size();
  })) << OpenDescriptors().size()
      << " descriptors, " << before.size() << " before";
  End a(ia);
  End b(ia);
  EXPECT_TRUE(Join(a, b));
  EXPECT_DAT_OK(psp.Free());
}

TEST(DescriptorLimitTest, AnFdCno) {
  Ia ia;
  DAT_FD fd = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  {
    const FewDescriptors few(0);
    EXPECT_DAT_TYPE(dat_cno_fd_create(ia.handle(), &fd, &cno), DAT_INSUFFICIENT_RESOURCES);
  }
  EXPECT_DAT_OK(dat_cno_fd_create(ia.handle(), &fd, &cno));
  EXPECT_DAT_OK(dat_cno_free(cno));
}

}  // namespace
}  // namespace softdat::field
