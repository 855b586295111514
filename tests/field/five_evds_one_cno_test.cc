// SPDX-License-Identifier: BSD-3-Clause
// The classic shape of a server: five EVDs, including the asynchronous one, are on one CNO, and one
// thread waits on the CNO and then polls them all.
#include <array>
#include <thread>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

constexpr uint64_t kMessages = 200;

class OneCnoTest : public testing::Test {
 protected:
  OneCnoTest() {
    EXPECT_DAT_OK(cno_.Create(ia_));
    // The IA has made this EVD itself, without a CNO.
    EXPECT_DAT_OK(dat_evd_modify_cno(ia_.async_evd(), cno_));
  }
  ~OneCnoTest() override {
    EXPECT_DAT_OK(dat_evd_modify_cno(ia_.async_evd(), DAT_HANDLE_NULL));
    EXPECT_DAT_OK(cno_.Free());
  }

  // Takes the next event of any of the EVDs. The hint names only one, so all are polled.
  template <size_t N>
  bool Next(const std::array<DAT_EVD_HANDLE, N>& evds, DAT_EVENT* event) {
    for (;;) {
      for (const DAT_EVD_HANDLE evd : evds) {
        const DAT_RETURN ret = dat_evd_dequeue(evd, event);
        if (ret == DAT_SUCCESS) return true;
        EXPECT_EQ(DAT_GET_TYPE(ret), DAT_RETURN{DAT_QUEUE_EMPTY});
      }
      DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
      const DAT_RETURN ret = dat_cno_wait(cno_, kPatienceUs, &hint);
      EXPECT_EQ(ret, DAT_SUCCESS) << "nothing came: " << Text(ret);
      if (ret != DAT_SUCCESS) return false;
    }
  }

  Ia ia_;
  client::Cno cno_;
};

TEST_F(OneCnoTest, AServerServesAClient) {
  End::Options options;
  options.cno = cno_;
  Memory memory(ia_, 4096);
  End server(ia_, options);
  const std::array<DAT_EVD_HANDLE, 5> evds = {ia_.async_evd(), server.cr_evd, server.connect_evd,
                                              server.recv_evd, server.request_evd};
  client::ServicePoint psp;
  ASSERT_DAT_OK(psp.ListenAny(ia_, server.cr_evd));
  const DAT_CONN_QUAL qualifier = psp.qualifier();
  std::jthread client([&] {
    Ia ia;
    Memory mine(ia, 4096);
    End end(ia);
    EXPECT_DAT_OK(StartConnect(end.ep, ia.address(), qualifier));
    if (!Expect(end.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED)) return;
    for (uint64_t i = 0; i < kMessages; ++i) {
      EXPECT_DAT_OK(PostReceive(end.ep, mine.Local(0, 8), i));
      EXPECT_DAT_OK(PostSend(end.ep, mine.Local(8, 8), i));
      if (!ExpectDto(end.request_evd, i, 8) || !ExpectDto(end.recv_evd, i, 8)) return;
    }
    EXPECT_DAT_OK(dat_ep_disconnect(end.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_TRUE(Expect(end.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
  });
  ASSERT_DAT_OK(PostReceive(server.ep, memory.Local(0, 8), 0));
  uint64_t received = 0;
  uint64_t sent = 0;
  bool established = false;
  bool ended = false;
  DAT_EVENT event{};
  while (!ended && Next(evds, &event)) {
    switch (event.event_number) {
      case DAT_CONNECTION_REQUEST_EVENT:
        EXPECT_EQ(event.evd_handle, server.cr_evd);
        EXPECT_DAT_OK(
            dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, server.ep, 0, nullptr));
        break;
      case DAT_CONNECTION_EVENT_ESTABLISHED:
        established = true;
        break;
      case DAT_CONNECTION_EVENT_DISCONNECTED:
        ended = true;
        break;
      case DAT_DTO_COMPLETION_EVENT:
        if (event.event_data.dto_completion_event_data.status == DAT_DTO_ERR_FLUSHED) break;
        EXPECT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
        if (event.evd_handle == server.request_evd) {
          ++sent;
        } else {
          ++received;
          EXPECT_DAT_OK(PostReceive(server.ep, memory.Local(0, 8), received));
          // A receive may be seen before ESTABLISHED if EVDs are polled in turn.
          EXPECT_DAT_OK(PostSend(server.ep, memory.Local(8, 8), received));
        }
        break;
      default:
        ADD_FAILURE() << "event " << event.event_number;
    }
  }
  client.join();
  EXPECT_TRUE(established);
  EXPECT_EQ(received, kMessages);
  while (dat_evd_dequeue(server.request_evd, &event) == DAT_SUCCESS) ++sent;
  EXPECT_EQ(sent, kMessages);
  EXPECT_DAT_OK(psp.Free());
}

// An event that comes only to the asynchronous EVD wakes the CNO, too.
TEST_F(OneCnoTest, AnAsynchronousErrorWakes) {
  Memory memory(ia_, 4096);
  End::Options small;
  small.cno = DAT_HANDLE_NULL;
  small.dto_qlen = 1;
  End a(ia_, small);
  End b(ia_);
  ASSERT_TRUE(Join(a, b));
  const auto serve_all = [&](DAT_COUNT n) {
    for (DAT_COUNT i = 0; i < n; ++i) {
      EXPECT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), static_cast<uint64_t>(i)));
      EXPECT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), static_cast<uint64_t>(i)));
      EXPECT_TRUE(ExpectDto(b.recv_evd, static_cast<uint64_t>(i), 8));
    }
  };
  // There are more completions that nobody takes than the EVD of length 1 holds, even if its length
  // was rounded up.
  DAT_EVD_PARAM param{};
  ASSERT_DAT_OK(dat_evd_query(a.request_evd, DAT_EVD_FIELD_ALL, &param));
  serve_all(4 * param.evd_qlen + 4);
  const std::array<DAT_EVD_HANDLE, 1> evds = {ia_.async_evd()};
  DAT_EVENT event{};
  ASSERT_TRUE(Next(evds, &event));
  EXPECT_EQ(event.event_number, DAT_ASYNC_ERROR_EVD_OVERFLOW);
  EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, a.request_evd);
}

}  // namespace
}  // namespace softdat::field
