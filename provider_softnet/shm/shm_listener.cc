// SPDX-License-Identifier: BSD-3-Clause
// ShmListener.
#include "provider_softnet/shm/shm_listener.h"

#include <string>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/driver/local_socket.h"
#include "provider_softnet/shm/shm_ports.h"

namespace softdat::softnet {
namespace {

std::unique_ptr<ByteLink> MakeLink(UniqueFd socket, const ConnectionContext&) {
  if (!IsOwnUsersSocket(socket.get())) {
    SOFTDAT_LOG(Warning, "a connection over shared memory from another user was refused");
    return nullptr;
  }
  return std::make_unique<ShmLink>(std::move(socket));
}

}  // namespace

Result<std::unique_ptr<transport::Listener>> ShmListener::Create(
    const std::shared_ptr<ShmContext>& context, const transport::ListenParameters& p) {
  if (Status s = Check(p); !s.ok()) return s;
  if (Status s = context->driver.Start(); !s.ok()) return s;
  const TokenHold token(&context->driver.token());
  std::unique_ptr<ShmListener> listener(new ShmListener(context));
  const std::string host = p.address == nullptr ? "" : HostText(Unmapped(*p.address));
  const auto open = [host](uint16_t* port) { return OpenShmPort(host, port); };
  if (Status s = listener->Listen(p, host, {&ShmPorts().Get(), open, MakeLink}); !s.ok()) return s;
  return std::unique_ptr<transport::Listener>(std::move(listener));
}

}  // namespace softdat::softnet
