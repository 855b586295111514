// SPDX-License-Identifier: BSD-3-Clause
// One end of a cable as a byte link.
#ifndef SOFTDAT_PROVIDER_SOFTNET_RING_RING_LINK_H_
#define SOFTDAT_PROVIDER_SOFTNET_RING_RING_LINK_H_

#include <errno.h>

#include <memory>
#include <utility>

#include "provider_softnet/connection/byte_link.h"
#include "provider_softnet/driver/watch_events.h"
#include "provider_softnet/ring/ring_cable.h"

namespace softdat::softnet {

class RingLink final : public ByteLink {
 public:
  RingLink(std::shared_ptr<RingCable> cable, int end) : cable_(std::move(cable)), end_(end) {}
  ~RingLink() override {
    if (cable_ != nullptr) cable_->Reset(end_);
  }

  ssize_t Send(const iovec* iov, size_t count) override { return cable_->Send(end_, iov, count); }
  ssize_t Receive(const iovec* iov, size_t count) override {
    return cable_->Receive(end_, iov, count);
  }
  ssize_t Peek() override { return cable_->Peek(end_); }
  // Sent bytes are at the peer's end at once.
  int UnsentBytes() const override { return 0; }
  PathSample SamplePath() const override { return {}; }
  int TakeError() override { return cable_->TakeError(end_); }
  bool PeerHasGone() const override { return cable_->PeerHasGone(end_); }

  int Connect(const sockaddr_storage& remote) override;  // ring_ports.cc
  int descriptor() const override { return cable_->doorbell(end_); }
  int WatchFor(int events) override {
    cable_->WatchFor(end_, events);
    return events == 0 ? 0 : kReadable;  // of the doorbell
  }
  int Happened(int) override { return cable_->Ready(end_); }
  sockaddr_storage LocalAddress() const override { return cable_->addresses[end_]; }
  sockaddr_storage RemoteAddress() const override { return cable_->addresses[1 - end_]; }
  size_t SegmentSize() const override { return 65483; }  // like TCP over the loopback interface

  // Takes the cable. The other end goes on with what is left of it.
  std::shared_ptr<RingCable> Release() { return std::move(cable_); }
  int end() const { return end_; }

 private:
  std::shared_ptr<RingCable> cable_;
  const int end_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_RING_RING_LINK_H_
