// SPDX-License-Identifier: BSD-3-Clause
// What a communication manager is told when it is made: who it is, how patient, and how much memory
// peers may make it take. The numbers suit a network within a building.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_CM_OPTIONS_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_CM_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

namespace softdat::softnet {

// A time that never comes.
inline constexpr uint64_t kCmNever = UINT64_MAX;

constexpr uint64_t CmLater(uint64_t now_us, uint64_t delay_us) {
  return delay_us < kCmNever - now_us ? now_us + delay_us : kCmNever;
}

struct CmOptions {
  // Peers tell connections apart by it: no other adapter, and none that comes later, has the same.
  uint64_t ca_guid = 0;
  // The upper 12 bits of its communication ids, by which the members of one address find whose
  // message it is. None: the ids are random altogether.
  std::optional<uint32_t> comm_id_block{};

  // A message without an answer is sent again after the first interval, then after twice that time,
  // and so on up to the longest one.
  uint64_t first_interval_us = 100'000;
  uint64_t longest_interval_us = 4'000'000;
  uint32_t request_tries = 16;
  uint32_t disconnect_tries = 7;
  // From the REP on, which is sent again for as long.
  uint64_t handshake_limit_us = 30'000'000;
  // The most that a peer gets when it asks for time (MRA).
  uint64_t longest_service_us = 70'000'000;
  uint8_t service_timeout = 24;  // what this end asks for, as a code: 69 s

  // After a connection its QPN stays unused for so long, because packets may still be under way.
  uint64_t time_wait_us = 2'000'000;
  // A refusal is given again for so long to a peer that has not heard it. A request that was handed
  // off is known for so long after its answer.
  uint64_t remember_us = 10'000'000;

  // Requests without the consumer's answer, or whose handshake is not complete.
  size_t most_half_open = 1024;
  // Requests for datagrams without the consumer's answer. They hold nothing but themselves, and
  // some programs ask for many at once.
  size_t most_unanswered = 1024;
  // Connections in time-wait, refusals, and requests that were handed off: so many of each. The
  // oldest goes first.
  size_t most_remembered = 1024;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_CM_OPTIONS_H_
