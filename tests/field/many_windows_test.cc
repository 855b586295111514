// SPDX-License-Identifier: BSD-3-Clause
// Ten thousand memory windows at once on one region. Each opens its own bytes and none of another
// window. None is left when they are gone.
#include <cstring>
#include <set>
#include <vector>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kWindows = 1'000;
#else
constexpr size_t kWindows = 10'000;
#endif
constexpr size_t kBytes = 16;  // of each window

class ManyWindowsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(Join(client_, server_)); }

  // Creates and binds all windows of the server. The client reads through the contexts.
  void BindAll() {
    windows_ = std::vector<client::Window>(kWindows);
    for (size_t i = 0; i < kWindows; ++i) {
      ASSERT_DAT_OK(windows_[i].Create(server_ia_.pz()));
      ASSERT_DAT_OK(windows_[i].Bind(region_.lmr(), i * kBytes, kBytes,
                                     DAT_MEM_PRIV_REMOTE_READ_FLAG, server_.ep, i));
      DAT_EVENT event{};
      ASSERT_TRUE(Expect(server_.request_evd, DAT_RMR_BIND_COMPLETION_EVENT, &event));
      ASSERT_EQ(event.event_data.rmr_completion_event_data.status, DAT_RMR_BIND_SUCCESS);
      ASSERT_EQ(event.event_data.rmr_completion_event_data.rmr_handle, windows_[i].get());
    }
  }
  void FreeAll() {
    for (client::Window& window : windows_) ASSERT_DAT_OK(window.Free());
  }
  const DAT_RMR_TRIPLET& Through(size_t window) const { return windows_[window].Remote(); }

  Ia client_ia_;
  Ia server_ia_;
  Memory sink_{client_ia_, kBytes};
  Memory region_{server_ia_, kWindows* kBytes};
  End client_{client_ia_};
  End server_{server_ia_};
  std::vector<client::Window> windows_;
};

TEST_F(ManyWindowsTest, EachOpensItsOwnBytes) {
  for (size_t i = 0; i < kWindows * kBytes; ++i) {
    region_.data()[i] = static_cast<uint8_t>(i / kBytes + i);
  }
  for (int round = 0; round < 2; ++round) {
    ASSERT_NO_FATAL_FAILURE(BindAll());
    std::set<DAT_RMR_CONTEXT> distinct;
    for (const client::Window& window : windows_) distinct.insert(window.Remote().rmr_context);
    EXPECT_EQ(distinct.size(), kWindows);
    for (size_t i = 0; i < kWindows; ++i) {
      ASSERT_DAT_OK(PostRead(client_.ep, sink_.Local(0, kBytes), Through(i), i));
      ASSERT_TRUE(ExpectDto(client_.request_evd, i, kBytes));
      ASSERT_EQ(std::memcmp(sink_.data(), region_.data() + i * kBytes, kBytes), 0) << i;
    }
    ASSERT_NO_FATAL_FAILURE(FreeAll());
  }
  // The last window is gone. Its context opens nothing any more, and the connection ends.
  ASSERT_DAT_OK(PostRead(client_.ep, sink_.Local(0, kBytes), Through(kWindows - 1), 1));
  DAT_EVENT event{};
  ASSERT_TRUE(Await(client_.request_evd, &event));
  EXPECT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_ERR_REMOTE_ACCESS);
}

// The byte after a window belongs to the next one.
TEST_F(ManyWindowsTest, NoneOpensTheBytesOfAnother) {
  ASSERT_NO_FATAL_FAILURE(BindAll());
  DAT_RMR_TRIPLET remote = Through(kWindows / 2);
  remote.virtual_address += 1;
  ASSERT_DAT_OK(PostRead(client_.ep, sink_.Local(0, kBytes), remote, 1));
  DAT_EVENT event{};
  ASSERT_TRUE(Await(client_.request_evd, &event));
  EXPECT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_ERR_REMOTE_ACCESS);
  ASSERT_TRUE(Await(server_.connect_evd, &event));
  ASSERT_NO_FATAL_FAILURE(FreeAll());
  // Nothing holds the region any more.
  EXPECT_DAT_OK(region_.Deregister());
}

}  // namespace
}  // namespace softdat::field
