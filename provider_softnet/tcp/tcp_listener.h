// SPDX-License-Identifier: BSD-3-Clause
// The listening socket of one service point over TCP, and its local socket for handoffs.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_LISTENER_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_LISTENER_H_

#include <memory>

#include "provider_softnet/connection/link_listener.h"
#include "provider_softnet/tcp/handoff_listener.h"
#include "provider_softnet/tcp/tcp_context.h"

namespace softdat::softnet {

class TcpListener final : public LinkListener {
 public:
  // The listener listens when this succeeds.
  static Result<std::unique_ptr<transport::Listener>> Create(
      const std::shared_ptr<TcpContext>& context, const transport::ListenParameters& p);
  ~TcpListener() override;

 private:
  using LinkListener::LinkListener;

  std::unique_ptr<HandoffListener> handoff_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_LISTENER_H_
