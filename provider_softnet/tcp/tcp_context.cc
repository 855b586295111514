// SPDX-License-Identifier: BSD-3-Clause
// TcpContext: sockets that outlive their connection.
#include "provider_softnet/tcp/tcp_context.h"

#include <sys/socket.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "provider_softnet/tcp/closing_socket.h"
#include "provider_softnet/tcp/handoff_listener.h"
#include "provider_softnet/tcp/incoming.h"
#include "provider_softnet/tcp/socket_util.h"

namespace softdat::softnet {

TcpContext::TcpContext(std::shared_ptr<AdapterShared> adapter, const TcpOptions& o)
    : shared(std::move(adapter)),
      options(o),
      attributes(shared->attributes),
      memory(shared->memory),
      driver(shared->driver),
      half_open(options.max_half_open) {}

TcpContext::~TcpContext() { Stop(); }

void TcpContext::Stop() {
  FinishAbruptEnds();
  half_open.Clear();
  handoffs.clear();
  paths.Close();
}

// Peers of abrupt ends learn of them before this process is gone; not for long.
void TcpContext::FinishAbruptEnds() {
  constexpr auto kLongest = 10 * ClosingSocket::kLook;
  const CancelOff no_cancellation;
  closing.remove_if([](const auto& socket) { return !socket->abrupt(); });
  for (auto waited = 0 * ClosingSocket::kLook;; waited += ClosingSocket::kLook) {
    closing.remove_if([](const auto& socket) { return !socket->Look(); });
    if (closing.empty() || waited >= kLongest) return closing.clear();
    std::this_thread::sleep_for(ClosingSocket::kLook);
  }
}

uint64_t TcpContext::CloseGently(UniqueFd fd, bool abrupt, std::vector<uint8_t> rest) {
  if (!driver.started()) return 0;
  const uint64_t id = ++last_closing;
  // Out of the list at once, but destroyed later: `done` is called from the object's own handlers.
  auto done = [this, id] {
    const auto it =
        std::find_if(closing.begin(), closing.end(), [&](const auto& c) { return c->id() == id; });
    if (it == closing.end()) return;
    std::unique_ptr<ClosingSocket> taken = std::move(*it);
    closing.erase(it);
    driver.counters().sockets_closed.Add();
    driver.DeleteLater(std::shared_ptr<ClosingSocket>(std::move(taken)));
  };
  auto socket = std::make_unique<ClosingSocket>(&driver.loop(), id, std::move(fd), done);
  if (!socket->Start(options.close_timeout, abrupt, std::move(rest))) {
    driver.counters().sockets_closed.Add();
    return 0;
  }
  closing.push_back(std::move(socket));
  return id;
}

void TcpContext::HurryClosing(uint64_t id) {
  for (const auto& socket : closing) {
    if (socket->id() == id) return socket->Hurry();
  }
}

void TcpContext::CloseNow(UniqueFd fd, bool reset) {
  if (reset) ResetOnClose(fd.get());
  fd.Close();
  driver.counters().sockets_closed.Add();
}

}  // namespace softdat::softnet
