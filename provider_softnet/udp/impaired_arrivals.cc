// SPDX-License-Identifier: BSD-3-Clause
// ImpairedArrivals.
#include "provider_softnet/udp/impaired_arrivals.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace softdat::softnet {

ImpairedArrivals::ImpairedArrivals(const ImpairmentSpec& spec, Driver* driver,
                                   UdpCounters* counters, std::function<void()> deliver)
    : driver_(driver),
      counters_(counters),
      impairment_(spec),
      deliver_(std::move(deliver)),
      timer_(&driver->loop(), [this] {
        deliver_();
        StartTimer();
      }) {}

void ImpairedArrivals::Offer(const sockaddr_storage& source, std::span<const uint8_t> datagram) {
  bool start = false;
  {
    const std::lock_guard<Mutex> lock(mutex_);
    if (impairment_.Offer(LoopClock::now(), source, datagram)) counters_->impaired.Add();
    start = impairment_.next_due().has_value() && !std::exchange(timer_wanted_, true);
  }
  if (!start) return;
  driver_->Post([weak = weak_from_this()] {
    if (const std::shared_ptr<ImpairedArrivals> self = weak.lock()) self->StartTimer();
  });
}

std::vector<HeldDatagram> ImpairedArrivals::TakeDue() {
  const std::lock_guard<Mutex> lock(mutex_);
  return impairment_.TakeDue(LoopClock::now());
}

void ImpairedArrivals::StartTimer() {
  if (closed_) return;
  std::optional<Impairment::Time> due;
  {
    const std::lock_guard<Mutex> lock(mutex_);
    due = impairment_.next_due();
    timer_wanted_ = due.has_value();
  }
  if (!due) return;
  const auto wait = std::chrono::ceil<std::chrono::microseconds>(*due - LoopClock::now());
  timer_.Start(std::max(wait, std::chrono::microseconds(0)));
}

void ImpairedArrivals::Close() {
  closed_ = true;
  timer_.Close();
}

}  // namespace softdat::softnet
