// SPDX-License-Identifier: BSD-3-Clause
// TcpContext: also owns the sockets that outlive their connection.
#include "provider_softnet/tcp/tcp_context.h"

#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <string>
#include <thread>
#include <utility>

#include "dat/base/socket_address.h"
#include "provider_softnet/connection/connection_request.h"
#include "provider_softnet/connection/incoming.h"
#include "provider_softnet/tcp/closing_socket.h"
#include "provider_softnet/tcp/handoff_listener.h"
#include "provider_softnet/tcp/handoff_sender.h"
#include "provider_softnet/tcp/socket_util.h"
#include "provider_softnet/tcp/tcp_link.h"
#include "provider_softnet/tcp/tcp_ports.h"

namespace softdat::softnet {

TcpContext::TcpContext(std::shared_ptr<AdapterShared> adapter, const TcpOptions& o)
    : ConnectionContext(std::move(adapter), o), handoff_timeout(o.handoff_timeout) {}

TcpContext::~TcpContext() { Stop(); }

void TcpContext::Stop() {
  FinishAbruptEnds();
  half_open.Clear();
  handoffs.clear();
  paths.Close();
}

// Makes sure that the peers of abrupt ends learn of them before this process is gone. Waits only
// briefly.
void TcpContext::FinishAbruptEnds() {
  constexpr auto kLongest = 10 * ClosingSocket::kLook;
  const CancelOff no_cancellation;
  closing.RemoveIf([](ClosingSocket& socket) { return !socket.abrupt(); });
  for (auto waited = 0 * ClosingSocket::kLook;; waited += ClosingSocket::kLook) {
    closing.RemoveIf([](ClosingSocket& socket) { return !socket.Look(); });
    if (closing.empty() || waited >= kLongest) return closing.Clear();
    std::this_thread::sleep_for(ClosingSocket::kLook);
  }
}

Result<std::unique_ptr<ByteLink>> TcpContext::OpenLink(const sockaddr_storage& remote,
                                                       bool same_host) {
  Result<UniqueFd> opened = OpenTcp(remote.ss_family);
  if (!opened.ok()) return opened.TakeStatus();
  UniqueFd fd = opened.Take();
  // The connection uses the adapter's own address, as the IA's name promises. The kernel chooses
  // better for a destination on this host and for an adapter that is the loopback interface.
  const sockaddr_storage& own = attributes.address;
  if (!same_host && !IsLoopback(own) && own.ss_family == remote.ss_family) {
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    sockaddr_storage source = own;
    SetSocketPort(0, &source);
    if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&source), AddressSize(source)) != 0) {
      return Status(Code::kNoResources,
                    fmt::format("connect to {}: cannot use the adapter's address {}: {}",
                                AddressText(remote), HostText(own), strerror(errno)));
    }
  }
  return std::unique_ptr<ByteLink>(std::make_unique<TcpLink>(std::move(fd)));
}

uint64_t TcpContext::CloseGently(std::unique_ptr<ByteLink> link, bool abrupt,
                                 std::vector<uint8_t> rest, SocketWatch* watch) {
  auto& tcp = static_cast<TcpLink&>(*link);
  const bool nothing_to_do = tcp.PeerHasFinished() && rest.empty();  // the close sends our FIN
  if (!driver.started() || nothing_to_do) {
    if (watch != nullptr) watch->Stop();
    CloseNow(std::move(link), false);
    return 0;
  }
  UniqueFd fd = tcp.Release();
  const uint64_t id = closing.NextId();
  // The object leaves the list at once but is destroyed later, because its own handlers call
  // `done`.
  auto done = [this, id] {
    std::unique_ptr<ClosingSocket> taken = closing.Take(id);
    if (taken == nullptr) return;
    driver.counters().sockets_closed.Add();
    driver.DeleteLater(std::shared_ptr<ClosingSocket>(std::move(taken)));
  };
  auto socket = std::make_unique<ClosingSocket>(&driver.loop(), id, std::move(fd), done);
  if (!socket->Start(options.close_timeout, abrupt, std::move(rest), watch)) {
    driver.counters().sockets_closed.Add();
    return 0;
  }
  closing.Add(std::move(socket));
  return id;
}

void TcpContext::HurryClosing(uint64_t id) { closing.Hurry(id); }

void TcpContext::CloseNow(std::unique_ptr<ByteLink> link, bool reset) {
  if (reset) ResetOnClose(link->descriptor());
  link.reset();
  driver.counters().sockets_closed.Add();
}

Status TcpContext::HandOn(ArrivedRequest* request, uint64_t conn_qual) {
  const std::string host = HostText(request->addresses.local);
  const auto point = TcpPorts().Get().FindForHandoff(host, conn_qual);
  if (point != nullptr && HandOnTo(point, request)) return Status::Ok();
  const HandoffOffer offer{conn_qual, request->responder->received()};
  Status status = OfferToProcess(offer, host, request->link->descriptor(), handoff_timeout);
  if (!status.ok()) return status;
  const TokenHold token(&driver.token());
  CloseNow(std::move(request->link), false);
  return status;
}

}  // namespace softdat::softnet
