// SPDX-License-Identifier: BSD-3-Clause
// What the device of null_verbs.cc is like and does, and what was asked of it, for tests in whose
// program it is linked.
#ifndef SOFTDAT_TESTS_NULLDEVICE_NULL_VERBS_H_
#define SOFTDAT_TESTS_NULLDEVICE_NULL_VERBS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace softdat::nulldevice {

// Set while no IA is open.
struct NullDevice {
  bool iwarp = false;  // reads have one sink, which must be open to remote writes
  uint32_t vendor_id = 0;
  // Pages that the queues of a process may take, as soft-iWARP counts them, and fails with EINVAL
  // when there is none left; 0: no limit.
  uint32_t queue_pages = 0;
};
NullDevice& TheNullDevice();

// What is registered now, oldest first.
struct NullRegion {
  uint32_t key;
  void* address;
  size_t length;
  unsigned access;  // ibv_access_flags
};
std::vector<NullRegion> NullRegions();

uint32_t QueuePagesInUse();

// The device raises an asynchronous event: of its port, of the shared receive queue or the queue
// pair made last. It never flushes anything.
void RaiseNullPortError(int port);
void RaiseNullSharedQueueError();
void RaiseNullPairError();

}  // namespace softdat::nulldevice

#endif  // SOFTDAT_TESTS_NULLDEVICE_NULL_VERBS_H_
