// SPDX-License-Identifier: BSD-3-Clause
// A socket after its connection: our FIN is sent, input is discarded until the peer's own or a time
// limit. Closing with unread input would make TCP send a reset, which may destroy what the peer has
// yet to read.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_CLOSING_SOCKET_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_CLOSING_SOCKET_H_

#include <chrono>
#include <functional>

#include "provider_softnet/driver/event_loop.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

class ClosingSocket {
 public:
  // Token. `done` is called when the socket may be closed: by destroying this object, later.
  ClosingSocket(EventLoop* loop, UniqueFd fd, std::function<void()> done);
  ~ClosingSocket();
  ClosingSocket(const ClosingSocket&) = delete;
  ClosingSocket& operator=(const ClosingSocket&) = delete;

  // Sends the FIN. False when there is nothing to wait for.
  bool Start(std::chrono::milliseconds limit);

 private:
  bool Drain();  // true at the peer's end

  UniqueFd fd_;
  const std::function<void()> done_;
  SocketWatch watch_;
  LoopTimer timer_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_CLOSING_SOCKET_H_
