// SPDX-License-Identifier: BSD-3-Clause
// A loop over a plain TCP connection for programs that look at memory alone: a thread of each end
// sleeps for the messages and puts them there. Without hardware, nobody else could.
#include <sys/socket.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "tools/raw/patience.h"
#include "tools/raw/socket_io.h"
#include "tools/raw/transfer.h"

namespace softdat::tools {
namespace {

constexpr uint32_t kLooks = 1 << 24;

class TcpThreadTransfer : public RawTransfer {
 public:
  TcpThreadTransfer(const RawJob& job, bool is_server, int fd)
      : RawTransfer(job, is_server), fd_(fd), outgoing_(job.size), memory_(job.size) {}

  Outcome Run() override {
    Outcome received;
    std::thread receiver([&] {
      received = ReceiveEach();
      ended_.store(true, std::memory_order_release);
    });
    Outcome outcome = PingPong();
    if (!outcome.ok()) shutdown(fd_, SHUT_RDWR);  // the thread may sleep
    receiver.join();
    return outcome.ok() ? std::move(received) : std::move(outcome);
  }

 private:
  // The last byte of a message. It differs from that of the one before.
  static uint8_t MarkOf(uint64_t iteration) { return static_cast<uint8_t>(iteration % 255 + 1); }

  Outcome ReceiveEach() {
    std::vector<uint8_t> staged(job_.size);
    for (uint64_t i = 0; i < job_.iterations; ++i) {
      SOFTDAT_TRY(ReceiveAll(fd_, staged.data(), staged.size()));
      std::memcpy(memory_.data(), staged.data(), staged.size() - 1);
      LastByte().store(staged.back(), std::memory_order_release);
    }
    return {};
  }

  Outcome PingPong() {
    for (uint64_t i = 0; i < job_.iterations; ++i) {
      outgoing_.back() = MarkOf(i);
      if (!is_server_) SOFTDAT_TRY(SendAll(fd_, outgoing_.data(), outgoing_.size()));
      SOFTDAT_TRY(AwaitMark(MarkOf(i)));
      if (is_server_) SOFTDAT_TRY(SendAll(fd_, outgoing_.data(), outgoing_.size()));
    }
    return {};
  }

  Outcome AwaitMark(uint8_t mark) {
    Patience patience(kLooks);
    while (LastByte().load(std::memory_order_acquire) != mark) {
      if (patience.Pause() && ended_.load(std::memory_order_acquire) &&
          LastByte().load(std::memory_order_acquire) != mark)
        return RawClosed();
    }
    return {};
  }

  std::atomic_ref<uint8_t> LastByte() { return std::atomic_ref<uint8_t>(memory_.back()); }

  const int fd_;
  std::vector<uint8_t> outgoing_;
  std::vector<uint8_t> memory_;     // but for its last byte, it is read behind that one
  std::atomic<bool> ended_{false};  // of the thread
};

}  // namespace

std::unique_ptr<RawTransfer> MakeTcpThreadTransfer(const RawJob& job, bool is_server, int fd) {
  return std::make_unique<TcpThreadTransfer>(job, is_server, fd);
}

}  // namespace softdat::tools
