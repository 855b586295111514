// SPDX-License-Identifier: BSD-3-Clause
// The hardware of a queue pair: an ibv_qp, its states, and its end. This class moves InfiniBand and
// RoCE pairs from state to state, as rdma_cm says. iWARP pairs reach RTS inside the kernel.
#ifndef SOFTDAT_PROVIDER_VERBS_HARDWARE_PAIR_H_
#define SOFTDAT_PROVIDER_VERBS_HARDWARE_PAIR_H_

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "dat/transport/transport.h"
#include "provider_verbs/cm_channel.h"
#include "provider_verbs/completion_queue.h"
#include "provider_verbs/device.h"

namespace softdat::verbs {

// The places and segments that a pair with these attributes takes. `send_iov` and `receive_iov` are
// the segments of one request in its queues.
ibv_qp_cap CapacityFor(const DeviceTraits& traits, const transport::QueuePairAttributes& a,
                       uint32_t send_iov, uint32_t receive_iov);

// May be used only with the queue pair's control lock held.
class HardwarePair {
 public:
  explicit HardwarePair(Device& device) : device_(device) {}
  HardwarePair(const HardwarePair&) = delete;
  HardwarePair& operator=(const HardwarePair&) = delete;

  // To be called when there is no hardware. `init` says which service.
  Status Make(ibv_pd* pd, ibv_qp_init_attr init);
  bool exists() const { return qp_ != nullptr; }
  ibv_qp* get() const { return qp_; }

  // Moves to INIT; to RTR and RTS. The read depths are given if the consumer's differ from
  // rdma_cm's.
  Status ToInit(rdma_cm_id* id);
  Status ToReady(rdma_cm_id* id, std::optional<uint8_t> read_in, std::optional<uint8_t> read_out);
  // A pair for datagrams: from its creation to RTS.
  Status ToDatagrams(uint32_t qkey);
  // A pair for datagrams of which a send has failed takes no other one until it is told to go on.
  // False if it cannot, because the device has put it into the error state.
  bool SendOn();
  // Moves to the error state, which flushes.
  void ToError();
  // Whether the pair has entered an error state by itself.
  bool FellIntoError();

  void Destroy();
  // Does the same in the background, together with `id`. The pair has nothing left to complete, but
  // its queues and its domain must stay until then.
  void Bury(std::shared_ptr<CmId> id, std::shared_ptr<ibv_pd> pd, std::shared_ptr<CqCore> send_cq,
            std::shared_ptr<CqCore> recv_cq);

 private:
  Device& device_;
  ibv_qp* qp_ = nullptr;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_HARDWARE_PAIR_H_
