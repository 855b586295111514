// SPDX-License-Identifier: BSD-3-Clause
// A sender whose packets come to another member, which hands them on here, gets a socket of its own
// at this member: one that is connected to the sender, which the kernel prefers to the shared ones.
// A member that is alone never needs one.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_STEERING_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_STEERING_H_

#include <sys/socket.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dat/base/mutex.h"
#include "provider_softnet/udp/forward_message.h"
#include "provider_softnet/udp/receive_socket.h"
#include "provider_softnet/udp/udp_core.h"

namespace softdat::softnet {

// Which senders' packets keep being handed here. Any thread.
class FrequentSenders {
 public:
  explicit FrequentSenders(uint32_t enough) : enough_(enough) {}
  // Counts a packet. True for the one with which there are enough.
  bool Note(const sockaddr_storage& source);
  // There will be enough. True unless there were.
  bool Expect(const sockaddr_storage& source);
  // Counts from 0 again.
  void Forget(const sockaddr_storage& source);

 private:
  // mutex_ held.
  uint32_t& CountOf(const sockaddr_storage& source);

  static constexpr size_t kMostSenders = 4096;  // more than that, and all are counted anew
  const uint32_t enough_;
  Mutex mutex_;  // protects counts_
  std::map<ForwardPrefix, uint32_t> counts_;
};

// The sockets of one sender each. Needs the token.
class SteeredSockets {
 public:
  SteeredSockets(std::shared_ptr<UdpCore> core, size_t most)
      : core_(std::move(core)), most_(most) {}
  // Opens a socket for what `source` sends. When there are too many, the one that was silent for
  // longest is closed. Returns the sender that lost its socket, if one did.
  std::optional<sockaddr_storage> Open(const sockaddr_storage& source);
  void CloseAll();

 private:
  struct Steered {
    sockaddr_storage source;
    RefPtr<ReceiveSocket> socket;
  };
  std::optional<sockaddr_storage> MakeRoom();

  const std::shared_ptr<UdpCore> core_;
  const size_t most_;
  std::vector<Steered> sockets_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_STEERING_H_
