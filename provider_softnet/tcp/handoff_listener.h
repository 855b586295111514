// SPDX-License-Identifier: BSD-3-Clause
// The place where other processes of the same user hand requests to a service point
// (handoff_message.h).
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_LISTENER_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_LISTENER_H_

#include <memory>
#include <string>

#include "provider_softnet/connection/acceptor.h"
#include "provider_softnet/connection/service_point.h"
#include "provider_softnet/tcp/handoff_message.h"
#include "provider_softnet/tcp/tcp_context.h"

namespace softdat::softnet {

// The listening local socket of one service point. To be destroyed with the token.
class HandoffListener {
 public:
  // Token. `host` is that of PortKey. If another process has taken the name, or no descriptor is
  // left, the log says so and no request can be handed to this service point.
  HandoffListener(const std::shared_ptr<ServicePoint>& point, const std::string& host);
  HandoffListener(const HandoffListener&) = delete;
  HandoffListener& operator=(const HandoffListener&) = delete;

 private:
  UniqueFd fd_;
  Acceptor acceptor_;
};

// A process that has connected to such a socket, until its offer has been read. Nothing that it
// sends is trusted, although it runs as the same user. An error ends only this arrival.
class HandoffArrival {
 public:
  // Token. The context's `handoffs` owns it.
  HandoffArrival(std::shared_ptr<ServicePoint> point, UniqueFd fd);
  ~HandoffArrival() { watch_.Stop(); }
  HandoffArrival(const HandoffArrival&) = delete;
  HandoffArrival& operator=(const HandoffArrival&) = delete;

  void Start();
  // Removes it from the context's `handoffs`, to be destroyed soon.
  void Discard(const std::string& why);

 private:
  void OnReadable();
  bool Answer(HandoffVerdict verdict);
  void Leave();

  const std::shared_ptr<ServicePoint> point_;
  UniqueFd fd_;
  SocketWatch watch_;
  LoopTimer timer_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_LISTENER_H_
