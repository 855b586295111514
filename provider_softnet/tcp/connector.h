// SPDX-License-Identifier: BSD-3-Clause
// The active side of a connection until the start-up frames are exchanged: the socket and the timer
// of an Initiation. Lives with the driver token. It reports to its endpoint exactly once, never
// from inside Start().
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_CONNECTOR_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_CONNECTOR_H_

#include "provider_softnet/iwarp/initiation.h"
#include "provider_softnet/tcp/endpoint.h"
#include "provider_softnet/tcp/tcp_context.h"

namespace softdat::softnet {

class Connector {
 public:
  // `endpoint` owns the connector.
  Connector(Endpoint* endpoint, TcpContext* adapter, const transport::ConnectParameters& parameters,
            uint32_t max_read_in, uint32_t max_read_out);
  ~Connector();
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  // Fails for what is known at once: address family, descriptors.
  Status Start();
  // No report any more; closes the socket. For a connector that is to be deleted later.
  void Cancel();

 private:
  Status OpenSocket();
  void OnTime();
  void OnReady();
  // Does what the initiation needs, until that is to wait.
  void Proceed();
  void Dial();
  void LookWhetherConnected();
  void MoveFrames();
  void CloseSocket();
  void Report();

  Endpoint* const endpoint_;
  TcpContext* const adapter_;
  const uint64_t conn_qual_;
  const bool local_;  // the peer is on this host
  sockaddr_storage remote_;
  Initiation initiation_;
  uint32_t dialled_ = 0;  // the attempt that fd_ belongs to
  UniqueFd fd_;
  SocketWatch watch_;
  LoopTimer timer_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_CONNECTOR_H_
