// SPDX-License-Identifier: BSD-3-Clause
// Our verbs provider on iWARP adapters: rights of the sinks of reads, and a device that runs out of
// queues. The guests have only soft-iWARP, so the tests use the public API on a test double.
#include <arpa/inet.h>
#include <dat2/udat.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/nulldevice/null_verbs.h"
#include "tests/nulldevice/step_counter.h"

namespace softdat::nulldevice {
namespace {

constexpr uint32_t kSiwVendor = 0x626d74;
// The pages that the kernel gives a process on soft-iWARP.
constexpr uint32_t kSiwPages = 143;

class IwarpTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto conf = std::filesystem::path(testing::TempDir()) / "dat.conf";
    std::ofstream(conf) << OurLine();
    setenv("DAT_OVERRIDE", conf.c_str(), 1);
  }
  ~IwarpTest() override {
    if (ia_ != DAT_HANDLE_NULL) {
      EXPECT_EQ(dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
      EXPECT_TRUE(NullRegions().empty());
      EXPECT_EQ(QueuePagesInUse(), 0u);
    }
    TheNullDevice() = {};
  }

  void Open(const NullDevice& device) {
    TheNullDevice() = device;
    std::string name = "ours";
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    ASSERT_EQ(dat_ia_open(name.data(), 8, &async, &ia_), DAT_SUCCESS);
    ASSERT_EQ(dat_pz_create(ia_, &pz_), DAT_SUCCESS);
    ASSERT_EQ(dat_evd_create(ia_, 64, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &dto_), DAT_SUCCESS);
    ASSERT_EQ(dat_evd_create(ia_, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connect_),
              DAT_SUCCESS);
  }

  DAT_RETURN MakeEp(DAT_EP_HANDLE* ep, const DAT_EP_ATTR* attr = nullptr) {
    return dat_ep_create(ia_, pz_, dto_, dto_, connect_, attr, ep);
  }

  void Connect(DAT_EP_HANDLE ep) {
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(dat_ep_connect(ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&peer), 5000, 10'000'000, 0,
                             nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
              DAT_SUCCESS);
    DAT_EVENT event;
    DAT_COUNT more = 0;
    ASSERT_EQ(dat_evd_wait(connect_, 30'000'000, 1, &event, &more), DAT_SUCCESS);
    ASSERT_EQ(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
  }

  struct Region {
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_LMR_TRIPLET all{};
  };
  template <typename Memory>
  Region Register(Memory& memory, int privileges) {
    Region made;
    DAT_REGION_DESCRIPTION where{};
    where.for_va = memory.data();
    DAT_RMR_CONTEXT unused = 0;
    DAT_VLEN length = 0;
    EXPECT_EQ(dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, where, memory.size(), pz_,
                             static_cast<DAT_MEM_PRIV_FLAGS>(privileges), DAT_VA_TYPE_VA, &made.lmr,
                             &made.all.lmr_context, &unused, &length, &made.all.virtual_address),
              DAT_SUCCESS);
    made.all.virtual_address = reinterpret_cast<uintptr_t>(memory.data());
    made.all.segment_length = static_cast<DAT_SEG_LENGTH>(memory.size());
    return made;
  }

  // The status with which a read into all of `iov` completes.
  DAT_DTO_COMPLETION_STATUS Read(DAT_EP_HANDLE ep, std::vector<DAT_LMR_TRIPLET> iov) {
    DAT_RMR_TRIPLET remote{};
    remote.virtual_address = 0x1000;
    remote.rmr_context = 7;
    for (const auto& segment : iov) remote.segment_length += segment.segment_length;
    EXPECT_EQ(dat_ep_post_rdma_read(ep, static_cast<DAT_COUNT>(iov.size()), iov.data(), {}, &remote,
                                    DAT_COMPLETION_DEFAULT_FLAG),
              DAT_SUCCESS);
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    EXPECT_EQ(dat_evd_wait(dto_, 30'000'000, 1, &event, &more), DAT_SUCCESS);
    return event.event_data.dto_completion_event_data.status;
  }

  static std::vector<unsigned> AccessesTo(const void* address) {
    std::vector<unsigned> found;
    for (const NullRegion& region : NullRegions()) {
      if (region.address == address) found.push_back(region.access);
    }
    return found;
  }

  void ExpectAttributes(DAT_BOOLEAN write_required, DAT_BOOLEAN exposed) {
    DAT_PROVIDER_ATTR attr{};
    ASSERT_EQ(dat_ia_query(ia_, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr), DAT_SUCCESS);
    EXPECT_EQ(attr.rdma_write_for_rdma_read_req, write_required);
    EXPECT_EQ(attr.rdma_read_lmr_rmr_context_exposure, exposed);
  }

  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE dto_ = DAT_HANDLE_NULL, connect_ = DAT_HANDLE_NULL;
  std::array<char, 256> one_{}, two_{}, three_{};
};

constexpr int kLocal = int{DAT_MEM_PRIV_LOCAL_READ_FLAG} | int{DAT_MEM_PRIV_LOCAL_WRITE_FLAG};

// covers: semantics 12
TEST_F(IwarpTest, InfinibandNeedsAndShowsNothing) {
  Open({});
  ExpectAttributes(DAT_FALSE, DAT_FALSE);
}

TEST_F(IwarpTest, OnlyTheSinkOfAReadIsOpenToThePeer) {
  Open({.iwarp = true});
  ExpectAttributes(DAT_TRUE, DAT_TRUE);
  const Region sink = Register(one_, kLocal), other = Register(two_, kLocal);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_EQ(MakeEp(&ep), DAT_SUCCESS);
  Connect(ep);
  ASSERT_EQ(AccessesTo(one_.data()).size(), 1u);
  EXPECT_EQ(AccessesTo(one_.data())[0] & IBV_ACCESS_REMOTE_WRITE, 0u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Read(ep, {sink.all}), DAT_DTO_SUCCESS);
  // There are two registrations: the unchanged region, and the sink, which was made once.
  ASSERT_EQ(AccessesTo(one_.data()).size(), 2u);
  EXPECT_EQ(AccessesTo(one_.data())[0] & IBV_ACCESS_REMOTE_WRITE, 0u);
  EXPECT_NE(AccessesTo(one_.data())[1] & IBV_ACCESS_REMOTE_WRITE, 0u);
  EXPECT_EQ(AccessesTo(one_.data())[1] & IBV_ACCESS_REMOTE_READ, 0u);
  ASSERT_EQ(AccessesTo(two_.data()).size(), 1u);
  EXPECT_EQ(AccessesTo(two_.data())[0] & IBV_ACCESS_REMOTE_WRITE, 0u);
  EXPECT_EQ(dat_lmr_free(sink.lmr), DAT_SUCCESS);
  EXPECT_TRUE(AccessesTo(one_.data()).empty());
  EXPECT_EQ(dat_lmr_free(other.lmr), DAT_SUCCESS);
}

TEST_F(IwarpTest, ARegionThatIsOpenAnywayIsItsOwnSink) {
  Open({.iwarp = true});
  const Region sink = Register(one_, kLocal | int{DAT_MEM_PRIV_REMOTE_WRITE_FLAG});
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_EQ(MakeEp(&ep), DAT_SUCCESS);
  Connect(ep);
  EXPECT_EQ(Read(ep, {sink.all}), DAT_DTO_SUCCESS);
  EXPECT_EQ(AccessesTo(one_.data()).size(), 1u);
}

TEST_F(IwarpTest, ARegionThatMayNotBeWrittenIsNoSink) {
  Open({.iwarp = true});
  const Region source = Register(one_, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_EQ(MakeEp(&ep), DAT_SUCCESS);
  Connect(ep);
  DAT_RMR_TRIPLET remote{};
  remote.segment_length = source.all.segment_length;
  DAT_LMR_TRIPLET segment = source.all;
  EXPECT_EQ(DAT_GET_TYPE(
                dat_ep_post_rdma_read(ep, 1, &segment, {}, &remote, DAT_COMPLETION_DEFAULT_FLAG)),
            DAT_UINT32{DAT_PRIVILEGES_VIOLATION});
  EXPECT_EQ(AccessesTo(one_.data()).size(), 1u);
}

TEST_F(IwarpTest, AReadOfSeveralSinksOpensEach) {
  Open({.iwarp = true});
  const Region a = Register(one_, kLocal), b = Register(two_, kLocal);
  Register(three_, kLocal);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  DAT_EP_ATTR attr{};
  attr.max_recv_dtos = attr.max_request_dtos = 16;
  attr.max_recv_iov = attr.max_request_iov = 4;
  attr.max_rdma_read_iov = 2;
  ASSERT_EQ(MakeEp(&ep, &attr), DAT_SUCCESS);
  Connect(ep);
  EXPECT_EQ(Read(ep, {a.all, b.all}), DAT_DTO_SUCCESS);
  EXPECT_EQ(AccessesTo(one_.data()).size(), 2u);
  EXPECT_EQ(AccessesTo(two_.data()).size(), 2u);
  EXPECT_EQ(AccessesTo(three_.data()).size(), 1u);
}

TEST_F(IwarpTest, SoftIwarpShowsTheSinkAndLeavesItClosed) {
  Open({.iwarp = true, .vendor_id = kSiwVendor});
  ExpectAttributes(DAT_FALSE, DAT_TRUE);
  Register(one_, kLocal);
  ASSERT_EQ(AccessesTo(one_.data()).size(), 1u);
  EXPECT_EQ(AccessesTo(one_.data())[0] & IBV_ACCESS_REMOTE_WRITE, 0u);
}

// There are as many EPs as OFA's provider has on soft-iWARP, and the right return code when there
// are no more.
TEST_F(IwarpTest, DefaultEpsTakeLittleOfTheDevice) {
  Open({.iwarp = true, .vendor_id = kSiwVendor, .queue_pages = kSiwPages});
  std::vector<DAT_EP_HANDLE> eps;
  DAT_RETURN result = DAT_SUCCESS;
  while (eps.size() < 1000) {
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    result = MakeEp(&ep);
    if (result != DAT_SUCCESS) break;
    eps.push_back(ep);
  }
  EXPECT_GE(eps.size(), 67u);
  EXPECT_EQ(DAT_GET_TYPE(result), DAT_UINT32{DAT_INSUFFICIENT_RESOURCES});
  // Then there are no queues for completions either, of any size.
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  EXPECT_EQ(DAT_GET_TYPE(dat_evd_create(ia_, 1024, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd)),
            DAT_UINT32{DAT_INSUFFICIENT_RESOURCES});
  // Freeing one EP makes room.
  ASSERT_FALSE(eps.empty());
  EXPECT_EQ(dat_ep_free(eps.back()), DAT_SUCCESS);
  EXPECT_EQ(MakeEp(&eps.back()), DAT_SUCCESS);
  for (const DAT_EP_HANDLE ep : eps) EXPECT_EQ(dat_ep_free(ep), DAT_SUCCESS);
}

// EPs whose reads are split have queues with the places that these need.
TEST_F(IwarpTest, EpsForScatteredReadsHaveLargerQueues) {
  Open({.iwarp = true, .vendor_id = kSiwVendor});
  DAT_EP_HANDLE plain = DAT_HANDLE_NULL, scattering = DAT_HANDLE_NULL;
  const uint32_t before = QueuePagesInUse();
  ASSERT_EQ(MakeEp(&plain), DAT_SUCCESS);
  const uint32_t of_plain = QueuePagesInUse() - before;
  DAT_EP_PARAM param{};
  ASSERT_EQ(dat_ep_query(plain, DAT_EP_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.ep_attr.max_rdma_read_iov, 1);
  EXPECT_GT(param.ep_attr.max_request_iov, 1);
  DAT_EP_ATTR attr = param.ep_attr;
  attr.max_rdma_read_iov = attr.max_request_iov;
  ASSERT_EQ(MakeEp(&scattering, &attr), DAT_SUCCESS);
  EXPECT_EQ(of_plain, 2u);
  EXPECT_GT(QueuePagesInUse() - before - of_plain, of_plain);
}

}  // namespace
}  // namespace softdat::nulldevice
