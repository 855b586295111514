// SPDX-License-Identifier: BSD-3-Clause
// The passive side of a connection until its Request is read.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_INCOMING_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_INCOMING_H_

#include <memory>
#include <string>

#include "dat/transport/transport.h"
#include "provider_softnet/iwarp/mpa_handshake.h"
#include "provider_softnet/iwarp/reception.h"
#include "provider_softnet/tcp/port_registry.h"
#include "provider_softnet/tcp/tcp_context.h"

namespace softdat::softnet {

// A request that is read, with the socket it came on. Plain data: may move to another adapter.
struct ArrivedRequest {
  UniqueFd fd;
  std::unique_ptr<MpaResponder> responder;
  transport::ConnectionAddresses addresses;
  uint64_t conn_qual = 0;  // of the service point: another than the peer's after a handoff
  bool handed_on = false;  // came to another adapter first
};

// The socket and the timer of one Reception. What it drops is a line in the log; a whole Request is
// given to its service point.
class Incoming {
 public:
  // Token. Owned by adapter->half_open.
  Incoming(std::shared_ptr<TcpContext> adapter, UniqueFd fd, PortKey key);
  ~Incoming();
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  void Start();
  // Another one needs its place.
  void Evict();

 private:
  void OnReadable();
  void OnRequest();
  void Discard(const std::string& why);
  void Leave();

  const std::shared_ptr<TcpContext> adapter_;
  UniqueFd fd_;
  const PortKey key_;
  Reception reception_;
  SocketWatch watch_;
  LoopTimer timer_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_INCOMING_H_
