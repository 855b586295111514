// SPDX-License-Identifier: BSD-3-Clause
// A socket after its connection: our FIN is sent, input is discarded until the peer's own or a time
// limit. Closing with unread input would make TCP send a reset, which may destroy what the peer has
// yet to read.
//
// After an abrupt end the peer need not deliver what it holds, and a peer that reads nothing
// because no receive is posted there would take the FIN for the end of a graceful disconnect and
// wait for one. So it gets a reset too, but only behind the FIN: TCP then still lets it read
// everything, and an end of file after it. Where its window is closed, not even the FIN gets
// through, and the reset goes alone: to a peer that waits for a receive it says the same.
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
  // Token. `done` is called when this object has nothing more to do; it may be destroyed later.
  ClosingSocket(EventLoop* loop, uint64_t id, UniqueFd fd, std::function<void()> done);
  ~ClosingSocket();
  ClosingSocket(const ClosingSocket&) = delete;
  ClosingSocket& operator=(const ClosingSocket&) = delete;

  uint64_t id() const { return id_; }
  bool abrupt() const { return abrupt_; }
  // Sends `rest`, the end of what was begun, then the FIN. False when there is nothing to wait for.
  // `limit` is when a peer that does not close is given up; after an abrupt end, with a reset.
  bool Start(std::chrono::milliseconds limit, bool abrupt, std::vector<uint8_t> rest);
  // The end is an abrupt one after all.
  void Hurry();
  // As its timer does every kLook after an abrupt end, for an adapter whose loop does not run any
  // more. False when there is nothing more to wait for; the descriptor is closed then.
  bool Look();

  // How often to look whether the peer has our FIN: TCP makes no event of it.
  static constexpr std::chrono::milliseconds kLook{10};

 private:
  bool SendRest();               // and the FIN behind it; false when the connection is gone
  bool Drain();                  // true at the peer's end
  bool FinAcknowledged() const;  // the peer's TCP has everything
  bool WindowClosed();           // and has been for a while
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
  int queued_ = 0;        // bytes that the peer's TCP did not have at the last look
  int closed_looks_ = 0;  // in a row that found the window closed, and queued_ as before
  LoopClock::time_point deadline_{};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_CLOSING_SOCKET_H_
