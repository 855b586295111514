// SPDX-License-Identifier: BSD-3-Clause
// Defaults and limits of endpoint attributes.
#include "dat/engine/ep_attributes.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "dat/engine/enum_value.h"
#include "dat/engine/object/dat_error.h"
#include "dat2/dat_ib_extensions.h"
#include "dat2/softdat.h"

namespace softdat::engine {
namespace {

constexpr uint32_t kDefaultDtos = 16;
constexpr uint32_t kDefaultIov = 4;
constexpr uint32_t kDefaultReads = 4;
constexpr uint64_t kDefaultSize = 0x80000000;  // bytes

constexpr int kRecvFlags = DAT_COMPLETION_SOLICITED_WAIT_FLAG | DAT_COMPLETION_UNSIGNALLED_FLAG |
                           DAT_COMPLETION_EVD_THRESHOLD_FLAG;
constexpr int kRequestFlags =
    kRecvFlags | DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG;
constexpr int kThresholdConflict =
    DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_EVD_THRESHOLD_FLAG;

DAT_COUNT Clip(uint32_t wish, uint32_t limit) {
  return static_cast<DAT_COUNT>(std::min(wish, limit));
}

// The default of an EP that does not say how many segments its reads have: as many as cost nothing.
DAT_COUNT DefaultReadIov(const transport::AdapterAttributes& limits, DAT_COUNT request_iov) {
  if (limits.plain_read_iov == 0) return request_iov;
  return std::min(request_iov, static_cast<DAT_COUNT>(limits.plain_read_iov));
}

// One bounded number of the attributes.
struct Bounded {
  const char* name;
  DAT_COUNT value;
  uint32_t limit;
};

DAT_RETURN CheckCounts(const transport::AdapterAttributes& limits, bool uses_srq, int argument,
                       const DAT_EP_ATTR& attr) {
  const Bounded all[] = {
      {"max_recv_dtos", attr.max_recv_dtos, limits.max_qp_work},
      {"max_request_dtos", attr.max_request_dtos, limits.max_qp_work},
      {"max_recv_iov", uses_srq ? 0 : attr.max_recv_iov, limits.max_iov},
      {"max_request_iov", attr.max_request_iov, limits.max_iov},
      {"max_rdma_read_in", attr.max_rdma_read_in, limits.max_read_in},
      {"max_rdma_read_out", attr.max_rdma_read_out, limits.max_read_out},
      {"max_rdma_read_iov", attr.max_rdma_read_iov, limits.max_iov},
      {"max_rdma_write_iov", attr.max_rdma_write_iov, limits.max_iov},
  };
  for (const Bounded& b : all) {
    if (b.value < 0 || static_cast<uint32_t>(b.value) > b.limit) {
      return BadArgument(argument, std::string(b.name) + " is " + std::to_string(b.value) +
                                       ", this IA has at most " + std::to_string(b.limit));
    }
  }
  if (attr.max_message_size > limits.max_message || attr.max_rdma_size > limits.max_message) {
    return BadArgument(argument, "max_message_size or max_rdma_size is above this IA's limit of " +
                                     std::to_string(limits.max_message) + " bytes");
  }
  if (uses_srq && attr.srq_soft_hw < 0 && attr.srq_soft_hw != DAT_HW_DEFAULT) {
    return BadArgument(argument, "srq_soft_hw is negative");
  }
  return DAT_SUCCESS;
}

DAT_RETURN CheckFlags(int argument, const DAT_EP_ATTR& attr) {
  const int recv = RawValue(attr.recv_completion_flags);
  const int request = RawValue(attr.request_completion_flags);
  if ((recv & ~kRecvFlags) != 0) {
    return BadArgument(argument,
                       "recv_completion_flags may be SOLICITED_WAIT, UNSIGNALLED or EVD_THRESHOLD");
  }
  if ((request & ~kRequestFlags) != 0) {
    return BadArgument(argument, "request_completion_flags has a flag that endpoints do not take");
  }
  if ((recv & kThresholdConflict) == kThresholdConflict ||
      (request & kThresholdConflict) == kThresholdConflict) {
    return BadArgument(argument, "EVD_THRESHOLD and UNSIGNALLED exclude each other");
  }
  return DAT_SUCCESS;
}

// Whether the attributes have only named ones that a query reports for a connection. A program may
// query them and give them to another EP, where they ask for nothing.
bool AreOnlyTold(const DAT_EP_ATTR& attr) {
  if (attr.ep_provider_specific_count == 0) return true;
  if (attr.ep_provider_specific_count < 0 || attr.ep_provider_specific == nullptr) return false;
  return std::all_of(
      attr.ep_provider_specific, attr.ep_provider_specific + attr.ep_provider_specific_count,
      [](const DAT_NAMED_ATTR& named) {
        return named.name != nullptr && std::strcmp(named.name, SOFTDAT_ATTR_COMPLETION) == 0;
      });
}

}  // namespace

DAT_EP_ATTR DefaultEpAttributes(const transport::AdapterAttributes& limits) {
  DAT_EP_ATTR attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.max_message_size = static_cast<DAT_SEG_LENGTH>(std::min(limits.max_message, kDefaultSize));
  attr.max_rdma_size = attr.max_message_size;
  attr.qos = DAT_QOS_BEST_EFFORT;
  attr.recv_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
  attr.request_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
  attr.max_recv_dtos = Clip(kDefaultDtos, limits.max_qp_work);
  attr.max_request_dtos = attr.max_recv_dtos;
  attr.max_recv_iov = Clip(kDefaultIov, limits.max_iov);
  attr.max_request_iov = attr.max_recv_iov;
  attr.max_rdma_read_in = Clip(kDefaultReads, limits.max_read_in);
  attr.max_rdma_read_out = Clip(kDefaultReads, limits.max_read_out);
  attr.srq_soft_hw = DAT_HW_DEFAULT;
  attr.max_rdma_read_iov = DefaultReadIov(limits, attr.max_request_iov);
  attr.max_rdma_write_iov = attr.max_request_iov;
  return attr;
}

DAT_RETURN GrantEpAttributes(const transport::AdapterAttributes& limits, bool uses_srq,
                             int argument, DAT_EP_ATTR* attr) {
  const int service = RawValue(attr->service_type);
  if (service == DAT_IB_SERVICE_TYPE_UD && !limits.datagrams) {
    return Error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE,
                 "there are no unreliable datagrams on this IA");
  }
  if (service != DAT_SERVICE_TYPE_RC && service != DAT_IB_SERVICE_TYPE_UD)
    return BadArgument(argument, "service_type is neither RC nor UD");
  if (RawValue(attr->qos) != DAT_QOS_BEST_EFFORT) {
    return Error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE,
                 "the only quality of service is best effort");
  }
  DAT_RETURN ret = CheckCounts(limits, uses_srq, argument, *attr);
  if (ret == DAT_SUCCESS) ret = CheckFlags(argument, *attr);
  if (ret != DAT_SUCCESS) return ret;
  if (attr->ep_transport_specific_count != 0 || !AreOnlyTold(*attr)) {
    return BadArgument(argument, "this provider has no such named endpoint attributes");
  }
  attr->ep_provider_specific_count = 0;
  attr->ep_transport_specific = nullptr;
  attr->ep_provider_specific = nullptr;
  if (attr->max_rdma_read_iov == 0)
    attr->max_rdma_read_iov = DefaultReadIov(limits, attr->max_request_iov);
  if (attr->max_rdma_write_iov == 0) attr->max_rdma_write_iov = attr->max_request_iov;
  // A zeroed structure asks for no watermark, not for one that any buffer exceeds. Programs without
  // an SRQ leave there what was on the stack.
  if (attr->srq_soft_hw == 0 || !uses_srq) attr->srq_soft_hw = DAT_HW_DEFAULT;
  if (uses_srq && attr->srq_soft_hw != DAT_HW_DEFAULT && !limits.receive_watermarks) {
    return Error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE,
                 "this IA does not count the receives that an EP holds of its SRQ (srq_soft_hw)");
  }
  return DAT_SUCCESS;
}

