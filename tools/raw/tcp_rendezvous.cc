// SPDX-License-Identifier: BSD-3-Clause
// A loop over a plain TCP connection in which each message is announced, and sent when the other
// end has answered: what a message-passing layer does with a large one, and nothing else.
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <vector>

#include "tools/raw/socket_io.h"
#include "tools/raw/transfer.h"

namespace softdat::tools {
namespace {

class TcpRendezvousTransfer : public RawTransfer {
 public:
  TcpRendezvousTransfer(const RawJob& job, bool is_server, int fd)
      : RawTransfer(job, is_server), fd_(fd), message_(job.size) {}

  Outcome Run() override {
    for (uint64_t i = 0; i < job_.iterations; ++i) {
      if (!is_server_) SOFTDAT_TRY(Send());
      SOFTDAT_TRY(Receive());
      if (is_server_) SOFTDAT_TRY(Send());
    }
    return {};
  }

 private:
  // A request and an answer, each with room for an address, a key and a length.
  static constexpr size_t kFrame = 64;
  // Of the data, as long as that of an FPDU. Without one the kernel's copies would be aligned, and
  // faster than those of any protocol.
  static constexpr size_t kHeader = 20;

  Outcome Send() {
    SOFTDAT_TRY(SendAll(fd_, frame_, kFrame));
    SOFTDAT_TRY(ReceiveAll(fd_, frame_, kFrame, MSG_DONTWAIT));
    return SendData();
  }
  Outcome Receive() {
    SOFTDAT_TRY(ReceiveAll(fd_, frame_, kFrame, MSG_DONTWAIT));
    SOFTDAT_TRY(SendAll(fd_, frame_, kFrame));
    SOFTDAT_TRY(ReceiveAll(fd_, frame_, kHeader, MSG_DONTWAIT));
    return ReceiveAll(fd_, message_.data(), message_.size(), MSG_DONTWAIT);
  }

  // In one system call, as long as TCP has room.
  Outcome SendData() {
    iovec pieces[] = {{frame_, kHeader}, {message_.data(), message_.size()}};
    msghdr data{};
    data.msg_iov = pieces;
    data.msg_iovlen = 2;
    ssize_t sent = 0;
    do {
      sent = sendmsg(fd_, &data, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) return RawErrno("sendmsg");
    const auto done = static_cast<size_t>(sent);
    if (done < kHeader) {
      SOFTDAT_TRY(SendAll(fd_, frame_ + done, kHeader - done));
      return SendAll(fd_, message_.data(), message_.size());
    }
    return SendAll(fd_, message_.data() + (done - kHeader), message_.size() - (done - kHeader));
  }

  const int fd_;
  uint8_t frame_[kFrame] = {};
  std::vector<uint8_t> message_;
};

}  // namespace

std::unique_ptr<RawTransfer> MakeTcpRendezvousTransfer(const RawJob& job, bool is_server, int fd) {
  return std::make_unique<TcpRendezvousTransfer>(job, is_server, fd);
}

}  // namespace softdat::tools
