// SPDX-License-Identifier: BSD-3-Clause
// What a thread without the driver token has found out about an endpoint. The holder of the token
// attends to it (Endpoint::Attend).
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_ENDPOINT_PENDING_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_ENDPOINT_PENDING_H_

#include <array>
#include <bit>
#include <cstdint>

#include "provider_softnet/iwarp/stream_config.h"

namespace softdat::softnet {

struct alignas(16) EndpointPending {
  bool aborted = false;    // Disconnect came before the establishment: report OnEnded
  bool dead_path = false;  // the peer has stopped answering: break the connection
  bool accepted = false;   // the result of an accept was known at once: report it
  bool draining = false;   // a graceful disconnect waits for the peer: limit the wait
  bool watch = false;      // the watch may have to wait for something else
  // What the stream asks for.
  bool watermark = false;
  bool timer = false;
  bool stall = false;  // a stall began or ended
  bool ended = false;
  bool close_write = false;
  bool abort = false;
  uint8_t unused[5] = {};
  bool over() const { return ended || close_write || abort; }

  void Add(const StreamActions& actions) {
    watch |= actions.established;
    watermark |= actions.notices.watermark;
    timer |= actions.timer;
    stall |= actions.stalled || actions.resumed;
    ended |= actions.ended;
    close_write |= actions.close_write;
    abort |= actions.abort;
  }
  // Checked after each operation, as two words.
  bool any() const {
    const auto words = std::bit_cast<std::array<uint64_t, 2>>(*this);
    return (words[0] | words[1]) != 0;
  }
};
static_assert(sizeof(EndpointPending) == 2 * sizeof(uint64_t));

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_ENDPOINT_PENDING_H_
