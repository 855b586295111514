// SPDX-License-Identifier: BSD-3-Clause
// Service points: where connection requests arrive (semantics 9.1). PSP: many requests; RSP: one,
// for a reserved EP; CSP: an address of the common socket name space (semantics 16.1).
#ifndef SOFTDAT_DAT_ENGINE_SERVICE_POINT_H_
#define SOFTDAT_DAT_ENGINE_SERVICE_POINT_H_

#include <atomic>
#include <memory>
#include <mutex>

#include "dat/engine/ep.h"
#include "dat/engine/events/evd.h"
#include "dat/engine/object/object.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

// What the three kinds share: a listener, and a CR EVD whose free entries are the backlog.
class ServicePoint : public Object, protected transport::ListenerSink {
 public:
  // The service point of this IA that listens on `conn_qual`, as a handle to pin. NULL when there
  // is none.
  static DAT_HANDLE Find(IaCore& ia, DAT_CONN_QUAL conn_qual);

  DAT_CONN_QUAL conn_qual() const { return conn_qual_.load(std::memory_order_acquire); }
  Evd* evd() { return evd_.get(); }
  bool listening() const { return listening_.load(std::memory_order_acquire); }

  // dat_cr_handoff: offers a request that came to another service point, as if it had come here.
  // Taking it moves from `request`. One that is left in place found no room. Any thread.
  void Offer(std::unique_ptr<transport::ConnectionRequest>& request) { Arrive(request); }

 protected:
  ServicePoint(IaCore* ia, DAT_HANDLE_TYPE type) : Object(ia, type) {}

  // A request for this service point. It may be left in place (see ListenerSink::OnRequest).
  virtual void Arrive(std::unique_ptr<transport::ConnectionRequest>& request) = 0;

  // The second half of each Create. It makes the service point visible and then listens, so that a
  // request which arrives at once names a handle that works. On failure the object is gone. (Each
  // Create returns a reference, because a consumer that reaps the first request may free the
  // service point before Create has returned.) `any`: the back end chooses the qualifier. `address`
  // is as in transport::ListenParameters.
  DAT_RETURN PublishAndListen(Evd* evd, DAT_CONN_QUAL conn_qual, bool any,
                              const sockaddr_storage* address);
  // Makes a CR of the request and posts CONNECTION_REQUEST. Leaves `request` in place when the EVD
  // is full. `ep` is the EP that belongs to the request, or null. The CR takes it over only on
  // success.
  bool Announce(std::unique_ptr<transport::ConnectionRequest>& request, Ep* ep,
                bool provider_created);
  // The same with an EP that the provider creates for the request.
  bool AnnounceWithNewEp(std::unique_ptr<transport::ConnectionRequest>& request);
  // Stops listening. Requests that arrived before stay valid. Idempotent; may be called inside
  // OnRequest.
  void StopListening();
  // The common part of each Free. The caller has pinned the service point once.
  DAT_RETURN FreeAs(DAT_RETURN_SUBTYPE expected_handle);
  void Teardown() override;

 private:
  // No, because listening decides whether the creation succeeds.
  bool CreatedWhenPublished() const override { return false; }
  // transport::ListenerSink: a request that came from the wire.
  void OnRequest(std::unique_ptr<transport::ConnectionRequest>& request) final;
  void OnRequestsHeld(const std::string& why) final;

  Use<Evd> evd_;  // set before the listener exists
  std::atomic<DAT_CONN_QUAL> conn_qual_{0};
  std::atomic<bool> listening_{false};

  std::mutex mu_;  // protects the two below; not held across back-end calls
  std::unique_ptr<transport::Listener> listener_;
  bool stopped_ = false;
};

class Psp final : public ServicePoint {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_PSP;

  static DAT_RETURN Create(IaCore* ia, DAT_CONN_QUAL conn_qual, bool any, Evd* evd,
                           DAT_PSP_FLAGS flags, Ref<Psp>* out);
  void Query(DAT_PSP_PARAM* param);
  DAT_RETURN Free() { return FreeAs(DAT_INVALID_HANDLE_PSP); }

 private:
  Psp(IaCore* ia, DAT_PSP_FLAGS flags) : ServicePoint(ia, kHandleType), flags_(flags) {}
  ~Psp() override = default;
  void Arrive(std::unique_ptr<transport::ConnectionRequest>& request) override;

  const DAT_PSP_FLAGS flags_;
};

class Rsp final : public ServicePoint {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_RSP;

  // If `ep` is null, the provider creates one for the request.
  static DAT_RETURN Create(IaCore* ia, DAT_CONN_QUAL conn_qual, Ep* ep, Evd* evd, Ref<Rsp>* out);
  void Query(DAT_RSP_PARAM* param);
  // Before a request the EP becomes UNCONNECTED again. After it the EP is not touched.
  DAT_RETURN Free() { return FreeAs(DAT_INVALID_HANDLE_RSP); }

 private:
  Rsp(IaCore* ia, Ep* ep);
  ~Rsp() override = default;
  void Arrive(std::unique_ptr<transport::ConnectionRequest>& request) override;
  void Teardown() override;

  const Ref<Ep> ep_;
  const DAT_EP_HANDLE ep_handle_;  // what Query reports, even after the EP was freed
  // The one request of this RSP has arrived, or the RSP is being freed. The EP no longer belongs to
  // it.
  std::atomic<bool> used_{false};
};

class Csp final : public ServicePoint {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_CSP;

  static DAT_RETURN Create(IaCore* ia, const DAT_COMM& comm, const sockaddr_storage& address,
                           Evd* evd, Ref<Csp>* out);
  void Query(DAT_CSP_PARAM* param);
  DAT_RETURN Free() { return FreeAs(DAT_INVALID_HANDLE_CSP); }

 private:
  Csp(IaCore* ia, const DAT_COMM& comm, const sockaddr_storage& address)
      : ServicePoint(ia, kHandleType), comm_(comm), address_(address) {}
  ~Csp() override = default;
  void Arrive(std::unique_ptr<transport::ConnectionRequest>& request) override;

  // Query hands out pointers to these. They change only before Create returns.
  DAT_COMM comm_;
  sockaddr_storage address_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_SERVICE_POINT_H_
