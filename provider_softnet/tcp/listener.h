// SPDX-License-Identifier: BSD-3-Clause
// The listening socket of one service point.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_LISTENER_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_LISTENER_H_

#include <memory>
#include <optional>

#include "dat/transport/transport.h"
#include "provider_softnet/tcp/handoff_listener.h"
#include "provider_softnet/tcp/port_registry.h"
#include "provider_softnet/tcp/tcp_context.h"

namespace softdat::softnet {

class TcpListener final : public transport::Listener {
 public:
  // The listener listens when this succeeds.
  static Result<std::unique_ptr<transport::Listener>> Create(
      const std::shared_ptr<TcpContext>& adapter, const transport::ListenParameters& p);
  ~TcpListener() override;

  uint64_t conn_qual() const override { return point_->conn_qual; }

 private:
  explicit TcpListener(std::shared_ptr<TcpContext> adapter);
  void OnReadable();
  // Stops taking connections when no descriptors are left, and tries again later. The peers wait in
  // the backlog meanwhile.
  void Pause(int error);

  const std::shared_ptr<TcpContext> adapter_;
  std::shared_ptr<ServicePoint> point_;
  PortKey key_;
  UniqueFd fd_;
  bool registered_ = false;
  SocketWatch watch_;
  LoopTimer pause_;
  bool held_ = false;  // the sink was told that requests wait
  std::unique_ptr<HandoffListener> handoff_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_LISTENER_H_
