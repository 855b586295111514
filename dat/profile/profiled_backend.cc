// SPDX-License-Identifier: BSD-3-Clause
// The wrappers. Limits are attributes of the adapter, which the engine enforces. Deviations are
// changed events.
#include "dat/profile/profiled_backend.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "dat/transport/forwarding.h"

namespace softdat {
namespace {

using transport::Completion;
using transport::EndReason;
using transport::Op;
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

// Reports a broken connection as one that the peer disconnected.
class QuietEnd final : public transport::ForwardingConnectionSink {
 public:
  using ForwardingConnectionSink::ForwardingConnectionSink;
  void OnEnded(EndReason, const std::string& why) override {
    above().OnEnded(EndReason::kDisconnected, why);
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

 protected:
  using ForwardingAdapter::Wrap;
  using ForwardingAdapter::WrapSink;

  std::unique_ptr<transport::ForwardingCompletionQueue> Wrap(
      std::unique_ptr<transport::CompletionQueue> below, uint32_t capacity) override {
    if (!profile_.reads_fail_flushed) return ForwardingAdapter::Wrap(std::move(below), capacity);
    return std::make_unique<ProfiledCompletionQueue>(std::move(below));
  }

  std::unique_ptr<transport::ForwardingConnectionSink> WrapSink(
      transport::ConnectionSink* above) override {
    if (!profile_.reads_fail_flushed) return nullptr;
    return std::make_unique<QuietEnd>(above);
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
  std::unique_ptr<transport::ForwardingAdapter> Wrap(std::unique_ptr<transport::Adapter> below,
                                                     const std::string&) override {
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
