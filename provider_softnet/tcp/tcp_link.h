// SPDX-License-Identifier: BSD-3-Clause
// A TCP socket as a byte link.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_LINK_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_LINK_H_

#include <utility>

#include "provider_softnet/connection/byte_link.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

class TcpLink final : public ByteLink {
 public:
  explicit TcpLink(UniqueFd fd) : fd_(std::move(fd)) {}

  ssize_t Send(const iovec* iov, size_t count) override;
  ssize_t Receive(const iovec* iov, size_t count) override;
  ssize_t Peek() override;
  void ExpectBulk() override;
  void MakeRoom() override;
  int UnsentBytes() const override;
  PathSample SamplePath() const override;
  int TakeError() override;
  bool PeerHasGone() const override;

  int Connect(const sockaddr_storage& remote) override;
  void Prepare(std::chrono::milliseconds dead_path) override;
  int descriptor() const override { return fd_.get(); }
  sockaddr_storage LocalAddress() const override;
  sockaddr_storage RemoteAddress() const override;
  size_t SegmentSize() const override;
  // A system call takes longer than to copy a message of 16 KiB, which is what many programs send.
  size_t LeastDirect() const override { return size_t{24} << 10; }

  // Whether everything was read that the peer will ever send.
  bool PeerHasFinished() const { return peer_has_finished_; }
  // Takes the socket, which outlives the link.
  UniqueFd Release() { return std::move(fd_); }

 private:
  UniqueFd fd_;
  bool peer_has_finished_ = false;
  bool expects_bulk_ = false;
  bool short_queue_ = false;  // because of that
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_LINK_H_
