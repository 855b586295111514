// SPDX-License-Identifier: BSD-3-Clause
// What the device of null_verbs.cc is like and does, and what was asked of it, for tests in whose
// program it is linked.
#ifndef SOFTDAT_TESTS_NULLDEVICE_NULL_VERBS_H_
#define SOFTDAT_TESTS_NULLDEVICE_NULL_VERBS_H_

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

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
  // Requests and receives stay in their queues until the test completes them or the pair goes to
  // the error state.
  bool holds = false;
  bool windows = false;
  bool flushes = true;  // with `holds`: the error state completes what is there, and what comes
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

// A device that holds, of the pair made last.
//
// What was posted and taken, since the last call.
struct NullPost {
  ibv_wr_opcode opcode;
  unsigned send_flags;
  int num_sge;
  uint64_t length;  // bytes of the segments
  uint64_t remote_address;
};
std::vector<NullPost> TakeNullPosts();
// How many receives it has.
size_t NullReceives();
// The oldest requests complete; those that were not signalled without a word. The last of them as
// `status` says.
void CompleteNullSends(size_t count, ibv_wc_status status = IBV_WC_SUCCESS);
// The request behind `older` others completes before them.
void CompleteNullSendEarly(size_t older);
// A message of `length` bytes takes the oldest receive.
void ArriveNullMessage(uint32_t length);
// The request that is posted behind `after` others is refused with this error; receives: the next.
void RefuseNullSend(size_t after, int error);
void RefuseNullReceive(int error);

// What the peer says to a request to connect; without any, it accepts.
struct NullAnswer {
  rdma_cm_event_type event = RDMA_CM_EVENT_ESTABLISHED;
  int status = 0;
  std::vector<uint8_t> private_data{};
  int error = 0;        // not 0: the call itself fails with it
  bool silent = false;  // no answer
};
void AnswerNullConnect(const NullAnswer& answer);
// Of the identifier made last: the event happens.
void TellNullConnection(const NullAnswer& answer);
// What was asked of rdma_cm since the last call, which also forgets answers that were not fetched.
struct NullCmCalls {
  int connects = 0;
  int accepts = 0;
  int disconnects = 0;
  std::vector<uint8_t> private_data{};  // of the last request
};
NullCmCalls TakeNullCmCalls();

}  // namespace softdat::nulldevice

#endif  // SOFTDAT_TESTS_NULLDEVICE_NULL_VERBS_H_
