// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/hardware_pair.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dat/base/log.h"
#include "provider_verbs/os_error.h"

namespace softdat::verbs {
namespace {

// A sender that met no receive tries again after 0.64 ms (IBTA vol. 1 table 45). rdma_cm's default
// stands for 655 ms.
constexpr uint8_t kRnrTimer640us = 12;

void DestroyNow(ibv_qp* qp) {
  const int error = ibv_destroy_qp(qp);
  if (error != 0) SOFTDAT_LOG(Error, "ibv_destroy_qp: {}", OsText(error));
}

}  // namespace

ibv_qp_cap CapacityFor(const DeviceTraits& traits, const transport::QueuePairAttributes& a,
                       uint32_t send_iov, uint32_t receive_iov) {
  // Reads that are split, and binds that replace one another, take several places.
  const uint32_t read_iov = a.max_read_iov == 0 ? send_iov : std::min(a.max_read_iov, send_iov);
  const uint32_t factor = traits.max_read_sge < read_iov ? read_iov : traits.windows_type2 ? 2 : 1;
  const bool shared = a.srq != nullptr;
  ibv_qp_cap cap{};
  cap.max_send_wr =
      std::max(a.max_send + 2, static_cast<uint32_t>(std::min<uint64_t>(
                                   uint64_t{a.max_send + 2} * factor, traits.max_qp_wr)));
  cap.max_recv_wr = shared ? 0 : a.max_recv + 1;
  cap.max_send_sge = send_iov;
  cap.max_recv_sge = shared ? 0 : std::min(receive_iov, traits.max_sge);
  cap.max_inline_data = traits.max_inline;
  return cap;
}

Status HardwarePair::Make(ibv_pd* pd, ibv_qp_init_attr init) {
  const ibv_qp_cap wanted = init.cap;
  errno = 0;
  qp_ = ibv_create_qp(pd, &init);
  if (qp_ == nullptr) {
    return ExhaustionStatus(
        errno, fmt::format("ibv_create_qp with {} sends of {} segments, {} receives of {}",
                           wanted.max_send_wr, wanted.max_send_sge, wanted.max_recv_wr,
                           wanted.max_recv_sge));
  }
  return Status::Ok();
}

Status HardwarePair::ToInit(rdma_cm_id* id) {
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

Status HardwarePair::ToReady(rdma_cm_id* id, std::optional<uint8_t> read_in,
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

Status HardwarePair::ToDatagrams(uint32_t qkey) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = device_.traits.port;
  attr.qkey = qkey;
  int error = ibv_modify_qp(
      qp_, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | static_cast<int>(IBV_QP_QKEY));
  if (error != 0) return OsStatus(error, "ibv_modify_qp to INIT for datagrams");
  attr = {};
  attr.qp_state = IBV_QPS_RTR;
  error = ibv_modify_qp(qp_, &attr, IBV_QP_STATE);
  if (error != 0) return OsStatus(error, "ibv_modify_qp to RTR for datagrams");
  attr.qp_state = IBV_QPS_RTS;
  error = ibv_modify_qp(qp_, &attr, IBV_QP_STATE | static_cast<int>(IBV_QP_SQ_PSN));
  if (error != 0) return OsStatus(error, "ibv_modify_qp to RTS for datagrams");
  return Status::Ok();
}

bool HardwarePair::SendOn() {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  if (ibv_query_qp(qp_, &attr, IBV_QP_STATE, &init) != 0) return false;
  if (attr.qp_state != IBV_QPS_SQE) return attr.qp_state == IBV_QPS_RTS;
  attr = {};
  attr.qp_state = IBV_QPS_RTS;
  attr.cur_qp_state = IBV_QPS_SQE;
  return ibv_modify_qp(qp_, &attr, IBV_QP_STATE | static_cast<int>(IBV_QP_CUR_STATE)) == 0;
}

void HardwarePair::ToError() {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  const int error = ibv_modify_qp(qp_, &attr, IBV_QP_STATE);
  if (error != 0) SOFTDAT_LOG(Info, "ibv_modify_qp to ERR: {}", OsText(error));
}

bool HardwarePair::FellIntoError() {
  // The kernel ends iWARP pairs together with their connections.
  if (device_.traits.iwarp) return false;
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  if (ibv_query_qp(qp_, &attr, IBV_QP_STATE, &init) != 0) return false;
  return attr.qp_state == IBV_QPS_ERR || attr.qp_state == IBV_QPS_SQE;
}

void HardwarePair::Destroy() {
  if (device_.traits.windows_type2) device_.RenewWindowsOf(qp_);
  DestroyNow(std::exchange(qp_, nullptr));
}

void HardwarePair::Bury(std::shared_ptr<CmId> id, std::shared_ptr<ibv_pd> pd,
                        std::shared_ptr<CqCore> send_cq, std::shared_ptr<CqCore> recv_cq) {
  if (device_.traits.windows_type2) device_.RenewWindowsOf(qp_);
  ToError();
  send_cq->HoldForReaper();
  recv_cq->HoldForReaper();
  device_.reaper.Run([id = std::move(id), qp = std::exchange(qp_, nullptr), pd = std::move(pd),
                      send_cq = std::move(send_cq), recv_cq = std::move(recv_cq)]() mutable {
    id.reset();
    DestroyNow(qp);
    pd.reset();
    send_cq->ReleaseByReaper();
    recv_cq->ReleaseByReaper();
  });
}

}  // namespace softdat::verbs
