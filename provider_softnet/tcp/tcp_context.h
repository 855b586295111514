// SPDX-License-Identifier: BSD-3-Clause
// What the connections and listeners of one adapter over TCP share.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_CONTEXT_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_CONTEXT_H_

#include <list>
#include <memory>
#include <vector>

#include "provider_softnet/connection/closing_list.h"
#include "provider_softnet/connection/connection_context.h"
#include "provider_softnet/connection/service_point.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/tcp/tcp_options.h"

namespace softdat::softnet {

class ClosingSocket;
class HandoffArrival;

struct TcpContext final : ConnectionContext {
  TcpContext(std::shared_ptr<AdapterShared> adapter, const TcpOptions& o);
  ~TcpContext() override;

  // Same as Wire::Stop().
  void Stop();

  // `abrupt` of CloseGently: the peer soon gets a reset too, if it has the FIN but does not react,
  // or does not read, so that its window keeps the FIN out.
  Result<std::unique_ptr<ByteLink>> OpenLink(const sockaddr_storage& remote,
                                             bool same_host) override;
  void CloseNow(std::unique_ptr<ByteLink> link, bool reset) override;
  using ConnectionContext::CloseGently;
  uint64_t CloseGently(std::unique_ptr<ByteLink> link, bool abrupt, std::vector<uint8_t> rest,
                       SocketWatch* watch) override;
  void HurryClosing(uint64_t closing) override;
  Status HandOn(ArrivedRequest* request, uint64_t conn_qual) override;

  void FinishAbruptEnds();

  const std::chrono::milliseconds handoff_timeout;
  // Needs the token:
  ClosingList<ClosingSocket> closing;
  std::list<std::unique_ptr<HandoffArrival>> handoffs;  // from other processes, oldest first
};

// Service points of this wire have contexts of this wire.
inline TcpContext& ContextOf(const ServicePoint& point) {
  return static_cast<TcpContext&>(*point.context);
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_CONTEXT_H_
