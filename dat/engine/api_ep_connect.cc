// SPDX-License-Identifier: BSD-3-Clause
// Slots of the endpoint: connecting and disconnecting.
#include "dat/base/socket_address.h"
#include "dat/engine/argument.h"
#include "dat/engine/enum_value.h"
#include "dat/engine/ep.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"
#include "dat/engine/socket_address.h"

namespace softdat::engine::slots {
namespace {

DAT_RETURN CheckModel(const DAT_QOS& qos, const DAT_CONNECT_FLAGS& flags) {
  if (RawValue(qos) != DAT_QOS_BEST_EFFORT) {
    return Error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE,
                 "the only quality of service is best effort");
  }
  if (RawValue(flags) != DAT_CONNECT_DEFAULT_FLAG) {
    return Error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE, "there are no multipath connections");
  }
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN DAT_API EpConnect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address,
                             DAT_CONN_QUAL remote_conn_qual, DAT_TIMEOUT timeout_us,
                             DAT_COUNT private_data_size, const DAT_PVOID private_data, DAT_QOS qos,
                             DAT_CONNECT_FLAGS flags) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  if (remote_ia_address == nullptr) return BadArgument(2);
  if (timeout_us == 0) return BadArgument(4, "a connect timeout of 0 cannot be met");
  std::span<const uint8_t> data;
  DAT_RETURN ret = CheckPrivateData(ep->ia(), private_data_size, private_data, 5, &data);
  if (ret == DAT_SUCCESS) ret = CheckModel(qos, flags);
  sockaddr_storage remote;
  if (ret == DAT_SUCCESS) ret = CopySocketAddress(remote_ia_address, &remote);
  if (ret != DAT_SUCCESS) return ret;
  return ep->service().Connect({remote, remote_conn_qual}, timeout_us, data);
}

DAT_RETURN DAT_API EpDupConnect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE dup_ep_handle,
                                DAT_TIMEOUT timeout_us, DAT_COUNT private_data_size,
                                const DAT_PVOID private_data, DAT_QOS qos) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  const Pinned<Ep> dup(dup_ep_handle);
  if (!dup) return BadHandle(DAT_INVALID_HANDLE2);
  if (timeout_us == 0) return BadArgument(3, "a connect timeout of 0 cannot be met");
  std::span<const uint8_t> data;
  DAT_RETURN ret = CheckPrivateData(ep->ia(), private_data_size, private_data, 4, &data);
  if (ret == DAT_SUCCESS) ret = CheckModel(qos, DAT_CONNECT_DEFAULT_FLAG);
  if (ret != DAT_SUCCESS) return ret;
  EpService::Target target;
  ret = dup->service().FindTarget(&target);
  if (ret != DAT_SUCCESS) return ret;
  return ep->service().Connect(target, timeout_us, data);
}

DAT_RETURN DAT_API EpCommonConnect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address,
                                   DAT_TIMEOUT timeout_us, DAT_COUNT private_data_size,
                                   const DAT_PVOID private_data) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  if (remote_ia_address == nullptr) return BadArgument(2);
  if (timeout_us == 0) return BadArgument(3, "a connect timeout of 0 cannot be met");
  std::span<const uint8_t> data;
  DAT_RETURN ret = CheckPrivateData(ep->ia(), private_data_size, private_data, 4, &data);
  sockaddr_storage remote;
  if (ret == DAT_SUCCESS) ret = CopySocketAddress(remote_ia_address, &remote);
  if (ret != DAT_SUCCESS) return ret;
  // The port of the address is the qualifier: CSPs share the socket name space (semantics 16.1).
  return ep->service().Connect({remote, SocketPort(remote)}, timeout_us, data);
}

DAT_RETURN DAT_API EpDisconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS flags) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG) return BadArgument(2);
  return ep->service().Disconnect(flags);
}

DAT_RETURN DAT_API EpReset(DAT_EP_HANDLE ep_handle) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  return ep->service().Reset();
}

}  // namespace softdat::engine::slots
