// SPDX-License-Identifier: BSD-3-Clause
// A socket after the end of its connection. It sends our FIN, and discards input until the peer's
// FIN or a time limit. A close with unread input would make TCP send a reset, which may destroy
// data that the peer has yet to read.
//
// After an abrupt end the peer need not deliver the data that it holds. But a peer may be reading
// nothing because no receive is posted there. It would take the FIN for the end of a graceful
// disconnect and wait for a receive. So an abrupt end also sends a reset, but only after the FIN:
// the peer's TCP then still lets it read everything, and an end of file after that. If the peer's
// window is closed, not even the FIN gets through, and the reset goes alone. For a peer that waits
// for a receive, it means the same.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_CLOSING_SOCKET_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_CLOSING_SOCKET_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "provider_softnet/driver/event_loop.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

class ClosingSocket {
 public:
  // Token. `done` is called when this object has nothing more to do. The object may be destroyed
  // later.
  ClosingSocket(EventLoop* loop, uint64_t id, UniqueFd fd, std::function<void()> done);
  ~ClosingSocket();
  ClosingSocket(const ClosingSocket&) = delete;
  ClosingSocket& operator=(const ClosingSocket&) = delete;

  uint64_t id() const { return id_; }
  bool abrupt() const { return abrupt_; }
  // Sends `rest`, which completes a message that is half sent, and then the FIN. Returns false when
  // there is nothing to wait for. A peer that does not close is given up after `limit`. After an
  // abrupt end, it then gets a reset. `watch`, if any, watches the socket, and is taken over.
  bool Start(std::chrono::milliseconds limit, bool abrupt, std::vector<uint8_t> rest,
             SocketWatch* watch);
  // Makes the end an abrupt one.
  void Hurry();
  // Does what the timer does every kLook after an abrupt end, for an adapter whose loop no longer
  // runs. Returns false when there is nothing more to wait for. The descriptor is closed then.
  bool Look();

  // How often to look whether the peer has our FIN. TCP reports no event for it.
  static constexpr std::chrono::milliseconds kLook{10};

 private:
  bool SendRest();               // then the FIN; false when the connection is gone
  bool Drain();                  // true at the peer's end
  bool FinAcknowledged() const;  // the peer's TCP has received everything
  bool WindowClosed();           // and has been closed for a while
  int Wanted() const;
  void OnReady();
  void OnTimer();
  void Close(bool reset);

  const uint64_t id_;
  UniqueFd fd_;
  const std::function<void()> done_;
  SocketWatch watch_;
  LoopTimer timer_;
  bool abrupt_ = false;
  std::vector<uint8_t> rest_;
  size_t rest_sent_ = 0;
  int queued_ = 0;        // bytes that the peer's TCP lacked at the last look
  int closed_looks_ = 0;  // looks in a row with a closed window and the same queued_
  LoopClock::time_point deadline_{};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_CLOSING_SOCKET_H_
