// SPDX-License-Identifier: BSD-3-Clause
// RouteOf.
#include "provider_softnet/udp/mad_route.h"

#include "provider_softnet/udp/member_names.h"

namespace softdat::softnet {
namespace {

MadRoute ToService(uint64_t service_id) {
  return {.by = MadRoute::By::kService, .service_id = service_id};
}

// Block 0 is nobody's, so an id that was made has another one.
MadRoute ToMakerOf(uint32_t id) {
  const uint32_t block = BlockOfCommId(id);
  if (block == 0) return {};
  return {.by = MadRoute::By::kBlock, .block = block};
}

struct Router {
  MadRoute operator()(const rdmacm::CmReq& req) const { return ToService(req.service_id); }
  MadRoute operator()(const rdmacm::SidrReq& req) const { return ToService(req.service_id); }
  MadRoute operator()(const rdmacm::SidrRep& rep) const { return ToMakerOf(rep.request_id); }
  // All others name the id that their receiver made. A REJ has none when its sender gave up before
  // it heard of one, and the receiver runs into its own time limit then.
  template <typename Message>
  MadRoute operator()(const Message& message) const {
    return ToMakerOf(message.remote_comm_id);
  }
};

}  // namespace

MadRoute RouteOf(const rdmacm::CmMessage& message) { return std::visit(Router{}, message); }

}  // namespace softdat::softnet
