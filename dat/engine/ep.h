// SPDX-License-Identifier: BSD-3-Clause
// Endpoint: the object to which consumers post, and which meets peers through its service
// (semantics 8).
//
// Files: ep_core.h has what its parts share, ep_service.h how it meets peers. ep.cc has creation,
// query and life, ep_modify.cc modification, and ep_post.cc the data path.
#ifndef SOFTDAT_DAT_ENGINE_EP_H_
#define SOFTDAT_DAT_ENGINE_EP_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <span>

#include "dat/engine/ep_core.h"
#include "dat/engine/ep_counters.h"
#include "dat/engine/ep_service.h"
#include "dat/engine/events/evd.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/object.h"
#include "dat/engine/pz.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class Ep final : public EpCore {
 public:
  // The parts of an EP. Each pointer may be null. The caller pins all of them.
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
  static DAT_RETURN Create(IaCore* ia, const Parts& parts, const DAT_EP_ATTR* attr,
                           DAT_EP_STATE initial, Ep** out);

  // --- calls of the consumer -------------------------------------------------------------------
  void Query(DAT_EP_PARAM* param);
  DAT_RETURN Modify(DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM& param);
  // Each pointer may be null.
  void GetStatus(DAT_EP_STATE* state, DAT_BOOLEAN* recv_idle, DAT_BOOLEAN* request_idle);
  // Connecting, accepting, disconnecting, reset.
  EpService& service() { return *service_; }
  // The caller pins the EP once.
  DAT_RETURN Free();
  // Each pointer may be null.
  void ReceiveQuery(DAT_COUNT* buffers, DAT_COUNT* span);
  // Each value is a count or DAT_WATERMARK_INFINITE.
  DAT_RETURN SetWatermarks(DAT_COUNT soft, DAT_COUNT hard);
  // See CounterReader.
  static constexpr size_t kCounters = EpCounters::kCount;
  void ReadCounters(size_t which, bool reset, uint64_t* out) {
    counters_.Read(*received_, datagrams(), which, reset, out);
  }

  // --- data path: no lock, no allocation ---------------------------------------------------------
  enum class PostKind : uint8_t { kSend, kRead, kWrite, kReceive };
  const PostLimits& limits(PostKind kind) const { return post_limits_[static_cast<size_t>(kind)]; }

  [[gnu::always_inline]] DAT_RETURN PostSend(const transport::SendRequest& request) {
    // These are read here, where the compiler still knows them, and not after the call.
    const transport::Op op = request.op;
    const uint64_t bytes = EpCounters::Bytes(request.local);
    const DAT_EP_STATE now = state();
    if (now != DAT_EP_STATE_CONNECTED && now != DAT_EP_STATE_DISCONNECTED) [[unlikely]]
      return RefusePost(now);
    const Code code = qp_->PostSend(request);
    if (code != Code::kOk) [[unlikely]]
      return FailedSend(code);
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

  // For an EP for datagrams, in any state.
  DAT_RETURN PostDatagram(const transport::SendRequest& request);

  // For binds, which also check pz(): whether the request EVD takes their completions. Any state.
  bool TakesBinds() const { return takes_binds_.load(std::memory_order_acquire); }

  // --- for service points and connection requests -----------------------------------------------
  // State changes of semantics 8.3 that a service point causes. False, with the state unchanged, if
  // the EP is not in `from`, or is being freed or modified.
  bool Transition(DAT_EP_STATE from, DAT_EP_STATE to);
  // Takes back a provider-created EP whose request was not accepted. Its handle dies.
  void TakeBack();

 private:
  Ep(IaCore* ia, Srq* srq, transport::Service service_type, DAT_EP_STATE initial);
  ~Ep() override { qp_.reset(); }  // before the members to which it reports
  void Teardown() override;

  transport::QueuePairAttributes QueueAttributes(const Configuration& c);
  // The steps of Modify, in order.
  struct Modification;
  // The checks that do not depend on the state. No lock.
  DAT_RETURN CheckModification(const Modification& m);
  // Checks the state and makes the new configuration. On success no other modification begins
  // meanwhile.
  DAT_RETURN BeginModification(Modification* m);
  // The configuration that the EP will have. Everything in it is in use. mu_ is held.
  DAT_RETURN ModifiedConfiguration(const Modification& m, Configuration* next);
  // `taken`: whether the back end has accepted it. If so, configuration_ becomes the new one.
  void FinishModification(Modification* m, bool taken);
  // Copies what the data path needs out of configuration_. mu_ is held, or nobody else knows the
  // EP.
  void PublishLimits();

  DAT_RETURN RefusePost(DAT_EP_STATE now);
  DAT_RETURN RefuseReceive();
  DAT_RETURN FailedSend(Code code);
  DAT_RETURN FailedPost(Code code);

  const std::unique_ptr<EpService> service_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EP_H_