void CopyEpAttributes(DAT_EP_PARAM_MASK mask, const DAT_EP_ATTR& from, DAT_EP_ATTR* to) {
  if ((mask & DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE) != 0)
    CopyRaw(from.service_type, &to->service_type);
  if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE) != 0)
    to->max_message_size = from.max_message_size;
  if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE) != 0) to->max_rdma_size = from.max_rdma_size;
  if ((mask & DAT_EP_FIELD_EP_ATTR_QOS) != 0) CopyRaw(from.qos, &to->qos);
  if ((mask & DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS) != 0) {
    CopyRaw(from.recv_completion_flags, &to->recv_completion_flags);
  }
  if ((mask & DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS) != 0) {
    CopyRaw(from.request_completion_flags, &to->request_completion_flags);
  }
  if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS) != 0) to->max_recv_dtos = from.max_recv_dtos;
  if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS) != 0)
    to->max_request_dtos = from.max_request_dtos;
  if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV) != 0) to->max_recv_iov = from.max_recv_iov;
  if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV) != 0)
    to->max_request_iov = from.max_request_iov;
  if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN) != 0)
    to->max_rdma_read_in = from.max_rdma_read_in;
  if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT) != 0)
    to->max_rdma_read_out = from.max_rdma_read_out;
  if ((mask & DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW) != 0) to->srq_soft_hw = from.srq_soft_hw;
  if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV) != 0)
    to->max_rdma_read_iov = from.max_rdma_read_iov;
  if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV) != 0)
    to->max_rdma_write_iov = from.max_rdma_write_iov;
  if ((mask & DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR) != 0) {
    to->ep_transport_specific_count = from.ep_transport_specific_count;
  }
  if ((mask & DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR) != 0) {
    to->ep_provider_specific_count = from.ep_provider_specific_count;
  }
}

uint32_t GrantedReads(DAT_COUNT asked, uint32_t limit) {
  return std::min(asked == 0 ? kDefaultReads : static_cast<uint32_t>(asked), limit);
}

}  // namespace softdat::engine
