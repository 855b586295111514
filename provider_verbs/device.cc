// SPDX-License-Identifier: BSD-3-Clause
// Device: tables of objects, completion events and asynchronous events.
#include "provider_verbs/device.h"

#include <errno.h>
#include <fmt/format.h>

#include <utility>

#include "dat/base/log.h"
#include "provider_verbs/completion_queue.h"
#include "provider_verbs/memory.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/pair_sink.h"
#include "provider_verbs/shared_receive_queue.h"

namespace softdat::verbs {

Device::~Device() {
  if (abandoned) return;
  cm.reset();
  if (channel != nullptr) ibv_destroy_comp_channel(channel);
  if (context != nullptr) ibv_close_device(context);
}

void Device::AddPair(uint32_t qp_num, const std::shared_ptr<PairSink>& qp) {
  const std::lock_guard<SpinLock> lock(pair_lock_);
  pairs_[qp_num] = qp;
}

void Device::RemovePair(uint32_t qp_num) {
  const std::lock_guard<SpinLock> lock(pair_lock_);
  pairs_.erase(qp_num);
}

std::shared_ptr<PairSink> Device::FindPair(uint32_t qp_num) {
  const std::lock_guard<SpinLock> lock(pair_lock_);
  const auto found = pairs_.find(qp_num);
  return found == pairs_.end() ? nullptr : found->second.lock();
}

PairSink* Device::PeekPair(uint32_t qp_num) {
  const std::lock_guard<SpinLock> lock(pair_lock_);
  const auto found = pairs_.find(qp_num);
  return found == pairs_.end() ? nullptr : found->second.lock().get();
}

std::vector<std::shared_ptr<PairSink>> Device::AllPairs() {
  std::vector<std::shared_ptr<PairSink>> all;
  const std::lock_guard<SpinLock> lock(pair_lock_);
  for (const auto& pair : pairs_) {
    if (auto qp = pair.second.lock()) all.push_back(std::move(qp));
  }
  return all;
}

void Device::AddSharedQueue(ibv_srq* srq, const std::shared_ptr<SrqCore>& core) {
  const std::lock_guard<std::mutex> lock(map_mutex_);
  shared_queues_[srq] = core;
}

void Device::RemoveSharedQueue(ibv_srq* srq) {
  const std::lock_guard<std::mutex> lock(map_mutex_);
  shared_queues_.erase(srq);
}

void Device::AddQueue(ibv_cq* cq, const std::shared_ptr<CqCore>& core) {
  const std::lock_guard<std::mutex> lock(map_mutex_);
  queues_[cq] = {core, 0};
}

unsigned Device::RemoveQueue(ibv_cq* cq) {
  QueueEntry entry;  // must die without the mutex
  const std::lock_guard<std::mutex> lock(map_mutex_);
  const auto found = queues_.find(cq);
  if (found == queues_.end()) return 0;
  entry = std::move(found->second);
  queues_.erase(found);
  return entry.unacknowledged;
}

void Device::NoteUnarmed(const std::shared_ptr<CqCore>& core) {
  const std::lock_guard<SpinLock> lock(stray_lock_);
  strays_.push_back(core);
}

void Device::ArmStrays() {
  std::vector<std::weak_ptr<CqCore>> strays;
  {
    const std::lock_guard<SpinLock> lock(stray_lock_);
    if (strays_.empty()) return;
    strays.swap(strays_);
  }
  for (const auto& stray : strays) {
    if (const auto core = stray.lock()) core->ArmBase();
  }
}

void Device::LookAround() {
  std::vector<std::shared_ptr<CqCore>> queues;
  {
    const std::lock_guard<std::mutex> lock(map_mutex_);
    for (const auto& entry : queues_) queues.push_back(entry.second.core);
  }
  for (const auto& core : queues) {
    CqCore::Due due;
    core->Drain(&due);
    core->Carry(due);
  }
  constexpr auto kPause = std::chrono::milliseconds(50);
  driver.PostAt(transport::Clock::now() + kPause, [this] { LookAround(); });
}

void Device::AddWindow(uint32_t key, WindowCore* window) {
  const std::lock_guard<SpinLock> lock(window_lock_);
  windows_[key] = window;
}

void Device::RemoveWindow(uint32_t key) {
  const std::lock_guard<SpinLock> lock(window_lock_);
  windows_.erase(key);
}

void Device::RenewWindowsOf(const void* qp) {
  const std::lock_guard<SpinLock> lock(window_lock_);
  for (auto entry = windows_.begin(); entry != windows_.end();) {
    WindowCore& window = *entry->second;
    if (window.qp != qp || !window.type2) {
      ++entry;
      continue;
    }
    entry = windows_.erase(entry);
    window.key = 0;
    window.qp = nullptr;
    window.bound = window.completed = false;
    ibv_mw* const fresh = ibv_alloc_mw(window.mw->pd, IBV_MW_TYPE_2);
    if (fresh == nullptr) {
      SOFTDAT_LOG(Error, "ibv_alloc_mw for a window whose queue pair went: {}", OsText(errno));
      continue;
    }
    const int error = ibv_dealloc_mw(window.mw);
    if (error != 0) SOFTDAT_LOG(Warning, "ibv_dealloc_mw: {}", OsText(error));
    window.mw = fresh;
    window.announced = fresh->rkey;
  }
}

void Device::WindowBound(uint32_t key) {
  WithWindow(key, [](WindowCore& window) { window.completed = true; });
}

void Device::WindowInvalidated(uint32_t key) {
  WithWindow(key, [](WindowCore& window) { window.bound = false; });
}

bool Device::DispatchCompletionEvents() {
  bool any = false;
  for (;;) {
    ibv_cq* cq = nullptr;
    void* unused = nullptr;
    std::shared_ptr<CqCore> core;
    {
      const std::lock_guard<std::mutex> lock(map_mutex_);
      if (ibv_get_cq_event(channel, &cq, &unused) != 0) return any;
      const auto found = queues_.find(cq);
      if (found == queues_.end()) {
        ibv_ack_cq_events(cq, 1);  // the destruction of the queue waits for this
        continue;
      }
      ++found->second.unacknowledged;
      core = found->second.core;
    }
    any = true;
    core->OnEvent();
  }
}

bool Device::DispatchAsyncEvents() {
  bool any = false;
  ibv_async_event event{};
  while (ibv_get_async_event(context, &event) == 0) {
    any = true;
    HandleAsyncEvent(event);
  }
  return any;
}

void Device::OnGone(const char* what) {
  if (std::exchange(gone_, true) || sink == nullptr) return;
  sink->OnCatastrophic(traits.rdma_device + ": " + what);
}

// Finds the object before the event is acknowledged, because the object cannot be destroyed until
// then.
void Device::HandleAsyncEvent(const ibv_async_event& event) {
  ibv_async_event copy = event;
  std::shared_ptr<PairSink> qp;
  uint32_t life = 0;
  std::shared_ptr<CqCore> cq;
  std::shared_ptr<SrqCore> srq;
  uint32_t port = 0;
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      qp = FindPair(event.element.qp->qp_num);
      if (qp != nullptr) life = qp->failure.life();
      break;
    case IBV_EVENT_CQ_ERR: {
      const std::lock_guard<std::mutex> lock(map_mutex_);
      const auto found = queues_.find(event.element.cq);
      if (found != queues_.end()) cq = found->second.core;
      break;
    }
    case IBV_EVENT_SRQ_LIMIT_REACHED:
    case IBV_EVENT_SRQ_ERR: {
      const std::lock_guard<std::mutex> lock(map_mutex_);
      const auto found = shared_queues_.find(event.element.srq);
      if (found != shared_queues_.end()) srq = found->second;
      break;
    }
    case IBV_EVENT_PORT_ERR:
      port = static_cast<uint32_t>(event.element.port_num);
      break;
    default:
      break;
  }
  ibv_ack_async_event(&copy);
  const char* const name = ibv_event_type_str(event.event_type);
  SOFTDAT_LOG(Info, "{}: {}", attributes.device_name, name);
  switch (event.event_type) {
    case IBV_EVENT_COMM_EST:
      if (qp != nullptr) qp->OnFirstMessage(life);
      break;
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      if (qp != nullptr) qp->OnArrivals();
      break;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      if (srq != nullptr) srq->OnLimit();
      break;
    case IBV_EVENT_CQ_ERR:
      if (cq != nullptr) cq->OnDeviceError();
      break;
    case IBV_EVENT_SRQ_ERR:
      // Nothing can be received any more. A consumer that only waits for messages would not learn
      // this.
      if (srq == nullptr) break;
      for (const auto& pair : AllPairs())
        if (pair->Shares(srq.get())) pair->OnAsyncError(name, pair->failure.life());
      break;
    case IBV_EVENT_PORT_ERR:
      // Same behaviour as OFA's library. The port may come back, so each loss is reported.
      if (port == traits.port && sink != nullptr)
        sink->OnCatastrophic(fmt::format("{}: {} of port {}", traits.rdma_device, name, port));
      break;
    case IBV_EVENT_DEVICE_FATAL:
      for (const auto& pair : AllPairs())
        pair->OnAsyncError("the RDMA device failed", pair->failure.life());
      OnGone(name);
      break;
    default:
      if (qp != nullptr) qp->OnAsyncError(name, life);
      break;
  }
}

}  // namespace softdat::verbs
