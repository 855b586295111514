// SPDX-License-Identifier: BSD-3-Clause
// A service point whose connections come from a listening socket, whatever the link over them.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LINK_LISTENER_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LINK_LISTENER_H_

#include <memory>
#include <optional>
#include <string>

#include "provider_softnet/connection/acceptor.h"
#include "provider_softnet/connection/byte_link.h"
#include "provider_softnet/connection/connection_context.h"
#include "provider_softnet/connection/port_registry.h"

namespace softdat::softnet {

class LinkListener : public transport::Listener {
 public:
  ~LinkListener() override;
  uint64_t conn_qual() const override { return point_->conn_qual; }

 protected:
  // How a wire makes links of sockets.
  struct Sockets {
    PortRegistry* ports;
    PortRegistry::Open open;
    // Null when the connection is refused.
    std::unique_ptr<ByteLink> (*link)(UniqueFd socket, const ConnectionContext& context);
  };
  explicit LinkListener(std::shared_ptr<ConnectionContext> context);

  // What no listener can do without.
  static Status Check(const transport::ListenParameters& p);
  // Token, and the driver has started. `host` is that of the PortKey. It listens when this
  // succeeds.
  Status Listen(const transport::ListenParameters& p, std::string host, Sockets sockets);

  const std::shared_ptr<ConnectionContext>& context() const { return context_; }
  const std::shared_ptr<ServicePoint>& point() const { return point_; }

 private:
  void Take(UniqueFd socket);

  const std::shared_ptr<ConnectionContext> context_;
  const std::shared_ptr<ServicePoint> point_ = std::make_shared<ServicePoint>();
  Sockets sockets_{};
  PortKey key_;
  UniqueFd fd_;
  std::optional<Acceptor> acceptor_;  // none: it has not joined the ports
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LINK_LISTENER_H_
