// SPDX-License-Identifier: BSD-3-Clause
// Takes connections from the listening socket of a service point, and pauses when no descriptors
// are left. The peers wait in the backlog meanwhile.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_ACCEPTOR_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_ACCEPTOR_H_

#include <functional>
#include <memory>

#include "dat/transport/transport.h"
#include "provider_softnet/connection/service_point.h"
#include "provider_softnet/driver/event_loop.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

// Everything here needs the token.
class Acceptor {
 public:
  struct Handler {
    // A connection was taken. May destroy the acceptor, and then the point has no sink any more.
    std::function<void(UniqueFd)> take;
    // Connections wait because of this errno value. Called once until one is taken. May be empty.
    // May destroy the acceptor.
    std::function<void(int)> hold;
  };
  Acceptor(std::shared_ptr<ServicePoint> point, Handler handler);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // `fd` is borrowed.
  Status Start(int fd);

 private:
  void OnReadable();
  void Pause(int error);

  const std::shared_ptr<ServicePoint> point_;
  const std::shared_ptr<const Handler> handler_;  // outlives its calls
  int fd_ = -1;
  SocketWatch watch_;
  LoopTimer pause_;
  uint64_t found_at_ = 0;  // the loop's look that found a connection last
  bool held_ = false;      // the handler knows that connections wait
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_ACCEPTOR_H_
