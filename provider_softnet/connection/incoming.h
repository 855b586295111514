// SPDX-License-Identifier: BSD-3-Clause
// The passive side of a connection until its Request has been read.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_INCOMING_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_INCOMING_H_

#include <memory>
#include <string>

#include "dat/transport/transport.h"
#include "provider_softnet/connection/connection_context.h"
#include "provider_softnet/connection/link_watch.h"
#include "provider_softnet/connection/service_point.h"
#include "provider_softnet/iwarp/mpa_handshake.h"
#include "provider_softnet/iwarp/reception.h"

namespace softdat::softnet {

// A request that has been read, with the link it came over. It is plain data and may move to
// another adapter.
struct ArrivedRequest {
  std::unique_ptr<ByteLink> link;
  std::unique_ptr<MpaResponder> responder;
  transport::ConnectionAddresses addresses;
  uint64_t conn_qual = 0;  // of the service point; differs from the peer's after a handoff
  bool handed_on = false;  // came to another adapter first
};

// The link and the timer of one Reception. It logs a connection that it drops, and gives a whole
// Request to its service point.
class Incoming {
 public:
  // Token. context->half_open owns the object. `port`: the port that the connection came to. `find`
  // may be called after its listener is gone.
  Incoming(std::shared_ptr<ConnectionContext> context, std::unique_ptr<ByteLink> link,
           uint16_t port, FindServicePoint find);
  ~Incoming();
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  void Start();
  // Drops the connection, because another one needs its place.
  void Evict();

 private:
  void OnTime();
  void Await();  // more of the Request
  void OnReadable();
  void OnRequest();
  void Discard(const std::string& why);
  void Leave();

  const std::shared_ptr<ConnectionContext> context_;
  std::unique_ptr<ByteLink> link_;
  const uint16_t port_;
  const FindServicePoint find_;
  Reception reception_;
  bool looked_again_ = false;  // after the first look found too little
  LinkWatch watch_;
  LoopTimer timer_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_INCOMING_H_
