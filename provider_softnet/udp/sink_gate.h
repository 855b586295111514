// SPDX-License-Identifier: BSD-3-Clause
// Guards the sink of a port against calls after the port was closed.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_SINK_GATE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_SINK_GATE_H_

#include <atomic>
#include <mutex>

#include "dat/base/mutex.h"
#include "provider_softnet/driver/upcall_gate.h"

namespace softdat::softnet {

class SinkGate {
 public:
  // While it lives, the calling thread may call the sink if open(). It asks again before each call,
  // because the sink itself may close the port.
  class Pass {
   public:
    explicit Pass(SinkGate* gate)
        : gate_(gate), entered_(gate->Enter()), running_(entered_ ? &gate->upcalls_ : nullptr) {}
    ~Pass() {
      if (entered_) gate_->upcalls_.Leave();
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    bool open() const { return entered_ && !gate_->closed(); }

   private:
    SinkGate* const gate_;
    const bool entered_;
    const UpcallGate::Running running_;
  };

  bool closed() const { return closed_.load(std::memory_order_relaxed); }

  // Waits for the passes of other threads. No later pass is open.
  void Close() {
    {
      const std::lock_guard<Mutex> lock(mutex_);
      if (closed()) return;
      closed_.store(true, std::memory_order_relaxed);
    }
    upcalls_.Close();
  }

 private:
  bool Enter() {
    const std::lock_guard<Mutex> lock(mutex_);
    if (closed()) return false;
    upcalls_.Enter();
    return true;
  }

  Mutex mutex_;                      // orders Enter and Close
  std::atomic<bool> closed_{false};  // written under mutex_
  UpcallGate upcalls_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_SINK_GATE_H_
