// SPDX-License-Identifier: BSD-3-Clause
// The part of an endpoint that does not depend on its service: queue pair, configuration, state,
// and the lock of all these. The rest of the engine knows an endpoint as Ep (ep.h), its service
// knows it as EpCore (ep_service.h).
//
// Threads. A transition happens under mutex(), which is free while the back end is called, so an
// upcall can always make its own transition. If two threads act at once, the first transition
// decides:
//  * A Disconnect between Connect's (Accept's) transition and its call of the back end finds an
//    idle queue pair. The state is DISCONNECT_PENDING then, and Connect repeats the disconnect
//    after its own call.
//  * An upcall acts only in the states that it can end, so each connection has one final event
//    whatever else is called meanwhile.
//  * Free retires the handle under the mutex. A service point that would reserve the EP afterwards
//    fails.
#ifndef SOFTDAT_DAT_ENGINE_EP_CORE_H_
#define SOFTDAT_DAT_ENGINE_EP_CORE_H_

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "dat/engine/ep_counters.h"
#include "dat/engine/events/evd.h"
#include "dat/engine/events/evd_stream.h"
#include "dat/engine/events/receive_tally.h"
#include "dat/engine/object/object.h"
#include "dat/engine/pz.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class Srq;

class EpCore : public Object {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_EP;

  // PZ, EVDs and attributes. Create sets them, and Modify changes them as a whole.
  struct Configuration {
    Use<Pz> pz;
    EvdStream recv;
    EvdStream request;
    Use<Evd> connect;
    DAT_EP_ATTR attr{};
  };

  // The limits of each kind of post.
  struct PostLimits {
    std::atomic<uint32_t> iov{0};
    std::atomic<uint32_t> flags{0};  // DAT_COMPLETION_*_FLAG
  };

  DAT_EP_STATE state() const { return state_.load(std::memory_order_acquire); }
  bool uses_srq() const { return srq_ != nullptr; }
  // Whether the EP is for datagrams, and not for a connection.
  bool datagrams() const { return service_type_ == transport::Service::kDatagram; }
  // The EP's PZ now, or null if it has none. Any state.
  Pz* pz() const { return current_pz_.load(std::memory_order_acquire); }

  // --- for the service of the EP -----------------------------------------------------------------
  transport::QueuePair& queue_pair() { return *qp_; }
  EpCounters& counters() { return counters_; }
  // Protects the EP and its service. Never held across a control call of the back end or an event
  // push.
  std::mutex& mutex() { return mu_; }
  // The following functions need the mutex held.
  void SetState(DAT_EP_STATE s) { state_.store(s, std::memory_order_release); }
  Evd* connect_evd() const { return configuration_.connect.get(); }
  // The reason why the EP cannot meet a peer: it is being modified, or its PZ or an EVD is missing.
  DAT_RETURN CheckReady() const;

 protected:
  EpCore(IaCore* ia, Srq* srq, transport::Service service_type, DAT_EP_STATE initial);
  ~EpCore() override { received_->Abandon(); }  // for an EP whose creation failed

  std::unique_ptr<transport::QueuePair> qp_;  // set once in Create, destroyed in Teardown
  Srq* const srq_;                            // kept in use by srq_use_
  Use<Object> srq_use_;

  // Written under mu_, and read without it by the data path. The back end checks again under its
  // own lock, so a post that races with a state change is either flushed or refused, never lost.
  std::atomic<DAT_EP_STATE> state_;
  // Copies of parts of configuration_ for the data path, written under mu_.
  std::array<PostLimits, 4> post_limits_;
  std::atomic<Pz*> current_pz_{nullptr};
  std::atomic<bool> takes_binds_{false};
  EpCounters counters_;
  const std::shared_ptr<ReceiveTally> received_;  // shared with EVDs

  const transport::Service service_type_;

  std::mutex mu_;  // protects everything below
  Configuration configuration_;
  DAT_COUNT hard_watermark_ = DAT_WATERMARK_INFINITE;  // the soft one is in configuration_
  bool modifying_ = false;  // Modify is talking to the back end, which needs an idle queue pair
  bool retired_ = false;    // Free has won
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EP_CORE_H_
