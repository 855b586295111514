// SPDX-License-Identifier: BSD-3-Clause
// The wrappers: limits are the adapter's attributes, which the engine enforces; deviations are
// changed events.
#include "dat/profile/profiled_backend.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "dat/transport/forwarding.h"

namespace softdat {
namespace {

using transport::Completion;
using transport::ConnectionSink;
using transport::EndReason;
using transport::Op;
using transport::QueuePairAttributes;
using transport::WorkStatus;

class ProfiledCompletionQueue final : public transport::ForwardingCompletionQueue {
 public:
  using ForwardingCompletionQueue::ForwardingCompletionQueue;

  size_t Poll(std::span<Completion> out) override {
    const size_t n = ForwardingCompletionQueue::Poll(out);
    for (Completion& c : out.first(n)) {
      if (c.op == Op::kRdmaRead && c.status == WorkStatus::kRemoteAccess)
        c.status = WorkStatus::kFlushed;
    }
    return n;
  }
};

// A broken connection is told as one that was disconnected.
class QuietEnd final : public ConnectionSink {
 public:
  explicit QuietEnd(ConnectionSink* above) : above_(above) {}
  // Not while a connection is on: Configure is for idle and ended queue pairs.
  void SetAbove(ConnectionSink* above) { above_ = above; }

  void OnEstablished(std::span<const uint8_t> private_data) override {
    above_->OnEstablished(private_data);
  }
  void OnFailed(transport::RejectReason reason, std::span<const uint8_t> private_data,
                const std::string& why) override {
    above_->OnFailed(reason, private_data, why);
  }
  void OnEnded(EndReason, const std::string& why) override {
    above_->OnEnded(EndReason::kDisconnected, why);
  }
  void OnReceiveWatermark() override { above_->OnReceiveWatermark(); }

 private:
  ConnectionSink* above_;
};

// A base of its own, so that it outlives the queue pair that reports to it.
struct HasQuietEnd {
  explicit HasQuietEnd(std::unique_ptr<QuietEnd> s) : sink(std::move(s)) {}
  const std::unique_ptr<QuietEnd> sink;
};

class ProfiledQueuePair final : private HasQuietEnd, public transport::ForwardingQueuePair {
 public:
  ProfiledQueuePair(std::unique_ptr<QuietEnd> end, std::unique_ptr<QueuePair> below)
      : HasQuietEnd(std::move(end)), ForwardingQueuePair(std::move(below)) {}

  Status Configure(const QueuePairAttributes& attributes) override {
    QueuePairAttributes mine = attributes;
    sink->SetAbove(attributes.sink);
    if (attributes.sink != nullptr) mine.sink = sink.get();
    return ForwardingQueuePair::Configure(mine);
  }
};

class ProfiledAdapter final : public transport::ForwardingAdapter {
 public:
  ProfiledAdapter(const Profile& profile, std::unique_ptr<Adapter> below)
      : ForwardingAdapter(std::move(below)),
        profile_(profile),
        attributes_(Limited(profile, inner().attributes())) {
    attributes_.vendor += fmt::format(", as {}", profile.device);
  }

  const transport::AdapterAttributes& attributes() const override { return attributes_; }

  Result<std::unique_ptr<transport::MemoryWindow>> CreateWindow(transport::ProtectionDomain& pd,
                                                                bool exclusive_to_qp) override {
    return ForwardingAdapter::CreateWindow(pd, exclusive_to_qp || !profile_.zone_windows);
  }

  Result<std::unique_ptr<transport::QueuePair>> CreateQueuePair(
      const QueuePairAttributes& a) override {
    if (!profile_.reads_fail_flushed) return ForwardingAdapter::CreateQueuePair(a);
    auto end = std::make_unique<QuietEnd>(a.sink);
    QueuePairAttributes below = transport::InnerAttributes(a);
    if (a.sink != nullptr) below.sink = end.get();
    auto made = inner().CreateQueuePair(below);
    if (!made.ok()) return made.TakeStatus();
    return std::unique_ptr<transport::QueuePair>(
        std::make_unique<ProfiledQueuePair>(std::move(end), made.Take()));
  }

 protected:
  using ForwardingAdapter::Wrap;
  std::unique_ptr<transport::CompletionQueue> Wrap(
      std::unique_ptr<transport::CompletionQueue> below) override {
    if (!profile_.reads_fail_flushed) return ForwardingAdapter::Wrap(std::move(below));
    return std::make_unique<ProfiledCompletionQueue>(std::move(below));
  }

 private:
  const Profile& profile_;
  transport::AdapterAttributes attributes_;
};

class ProfiledBackend final : public transport::ForwardingBackend {
 public:
  ProfiledBackend(const Profile& profile, std::unique_ptr<Backend> below)
      : ForwardingBackend(std::move(below)), profile_(profile) {}

 protected:
  std::unique_ptr<transport::Adapter> Wrap(std::unique_ptr<transport::Adapter> below) override {
    return std::make_unique<ProfiledAdapter>(profile_, std::move(below));
  }

 private:
  const Profile& profile_;
};

}  // namespace

std::unique_ptr<transport::Backend> WithProfile(const Profile& profile,
                                                std::unique_ptr<transport::Backend> below) {
  return std::make_unique<ProfiledBackend>(profile, std::move(below));
}

}  // namespace softdat
