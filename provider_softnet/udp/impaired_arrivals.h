// SPDX-License-Identifier: BSD-3-Clause
// Loss on demand at a port: what a socket reads goes through an Impairment, which any thread that
// reads asks for what is due, and a timer when none does.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_IMPAIRED_ARRIVALS_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_IMPAIRED_ARRIVALS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dat/base/mutex.h"
#include "provider_softnet/driver/driver.h"
#include "provider_softnet/udp/impairment.h"
#include "provider_softnet/udp/udp_counters.h"

namespace softdat::softnet {

class ImpairedArrivals : public std::enable_shared_from_this<ImpairedArrivals> {
 public:
  // `deliver` is called with the token when something is due and no thread has asked for it.
  ImpairedArrivals(const ImpairmentSpec& spec, Driver* driver, UdpCounters* counters,
                   std::function<void()> deliver);

  // Any thread. How often the datagram, number `segment` of a run, is to be taken in now.
  uint32_t Offer(const sockaddr_storage& source, std::span<const uint8_t> datagram, size_t segment);
  // Any thread. Those that were held back until now.
  std::vector<HeldDatagram> TakeDue();

  // With the token. No more calls of `deliver`.
  void Close();

 private:
  void StartTimer();

  Driver* const driver_;
  UdpCounters* const counters_;
  // Whether any datagram is held. Written under the mutex, and a hint without it.
  std::atomic<bool> holds_{false};
  Mutex mutex_;  // protects impairment_ and timer_wanted_
  Impairment impairment_;
  bool timer_wanted_ = false;  // the timer runs, or is about to be started
  // Guarded by the token:
  bool closed_ = false;
  const std::function<void()> deliver_;
  LoopTimer timer_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_IMPAIRED_ARRIVALS_H_
