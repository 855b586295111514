// SPDX-License-Identifier: BSD-3-Clause
// The properties and actions of the device of null_verbs.cc, and what it was asked. This is for
// tests that link the device into their program.
#ifndef SOFTDAT_TESTS_NULLDEVICE_NULL_VERBS_H_
#define SOFTDAT_TESTS_NULLDEVICE_NULL_VERBS_H_

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace softdat::nulldevice {

// Set while no IA is open.
struct NullDevice {
  bool iwarp = false;  // reads have one sink, which must be open to remote writes
  uint32_t vendor_id = 0;
  // The pages that the queues of a process may take, counted as soft-iWARP counts them. If there
  // are none left, calls fail with `no_pages_error`. 0: no limit.
  uint32_t queue_pages = 0;
  int no_pages_error = EINVAL;  // 0: errno stays as it is
  // Requests and receives stay in their queues until the test completes them or the pair goes to
  // the error state.
  bool holds = false;
  bool windows = false;
  bool flushes = true;  // with `holds`: the error state completes present and later work
};
NullDevice& TheNullDevice();

// The regions that are registered now, oldest first.
struct NullRegion {
  uint32_t key;
  void* address;
  size_t length;
  unsigned access;  // ibv_access_flags
};
std::vector<NullRegion> NullRegions();

uint32_t QueuePagesInUse();

// The device raises an asynchronous event: of its port, of the newest shared receive queue, or of
// the newest queue pair. It never flushes anything.
void RaiseNullPortError(int port);
void RaiseNullSharedQueueError();
void RaiseNullPairError();

// The following is for a device that holds, and for its newest pair.
//
// Requests that were posted and taken since the last call.
struct NullPost {
  ibv_wr_opcode opcode;
  unsigned send_flags;
  int num_sge;
  uint64_t length;  // bytes of the segments
  uint64_t remote_address;
  // Of pairs for datagrams:
  const ibv_ah* way;
  uint32_t remote_qpn;
  uint32_t remote_qkey;
};
std::vector<NullPost> TakeNullPosts();
// The number of receives that the pair has.
size_t NullReceives();
// The oldest `count` requests complete, the last of them with `status`. Those that were not
// signalled complete silently.
void CompleteNullSends(size_t count, ibv_wc_status status = IBV_WC_SUCCESS);
// The request after `older` others completes before them.
void CompleteNullSendEarly(size_t older);
// A message of `length` bytes takes the oldest receive.
void ArriveNullMessage(uint32_t length);
// The same for a pair for datagrams. The length includes the header.
void ArriveNullDatagram(uint32_t length, uint32_t source_qpn);
void ArriveNullDatagramImmediate(uint32_t length, uint32_t immediate);
// The ways (ibv_ah) that were made and not destroyed. Where the newest one leads.
size_t NullWays();
ibv_ah_attr LastNullWay();
// The device refuses a request, the one that is posted after `after` others, or the next receive,
// with this error.
void RefuseNullSend(size_t after, int error);
void RefuseNullReceive(int error);

// As long as the calls last that take the lock of the libraries, which fork does not know: those
// that look for a device, and those of rdma_cm that make, destroy or number an identifier.
void HoldNullLibraries(std::chrono::microseconds time);

// How the peer answers a request to connect. Without an answer it accepts.
struct NullAnswer {
  rdma_cm_event_type event = RDMA_CM_EVENT_ESTABLISHED;
  int status = 0;
  std::vector<uint8_t> private_data{};
  int error = 0;        // not 0: the call itself fails with it
  bool silent = false;  // no answer
  // Of an answer to a request for datagrams:
  uint32_t qpn = 0;
  uint32_t qkey = 0;
};
void AnswerNullConnect(const NullAnswer& answer);
// The event happens to the newest identifier.
void TellNullConnection(const NullAnswer& answer);
// A request for datagrams comes to the newest identifier, which listens.
void ArriveNullRequest(const std::vector<uint8_t>& private_data);
// The calls of rdma_cm since the last call of this, which also forgets answers that were not
// fetched.
struct NullCmCalls {
  int connects = 0;
  int accepts = 0;
  int disconnects = 0;
  int rejects = 0;
  std::vector<uint8_t> private_data{};  // of the last request or answer
  uint32_t qpn = 0;                     // that it named
};
NullCmCalls TakeNullCmCalls();

}  // namespace softdat::nulldevice

#endif  // SOFTDAT_TESTS_NULLDEVICE_NULL_VERBS_H_
