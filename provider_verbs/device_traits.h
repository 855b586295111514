// SPDX-License-Identifier: BSD-3-Clause
// The properties of an RDMA device.
#ifndef SOFTDAT_PROVIDER_VERBS_DEVICE_TRAITS_H_
#define SOFTDAT_PROVIDER_VERBS_DEVICE_TRAITS_H_

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

namespace softdat::verbs {

// What was found out about the device. Constant once the device is open.
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
  // Unreliable datagrams over RoCEv2. On InfiniBand the accepting side would have to ask the subnet
  // manager for its way back.
  bool datagrams = false;
  uint32_t gids = 0;  // places in the port's table of own addresses
  // Whether the sink of an RDMA read must be open to remote writes (see SinkTable; siw does not
  // require it).
  bool read_sink_remote_write = false;
  // Whether every request is signalled. The completion of a suppressed request is then swallowed.
  // This is for devices whose queue pairs take no requests in the error state, so that no marker
  // could tell what was completed.
  bool signal_all = false;
  // Whether a failed completion raises no event on a queue that is armed for solicited ones (rxe of
  // Linux 6.1, against IBTA vol. 1 §11.4.2.2). If so, the queues are looked at now and then.
  bool silent_failures = false;
  // Whether a solicited message raises the requested event (siw of Linux 6.1 raises it for none).
  // If not, every message wakes the waiter.
  bool solicited_events = true;
  // The flags of a completion that carries an invalidated key. rxe of Linux 6.1 passes the kernel's
  // flag, which has another value in user space.
  unsigned invalidated_flags = IBV_WC_WITH_INV;
  // Not a property of the device, but SOFTDAT_SHORT_READS.
  bool short_reads = false;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DEVICE_TRAITS_H_
