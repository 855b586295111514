// SPDX-License-Identifier: BSD-3-Clause
// The data transfers of a program of uDAPL 1.2.
#include "tests/bridge/pair.h"

namespace softdat::bridge_test {
namespace {

using TransferTest = ConnectedPair;

TEST_F(TransferTest, AMessageInTwoSegments) {
  DAT_LMR_TRIPLET sink = Local(0, 100);
  EXPECT_DAT(dat_ep_post_recv(passive_, 1, &sink, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
  std::memcpy(bytes_.data() + 1000, "one", 3);
  std::memcpy(bytes_.data() + 2000, "two", 3);
  DAT_LMR_TRIPLET source[2] = {Local(1000, 3), Local(2000, 3)};
  EXPECT_DAT(
      dat_ep_post_send(active_, 2, source, Cookie(~uint64_t{0}), DAT_COMPLETION_DEFAULT_FLAG));
  const auto sent = Completion(~uint64_t{0});
  EXPECT_EQ(sent.ep_handle, active_);
  EXPECT_EQ(sent.status, DAT_DTO_SUCCESS);
  const auto received = Completion(1);
  EXPECT_EQ(received.ep_handle, passive_);
  EXPECT_EQ(received.transfered_length, 6u);
  EXPECT_EQ(std::memcmp(bytes_.data(), "onetwo", 6), 0);
}

TEST_F(TransferTest, RdmaBothWays) {
  std::memcpy(bytes_.data() + 1000, "written", 8);
  DAT_LMR_TRIPLET source = Local(1000, 8);
  DAT_RMR_TRIPLET target = Remote(rmr_context_, 100, 8);
  EXPECT_DAT(
      dat_ep_post_rdma_write(active_, 1, &source, Cookie(1), &target, DAT_COMPLETION_DEFAULT_FLAG));
  EXPECT_EQ(Completion(1).status, DAT_DTO_SUCCESS);
  DAT_LMR_TRIPLET sink = Local(200, 8);
  EXPECT_DAT(
      dat_ep_post_rdma_read(active_, 1, &sink, Cookie(2), &target, DAT_COMPLETION_DEFAULT_FLAG));
  EXPECT_EQ(Completion(2).status, DAT_DTO_SUCCESS);
  EXPECT_STREQ(bytes_.data() + 200, "written");
}

// The context in the triplet names the region.
// covers: semantics 18
TEST_F(TransferTest, AWindowIsBoundUsedAndTakenBack) {
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  EXPECT_DAT(dat_rmr_create(pz_, &rmr));
  DAT_RMR_COOKIE cookie;
  cookie.as_64 = 77;
  const DAT_LMR_TRIPLET part = Local(512, 16);
  DAT_RMR_CONTEXT context = 0;
  EXPECT_DAT(dat_rmr_bind(rmr, &part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, passive_, cookie,
                          DAT_COMPLETION_DEFAULT_FLAG, &context));
  const DAT_EVENT bound = Next(DAT_RMR_BIND_COMPLETION_EVENT);
  EXPECT_EQ(bound.event_data.rmr_completion_event_data.rmr_handle, rmr);
  EXPECT_EQ(bound.event_data.rmr_completion_event_data.user_cookie.as_64, 77u);
  EXPECT_EQ(bound.event_data.rmr_completion_event_data.status, DAT_RMR_BIND_SUCCESS);
  DAT_RMR_PARAM param;
  EXPECT_DAT(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
  EXPECT_EQ(param.ia_handle, ia_);
  EXPECT_EQ(param.pz_handle, pz_);
  EXPECT_EQ(param.lmr_triplet.segment_length, 16u);
  EXPECT_EQ(param.rmr_context, context);

  std::memcpy(bytes_.data(), "through window", 15);
  DAT_LMR_TRIPLET source = Local(0, 15);
  DAT_RMR_TRIPLET target = Remote(context, 512, 15);
  EXPECT_DAT(
      dat_ep_post_rdma_write(active_, 1, &source, Cookie(1), &target, DAT_COMPLETION_DEFAULT_FLAG));
  EXPECT_EQ(Completion(1).status, DAT_DTO_SUCCESS);
  // A write may complete before it has arrived. A message behind it cannot arrive before it.
  DAT_LMR_TRIPLET sink = Local(256, 16);
  EXPECT_DAT(dat_ep_post_recv(passive_, 1, &sink, Cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
  EXPECT_DAT(dat_ep_post_send(active_, 1, &source, Cookie(3), DAT_COMPLETION_DEFAULT_FLAG));
  EXPECT_EQ(Completion(2).status, DAT_DTO_SUCCESS);
  EXPECT_EQ(Completion(3).status, DAT_DTO_SUCCESS);
  EXPECT_STREQ(bytes_.data() + 512, "through window");

  EXPECT_EQ(dat_rmr_bind(rmr, nullptr, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, passive_, cookie,
                         DAT_COMPLETION_DEFAULT_FLAG, &context),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  DAT_LMR_TRIPLET unknown = part;
  unknown.lmr_context ^= 0x5a5a5a5a;
  EXPECT_EQ(dat_rmr_bind(rmr, &unknown, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, passive_, cookie,
                         DAT_COMPLETION_DEFAULT_FLAG, &context),
            Failure(DAT_PROTECTION_VIOLATION, 0));
  EXPECT_DAT(dat_rmr_free(rmr));
}

// Nobody asked for the context when the region was made, but the region has one.
TEST_F(TransferTest, AWindowOverARegionWhoseContextWasNotAskedFor) {
  DAT_REGION_DESCRIPTION region;
  region.for_va = bytes_.data();
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  EXPECT_DAT(dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, region, kBytes, pz_, DAT_MEM_PRIV_ALL_FLAG,
                            &lmr, nullptr, nullptr, nullptr, nullptr));
  DAT_LMR_PARAM param;
  EXPECT_DAT(dat_lmr_query(lmr, DAT_LMR_FIELD_LMR_CONTEXT, &param));
  DAT_LMR_TRIPLET part = Local(0, 16);
  part.lmr_context = param.lmr_context;
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  EXPECT_DAT(dat_rmr_create(pz_, &rmr));
  DAT_RMR_COOKIE cookie;
  cookie.as_64 = 78;
  DAT_RMR_CONTEXT context = 0;
  EXPECT_DAT(dat_rmr_bind(rmr, &part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, passive_, cookie,
                          DAT_COMPLETION_DEFAULT_FLAG, &context));
  EXPECT_EQ(Next(DAT_RMR_BIND_COMPLETION_EVENT).event_data.rmr_completion_event_data.status,
            DAT_RMR_BIND_SUCCESS);
  EXPECT_DAT(dat_rmr_free(rmr));
  EXPECT_DAT(dat_lmr_free(lmr));
}

// 0x80 is a flag in SoftDAT's 2.0.
TEST_F(TransferTest, FlagsOf12Alone) {
  DAT_LMR_TRIPLET source = Local(1000, 8);
  DAT_RMR_TRIPLET target = Remote(rmr_context_, 100, 8);
  for (const int flags : {0x80, 0x400, -1}) {
    const auto unknown = static_cast<DAT_COMPLETION_FLAGS>(flags);
    EXPECT_EQ(dat_ep_post_rdma_write(active_, 1, &source, Cookie(1), &target, unknown),
              Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6))
        << flags;
    EXPECT_EQ(dat_ep_post_send(active_, 1, &source, Cookie(1), unknown),
              Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5))
        << flags;
  }
}

// covers: semantics 18
TEST_F(TransferTest, ASegmentOfFourGigabytes) {
  DAT_LMR_TRIPLET source = Local(0, DAT_VLEN{1} << 32);
  EXPECT_EQ(dat_ep_post_send(active_, 1, &source, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
            Failure(DAT_LENGTH_ERROR, 0));
}

TEST_F(TransferTest, FlushedAtTheEnd) {
  DAT_LMR_TRIPLET sink = Local(0, 100);
  EXPECT_DAT(dat_ep_post_recv(passive_, 1, &sink, Cookie(5), DAT_COMPLETION_DEFAULT_FLAG));
  Part();
  EXPECT_EQ(Completion(5).status, DAT_DTO_ERR_FLUSHED);
  DAT_EP_STATE state = DAT_EP_STATE_CONNECTED;
  EXPECT_DAT(dat_ep_get_status(active_, &state, nullptr, nullptr));
  EXPECT_EQ(state, DAT_EP_STATE_DISCONNECTED);
}

}  // namespace
}  // namespace softdat::bridge_test
