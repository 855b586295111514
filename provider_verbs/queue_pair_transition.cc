// SPDX-License-Identifier: BSD-3-Clause
// QpCore: the hardware's states on the way to a connection. InfiniBand and RoCE pairs are moved
// here, by what rdma_cm says; iWARP pairs reach RTS inside the kernel.
#include <errno.h>
#include <fmt/format.h>

#include <algorithm>

#include "dat/base/log.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/queue_pair.h"

namespace softdat::verbs {
namespace {

// IBTA vol. 1 table 45: 0.64 ms before a sender that met no receive tries again; rdma_cm's default
// stands for 655 ms.
constexpr uint8_t kRnrTimer640us = 12;

}  // namespace

Status QpCore::ToInit(rdma_cm_id* id) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  int mask = 0;
  if (rdma_init_qp_attr(id, &attr, &mask) != 0)
    return OsStatus(errno, "rdma_init_qp_attr for INIT");
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (device_.traits.atomics) attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
  if (!device_.traits.iwarp) mask |= IBV_QP_ACCESS_FLAGS;
  const int error = ibv_modify_qp(qp_, &attr, mask);
  if (error != 0) return OsStatus(error, "ibv_modify_qp to INIT");
  return Status::Ok();
}

Status QpCore::ToReady(rdma_cm_id* id, std::optional<uint8_t> read_in,
                       std::optional<uint8_t> read_out) {
  if (device_.traits.iwarp) return Status::Ok();
  ibv_qp_attr attr{};
  int mask = 0;
  attr.qp_state = IBV_QPS_RTR;
  if (rdma_init_qp_attr(id, &attr, &mask) != 0) return OsStatus(errno, "rdma_init_qp_attr for RTR");
  if (read_in.has_value()) attr.max_dest_rd_atomic = *read_in;
  attr.min_rnr_timer = kRnrTimer640us;
  SOFTDAT_LOG(Info, "{}: queue pair {} uses GID index {} of port {}, path MTU {}, reads in {}",
              device_.attributes.device_name, qp_->qp_num, attr.ah_attr.grh.sgid_index,
              attr.ah_attr.port_num, 128 << attr.path_mtu, attr.max_dest_rd_atomic);
  int error = ibv_modify_qp(qp_, &attr, mask);
  if (error != 0) return OsStatus(error, "ibv_modify_qp to RTR");

  attr = {};
  attr.qp_state = IBV_QPS_RTS;
  if (rdma_init_qp_attr(id, &attr, &mask) != 0) return OsStatus(errno, "rdma_init_qp_attr for RTS");
  if (read_out.has_value()) attr.max_rd_atomic = *read_out;
  error = ibv_modify_qp(qp_, &attr, mask);
  if (error != 0) return OsStatus(error, "ibv_modify_qp to RTS");
  return Status::Ok();
}

}  // namespace softdat::verbs
