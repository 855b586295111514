// SPDX-License-Identifier: BSD-3-Clause
// SOFTDAT_LOG at debug: a call of 1.2 that fails becomes a line with its arguments and its return
// word, even when no provider has seen the call.
#include <dat/dat_extensions.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "tests/bridge/pair.h"

namespace softdat::bridge_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string& LogPath() {
  static const std::string path =
      std::string(getenv("TEST_TMPDIR")) + "/log." + std::to_string(getpid());
  return path;
}

// Set this early because what is logged is decided when a library of ours is first called.
const bool g_set = [] {
  setenv("SOFTDAT_LOG", LogPath().c_str(), 1);
  setenv("SOFTDAT_LOG_LEVEL", "debug", 1);
  return true;
}();

// What was logged since the last call of this function.
std::string NewLines() {
  static std::streamoff seen = 0;
  std::ifstream file(LogPath(), std::ios::binary);
  file.seekg(seen);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  seen += static_cast<std::streamoff>(text.size());
  return text;
}

class RefusalsLoggedTest : public OpenIa {
 protected:
  void SetUp() override {
    OpenIa::SetUp();
    evd_ = MakeEvd();
    EXPECT_DAT(dat_ep_create(ia_, pz_, evd_, evd_, evd_, nullptr, &ep_));
    NewLines();
  }

  DAT_EVD_HANDLE evd_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
};

TEST_F(RefusalsLoggedTest, WhatIsNoHandle) {
  auto* const junk = reinterpret_cast<DAT_EP_HANDLE>(0x12345678);
  EXPECT_NE(dat_ep_reset(junk), DAT_RETURN{DAT_SUCCESS});
  EXPECT_THAT(NewLines(), ContainsRegex("debug: dat_ep_reset\\(0x12345678\\) = 0x8[0-9a-f]+ "
                                        "DAT_INVALID_HANDLE DAT_INVALID_HANDLE_EP"));
  EXPECT_NE(dat_pz_create(nullptr, &pz_), DAT_RETURN{DAT_SUCCESS});
  EXPECT_THAT(NewLines(), ContainsRegex("dat_pz_create\\(NULL, 0x[0-9a-f]+\\) = 0x8[0-9a-f]+ "
                                        "DAT_INVALID_HANDLE DAT_INVALID_HANDLE_IA"));
  EXPECT_NE(dat_evd_dequeue(evd_, nullptr), DAT_RETURN{DAT_SUCCESS});
  EXPECT_THAT(NewLines(), ContainsRegex("dat_evd_dequeue\\(0x[0-9a-f]+, NULL\\) = 0x8"));
}

TEST_F(RefusalsLoggedTest, PostsWithTheirSegments) {
  std::vector<DAT_LMR_TRIPLET> segments(300);
  segments[1] = {.lmr_context = 7, .pad = 0, .virtual_address = 0x1000, .segment_length = 9};
  DAT_DTO_COOKIE cookie{};
  cookie.as_64 = 0x77;
  EXPECT_NE(dat_ep_post_send(ep_, 300, segments.data(), cookie, DAT_COMPLETION_DEFAULT_FLAG),
            DAT_RETURN{DAT_SUCCESS});
  EXPECT_THAT(NewLines(),
              ContainsRegex("dat_ep_post_send\\(0x[0-9a-f]+, 300, 0x[0-9a-f]+ \\[\\{0x0, 0, 0x0\\} "
                            "\\{0x1000, 9, 0x7\\} \\{0x0, 0, 0x0\\} \\{0x0, 0, 0x0\\} ...\\], "
                            "0x77, 0x0\\) = 0x8[0-9a-f]+ DAT_INVALID_PARAMETER DAT_INVALID_ARG2: "
                            "more than 256 segments"));
  const DAT_RMR_TRIPLET remote = {.rmr_context = 0xabc,
                                  .pad = 0,
                                  .target_address = 0x2000,
                                  .segment_length = DAT_VLEN{1} << 32};
  EXPECT_NE(
      dat_ep_post_rdma_write(ep_, 1, segments.data(), cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG),
      DAT_RETURN{DAT_SUCCESS});
  EXPECT_THAT(NewLines(), ContainsRegex("dat_ep_post_rdma_write\\(.*\\[\\{0x2000, 4294967296, "
                                        "0xabc\\}\\], 0x0\\) = 0x8[0-9a-f]+ DAT_LENGTH_ERROR .*: "
                                        "a segment is 4 GiB or longer"));
}

