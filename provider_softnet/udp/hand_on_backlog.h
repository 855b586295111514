// SPDX-License-Identifier: BSD-3-Clause
// What other members had no room for yet. A local socket holds few messages (on Linux,
// net.unix.max_dgram_qlen of them), and a member that was not scheduled for a moment reads none.
// The messages of connection management are repeated only after seconds, so none is to be lost for
// that. They wait here, in order, and are tried again until there is room or they are too old.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_HAND_ON_BACKLOG_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_HAND_ON_BACKLOG_H_

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "dat/base/mutex.h"
#include "provider_softnet/driver/driver.h"
#include "provider_softnet/udp/member_names.h"
#include "provider_softnet/udp/member_sockets.h"
#include "provider_softnet/udp/udp_counters.h"

namespace softdat::softnet {

class HandOnBacklog : public std::enable_shared_from_this<HandOnBacklog> {
 public:
  // A member that reads nothing for so long, or is so far behind, loses packets. A request that is
  // not answered is repeated by then.
  static constexpr std::chrono::seconds kLongest{4};
  static constexpr size_t kMost = 4096;
  // Close() waits no longer for those who are to take what is handed on last.
  static constexpr std::chrono::milliseconds kLongestAtTheEnd{500};

  // `fd` of OpenHandOn() stays open until Close().
  HandOnBacklog(Driver* driver, UdpCounters* counters, int fd);

  // Hands a packet on now, or keeps it. kFull: it is lost. Any thread.
  HandOnResult HandOn(const MemberName& name, const sockaddr_storage& source,
                      std::span<const uint8_t> datagram);

  // Hands on what waits, or gives up at `deadline`: it may be the last that this process says to
  // another one of its host. Any thread.
  void Drain(LoopClock::time_point deadline);
  // The process exits, from a signal handler perhaps, in the midst of anything: from now on nobody
  // waits long for the lock. Any thread.
  void BeginLeaving() { leaving_.store(true, std::memory_order_relaxed); }
  // With the token. Drains, and drops the rest.
  void Close();

 private:
  struct Waiting {
    MemberName name;
    sockaddr_storage source;
    std::vector<uint8_t> datagram;
    LoopClock::time_point since;
  };

  Channel::Patience patience() const {
    return leaving_.load(std::memory_order_relaxed) ? Channel::Patience::kTry
                                                    : Channel::Patience::kWait;
  }
  void Retry();
  void RetryLocked();
  bool Keep(const MemberName& name, const sockaddr_storage& source,
            std::span<const uint8_t> datagram);

  Driver* const driver_;
  UdpCounters* const counters_;
  const int fd_;
  Mutex mutex_;  // protects waiting_
  std::atomic<bool> leaving_{false};
  std::deque<Waiting> waiting_;
  // Guarded by the token:
  bool closed_ = false;
  LoopTimer timer_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_HAND_ON_BACKLOG_H_
