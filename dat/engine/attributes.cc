// SPDX-License-Identifier: BSD-3-Clause
// Attributes of IA and provider.
#include "dat/engine/attributes.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "dat/engine/ep.h"
#include "dat2/dat_ib_extensions.h"
#include "dat2/softdat.h"

namespace softdat::engine {
namespace {

constexpr uint32_t kProviderVersionMajor = 0;
constexpr uint32_t kProviderVersionMinor = 1;
// Divides 256 (DAT_OPTIMAL_ALIGNMENT); a cache line.
constexpr uint32_t kOptimalAlignment = 64;

DAT_COUNT Count(uint64_t n) {
  return static_cast<DAT_COUNT>(std::min<uint64_t>(n, std::numeric_limits<DAT_COUNT>::max()));
}

DAT_SEG_LENGTH Length(uint64_t n) {
  return static_cast<DAT_SEG_LENGTH>(
      std::min<uint64_t>(n, std::numeric_limits<DAT_SEG_LENGTH>::max()));
}

const char* TrueOrFalse(bool b) { return b ? "TRUE" : "FALSE"; }

}  // namespace

void CopyName(const std::string& name, char (&out)[DAT_NAME_MAX_LENGTH]) {
  const size_t n = std::min(name.size(), sizeof(out) - 1);
  std::memcpy(out, name.data(), n);
  std::memset(out + n, 0, sizeof(out) - n);
}

void SpecificAttributes::Add(const char* name, const std::string& value) {
  strings_.push_back(value);
  attributes_.push_back(DAT_NAMED_ATTR{name, strings_.back().c_str()});
}

void SpecificAttributes::Fill(const std::string& ia_name, const transport::AdapterAttributes& a) {
  const bool extensions = a.immediate && a.atomics;
  Add("DAT_EXTENSION_INTERFACE", TrueOrFalse(extensions));
  Add(DAT_IB_ATTR_FETCH_AND_ADD, TrueOrFalse(a.atomics));
  Add(DAT_IB_ATTR_CMP_AND_SWAP, TrueOrFalse(a.atomics));
  Add(DAT_IB_ATTR_IMMED_DATA, TrueOrFalse(a.immediate));
  Add(SOFTDAT_ATTR_EXTENSION_COMPLETIONS, TrueOrFalse(true));
  Add(SOFTDAT_ATTR_IMMED_AS_MESSAGE, TrueOrFalse(!a.immediate && a.immediate_as_message));
  Add(SOFTDAT_ATTR_CONFIRMED_WRITES, TrueOrFalse(a.confirms_writes));
  Add(SOFTDAT_ATTR_COMPLETION, a.confirmed_completions ? "confirmed" : "taken");
  Add(DAT_IB_ATTR_UD, TrueOrFalse(a.datagrams));
  Add(DAT_IB_ATTR_COUNTERS, TrueOrFalse(true));
  Add("DAT_IB_RDMA_READ", TrueOrFalse(a.max_read_in > 0));
  Add("DAT_IB_TRANSPORT_MTU", std::to_string(a.mtu));
  Add("DAT_IB_PROVIDER_NAME", ia_name);
  Add("DAT_IB_DEVICE_NAME", a.device_name);
}

void FillIaAttributes(const transport::AdapterAttributes& a, DAT_IA_ATTR* attr) {
  std::memset(attr, 0, sizeof(*attr));
  CopyName(a.device_name, attr->adapter_name);
  CopyName(a.vendor, attr->vendor_name);
  attr->firmware_version_major = kProviderVersionMajor;
  attr->firmware_version_minor = kProviderVersionMinor;
  attr->max_eps = Count(a.max_qps);
  attr->max_dto_per_ep = Count(a.max_qp_work);
  attr->max_rdma_read_per_ep_in = Count(a.max_read_in);
  attr->max_rdma_read_per_ep_out = Count(a.max_read_out);
  attr->max_evds = Count(a.max_cqs);
  attr->max_evd_qlen = Count(a.max_cq_depth);
  attr->max_iov_segments_per_dto = Count(a.max_iov);
  attr->max_lmrs = Count(a.max_regions);
  attr->max_lmr_block_size = std::numeric_limits<DAT_SEG_LENGTH>::max();
  attr->max_lmr_virtual_address = std::numeric_limits<uintptr_t>::max();
  attr->max_pzs = Count(a.max_pds);
  attr->max_message_size = Length(a.max_message);
  attr->max_rdma_size = Length(a.max_message);
  attr->max_rmrs = Count(a.windows ? a.max_windows : 0);
  attr->max_rmr_target_address = std::numeric_limits<uintptr_t>::max();
  attr->max_srqs = Count(a.srq ? a.max_srqs : 0);
  attr->max_ep_per_srq = Count(a.srq ? a.max_qps : 0);
  attr->max_recv_per_srq = Count(a.srq ? a.max_srq_depth : 0);
  attr->max_iov_segments_per_rdma_read = Count(a.max_iov);
  attr->max_iov_segments_per_rdma_write = Count(a.max_iov);
  attr->max_rdma_read_in = Count(uint64_t{a.max_read_in} * a.max_qps);
  attr->max_rdma_read_out = Count(uint64_t{a.max_read_out} * a.max_qps);
  attr->max_rdma_read_per_ep_in_guaranteed = DAT_TRUE;
  attr->max_rdma_read_per_ep_out_guaranteed = DAT_TRUE;
  attr->zb_supported = a.zero_based ? DAT_TRUE : DAT_FALSE;
  // The InfiniBand extension set is announced as a whole; the named attributes tell the operations
  // apart.
  const bool extensions = a.immediate && a.atomics;
  attr->extension_supported = extensions ? DAT_EXTENSION_IB : DAT_EXTENSION_NONE;
  attr->extension_version = extensions ? DAT_IB_EXTENSION_VERSION : 0;
}

void FillProviderAttributes(const transport::AdapterAttributes& a, DAT_PROVIDER_ATTR* attr) {
  std::memset(static_cast<void*>(attr), 0, sizeof(*attr));
  attr->provider_version_major = kProviderVersionMajor;
  attr->provider_version_minor = kProviderVersionMinor;
  // Bit i says that memory type i is supported; VIRTUAL, being 0, is so always (semantics 12).
  attr->lmr_mem_types_supported =
      static_cast<DAT_MEM_TYPE>(DAT_MEM_TYPE_LMR | DAT_MEM_TYPE_SHARED_VIRTUAL);
  attr->iov_ownership_on_return = DAT_IOV_CONSUMER;
  attr->dat_qos_supported = DAT_QOS_BEST_EFFORT;
  attr->completion_flags_supported = static_cast<DAT_COMPLETION_FLAGS>(
      DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
      DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG |
      DAT_COMPLETION_EVD_THRESHOLD_FLAG);
  attr->max_private_data_size = std::min<DAT_COUNT>(kMaxPrivateData, Count(a.max_private_data));
  attr->supports_multipath = DAT_FALSE;
  attr->ep_creator = DAT_PSP_CREATES_EP_IFASKED;
  attr->pz_support = DAT_PZ_UNIQUE;
  attr->optimal_buffer_alignment = kOptimalAlignment;
  // The member is const for consumers; every pair of streams may be merged here (semantics 5.1).
  auto* merging = const_cast<DAT_BOOLEAN*>(&attr->evd_stream_merging_supported[0][0]);
  std::fill(merging, merging + 36, DAT_TRUE);
  attr->srq_supported = a.srq ? DAT_TRUE : DAT_FALSE;
  // Bits: the low watermark of SRQs, the soft and the hard high watermark of EPs.
  attr->srq_watermarks_supported = !a.srq ? 0 : a.receive_watermarks ? 7 : 1;
  attr->srq_ep_pz_difference_supported = DAT_FALSE;
  attr->srq_info_supported = a.srq ? 3 : 0;
  attr->ep_recv_info_supported = 3;
  attr->lmr_sync_req = DAT_FALSE;
  attr->dto_async_return_guaranteed = DAT_TRUE;
  attr->rdma_write_for_rdma_read_req = a.read_sink_remote_write ? DAT_TRUE : DAT_FALSE;
  attr->rdma_read_lmr_rmr_context_exposure = a.shows_read_sink ? DAT_TRUE : DAT_FALSE;
  attr->rmr_scope_supported = a.zone_windows ? DAT_RMR_SCOPE_ANY : DAT_RMR_SCOPE_EP;
  attr->is_signal_safe = DAT_FALSE;
  attr->ha_supported = DAT_FALSE;
  attr->ha_loadbalancing = DAT_HA_LB_NONE;
}

}  // namespace softdat::engine
