// SPDX-License-Identifier: BSD-3-Clause
// What an RDMA device is like.
#ifndef SOFTDAT_PROVIDER_VERBS_DEVICE_TRAITS_H_
#define SOFTDAT_PROVIDER_VERBS_DEVICE_TRAITS_H_

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

namespace softdat::verbs {

// What was found out about the device, constant once it is open.
struct DeviceTraits {
  std::string rdma_device;  // "rxe0"
  std::string netdev;       // "eth0"
  uint8_t port = 1;
  bool iwarp = false;
  uint32_t max_qp_wr = 0;
  uint32_t max_sge = 1;
  uint32_t max_read_sge =
      1;  // of one RDMA read; less than max_sge on iWARP, where reads are then split
  uint32_t max_cqe = 0;
  uint32_t max_inline = 0;
  bool windows_type2 = false;
  bool windows_type1 = false;
  bool atomics = false;
  // Whether the sink of an RDMA read must be open to remote writes (see SinkTable; siw does not ask
  // for it).
  bool read_sink_remote_write = false;
  // Whether every request is signalled, also a suppressed one, whose completion is then swallowed:
  // where a queue pair in error state takes no requests, no marker could tell what was completed.
  bool signal_all = false;
  // Whether failed completions raise no event for a queue that is armed for solicited ones (rxe of
  // Linux 6.1, against IBTA vol. 1 §11.4.2.2). Then the queues are looked at now and then.
  bool silent_failures = false;
  // Whether a solicited message raises the event that was asked for (siw of Linux 6.1 raises it for
  // none). Else every message wakes.
  bool solicited_events = true;
  // The flags of a completion that carries an invalidated key: rxe of Linux 6.1 passes the kernel's
  // flag, which has another value in user space.
  unsigned invalidated_flags = IBV_WC_WITH_INV;
  // Not the device's: SOFTDAT_SHORT_READS.
  bool short_reads = false;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DEVICE_TRAITS_H_
