// SPDX-License-Identifier: BSD-3-Clause
// TcpListener.
#include "provider_softnet/tcp/tcp_listener.h"

#include <optional>
#include <utility>

#include "dat/base/socket_address.h"
#include "provider_softnet/tcp/tcp_link.h"
#include "provider_softnet/tcp/tcp_ports.h"

namespace softdat::softnet {
namespace {

std::unique_ptr<ByteLink> MakeLink(UniqueFd socket, const ConnectionContext&) {
  return std::make_unique<TcpLink>(std::move(socket));
}

}  // namespace

Result<std::unique_ptr<transport::Listener>> TcpListener::Create(
    const std::shared_ptr<TcpContext>& context, const transport::ListenParameters& p) {
  if (Status s = Check(p); !s.ok()) return s;
  if (Status s = context->driver.Start(); !s.ok()) return s;
  const TokenHold token(&context->driver.token());
  std::unique_ptr<TcpListener> listener(new TcpListener(context));
  const std::string host = p.address == nullptr ? "" : HostText(*p.address);
  const auto open = [address = p.address, conn_qual = p.conn_qual,
                     dead_path = context->options.dead_path](uint16_t* port) {
    return OpenTcpPort(address, conn_qual, dead_path, port);
  };
  if (Status s = listener->Listen(p, host, {&TcpPorts().Get(), open, MakeLink}); !s.ok()) return s;
  listener->handoff_ = std::make_unique<HandoffListener>(listener->point(), host);
  return std::unique_ptr<transport::Listener>(std::move(listener));
}

TcpListener::~TcpListener() {
  const TokenHold token(&context()->driver.token());
  handoff_.reset();
}

}  // namespace softdat::softnet
