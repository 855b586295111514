// SPDX-License-Identifier: BSD-3-Clause
// A socket that a port receives on. The loop watches it, and polling threads read from it while it
// is hot.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_RECEIVE_SOCKET_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_RECEIVE_SOCKET_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "dat/base/status.h"
#include "provider_softnet/driver/channel.h"
#include "provider_softnet/driver/event_loop.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/udp/udp_core.h"

namespace softdat::softnet {

class ReceiveSocket final : public Channel {
 public:
  // What comes: datagrams of the network, or messages of other members.
  enum class From : uint8_t { kNetwork, kMembers };

  ReceiveSocket(std::shared_ptr<UdpCore> core, UniqueFd fd, From from);

  // With the token. Does nothing after Close.
  Status Watch();
  // With the token. No packet comes from this socket any more, once a thread that reads has ended.
  void Close();

  // Takes all that has come, with the sockets' end in sight. What another thread has begun to take
  // is waited for, but not for long: it may have stopped for ever.
  void TakeTheRest();

  // Grows with the time of the last batch.
  uint64_t last_read() const { return last_read_.load(std::memory_order_relaxed); }

  // Channel. One system call reads a batch.
  bool TryReceive() override;
  bool FlushSends(Flusher) override { return false; }
  bool PayOwed(Patience) override { return false; }
  void Attend() override {}

 private:
  ~ReceiveSocket() override = default;
  void OnReadable();
  bool BecomeReader(const void* thread);
  bool IsLeftSoon() const;
  bool ReadBatch(const SinkGate::Pass& pass);
  void TakeMembersMessage(ReceiveArea* area, size_t i, const SinkGate::Pass& pass);
  void TakeMessage(ReceiveArea* area, size_t i, const SinkGate::Pass& pass);

  const std::shared_ptr<UdpCore> core_;
  const From from_;
  // The thread that reads. Others leave the socket to it. Once the descriptor is closed, a thread
  // that never reads.
  std::atomic<const void*> reader_{nullptr};
  // A system call's number, so that sockets can be compared. Relaxed: a hint.
  std::atomic<uint64_t> last_read_{0};
  // Datagrams to ask for: few while they come one by one, since each look in vain costs time.
  // Written by the thread that reads.
  size_t wanted_ = 1;
  bool closed_ = false;  // guarded by the token
  UniqueFd fd_;
  SocketWatch watch_;  // guarded by the token
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_RECEIVE_SOCKET_H_
