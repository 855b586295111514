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
        watch_(loop, [this](int seen) { handler_(link_->Happened(seen)); }) {}

  // `link` must outlive the watching.
  Status Start(ByteLink* link, int events) {
    link_ = link;
    return watch_.Start(link->descriptor(), link->WatchFor(events));
  }
  void Update(int events) { watch_.Update(link_->WatchFor(events)); }
  void Stop() { watch_.Stop(); }
  bool active() const { return watch_.active(); }

 private:
  const SocketWatch::Handler handler_;
  ByteLink* link_ = nullptr;
  SocketWatch watch_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LINK_WATCH_H_
