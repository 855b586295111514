// SPDX-License-Identifier: BSD-3-Clause
// Endpoint: one end of a reliable connection, and its state machine (semantics 8).
//
// Files: ep.cc creation, attributes, query and life; ep_state.cc the transitions and the back end's upcalls;
// ep_connect.cc the active side; ep_post.cc the data path.
#ifndef SOFTDAT_DAT_ENGINE_EP_H_
#define SOFTDAT_DAT_ENGINE_EP_H_

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>

#include "dat/engine/evd.h"
#include "dat/engine/object.h"
#include "dat/engine/pz.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class Srq;

inline constexpr DAT_COUNT kMaxPrivateData = 256;  // bytes, each way (semantics 9.5)

class Ep final : public Object, private transport::ConnectionSink {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_EP;

  // What an EP is made of; each pointer may be null. All pinned by the caller.
  struct Parts {
    Pz* pz = nullptr;
    Evd* recv_evd = nullptr;
    Evd* request_evd = nullptr;
    Evd* connect_evd = nullptr;
    Srq* srq = nullptr;
  };

  // dat_ep_create, dat_ep_create_with_srq, and EPs that the provider creates for a connection request
  // (`initial` is then TENTATIVE_CONNECTION_PENDING). `attr` null = defaults.
  static DAT_RETURN Create(Ia* ia, const Parts& parts, const DAT_EP_ATTR* attr, DAT_EP_STATE initial, Ep** out);

  // --- calls of the consumer -------------------------------------------------------------------
  DAT_RETURN Query(DAT_EP_PARAM* param);
  DAT_RETURN Modify(DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM& param);
  void GetStatus(DAT_EP_STATE* state, DAT_BOOLEAN* recv_idle, DAT_BOOLEAN* request_idle);
  DAT_RETURN Connect(const sockaddr_storage& remote, DAT_CONN_QUAL conn_qual, DAT_TIMEOUT timeout_us,
                     std::span<const uint8_t> private_data);
  DAT_RETURN DupConnect(Ep& like, DAT_TIMEOUT timeout_us, std::span<const uint8_t> private_data);
  DAT_RETURN Disconnect(DAT_CLOSE_FLAGS flags);
  DAT_RETURN Reset();
  // The caller pins the EP once.
  DAT_RETURN Free();

  // Data path: no lock, no allocation.
  DAT_RETURN PostSend(const transport::SendRequest& request);
  DAT_RETURN PostReceive(const transport::ReceiveRequest& request);

  DAT_EP_STATE state() const { return state_.load(std::memory_order_acquire); }
  // Which per-post flags the EP allows (semantics 8.1).
  DAT_COMPLETION_FLAGS request_flags() const { return request_flags_.load(std::memory_order_relaxed); }
  DAT_COMPLETION_FLAGS recv_flags() const { return recv_flags_.load(std::memory_order_relaxed); }
  uint32_t max_request_iov() const { return max_request_iov_.load(std::memory_order_relaxed); }
  uint32_t max_recv_iov() const { return max_recv_iov_.load(std::memory_order_relaxed); }
  bool uses_srq() const { return uses_srq_; }

  // --- for service points and connection requests -----------------------------------------------
  // State changes of semantics 8.3 that a service point causes; false (state unchanged) when not in `from`.
  bool Transition(DAT_EP_STATE from, DAT_EP_STATE to);
  // Accepts `request` on this EP: `from` -> COMPLETION_PENDING. Checks PZ and EVDs (EP_NOTREADY). On failure
  // the state is `from` again.
  DAT_RETURN Accept(transport::ConnectionRequest& request, DAT_EP_STATE from,
                    std::span<const uint8_t> private_data);

 private:
  Ep(Ia* ia, DAT_EP_STATE initial);
  ~Ep() override = default;
  void Teardown() override;

  // transport::ConnectionSink
  void OnEstablished(std::span<const uint8_t> private_data) override;
  void OnFailed(transport::RejectReason reason, std::span<const uint8_t> private_data,
                const std::string& why) override;
  void OnEnded(transport::EndReason reason, const std::string& why) override;

  static DAT_RETURN CheckAttributes(const Ia& ia, const Parts& parts, DAT_EP_ATTR* attr);
  DAT_RETURN AttachParts(const Parts& parts, const DAT_EP_ATTR& attr);
  void DetachParts();
  transport::QueuePairAttributes QueueAttributes();
  // EP_NOTREADY unless PZ and EVDs are there. mu_ is held.
  DAT_RETURN CheckReady();
  void PostConnectionEvent(DAT_EVENT_NUMBER number, std::span<const uint8_t> private_data);

  std::unique_ptr<transport::QueuePair> qp_;  // set once in Create, cleared in Teardown
  const bool uses_srq_;

  // Written under mu_; read without it by the data path. The back end checks again under its own lock, so a
  // post that races with a state change is either flushed or refused, never lost.
  std::atomic<DAT_EP_STATE> state_;
  // Copies of attributes that the data path needs, written under mu_.
  std::atomic<DAT_COMPLETION_FLAGS> request_flags_{DAT_COMPLETION_DEFAULT_FLAG};
  std::atomic<DAT_COMPLETION_FLAGS> recv_flags_{DAT_COMPLETION_DEFAULT_FLAG};
  std::atomic<uint32_t> max_request_iov_{0};
  std::atomic<uint32_t> max_recv_iov_{0};

  std::mutex mu_;  // protects everything below; never held across a back-end control call or an event push
  Use<Pz> pz_;
  Use<Evd> recv_evd_;
  Use<Evd> request_evd_;
  Use<Evd> connect_evd_;
  DAT_EP_ATTR attr_{};
  sockaddr_storage local_{};
  sockaddr_storage remote_{};
  DAT_CONN_QUAL local_port_ = 0;
  DAT_CONN_QUAL remote_port_ = 0;
  DAT_CONN_QUAL connect_qual_ = 0;  // what Connect was asked for, for DupConnect
  std::array<uint8_t, kMaxPrivateData> private_data_{};
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EP_H_
