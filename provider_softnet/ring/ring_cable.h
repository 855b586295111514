// SPDX-License-Identifier: BSD-3-Clause
// Two byte rings in memory with two ends. They replace a TCP connection in tests, within one
// process.
#ifndef SOFTDAT_PROVIDER_SOFTNET_RING_RING_CABLE_H_
#define SOFTDAT_PROVIDER_SOFTNET_RING_RING_CABLE_H_

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>

#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

class RingCable {
 public:
  // What an end can be ready for.
  struct Readiness {
    bool readable = false;  // bytes, or the peer's end after them
    bool writable = false;
    bool hung_up = false;  // the peer sends nothing more
    bool failed = false;   // reset, or the peer has gone altogether
  };

  // valid() is false when no descriptors are left.
  RingCable();
  bool valid() const { return ends_[0].doorbell.valid() && ends_[1].doorbell.valid(); }

  // Same as in ByteLink. `end` is 0 or 1.
  ssize_t Send(int end, const iovec* iov, size_t count);
  ssize_t Receive(int end, const iovec* iov, size_t count);
  ssize_t Peek(int end);
  int TakeError(int end);
  bool PeerHasGone(int end);

  // The doorbell is readable while the end is ready for something in `wanted` (watch_events.h; 0:
  // nothing).
  int doorbell(int end) const { return ends_[end].doorbell.get(); }
  void WatchFor(int end, int wanted);
  // What the end is ready for, in bits of watch_events.h, among what it watches. An error counts as
  // everything.
  int Ready(int end);

  // Closes the end with a reset. The peer reads what is there, and then an error.
  void Reset(int end);
  // Ends sending. The peer reads `rest` and then the end. What the peer sends from now on is taken
  // and forgotten.
  void Finish(int end, std::span<const uint8_t> rest);
  // To be called after Finish(). The peer learns that nobody is there any more.
  void Leave(int end);

  // Set before the other end is handed over.
  std::array<sockaddr_storage, 2> addresses{};

 private:
  static constexpr size_t kCapacity = 256 * 1024;

  struct End {
    UniqueFd doorbell;
    bool rung = false;
    int wanted = 0;
    std::deque<uint8_t> inbox;  // bytes that the other end has sent
    bool finished = false;      // sends and reads nothing more
    bool left = false;
    bool reset = false;  // closed with a reset
    bool error_taken = false;
  };

  Readiness ReadinessOf(int end) const;
  int EventsOf(int end) const;
  void Update();  // rings or silences the doorbells

  std::mutex mutex_;  // protects ends_, except the descriptors
  std::array<End, 2> ends_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_RING_RING_CABLE_H_
