// SPDX-License-Identifier: BSD-3-Clause
// Service points: where connection requests arrive (semantics 9.1). PSP: many requests; RSP: one,
// for a reserved EP; CSP: an address of the common socket name space.
#ifndef SOFTDAT_DAT_ENGINE_SERVICE_POINT_H_
#define SOFTDAT_DAT_ENGINE_SERVICE_POINT_H_

#include <atomic>
#include <memory>
#include <mutex>

#include "dat/engine/ep.h"
#include "dat/engine/evd.h"
#include "dat/engine/object.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

// What the three kinds share: a listener, and a CR EVD whose free entries are the backlog.
class ServicePoint : public Object, protected transport::ListenerSink {
 public:
  DAT_CONN_QUAL conn_qual() const { return conn_qual_; }
  Evd* evd() { return evd_.get(); }
  // Stops listening; requests that arrived before stay valid. Idempotent.
  void StopListening();

 protected:
  ServicePoint(Ia* ia, DAT_HANDLE_TYPE type) : Object(ia, type) {}
  // `any`: the back end chooses the qualifier. `address` as in transport::ListenParameters.
  DAT_RETURN Listen(Evd* evd, DAT_CONN_QUAL conn_qual, bool any, const sockaddr_storage* address);
  // Makes a CR of the request and posts CONNECTION_REQUEST; leaves `request` in place when the EVD
  // is full. `ep` is the EP that belongs to the request, or null.
  bool Announce(std::unique_ptr<transport::ConnectionRequest>& request, Ep* ep);
  void Teardown() override;

 private:
  std::mutex mu_;  // protects listener_
  std::unique_ptr<transport::Listener> listener_;
  Use<Evd> evd_;
  DAT_CONN_QUAL conn_qual_ = 0;
};

class Psp final : public ServicePoint {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_PSP;
  static DAT_RETURN Create(Ia* ia, DAT_CONN_QUAL conn_qual, bool any, Evd* evd, DAT_PSP_FLAGS flags,
                           Psp** out);
  DAT_PSP_FLAGS flags() const { return flags_; }
  void Query(DAT_PSP_PARAM* param);
  DAT_RETURN Free();

 private:
  Psp(Ia* ia, DAT_PSP_FLAGS flags) : ServicePoint(ia, kHandleType), flags_(flags) {}
  void OnRequest(std::unique_ptr<transport::ConnectionRequest>& request) override;

  const DAT_PSP_FLAGS flags_;
};

class Rsp final : public ServicePoint {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_RSP;
  static DAT_RETURN Create(Ia* ia, DAT_CONN_QUAL conn_qual, Ep* ep, Evd* evd, Rsp** out);
  void Query(DAT_RSP_PARAM* param);
  // Before a request the EP becomes UNCONNECTED again; after it the EP is not touched.
  DAT_RETURN Free();

 private:
  explicit Rsp(Ia* ia) : ServicePoint(ia, kHandleType) {}
  void OnRequest(std::unique_ptr<transport::ConnectionRequest>& request) override;
  void Teardown() override;

  Ref<Ep> ep_;
  // Whether the one request of this RSP has arrived. Set by the (serialised) upcall, read by Free.
  std::atomic<bool> used_{false};
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_SERVICE_POINT_H_
