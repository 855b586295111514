// SPDX-License-Identifier: BSD-3-Clause
// The places of the fields of each CM message: octet, bit within it, and number of bits. Octets
// count from the end of the MAD header (IBTA vol. 1 §12.6 and §12.11). Fields that are not named
// are reserved. They are zero when a message is sent, and ignored when it arrives.

#ifndef SOFTDAT_WIRE_RDMACM_CM_LAYOUT_H_
#define SOFTDAT_WIRE_RDMACM_CM_LAYOUT_H_

#include <cstddef>

#include "wire/rdmacm/cm_messages.h"

namespace softdat::rdmacm {

template <typename Io>
void Layout(Io* io, size_t at, CmPath* m) {
  io->Bits(at, 0, 16, &m->local_lid);
  io->Bits(at + 2, 0, 16, &m->remote_lid);
  io->Octets(at + 4, m->local_gid);
  io->Octets(at + 20, m->remote_gid);
  io->Bits(at + 36, 0, 20, &m->flow_label);
  io->Bits(at + 39, 2, 6, &m->packet_rate);
  io->Bits(at + 40, 0, 8, &m->traffic_class);
  io->Bits(at + 41, 0, 8, &m->hop_limit);
  io->Bits(at + 42, 0, 4, &m->sl);
  io->Bits(at + 42, 4, 1, &m->subnet_local);
  io->Bits(at + 43, 0, 5, &m->local_ack_timeout);
}

template <typename Io>
void Layout(Io* io, CmReq* m) {
  io->Bits(0, 0, 32, &m->local_comm_id);
  io->Bits(8, 0, 64, &m->service_id);
  io->Bits(16, 0, 64, &m->local_ca_guid);
  io->Bits(28, 0, 32, &m->local_qkey);
  io->Bits(32, 0, 24, &m->local_qpn);
  io->Bits(35, 0, 8, &m->responder_resources);
  io->Bits(36, 0, 24, &m->local_eecn);
  io->Bits(39, 0, 8, &m->initiator_depth);
  io->Bits(40, 0, 24, &m->remote_eecn);
  io->Bits(43, 0, 5, &m->remote_cm_response_timeout);
  io->Bits(43, 5, 2, &m->transport);
  io->Bits(43, 7, 1, &m->flow_control);
  io->Bits(44, 0, 24, &m->starting_psn);
  io->Bits(47, 0, 5, &m->local_cm_response_timeout);
  io->Bits(47, 5, 3, &m->retry_count);
  io->Bits(48, 0, 16, &m->pkey);
  io->Bits(50, 0, 4, &m->path_mtu);
  io->Bits(50, 4, 1, &m->rdc_exists);
  io->Bits(50, 5, 3, &m->rnr_retry_count);
  io->Bits(51, 0, 4, &m->max_cm_retries);
  io->Bits(51, 4, 1, &m->srq);
  io->Bits(51, 5, 3, &m->extended_transport);
  Layout(io, 52, &m->primary);
  Layout(io, 96, &m->alternate);
  io->PrivateData(140, kReqPrivateSize, &m->private_data);
}

template <typename Io>
void Layout(Io* io, CmMra* m) {
  io->Bits(0, 0, 32, &m->local_comm_id);
  io->Bits(4, 0, 32, &m->remote_comm_id);
  io->Bits(8, 0, 2, &m->answered);
  io->Bits(9, 0, 5, &m->service_timeout);
  io->PrivateData(10, kMraPrivateSize, &m->private_data);
}

template <typename Io>
void Layout(Io* io, CmRej* m) {
  io->Bits(0, 0, 32, &m->local_comm_id);
  io->Bits(4, 0, 32, &m->remote_comm_id);
  io->Bits(8, 0, 2, &m->answered);
  io->Bits(10, 0, 16, &m->reason);
  io->Info(9, 7, 12, &m->info);
  io->PrivateData(84, kRejPrivateSize, &m->private_data);
}

template <typename Io>
void Layout(Io* io, CmRep* m) {
  io->Bits(0, 0, 32, &m->local_comm_id);
  io->Bits(4, 0, 32, &m->remote_comm_id);
  io->Bits(8, 0, 32, &m->local_qkey);
  io->Bits(12, 0, 24, &m->local_qpn);
  io->Bits(16, 0, 24, &m->local_eecn);
  io->Bits(20, 0, 24, &m->starting_psn);
  io->Bits(24, 0, 8, &m->responder_resources);
  io->Bits(25, 0, 8, &m->initiator_depth);
  io->Bits(26, 0, 5, &m->target_ack_delay);
  io->Bits(26, 5, 2, &m->failover_accepted);
  io->Bits(26, 7, 1, &m->flow_control);
  io->Bits(27, 0, 3, &m->rnr_retry_count);
  io->Bits(27, 3, 1, &m->srq);
  io->Bits(28, 0, 64, &m->local_ca_guid);
  io->PrivateData(36, kRepPrivateSize, &m->private_data);
}

template <typename Io>
void Layout(Io* io, CmRtu* m) {
  io->Bits(0, 0, 32, &m->local_comm_id);
  io->Bits(4, 0, 32, &m->remote_comm_id);
  io->PrivateData(8, kRtuPrivateSize, &m->private_data);
}

template <typename Io>
void Layout(Io* io, CmDreq* m) {
  io->Bits(0, 0, 32, &m->local_comm_id);
  io->Bits(4, 0, 32, &m->remote_comm_id);
  io->Bits(8, 0, 24, &m->remote_qpn);
  io->PrivateData(12, kDreqPrivateSize, &m->private_data);
}

template <typename Io>
void Layout(Io* io, CmDrep* m) {
  io->Bits(0, 0, 32, &m->local_comm_id);
  io->Bits(4, 0, 32, &m->remote_comm_id);
  io->PrivateData(8, kDrepPrivateSize, &m->private_data);
}

template <typename Io>
void Layout(Io* io, SidrReq* m) {
  io->Bits(0, 0, 32, &m->request_id);
  io->Bits(4, 0, 16, &m->pkey);
  io->Bits(8, 0, 64, &m->service_id);
  io->PrivateData(16, kSidrReqPrivateSize, &m->private_data);
}

template <typename Io>
void Layout(Io* io, SidrRep* m) {
  io->Bits(0, 0, 32, &m->request_id);
  io->Bits(4, 0, 8, &m->status);
  io->Info(5, 8, 24, &m->info);
  io->Bits(8, 0, 24, &m->qpn);
  io->Bits(12, 0, 64, &m->service_id);
  io->Bits(20, 0, 32, &m->qkey);
  io->PrivateData(96, kSidrRepPrivateSize, &m->private_data);
}

}  // namespace softdat::rdmacm

#endif  // SOFTDAT_WIRE_RDMACM_CM_LAYOUT_H_
