// SPDX-License-Identifier: BSD-3-Clause
// What a watch waits for, and what its handler is told has happened. The bits are those of libuv.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_WATCH_EVENTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_WATCH_EVENTS_H_

#include <uv.h>

namespace softdat::softnet {

inline constexpr int kReadable = UV_READABLE;
inline constexpr int kWritable = UV_WRITABLE;
inline constexpr int kHangup = UV_DISCONNECT;  // the peer sends no more
inline constexpr int kUrgent = UV_PRIORITIZED;
// An error counts as all of these, whatever is watched.
inline constexpr int kError = kReadable | kWritable | kHangup;

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_WATCH_EVENTS_H_
