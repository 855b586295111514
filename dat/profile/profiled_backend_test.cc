// SPDX-License-Identifier: BSD-3-Clause
// The ways to fail of a profile, over a scripted back end.
#include "dat/profile/profiled_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dat/engine/testing/fake_backend.h"
#include "dat/transport/forwarding.h"

namespace softdat {
namespace {

using engine::testing::FakeAdapter;
using engine::testing::FakeBackend;
using engine::testing::FakeCompletionQueue;
using testing::ElementsAre;
using transport::Completion;
using transport::EndReason;
using transport::Op;
using transport::RejectReason;
using transport::WorkStatus;

class NotesEnds : public transport::ConnectionSink {
 public:
  void OnEstablished(std::span<const uint8_t>) override { ++established; }
  void OnFailed(RejectReason reason, std::span<const uint8_t>, const std::string&) override {
    failures.push_back(reason);
  }
  void OnEnded(EndReason reason, const std::string& why) override {
    ends.push_back(reason);
    reasons.push_back(why);
  }

  int established = 0;
  std::vector<RejectReason> failures;
  std::vector<EndReason> ends;
  std::vector<std::string> reasons;
};

class ProfiledBackendTest : public testing::Test {
 protected:
  void Open(DeviceProfile which) {
    auto fake = std::make_unique<FakeBackend>();
    FakeBackend* const below = fake.get();
    backend_ = WithProfile(*FindProfile(which), std::move(fake));
    adapter_ = backend_->Open("fake-0", nullptr).Take();
    below_ = below->last_adapter;
  }

  // The status that the consumer gets for an operation that ends with `status` below.
  WorkStatus Told(Op op, WorkStatus status) {
    const auto queue = adapter_->CreateCompletionQueue(4, nullptr).Take();
    auto& fake = static_cast<FakeCompletionQueue&>(
        static_cast<transport::ForwardingCompletionQueue&>(*queue).inner());
    Completion completion;
    completion.op = op;
    completion.status = status;
    fake.Add(completion);
    Completion out[2];
    EXPECT_EQ(queue->Poll(out), 1u);
    return out[0].status;
  }

  std::unique_ptr<transport::Backend> backend_;
  std::unique_ptr<transport::Adapter> adapter_;
  FakeAdapter* below_ = nullptr;
};

TEST_F(ProfiledBackendTest, AttributesAreThoseOfTheDevice) {
  Open(DeviceProfile::kSiw);
  EXPECT_EQ(adapter_->attributes().max_iov, 6u);
  EXPECT_EQ(adapter_->attributes().vendor, "test, as soft-iWARP (siw)");
  EXPECT_EQ(adapter_->attributes().max_qps, below_->limits.max_qps);
}

TEST_F(ProfiledBackendTest, ARefusedReadIsFlushedOnSoftIwarpAlone) {
  Open(DeviceProfile::kSiw);
  EXPECT_EQ(Told(Op::kRdmaRead, WorkStatus::kRemoteAccess), WorkStatus::kFlushed);
  EXPECT_EQ(Told(Op::kRdmaRead, WorkStatus::kSuccess), WorkStatus::kSuccess);
  EXPECT_EQ(Told(Op::kRdmaRead, WorkStatus::kLocalProtection), WorkStatus::kLocalProtection);
  EXPECT_EQ(Told(Op::kRdmaWrite, WorkStatus::kRemoteAccess), WorkStatus::kRemoteAccess);
  for (DeviceProfile which : {DeviceProfile::kRxe, DeviceProfile::kIb}) {
    Open(which);
    EXPECT_EQ(Told(Op::kRdmaRead, WorkStatus::kRemoteAccess), WorkStatus::kRemoteAccess);
  }
}

TEST_F(ProfiledBackendTest, ABrokenConnectionIsDisconnectedOnSoftIwarp) {
  Open(DeviceProfile::kSiw);
  NotesEnds sink;
  transport::QueuePairAttributes attributes;
  attributes.sink = &sink;
  const auto pair = adapter_->CreateQueuePair(attributes).Take();
  below_->last_qp().sink().OnEstablished({});
  below_->last_qp().sink().OnEnded(EndReason::kBroken, "refused");
  below_->last_qp().sink().OnFailed(RejectReason::kTimedOut, {}, "slow");
  EXPECT_EQ(sink.established, 1);
  EXPECT_THAT(sink.ends, ElementsAre(EndReason::kDisconnected));
  EXPECT_THAT(sink.reasons, ElementsAre("refused"));
  EXPECT_THAT(sink.failures, ElementsAre(RejectReason::kTimedOut));
}

TEST_F(ProfiledBackendTest, ElsewhereABrokenConnectionIsBroken) {
  Open(DeviceProfile::kIb);
  NotesEnds sink;
  transport::QueuePairAttributes attributes;
  attributes.sink = &sink;
  const auto pair = adapter_->CreateQueuePair(attributes).Take();
  below_->last_qp().sink().OnEnded(EndReason::kBroken, "refused");
  EXPECT_THAT(sink.ends, ElementsAre(EndReason::kBroken));
}

TEST_F(ProfiledBackendTest, AWindowIsOfOnePairWhateverIsAsked) {
  Open(DeviceProfile::kRxe);
  const auto pd = adapter_->CreateProtectionDomain().Take();
  const auto window = adapter_->CreateWindow(*pd, false).Take();
  EXPECT_TRUE(below_->windows.back()->exclusive_to_qp);
}

}  // namespace
}  // namespace softdat
