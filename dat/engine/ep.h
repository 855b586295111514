// SPDX-License-Identifier: BSD-3-Clause
// Endpoint: one end of a reliable connection, and its state machine (semantics 8).
//
// Files: ep.cc creation, query and life; ep_modify.cc; ep_state.cc the back end's upcalls and the
// transitions they cause; ep_connect.cc connecting, accepting, disconnecting, reset; ep_post.cc the
// data path.
//
// Threads. A transition happens under mu_, and mu_ is free while the back end is called, so an
// upcall can always make its own transition. What two threads do at once is then decided by who
// transitions first:
//  * A Disconnect between Connect's (Accept's) transition and its call of the back end finds an
//    idle queue pair. The state is DISCONNECT_PENDING then, and Connect repeats the disconnect
//    after its own call.
//  * An upcall acts only in the states that it can end, so each connection has one final event
//    whatever else is called meanwhile.
//  * Free retires the handle under mu_; a service point that would reserve the EP afterwards fails.
#ifndef SOFTDAT_DAT_ENGINE_EP_H_
#define SOFTDAT_DAT_ENGINE_EP_H_

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>

#include "dat/engine/dat_error.h"
#include "dat/engine/ep_counters.h"
#include "dat/engine/evd.h"
#include "dat/engine/evd_stream.h"
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

  // dat_ep_create, dat_ep_create_with_srq, and EPs that the provider creates for a connection
  // request (`initial` is then TENTATIVE_CONNECTION_PENDING). `attr` null = defaults. On success
  // *out is published.
  static DAT_RETURN Create(Ia* ia, const Parts& parts, const DAT_EP_ATTR* attr,
                           DAT_EP_STATE initial, Ep** out);

  // --- calls of the consumer -------------------------------------------------------------------
  void Query(DAT_EP_PARAM* param);
  DAT_RETURN Modify(DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM& param);
  // Each pointer may be null.
  void GetStatus(DAT_EP_STATE* state, DAT_BOOLEAN* recv_idle, DAT_BOOLEAN* request_idle);
  DAT_RETURN Connect(const sockaddr_storage& remote, DAT_CONN_QUAL conn_qual,
                     DAT_TIMEOUT timeout_us, std::span<const uint8_t> private_data);
  // Connects to where `like` leads, which must be CONNECTED from the active side.
  DAT_RETURN DupConnect(Ep& like, DAT_TIMEOUT timeout_us, std::span<const uint8_t> private_data);
  DAT_RETURN Disconnect(DAT_CLOSE_FLAGS flags);
  DAT_RETURN Reset();
  // The caller pins the EP once.
  DAT_RETURN Free();
  // Each pointer may be null.
  void ReceiveQuery(DAT_COUNT* buffers, DAT_COUNT* span);
  // Each a count or DAT_WATERMARK_INFINITE.
  DAT_RETURN SetWatermarks(DAT_COUNT soft, DAT_COUNT hard);
  // See CounterReader.
  static constexpr size_t kCounters = EpCounters::kCount;
  void ReadCounters(size_t which, bool reset, uint64_t* out) {
    counters_.Read(cell(), which, reset, out);
  }

  // --- data path: no lock, no allocation ---------------------------------------------------------
  // What each kind of post may carry.
  struct PostLimits {
    std::atomic<uint32_t> iov{0};
    std::atomic<uint32_t> flags{0};  // DAT_COMPLETION_*_FLAG
  };
  enum class PostKind : uint8_t { kSend, kRead, kWrite, kReceive };
  const PostLimits& limits(PostKind kind) const { return post_limits_[static_cast<size_t>(kind)]; }

  [[gnu::always_inline]] DAT_RETURN PostSend(const transport::SendRequest& request) {
    // Read here, where the compiler still knows them, and not behind the call.
    const transport::Op op = request.op;
    const uint64_t bytes = EpCounters::Bytes(request.local);
    const DAT_EP_STATE now = state();
    if (now != DAT_EP_STATE_CONNECTED && now != DAT_EP_STATE_DISCONNECTED) [[unlikely]]
      return RefusePost(now);
    const Code code = qp_->PostSend(request);
    if (code != Code::kOk) [[unlikely]]
      return FailedPost(code);
    counters_.CountSend(op, bytes);
    return DAT_SUCCESS;
  }
  DAT_RETURN PostReceive(const transport::ReceiveRequest& request) {
    if (srq_ != nullptr) return RefuseReceive();
    const uint64_t bytes = EpCounters::Bytes(request.local);
    const Code code = qp_->PostReceive(request);
    if (code != Code::kOk) [[unlikely]]
      return FailedPost(code);
    counters_.CountReceive(bytes);
    return DAT_SUCCESS;
  }

  DAT_EP_STATE state() const { return state_.load(std::memory_order_acquire); }
  bool uses_srq() const { return srq_ != nullptr; }
  // For binds: the zone and the EVD that windows must agree with; null when there is none. Any
  // state.
  Pz* pz() const { return current_pz_.load(std::memory_order_acquire); }
  bool TakesBinds() const { return takes_binds_.load(std::memory_order_acquire); }

  // --- for service points and connection requests -----------------------------------------------
  // State changes of semantics 8.3 that a service point causes; false (state unchanged) when not in
  // `from`, or being freed or modified.
  bool Transition(DAT_EP_STATE from, DAT_EP_STATE to);
  // Accepts `request` on this EP: `from` -> COMPLETION_PENDING. Checks PZ and EVDs (EP_NOTREADY).
  // On failure the state is `from` again.
  DAT_RETURN Accept(transport::ConnectionRequest& request, DAT_EP_STATE from,
                    std::span<const uint8_t> private_data);
  // A provider-created EP whose request was not accepted goes back: its handle dies.
  void TakeBack();

 private:
  Ep(Ia* ia, Srq* srq, DAT_EP_STATE initial);
  ~Ep() override = default;
  void Teardown() override;

  // transport::ConnectionSink
  void OnEstablished(std::span<const uint8_t> private_data) override;
  void OnFailed(transport::RejectReason reason, std::span<const uint8_t> private_data,
                const std::string& why) override;
  void OnEnded(transport::EndReason reason, const std::string& why) override;
  void OnReceiveWatermark() override;

  // PZ, EVDs and attributes: what Create sets and Modify changes as a whole.
  struct Configuration {
    Use<Pz> pz;
    EvdStream recv;
    EvdStream request;
    Use<Evd> connect;
    DAT_EP_ATTR attr{};
  };
  transport::QueuePairAttributes QueueAttributes(const Configuration& c);
  // The steps of Modify, in order.
  struct Modification;
  // What does not depend on the state. No lock.
  DAT_RETURN CheckModification(const Modification& m);
  // Checks the state and makes the new configuration. On success no other one begins meanwhile.
  DAT_RETURN BeginModification(Modification* m);
  // What the EP will have, with everything in it in use. mu_ is held.
  DAT_RETURN ModifiedConfiguration(const Modification& m, Configuration* next);
  // `taken`: the back end has it; then configuration_ is the new one.
  void FinishModification(Modification* m, bool taken);
  // For the count of the SRQ; each may be null.
  void MoveReceives(Evd* from, Evd* to);
  // Copies what the data path needs out of configuration_. mu_ is held, or nobody else knows the
  // EP.
  void PublishLimits();
  // Receive completions come to `evd` from now on, for the count of the SRQ; null: nowhere.
  void CountReceives(Evd* evd);
  // Whether PZ and EVDs are there for a connection. mu_ is held.
  bool Ready() const;
  // The states that an upcall may end. mu_ is held.
  bool Connecting() const;
  bool Ending() const;
  void SetState(DAT_EP_STATE s) { state_.store(s, std::memory_order_release); }
  // Copies private data of an upcall to where events point. mu_ is held.
  DAT_COUNT KeepPrivateData(std::span<const uint8_t> private_data);
  // `was`: the state before the upcall.
  void PostConnectionEvent(Evd* evd, DAT_EP_STATE was, DAT_EVENT_NUMBER number,
                           DAT_COUNT private_data_size);
  // After Connect or Accept: repeats a Disconnect that came before the back end knew of the
  // connection `attempt`; after a failed one, goes back to `from`.
  void SettleAttempt(uint32_t attempt, bool ok, DAT_EP_STATE from);

  DAT_RETURN RefusePost(DAT_EP_STATE now);
  DAT_RETURN RefuseReceive();
  DAT_RETURN FailedPost(Code code);

  std::unique_ptr<transport::QueuePair> qp_;  // set once in Create, destroyed in Teardown
  Srq* const srq_;                            // kept in use by srq_use_
  Use<Object> srq_use_;

  // Written under mu_; read without it by the data path. The back end checks again under its own
  // lock, so a post that races with a state change is either flushed or refused, never lost.
  std::atomic<DAT_EP_STATE> state_;
  // Copies of parts of configuration_ for the data path, written under mu_.
  std::array<PostLimits, 4> post_limits_;
  std::atomic<Pz*> current_pz_{nullptr};
  std::atomic<bool> takes_binds_{false};
  EpCounters counters_;

  // Protects everything below; never held across a control call of the back end or an event push.
  std::mutex mu_;
  Configuration configuration_;
  DAT_COUNT hard_watermark_ = DAT_WATERMARK_INFINITE;  // the soft one is in configuration_
  bool modifying_ = false;  // Modify is talking to the back end, which needs an idle queue pair
  bool retired_ = false;    // Free has won
  uint32_t attempt_ = 0;    // counts Connects and Accepts
  bool aborting_ = false;   // Disconnect came while attempt_ was not established
  sockaddr_storage local_{};
  sockaddr_storage remote_{};
  DAT_PORT_QUAL local_port_ = 0;
  DAT_PORT_QUAL remote_port_ = 0;
  // What Connect was asked for, for DupConnect; not set on the passive side.
  bool dialled_ = false;
  sockaddr_storage dialled_address_{};
  DAT_CONN_QUAL dialled_qual_ = 0;
  std::array<uint8_t, kMaxPrivateData> private_data_{};
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EP_H_