TEST_F(RefusalsLoggedTest, BindsOfNoRegion) {
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  EXPECT_DAT(dat_rmr_create(pz_, &rmr));
  DAT_LMR_TRIPLET segment{
      .lmr_context = 0xdead, .pad = 0, .virtual_address = 0x1000, .segment_length = 8};
  DAT_RMR_CONTEXT context = 0;
  for (const DAT_LMR_TRIPLET* part : {&segment, static_cast<DAT_LMR_TRIPLET*>(nullptr)}) {
    EXPECT_NE(dat_rmr_bind(rmr, part, DAT_MEM_PRIV_REMOTE_READ_FLAG, ep_, DAT_RMR_COOKIE{},
                           DAT_COMPLETION_DEFAULT_FLAG, &context),
              DAT_RETURN{DAT_SUCCESS});
  }
  const std::string lines = NewLines();
  EXPECT_THAT(lines, ContainsRegex("dat_rmr_bind\\(0x[0-9a-f]+, 0x[0-9a-f]+ \\[\\{0x1000, 8, "
                                   "0xdead\\}\\], .* DAT_PROTECTION_VIOLATION .*: no region of "
                                   "this IA has the segment's context"));
  EXPECT_THAT(lines, ContainsRegex("dat_rmr_bind\\(0x[0-9a-f]+, NULL, .* DAT_INVALID_PARAMETER "
                                   "DAT_INVALID_ARG2: no segment to bind"));
}

// The provider refuses these bits without seeing what the program has said.
TEST_F(RefusalsLoggedTest, BitsThat12DoesNotHave) {
  DAT_EP_PARAM param;
  EXPECT_NE(dat_ep_query(ep_, 0x800, &param), DAT_RETURN{DAT_SUCCESS});
  EXPECT_THAT(NewLines(), ContainsRegex("dat_ep_query\\(0x[0-9a-f]+, 0x800, 0x[0-9a-f]+\\) = "
                                        "0x8[0-9a-f]+ DAT_INVALID_PARAMETER DAT_INVALID_ARG2"));
  DAT_LMR_TRIPLET segment{};
  EXPECT_NE(
      dat_ep_post_recv(ep_, 1, &segment, DAT_DTO_COOKIE{}, static_cast<DAT_COMPLETION_FLAGS>(0x80)),
      DAT_RETURN{DAT_SUCCESS});
  EXPECT_THAT(NewLines(), ContainsRegex("dat_ep_post_recv\\(.*, 0x80\\) = 0x8"));
}

TEST_F(RefusalsLoggedTest, CallsWithoutAnObject) {
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  std::string name = IaName();
  EXPECT_NE(dat_ia_openv(name.data(), 8, &async, &ia, 2, 0, DAT_FALSE), DAT_RETURN{DAT_SUCCESS});
  EXPECT_THAT(NewLines(), ContainsRegex("dat_ia_openv\\(\"" + name +
                                        "\", 8, .*, 0x2, 0x0, 0x0\\) = 0x8[0-9a-f]+ "
                                        "DAT_PROVIDER_NOT_FOUND DAT_MAJOR_NOT_FOUND: libdat.so.1"));
  EXPECT_NE(dat_registry_list_providers(8, nullptr, nullptr), DAT_RETURN{DAT_SUCCESS});
  EXPECT_THAT(NewLines(), ContainsRegex("dat_registry_list_providers\\(8, NULL, NULL\\) = .*: "
                                        ".*no place for the count"));
  constexpr int kNoOperation = 99;
  EXPECT_NE(dat_extension(ep_, kNoOperation), DAT_RETURN{DAT_SUCCESS});
  EXPECT_THAT(NewLines(), ContainsRegex("dat_extension\\(0x[0-9a-f]+, 99\\) = 0xffff0000 .*: the "
                                        "IA does not have this operation"));
}

// Answers are not failures, and a reason belongs to its own call.
TEST_F(RefusalsLoggedTest, NothingElse) {
  EXPECT_NE(dat_registry_list_providers(8, nullptr, nullptr), DAT_RETURN{DAT_SUCCESS});
  NewLines();
  DAT_EP_STATE state{};
  EXPECT_DAT(dat_ep_get_status(ep_, &state, nullptr, nullptr));
  DAT_EVENT event;
  DAT_COUNT more = 0;
  EXPECT_EQ(dat_evd_dequeue(evd_, &event) & DAT_TYPE_MASK, DAT_RETURN{DAT_QUEUE_EMPTY});
  EXPECT_EQ(dat_evd_wait(evd_, 0, 1, &event, &more) & DAT_TYPE_MASK,
            DAT_RETURN{DAT_TIMEOUT_EXPIRED});
  EXPECT_THAT(NewLines(), Not(HasSubstr("dat_e")));
  EXPECT_NE(dat_evd_resize(evd_, -1), DAT_RETURN{DAT_SUCCESS});
  const std::string lines = NewLines();
  EXPECT_THAT(lines, HasSubstr("dat_evd_resize("));
  EXPECT_THAT(lines, Not(HasSubstr("no place for the count")));
}

}  // namespace
}  // namespace softdat::bridge_test
