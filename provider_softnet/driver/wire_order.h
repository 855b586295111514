// SPDX-License-Identifier: BSD-3-Clause
// For ThreadSanitizer: what one end did before it sent happened before what the other end does
// after it received. It knows this about the C library's calls, but not about bare system calls,
// and not about memory that is mapped twice.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_WIRE_ORDER_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_WIRE_ORDER_H_

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace softdat::softnet {

#ifdef __SANITIZE_THREAD__
inline char every_wire;
inline void BeforeSend() { __tsan_release(&every_wire); }
inline void AfterReceive() { __tsan_acquire(&every_wire); }
#else
inline void BeforeSend() {}
inline void AfterReceive() {}
#endif

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_WIRE_ORDER_H_
