// SPDX-License-Identifier: BSD-3-Clause
// One open RDMA device, as the objects of an adapter share it.
#ifndef SOFTDAT_PROVIDER_VERBS_DEVICE_H_
#define SOFTDAT_PROVIDER_VERBS_DEVICE_H_

#include <infiniband/verbs.h>
#include <sys/socket.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "dat/backend_kit/spin_lock.h"
#include "dat/transport/transport.h"
#include "provider_verbs/cm_channel.h"
#include "provider_verbs/device_traits.h"
#include "provider_verbs/driver.h"
#include "provider_verbs/reaper.h"
#include "provider_verbs/region_table.h"
#include "provider_verbs/sink_table.h"

namespace softdat::verbs {

class CqCore;
class PairSink;
class SrqCore;
class WindowCore;

class Device {
 public:
  Device() = default;
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  ibv_context* context = nullptr;
  ibv_comp_channel* channel = nullptr;
  std::unique_ptr<CmChannel> cm;
  Driver driver;
  Reaper reaper;  // joined before what its work uses goes
  DeviceTraits traits;
  transport::AdapterAttributes attributes;
  transport::AdapterSink* sink = nullptr;
  RegionTable regions;
  SinkTable sinks;         // with read_sink_remote_write
  bool abandoned = false;  // only ever written in a child with one thread

  // The queue pairs by number. Find is for completions, events and requests.
  void AddPair(uint32_t qp_num, const std::shared_ptr<PairSink>& qp);
  void RemovePair(uint32_t qp_num);
  std::shared_ptr<PairSink> FindPair(uint32_t qp_num);
  // The same without a reference, while the pair cannot be removed (its completions are looked at).
  PairSink* PeekPair(uint32_t qp_num);
  std::vector<std::shared_ptr<PairSink>> AllPairs();

  void AddSharedQueue(ibv_srq* srq, const std::shared_ptr<SrqCore>& core);
  void RemoveSharedQueue(ibv_srq* srq);

  void AddQueue(ibv_cq* cq, const std::shared_ptr<CqCore>& core);
  // Returns how many events of the queue were read and not acknowledged yet.
  unsigned RemoveQueue(ibv_cq* cq);
  // A queue whose notification has fired and was not asked for again: gets at least the
  // notification that failed completions give before the leader blocks.
  void NoteUnarmed(const std::shared_ptr<CqCore>& core);

  // Windows by their current key.
  void AddWindow(uint32_t key, WindowCore* window);
  void RemoveWindow(uint32_t key);
  // A queue pair is about to be destroyed, and cannot be while windows of type 2 are bound over it
  // (IBTA vol. 1 §10.6.7.2.6; rxe waits for them): gives these windows fresh hardware.
  void RenewWindowsOf(const void* qp);
  // Its bind has succeeded.
  void WindowBound(uint32_t key);
  // The peer invalidated this key.
  void WindowInvalidated(uint32_t key);
  // For reads that sink into a window: calls `use` with the table locked; false when there is none.
  template <typename Use>
  bool WithWindow(uint32_t key, Use use) {
    const std::lock_guard<SpinLock> lock(window_lock_);
    const auto found = windows_.find(key);
    if (found == windows_.end()) return false;
    use(*found->second);
    return true;
  }

  // Turns of the driver.
  bool DispatchCompletionEvents();
  bool DispatchAsyncEvents();
  void ArmStrays();
  // For silent_failures: looks at every queue, and again after a while.
  void LookAround();

  // The device is going away, or has failed for good: told to the IA once. By the leader, without a
  // lock.
  void OnGone(const char* what);

 private:
  void HandleAsyncEvent(const ibv_async_event& event);

  struct QueueEntry {
    std::shared_ptr<CqCore> core;
    unsigned unacknowledged = 0;
  };

  SpinLock pair_lock_;  // protects pairs_
  std::unordered_map<uint32_t, std::weak_ptr<PairSink>> pairs_;
  std::mutex map_mutex_;  // protects the next two, and that an event is read and counted at once
  std::unordered_map<ibv_cq*, QueueEntry> queues_;
  std::unordered_map<ibv_srq*, std::shared_ptr<SrqCore>> shared_queues_;
  SpinLock stray_lock_;  // protects strays_
  std::vector<std::weak_ptr<CqCore>> strays_;
  SpinLock window_lock_;  // protects windows_ and what WindowCore says it does
  std::unordered_map<uint32_t, WindowCore*> windows_;
  bool gone_ = false;  // the leader's
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DEVICE_H_
