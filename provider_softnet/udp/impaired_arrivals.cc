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

uint32_t ImpairedArrivals::Offer(const sockaddr_storage& source, std::span<const uint8_t> datagram,
                                 size_t segment) {
  bool start = false;
  Impairment::Passage passage;
  {
    const std::lock_guard<Mutex> lock(mutex_);
    passage = impairment_.Offer(LoopClock::now(), source, datagram, segment);
    if (passage.held) {
      holds_.store(true, std::memory_order_relaxed);
      start = !std::exchange(timer_wanted_, true);
    }
  }
  if (passage.impaired) counters_->impaired.Add();
  if (start) {
    driver_->Post([weak = weak_from_this()] {
      if (const std::shared_ptr<ImpairedArrivals> self = weak.lock()) self->StartTimer();
    });
  }
  return passage.times;
}

std::vector<HeldDatagram> ImpairedArrivals::TakeDue() {
  if (!holds_.load(std::memory_order_relaxed)) return {};
  const std::lock_guard<Mutex> lock(mutex_);
  std::vector<HeldDatagram> due = impairment_.TakeDue(LoopClock::now());
  holds_.store(impairment_.next_due().has_value(), std::memory_order_relaxed);
  return due;
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
