// SPDX-License-Identifier: BSD-3-Clause
// Which member of an address a CM message is for. Every member gets messages for queue pair 1, and
// what follows from a message decides who has to answer it.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_MAD_ROUTE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_MAD_ROUTE_H_

#include <cstdint>

#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

struct MadRoute {
  enum class By : uint8_t {
    kService,  // a request: the member that listens on `service_id`
    kBlock,    // the member that made the communication id, or the request id, that it answers
    kNobody,   // it answers no id
  };
  By by = By::kNobody;
  uint64_t service_id = 0;
  uint32_t block = 0;
};
MadRoute RouteOf(const rdmacm::CmMessage& message);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_MAD_ROUTE_H_
