// SPDX-License-Identifier: BSD-3-Clause
// One open RDMA device, which the objects of an adapter share.
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
  Reaper reaper;  // joined before the objects that its work uses are gone
  DeviceTraits traits;
  transport::AdapterAttributes attributes;
  transport::AdapterSink* sink = nullptr;
  RegionTable regions;
  SinkTable sinks;         // used with read_sink_remote_write
  bool abandoned = false;  // written only in a child with one thread

  // The queue pairs by number. Completions, events and requests use Find.
  void AddPair(uint32_t qp_num, const std::shared_ptr<PairSink>& qp);
  void RemovePair(uint32_t qp_num);
  std::shared_ptr<PairSink> FindPair(uint32_t qp_num);
  // Same without a reference, for use while the pair cannot be removed (its completions are being
  // read).
  PairSink* PeekPair(uint32_t qp_num);
  std::vector<std::shared_ptr<PairSink>> AllPairs();

  void AddSharedQueue(ibv_srq* srq, const std::shared_ptr<SrqCore>& core);
  void RemoveSharedQueue(ibv_srq* srq);

  void AddQueue(ibv_cq* cq, const std::shared_ptr<CqCore>& core);
  // Returns how many events of the queue were read but not acknowledged.
  unsigned RemoveQueue(ibv_cq* cq);
  // The queue's notification has fired and was not requested again. Before the leader blocks, it
  // arms such a queue at least for failed completions.
  void NoteUnarmed(const std::shared_ptr<CqCore>& core);

  // Windows, by their current key.
  void AddWindow(uint32_t key, WindowCore* window);
  void RemoveWindow(uint32_t key);
  // A queue pair is about to be destroyed. That is impossible while windows of type 2 are bound
  // over it (IBTA vol. 1 §10.6.7.2.6; rxe waits for them). So this gives these windows new
  // hardware.
  void RenewWindowsOf(const void* qp);
  // The bind of this key has succeeded.
  void WindowBound(uint32_t key);
  // The peer invalidated this key.
  void WindowInvalidated(uint32_t key);
  // For reads that sink into a window. Calls `use` with the table locked. Returns false when there
  // is no such window.
  template <typename Use>
  bool WithWindow(uint32_t key, Use use) {
    const std::lock_guard<SpinLock> lock(window_lock_);
    const auto found = windows_.find(key);
    if (found == windows_.end()) return false;
    use(*found->second);
    return true;
  }

  // Parts of the driver's turn.
  bool DispatchCompletionEvents();
  bool DispatchAsyncEvents();
  void ArmStrays();
  // For silent_failures: looks at every queue now, and again after a while.
  void LookAround();

  // The device is being removed, or has failed for good. Tells the IA once. The leader calls it
  // without a lock.
  void OnGone(const char* what);

 private:
  void HandleAsyncEvent(const ibv_async_event& event);

  struct QueueEntry {
    std::shared_ptr<CqCore> core;
    unsigned unacknowledged = 0;
  };

  SpinLock pair_lock_;  // protects pairs_
  std::unordered_map<uint32_t, std::weak_ptr<PairSink>> pairs_;
  std::mutex map_mutex_;  // protects the next two; makes reading and counting an event one step
  std::unordered_map<ibv_cq*, QueueEntry> queues_;
  std::unordered_map<ibv_srq*, std::shared_ptr<SrqCore>> shared_queues_;
  SpinLock stray_lock_;  // protects strays_
  std::vector<std::weak_ptr<CqCore>> strays_;
  SpinLock window_lock_;  // protects windows_ and the parts of WindowCore that say so
  std::unordered_map<uint32_t, WindowCore*> windows_;
  bool gone_ = false;  // only the leader uses it
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DEVICE_H_
