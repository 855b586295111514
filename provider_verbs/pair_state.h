// SPDX-License-Identifier: BSD-3-Clause
// The states of a queue pair, and what follows from the state alone.
#ifndef SOFTDAT_PROVIDER_VERBS_PAIR_STATE_H_
#define SOFTDAT_PROVIDER_VERBS_PAIR_STATE_H_

#include <cstdint>

namespace softdat::verbs {

enum class PairState : uint8_t {
  kIdle,
  kConnecting,
  kConnected,
  kDraining,  // a graceful disconnect waits for the sends
  kEnding,    // the hardware flushes
  kEnded,
  kClosed
};

// What happens to a posted request.
enum class PostFate : uint8_t {
  kRefused,
  kTaken,    // by the hardware; for a receive, when there is hardware
  kLate,     // flushed after the hardware's requests
  kFlushed,  // at once
};

inline PostFate FateOfSend(PairState state) {
  switch (state) {
    case PairState::kConnected:
      return PostFate::kTaken;
    case PairState::kEnding:
      return PostFate::kLate;
    case PairState::kEnded:
      return PostFate::kFlushed;
    default:
      return PostFate::kRefused;
  }
}

// Receives are taken before there is a connection, and wait for it.
inline PostFate FateOfReceive(PairState state) {
  switch (state) {
    case PairState::kEnding:
      return PostFate::kLate;
    case PairState::kEnded:
      return PostFate::kFlushed;
    default:
      return PostFate::kTaken;
  }
}

// Whether there is a connection, or an attempt at one, that can end.
inline bool CanEnd(PairState state) {
  return state == PairState::kConnecting || state == PairState::kConnected ||
         state == PairState::kDraining;
}

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_PAIR_STATE_H_
