// SPDX-License-Identifier: BSD-3-Clause
// The active side of a connection until the start-up frames are exchanged: TCP connect, MPA Request
// and Reply, retries, time limit. Lives with the driver token; reports to its endpoint exactly
// once, never from inside Start().
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_CONNECTOR_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_CONNECTOR_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  void Attempt();  // one TCP connect
  void OnReady();
  void OnTcpConnected();
  void OnTcpFailed(int error);
  void ExchangeFrames();
  void OnFramesDone();
  void RetryLater();
  void CloseSocket();
  void Fail(transport::RejectReason reason, const std::string& why);
  std::string Where() const;

  Endpoint* const endpoint_;
  TcpContext* const adapter_;
  sockaddr_storage remote_;
  const uint64_t conn_qual_;
  const std::chrono::microseconds timeout_;
  const std::vector<uint8_t> private_data_;
  MpaConfig mpa_config_;
  const bool local_;  // the peer is on this host: refusals are retried
  LoopClock::time_point started_{};
  std::chrono::milliseconds retry_delay_{1};
  UniqueFd fd_;
  bool tcp_connected_ = false;
  std::optional<MpaInitiator> initiator_;
  SocketWatch watch_;
  LoopTimer retry_timer_;  // before another attempt
  LoopTimer limit_timer_;  // the consumer's timeout
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_CONNECTOR_H_
