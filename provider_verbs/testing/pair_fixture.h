// SPDX-License-Identifier: BSD-3-Clause
// A device of tests/nulldevice that holds posted requests, and the objects that the parts of a
// queue pair need. No thread leads. The test itself runs the driver, turn by turn.
#ifndef SOFTDAT_PROVIDER_VERBS_TESTING_PAIR_FIXTURE_H_
#define SOFTDAT_PROVIDER_VERBS_TESTING_PAIR_FIXTURE_H_

#include <dat2/udat.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_verbs/completion_queue.h"
#include "provider_verbs/device.h"
#include "provider_verbs/memory.h"
#include "provider_verbs/pair_sink.h"
#include "provider_verbs/work_slots.h"
#include "tests/nulldevice/null_verbs.h"

namespace softdat::verbs {

class PairTest : public testing::Test {
 protected:
  // To be called before anything else. `null` says what the device is like. `traits` changes what
  // was found out about it.
  void Open(
      nulldevice::NullDevice null = {},
      const std::function<void(DeviceTraits*)>& traits = [](DeviceTraits*) {}) {
    null.holds = true;
    nulldevice::TheNullDevice() = null;
    nulldevice::TakeNullPosts();
    nulldevice::TakeNullCmCalls();
    device_ = std::make_unique<Device>();
    ibv_device** const list = ibv_get_device_list(nullptr);
    device_->context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    device_->channel = ibv_create_comp_channel(device_->context);
    device_->cm = CmChannel::Create().Take();
    device_->traits = {.rdma_device = "null0",
                       .netdev = "lo",
                       .iwarp = null.iwarp,
                       .max_qp_wr = 1024,
                       .max_sge = 4,
                       .max_read_sge = null.iwarp ? 1u : 4u,
                       .max_cqe = 4096,
                       .signal_all = false,
                       .invalidated_flags = IBV_WC_WITH_INV};
    traits(&device_->traits);
    device_->attributes.max_message = 1 << 30;
    device_->attributes.max_private_data = 48;
    fcntl(device_->channel->fd, F_SETFL, O_NONBLOCK);
    fcntl(device_->context->async_fd, F_SETFL, O_NONBLOCK);
    pd_ = ProtectionDomain::Create(*device_).Take();
    send_cq_ = MakeQueue();
    recv_cq_ = MakeQueue();
    region_ = MemoryRegion::Create(
                  *device_, static_cast<ProtectionDomain&>(*pd_),
                  {.address = memory_.data(),
                   .length = memory_.size(),
                   .privileges = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG})
                  .Take();
  }
  void TearDown() override {
    region_.reset();
    send_cq_.reset();
    recv_cq_.reset();
    pd_.reset();
    nulldevice::TheNullDevice() = {};
  }

  // One turn of the driver's leader.
  void Turn() {
    device_->DispatchCompletionEvents();
    device_->DispatchAsyncEvents();
    device_->cm->Dispatch();
    device_->driver.Progress(nullptr, {});
    device_->ArmStrays();
  }
  bool Until(const std::function<bool()>& done) {
    const auto deadline = transport::Clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (transport::Clock::now() > deadline) return false;
      Turn();
      std::this_thread::yield();
    }
    return true;
  }

  DAT_LMR_TRIPLET Segment(uint64_t offset, uint64_t length) const {
    DAT_LMR_TRIPLET triplet{};
    triplet.lmr_context = region_->local_key();
    triplet.virtual_address = reinterpret_cast<uintptr_t>(memory_.data()) + offset;
    triplet.segment_length = length;
    return triplet;
  }
  transport::QueuePairAttributes Attributes() {
    return {.context = this,
            .pd = pd_.get(),
            .send_cq = send_cq_.get(),
            .recv_cq = recv_cq_.get(),
            .max_send = 8,
            .max_recv = 4,
            .max_send_iov = 4,
            .max_recv_iov = 2,
            .max_read_in = 4,
            .max_read_out = 4};
  }
  static std::vector<transport::Completion> Poll(transport::CompletionQueue& queue) {
    std::vector<transport::Completion> all;
    transport::Completion one;
    while (queue.Poll({&one, 1}) == 1) all.push_back(one);
    return all;
  }
  static std::vector<uint64_t> CookiesOf(const std::vector<transport::Completion>& completions) {
    std::vector<uint64_t> cookies;
    for (const transport::Completion& completion : completions)
      cookies.push_back(completion.cookie);
    return cookies;
  }
  static CqCore* CoreOf(const std::unique_ptr<transport::CompletionQueue>& queue) {
    return static_cast<CompletionQueue*>(queue.get())->core().get();
  }

  std::array<char, 4096> memory_{};
  std::unique_ptr<Device> device_;
  std::unique_ptr<transport::ProtectionDomain> pd_;
  std::unique_ptr<transport::CompletionQueue> send_cq_, recv_cq_;
  std::unique_ptr<transport::MemoryRegion> region_;

 private:
  struct NoSink final : transport::CompletionSink {
    void OnCompletion() override {}
    void OnOverflow() override { ADD_FAILURE() << "a completion queue overflows"; }
  };
  std::unique_ptr<transport::CompletionQueue> MakeQueue() {
    return std::make_unique<CompletionQueue>(CqCore::Create(*device_, 64, &no_sink_).Take());
  }
  NoSink no_sink_;
};

// A queue pair for the layers below it. Counts what it is told.
class CountingPair final : public PairSink {
 public:
  ReceiveProgress& receive_progress() override { return *receives; }
  bool Shares(const SrqCore*) override { return false; }
  void ReportFailure() override { ++failures; }
  void OnArrivals() override { ++arrivals; }
  void OnAsyncError(const char*, uint32_t) override {}
  void OnFirstMessage(uint32_t) override {}

  ReceiveProgress* receives = nullptr;
  int failures = 0;
  int arrivals = 0;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_TESTING_PAIR_FIXTURE_H_
