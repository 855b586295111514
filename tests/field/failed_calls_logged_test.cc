// SPDX-License-Identifier: BSD-3-Clause
// SOFTDAT_LOG at debug: each failed call is a line with its arguments, its result and the reason.
#include <dat2/softdat.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string& LogPath() {
  static const std::string path =
      std::string(getenv("TEST_TMPDIR")) + "/log." + std::to_string(getpid());
  return path;
}

// The first call of a library of ours decides what is logged.
const bool g_set = [] {
  setenv("SOFTDAT_LOG", LogPath().c_str(), 1);
  setenv("SOFTDAT_LOG_LEVEL", "debug", 1);
  return true;
}();

// Returns what was logged since the last call of this function.
std::string NewLines() {
  static std::streamoff seen = 0;
  std::ifstream file(LogPath(), std::ios::binary);
  file.seekg(seen);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  seen += static_cast<std::streamoff>(text.size());
  return text;
}

std::string LastReason() {
  std::string text(softdat_last_reason(nullptr, 0) + 1, '\0');
  text.resize(softdat_last_reason(text.data(), text.size()));
  return text;
}

class FailedCallsLoggedTest : public ::testing::Test {
 protected:
  Ia ia_;
  Memory memory_{ia_, 4096};
  End end_{ia_};
};

TEST_F(FailedCallsLoggedTest, APostWithItsSegments) {
  NewLines();
  DAT_LMR_TRIPLET segment = memory_.Local(16, 8);
  DAT_RMR_TRIPLET remote{.virtual_address = 0x12345000, .segment_length = 9, .rmr_context = 0xabc};
  DAT_DTO_COOKIE cookie{};
  cookie.as_64 = 0x77;
  ASSERT_NE(
      dat_ep_post_rdma_write(end_.ep, 1, &segment, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG),
      DAT_SUCCESS);
  EXPECT_THAT(NewLines(),
              ContainsRegex("debug: dat_ep_post_rdma_write\\(0x[0-9a-f]+, 1, 0x[0-9a-f]+ "
                            "\\[\\{0x[0-9a-f]+, 8, 0x[0-9a-f]+\\}\\], 0x77, 0x[0-9a-f]+ "
                            "\\[\\{0x12345000, 9, 0xabc\\}\\], 0x0\\) = 0x8007[0-9a-f]+ "
                            "DAT_INVALID_STATE DAT_INVALID_STATE_EP_UNCONNECTED"));
}

TEST_F(FailedCallsLoggedTest, SegmentsThatAreNowhere) {
  NewLines();
  auto* const nowhere = reinterpret_cast<DAT_LMR_TRIPLET*>(16);
  ASSERT_NE(
      dat_ep_post_recv(end_.ep, 1000000, nowhere, DAT_DTO_COOKIE{}, DAT_COMPLETION_DEFAULT_FLAG),
      DAT_SUCCESS);
  EXPECT_THAT(NewLines(), HasSubstr(", 1000000, 0x10, 0x0, 0x0) = 0x8006"));
}

TEST_F(FailedCallsLoggedTest, TheReasonOfThisCallAlone) {
  NewLines();
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  ASSERT_NE(dat_evd_create(ia_.handle(), 2000000000, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd),
            DAT_SUCCESS);
  const std::string reason = "an event queue of 2000000000 entries was asked for";
  EXPECT_THAT(NewLines(), ContainsRegex("dat_evd_create\\(0x[0-9a-f]+, 2000000000, NULL, 0x1, "
                                        "0x[0-9a-f]+\\) = 0x[0-9a-f]+ DAT_INSUFFICIENT_RESOURCES "
                                        "DAT_RESOURCE_TEVD: " +
                                        reason));
  // A call that succeeds or finds nothing is not logged, and leaves the reason as it was.
  DAT_EP_STATE state{};
  ASSERT_DAT_OK(dat_ep_get_status(end_.ep, &state, nullptr, nullptr));
  DAT_EVENT event{};
  ASSERT_EQ(DAT_GET_TYPE(dat_evd_dequeue(end_.recv_evd, &event)), DAT_RETURN{DAT_QUEUE_EMPTY});
  DAT_COUNT nmore = 0;
  ASSERT_EQ(DAT_GET_TYPE(dat_evd_wait(end_.recv_evd, 0, 1, &event, &nmore)),
            DAT_RETURN{DAT_TIMEOUT_EXPIRED});
  EXPECT_THAT(NewLines(), Not(HasSubstr("dat_e")));
  EXPECT_THAT(LastReason(), HasSubstr(reason));
  // A failure without a reason shows none, rather than that of another call.
  ASSERT_NE(dat_evd_resize(end_.recv_evd, -1), DAT_SUCCESS);
  const std::string lines = NewLines();
  EXPECT_THAT(lines, HasSubstr("dat_evd_resize("));
  EXPECT_THAT(lines, Not(HasSubstr(reason)));
}

// The registry logs the calls that it refuses itself.
TEST_F(FailedCallsLoggedTest, AHandleThatIsNone) {
  NewLines();
  ASSERT_NE(dat_ep_reset(&ia_), DAT_SUCCESS);
  EXPECT_THAT(NewLines(), HasSubstr("dat_ep_reset"));
}

}  // namespace
}  // namespace softdat::field
