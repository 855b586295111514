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

class Connector final : private WatchedPath {
 public:
  // `endpoint` owns the connector.
  Connector(Endpoint* endpoint, ConnectionContext* context,
            const transport::ConnectParameters& parameters, uint32_t max_read_in,
            uint32_t max_read_out);
  ~Connector() override;
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  // Fails for reasons that are known at once: address family, descriptors.
  Status Start();
  // Closes the link and prevents the report. For a connector that is to be deleted later.
  void Cancel();

 private:
  Status OpenLink();
  void OnTime();
  void OnReady(int events);
  // Does what the initiation needs until it has to wait. `events` have happened.
  void Proceed(int events);
  void Dial();
  bool Watch(int events);
  void LookWhetherConnected(int events);
  bool NoteIfConnected();
  bool LookAtPath(LoopClock::time_point now) override;
  void SendFrame();
  void PrepareLink();
  void ReceiveFrame();
  void CloseLink();
  void Report();

  Endpoint* const endpoint_;
  ConnectionContext* const context_;
  const uint64_t conn_qual_;
  const bool local_;  // the peer is on this host
  const sockaddr_storage remote_;
  Initiation initiation_;
  uint32_t dialled_ = 0;   // the attempt that link_ belongs to
  uint32_t prepared_ = 0;  // the attempt whose link has its options
  std::unique_ptr<ByteLink> link_;
  sockaddr_storage local_address_{}, remote_address_{};  // of the link, once it is connected
  PathJudge path_judge_;
  bool path_is_dead_ = false;
  LinkWatch watch_;
  LoopTimer timer_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTOR_H_
