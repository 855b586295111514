// SPDX-License-Identifier: BSD-3-Clause
// The messages of the communication manager: IBTA vol. 1 §12.6 (connections) and §12.11 (service ID
// resolution). Names are those of the standard. "Local" is the sender of a message, "remote" its
// receiver. Private data have no length on the wire. The whole field arrives, and sent data are
// padded with zeros.

#ifndef SOFTDAT_WIRE_RDMACM_CM_MESSAGES_H_
#define SOFTDAT_WIRE_RDMACM_CM_MESSAGES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "wire/bytes.h"
#include "wire/rdmacm/reject_reason.h"

namespace softdat::rdmacm {

/// Octets of the private data fields.
inline constexpr size_t kReqPrivateSize = 92;
inline constexpr size_t kMraPrivateSize = 222;
inline constexpr size_t kRejPrivateSize = 148;
inline constexpr size_t kRepPrivateSize = 196;
inline constexpr size_t kRtuPrivateSize = 224;
inline constexpr size_t kDreqPrivateSize = 220;
inline constexpr size_t kDrepPrivateSize = 224;
inline constexpr size_t kSidrReqPrivateSize = 216;
inline constexpr size_t kSidrRepPrivateSize = 136;
/// Octets of the additional information in REJ and SIDR_REP.
inline constexpr size_t kInfoSize = 72;

/// The meaning of a timeout code of five bits: 4.096 us times a power of two.
constexpr uint64_t TimeoutNs(uint8_t code) { return uint64_t{4096} << (code & 0x1f); }

enum class TransportType : uint8_t { kRc = 0, kUc = 1, kRd = 2, kExtended = 3 };

/// The message that an MRA or a REJ answers.
enum class Answered : uint8_t { kReq = 0, kRep = 1, kOther = 2 };

using Gid = std::array<uint8_t, 16>;

/// LIDs of a RoCE path: permissive, as Linux writes them.
inline constexpr uint16_t kNoLid = 0xffff;

struct CmPath {
  uint16_t local_lid = 0;
  uint16_t remote_lid = 0;
  Gid local_gid = {};
  Gid remote_gid = {};
  uint32_t flow_label = 0;  ///< 20 bits.
  uint8_t packet_rate = 0;  ///< 6 bits.
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 0;
  uint8_t sl = 0;  ///< 4 bits.
  bool subnet_local = false;
  uint8_t local_ack_timeout = 0;  ///< 5 bits.
};

struct CmReq {
  uint32_t local_comm_id = 0;
  uint64_t service_id = 0;
  uint64_t local_ca_guid = 0;
  uint32_t local_qkey = 0;
  uint32_t local_qpn = 0;  ///< 24 bits, as all QPNs, EECNs and PSNs.
  uint8_t responder_resources = 0;
  uint32_t local_eecn = 0;
  uint8_t initiator_depth = 0;
  uint32_t remote_eecn = 0;
  uint8_t remote_cm_response_timeout = 0;  ///< 5 bits.
  TransportType transport = TransportType::kRc;
  bool flow_control = false;
  uint32_t starting_psn = 0;              ///< Of the receiver's first request.
  uint8_t local_cm_response_timeout = 0;  ///< 5 bits.
  uint8_t retry_count = 0;                ///< 3 bits.
  uint16_t pkey = 0xffff;
  uint8_t path_mtu = 0;  ///< Code, 4 bits: 1 is 256 octets, 5 is 4096.
  bool rdc_exists = false;
  uint8_t rnr_retry_count = 0;  ///< 3 bits.
  uint8_t max_cm_retries = 0;   ///< 4 bits.
  bool srq = false;
  uint8_t extended_transport = 0;  ///< 3 bits.
  CmPath primary = {};
  CmPath alternate = {};
  ByteSpan private_data = {};
};

struct CmMra {
  uint32_t local_comm_id = 0;
  uint32_t remote_comm_id = 0;
  Answered answered = Answered::kReq;
  uint8_t service_timeout = 0;  ///< 5 bits.
  ByteSpan private_data = {};
};

struct CmRej {
  uint32_t local_comm_id = 0;  ///< 0 if the sender has made none.
  uint32_t remote_comm_id = 0;
  Answered answered = Answered::kReq;
  RejectReason reason = RejectReason::kConsumer;
  ByteSpan info = {};  ///< Additional information, at most kInfoSize octets.
  ByteSpan private_data = {};
};

struct CmRep {
  uint32_t local_comm_id = 0;
  uint32_t remote_comm_id = 0;
  uint32_t local_qkey = 0;
  uint32_t local_qpn = 0;
  uint32_t local_eecn = 0;
  uint32_t starting_psn = 0;  ///< Of the receiver's first request.
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;
  uint8_t target_ack_delay = 0;   ///< 5 bits.
  uint8_t failover_accepted = 0;  ///< 2 bits.
  bool flow_control = false;
  uint8_t rnr_retry_count = 0;  ///< 3 bits.
  bool srq = false;
  uint64_t local_ca_guid = 0;
  ByteSpan private_data = {};
};

struct CmRtu {
  uint32_t local_comm_id = 0;
  uint32_t remote_comm_id = 0;
  ByteSpan private_data = {};
};

struct CmDreq {
  uint32_t local_comm_id = 0;
  uint32_t remote_comm_id = 0;
  uint32_t remote_qpn = 0;  ///< The receiver's.
  ByteSpan private_data = {};
};

struct CmDrep {
  uint32_t local_comm_id = 0;
  uint32_t remote_comm_id = 0;
  ByteSpan private_data = {};
};

struct SidrReq {
  uint32_t request_id = 0;
  uint16_t pkey = 0xffff;
  uint64_t service_id = 0;
  ByteSpan private_data = {};
};

struct SidrRep {
  uint32_t request_id = 0;
  SidrStatus status = SidrStatus::kOk;
  uint32_t qpn = 0;  ///< 0 unless the status is kOk, and so is the Q_Key.
  uint64_t service_id = 0;
  uint32_t qkey = 0;
  ByteSpan info = {};  ///< Additional information, at most kInfoSize octets.
  ByteSpan private_data = {};
};

/// In the order of their attribute ids, from kFirstCmAttribute on.
using CmMessage = std::variant<CmReq, CmMra, CmRej, CmRep, CmRtu, CmDreq, CmDrep, SidrReq, SidrRep>;
inline constexpr uint16_t kFirstCmAttribute = 0x10;

}  // namespace softdat::rdmacm

#endif  // SOFTDAT_WIRE_RDMACM_CM_MESSAGES_H_
