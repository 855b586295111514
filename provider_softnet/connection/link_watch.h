// SPDX-License-Identifier: BSD-3-Clause
// Watches a byte link in the loop. The owner says what it waits for, and the link says what that
// means for its descriptor. Needs the driver token.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LINK_WATCH_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LINK_WATCH_H_

#include <utility>

#include "provider_softnet/connection/byte_link.h"
#include "provider_softnet/driver/event_loop.h"

namespace softdat::softnet {

class LinkWatch {
 public:
  LinkWatch(EventLoop* loop, SocketWatch::Handler handler)
      : handler_(std::move(handler)),
        watch_(loop, [this](int seen) { OnDescriptor(seen); }),
        source_(loop, this) {}

  // `link` must outlive the watching.
  Status Start(ByteLink* link, int events) {
    link_ = link;
    Status s = watch_.Start(link->descriptor(), link->WatchFor(events));
    if (s.ok() && link->Unheralded()) source_.Awake();
    return s;
  }
  // The same for a link that `before` watches. It stops.
  void TakeOver(LinkWatch* before, ByteLink* link, int events) {
    link_ = link;
    watch_.TakeOver(before->Release());
    Update(events);
  }
  // Whoever takes the descriptor's watch over goes on with it.
  SocketWatch* Release() {
    source_.Stop();
    return &watch_;
  }
  void Update(int events) {
    watch_.Update(link_->WatchFor(events));
    if (link_->Unheralded()) source_.Awake();
  }
  void Stop() {
    watch_.Stop();
    source_.Stop();
  }
  bool active() const { return watch_.active(); }

 private:
  // What comes past the descriptor.
  class Source final : public LoopSource {
   public:
    Source(EventLoop* loop, LinkWatch* owner) : LoopSource(loop), owner_(owner) {}

   private:
    bool IsReady() override { return owner_->link_->Look() != 0; }
    bool Herald() override { return owner_->link_->Herald(); }
    void Fire() override { owner_->OnSource(); }

    LinkWatch* const owner_;
  };

  // The handler comes last, because it may end this object's owner.
  void OnDescriptor(int seen) {
    const int events = link_->Happened(seen);
    if (link_->DescriptorIsOver()) watch_.Update(0);
    if (link_->Unheralded()) source_.Awake();
    if (events != 0) handler_(events);
  }
  void OnSource() {
    if (const int events = link_->Look(); events != 0) handler_(events);
  }

  const SocketWatch::Handler handler_;
  ByteLink* link_ = nullptr;
  SocketWatch watch_;
  Source source_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LINK_WATCH_H_
