// SPDX-License-Identifier: BSD-3-Clause
// A byte link whose bytes are in memory that both processes have. Its descriptor is the local
// socket over which they have met. It shows the peer's end, and a bell, which the peer rings only
// if somebody listens (Herald).
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_LINK_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_LINK_H_

#include <atomic>
#include <memory>

#include "provider_softnet/connection/byte_link.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/shm/shared_area.h"

namespace softdat::softnet {

class ShmLink final : public ByteLink {
 public:
  // For Connect(). `same_host`: the peer may be in this host's memory.
  ShmLink(UniqueFd fd, bool same_host)
      : ByteLink(Lends::kYes), fd_(std::move(fd)), same_host_(same_host) {}
  // Of a listener. The hello may still be on its way.
  explicit ShmLink(UniqueFd accepted)
      : ByteLink(Lends::kYes), fd_(std::move(accepted)), awaits_hello_(true) {}
  // The peer reads what is there, and then an error, unless FinishSending() was called.
  ~ShmLink() override = default;

  ssize_t Send(const iovec* iov, size_t count) override;
  ssize_t Receive(const iovec* iov, size_t count) override;
  ssize_t Peek() override;
  ByteSpan Lend() override;
  bool TakeBack(size_t size) override;
  [[gnu::hot]] bool Silent() const override {
    area_->in.Expect();
    return !area_->in.HasBytes() && !area_->in.WriterIsOver() && !PeerHasGone();
  }
  // Sent bytes are in memory that the peer has.
  int UnsentBytes() const override { return 0; }
  PathSample SamplePath() const override { return {}; }
  int TakeError() override;
  bool PeerHasGone() const override { return gone_.load(std::memory_order_acquire); }

  int Connect(const sockaddr_storage& remote) override;
  int descriptor() const override { return fd_.get(); }
  int WatchFor(int events) override;
  int Happened(int seen) override;
  bool Unheralded() const override { return !heralded_; }
  int Look() override;
  bool Herald() override;
  bool DescriptorIsOver() const override { return gone_.load(std::memory_order_relaxed); }
  sockaddr_storage LocalAddress() const override { return local_; }
  sockaddr_storage RemoteAddress() const override { return remote_; }
  size_t SegmentSize() const override { return 65483; }  // like TCP over the loopback interface

  // Token, when nobody else uses the link any more. The peer reads the end behind what was sent.
  void FinishSending();
  // What the peer sends from now on vanishes.
  void StopReading();
  bool PeerHasFinished() const { return area_ == nullptr || area_->in.WriterIsOver(); }

 private:
  bool TakeHello();  // false, with errno
  // What there is, whatever is waited for.
  int Ready() const;

  const UniqueFd fd_;
  const bool same_host_ = true;
  bool awaits_hello_ = false;  // with the token, as long as a link awaits it
  std::unique_ptr<SharedArea> area_;
  sockaddr_storage local_{}, remote_{};
  // The socket is at its end. All that the peer has ever written is in the memory before.
  std::atomic<bool> gone_{false};
  bool error_taken_ = false;

  // Token:
  int wanted_ = 0;
  bool heralded_ = false;      // the peer was asked to ring
  bool end_reported_ = false;  // that the peer has gone
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_LINK_H_
