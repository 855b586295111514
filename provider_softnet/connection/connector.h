// SPDX-License-Identifier: BSD-3-Clause
// The active side of a connection until the start-up frames are exchanged: the link and the timer
// of an Initiation. Everything here needs the driver token. The connector reports to its endpoint
// exactly once, never from inside Start().
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTOR_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTOR_H_

#include "provider_softnet/connection/connection_context.h"
#include "provider_softnet/connection/endpoint.h"
#include "provider_softnet/connection/link_watch.h"
#include "provider_softnet/iwarp/initiation.h"

namespace softdat::softnet {

class Connector {
 public:
  // `endpoint` owns the connector.
  Connector(Endpoint* endpoint, ConnectionContext* context,
            const transport::ConnectParameters& parameters, uint32_t max_read_in,
            uint32_t max_read_out);
  ~Connector();
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  // Fails for reasons that are known at once: address family, descriptors.
  Status Start();
  // Closes the link and prevents the report. For a connector that is to be deleted later.
  void Cancel();

 private:
  Status OpenLink();
  void OnTime();
  void OnReady();
  // Does what the initiation needs until it has to wait.
  void Proceed();
  void Dial();
  void LookWhetherConnected();
  void MoveFrames();
  void CloseLink();
  void Report();

  Endpoint* const endpoint_;
  ConnectionContext* const context_;
  const uint64_t conn_qual_;
  const bool local_;  // the peer is on this host
  sockaddr_storage remote_;
  Initiation initiation_;
  uint32_t dialled_ = 0;  // the attempt that link_ belongs to
  std::unique_ptr<ByteLink> link_;
  LinkWatch watch_;
  LoopTimer timer_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTOR_H_
