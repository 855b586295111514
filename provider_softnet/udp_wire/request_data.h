// SPDX-License-Identifier: BSD-3-Clause
// The private data of a REQ: who asks whom in IP terms, and the consumer's data with the whole
// qualifier where a port cannot name it.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_REQUEST_DATA_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_REQUEST_DATA_H_

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>

#include "wire/bytes.h"
#include "wire/rdmacm/cm_messages.h"
#include "wire/rdmacm/datagram_identity.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::softnet {

class RequestData {
 public:
  // `data` must fit (rdmacm::MaxPrivateData). Both addresses are of one family.
  RequestData(const sockaddr_storage& from, uint16_t source_port, const sockaddr_storage& to,
              uint64_t conn_qual, ByteSpan data);

  ByteSpan bytes() const { return bytes_; }

 private:
  std::array<uint8_t, rdmacm::kReqPrivateSize> bytes_{};
};

// The same of a SIDR_REQ, with the queue pair that asks behind it.
class DatagramRequestData {
 public:
  DatagramRequestData(const sockaddr_storage& from, uint16_t source_port,
                      const sockaddr_storage& to, uint64_t conn_qual, ByteSpan data,
                      const rdmacm::DatagramIdentity& asker);

  ByteSpan bytes() const { return bytes_; }

 private:
  std::array<uint8_t, rdmacm::kSidrReqPrivateSize> bytes_{};
};

// The meaning of what arrived. Nothing when it does not have the form of rdma_cm.
struct RequestMeaning {
  uint16_t source_port = 0;
  rdmacm::FieldView field;  // its data point into `bytes`
};
// `field`: kRequest or kSidrRequest.
std::optional<RequestMeaning> ReadRequestData(ByteSpan bytes,
                                              rdmacm::CmField field = rdmacm::CmField::kRequest);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_REQUEST_DATA_H_
