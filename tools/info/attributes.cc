// SPDX-License-Identifier: BSD-3-Clause
// Attributes of an adapter and its provider as names and values.
#include "tools/info/attributes.h"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "tools/common/address.h"

namespace softdat::tools {
namespace {

using Json = nlohmann::ordered_json;

template <size_t kSize>
std::string Text(const char (&text)[kSize]) {
  return {text, strnlen(text, kSize)};
}

// A provider of another make may leave any value in a member. It is not read as an enumeration
// before it is known to be one.
template <typename Enum>
uint32_t Raw(const Enum& member) {
  static_assert(sizeof member == sizeof(uint32_t));
  uint32_t value = 0;
  std::memcpy(&value, &member, sizeof value);
  return value;
}

bool IsTrue(const DAT_BOOLEAN& member) { return Raw(member) != 0; }

std::string Version(DAT_UINT32 major, DAT_UINT32 minor) {
  return fmt::format("{}.{}", major, minor);
}

// The names of the bits that are set, and a number for the other bits. `none` for 0.
struct Bit {
  uint32_t bit;
  const char* word;
};

template <size_t kCount>
Json Words(uint32_t value, const Bit (&bits)[kCount], const char* zero) {
  Json words = Json::array();
  if (zero != nullptr) words.push_back(zero);
  for (const auto& bit : bits) {
    if ((value & bit.bit) == 0) continue;
    words.push_back(bit.word);
    value &= ~bit.bit;
  }
  if (value != 0) words.push_back(fmt::format("{:#x}", value));
  return words;
}

// The name of the value, or the number if it has no name.
template <size_t kCount>
Json Word(uint32_t value, const char* const (&words)[kCount]) {
  if (value < kCount) return words[value];
  return value;
}

Json Named(DAT_COUNT count, const DAT_NAMED_ATTR* attributes) {
  Json named = Json::object();
  for (DAT_COUNT i = 0; attributes != nullptr && i < count; ++i) {
    if (attributes[i].name == nullptr) continue;
    named[attributes[i].name] = attributes[i].value != nullptr ? attributes[i].value : "";
  }
  return named;
}

constexpr const char* kExtensions[] = {"none", "IB", "IW"};
constexpr const char* kIovOwnership[] = {"consumer", "provider, not modified",
                                         "provider, may be modified"};
constexpr const char* kEpCreator[] = {"never", "if asked", "always"};
constexpr const char* kPzSupport[] = {"unique", "shareable"};
constexpr const char* kRmrScope[] = {"EP", "PZ", "any"};
constexpr const char* kStreams[] = {"software",   "connection request", "DTO",
                                    "connection", "RMR bind",           "async"};
// Bit i stands for memory type i; type 0 has no bit and is always there (semantics 12).
constexpr Bit kMemTypes[] = {{DAT_MEM_TYPE_LMR, "LMR"},
                             {DAT_MEM_TYPE_SHARED_VIRTUAL, "shared virtual"}};
constexpr Bit kQos[] = {{DAT_QOS_HIGH_THROUGHPUT, "high throughput"},
                        {DAT_QOS_LOW_LATENCY, "low latency"},
                        {DAT_QOS_ECONOMY, "economy"},
                        {DAT_QOS_PREMIUM, "premium"}};
constexpr Bit kFlags[] = {{DAT_COMPLETION_SUPPRESS_FLAG, "suppress"},
                          {DAT_COMPLETION_SOLICITED_WAIT_FLAG, "solicited wait"},
                          {DAT_COMPLETION_UNSIGNALLED_FLAG, "unsignalled"},
                          {DAT_COMPLETION_BARRIER_FENCE_FLAG, "barrier fence"},
                          {DAT_COMPLETION_EVD_THRESHOLD_FLAG, "EVD threshold"},
                          {DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG, "LMR invalidate fence"}};
constexpr Bit kHaLoad[] = {{1, "between connections"}, {2, "within a connection"}};

// "all", or the pairs of event streams that may feed one EVD.
Json Merging(const DAT_PROVIDER_ATTR& attr) {
  Json pairs = Json::array();
  bool all = true;
  for (size_t i = 0; i < std::size(kStreams); ++i) {
    for (size_t j = i; j < std::size(kStreams); ++j) {
      if (IsTrue(attr.evd_stream_merging_supported[i][j])) {
        pairs.push_back(fmt::format("{} + {}", kStreams[i], kStreams[j]));
      } else {
        all = false;
      }
    }
  }
  return all ? Json("all") : pairs;
}

}  // namespace

Json IaAttributes(const DAT_IA_ATTR& attr) {
  Json json;
  json["adapter_name"] = Text(attr.adapter_name);
  json["vendor_name"] = Text(attr.vendor_name);
  json["hardware_version"] = Version(attr.hardware_version_major, attr.hardware_version_minor);
  json["firmware_version"] = Version(attr.firmware_version_major, attr.firmware_version_minor);
  json["ia_address"] = FormatAddress(attr.ia_address_ptr);
#define COUNT(member) json[#member] = attr.member
  COUNT(max_eps);
  COUNT(max_dto_per_ep);
  COUNT(max_rdma_read_per_ep_in);
  COUNT(max_rdma_read_per_ep_out);
  COUNT(max_evds);
  COUNT(max_evd_qlen);
  COUNT(max_iov_segments_per_dto);
  COUNT(max_lmrs);
  COUNT(max_lmr_block_size);
  COUNT(max_lmr_virtual_address);
  COUNT(max_pzs);
  COUNT(max_message_size);
  COUNT(max_rdma_size);
  COUNT(max_rmrs);
  COUNT(max_rmr_target_address);
  COUNT(max_srqs);
  COUNT(max_ep_per_srq);
  COUNT(max_recv_per_srq);
  COUNT(max_iov_segments_per_rdma_read);
  COUNT(max_iov_segments_per_rdma_write);
  COUNT(max_rdma_read_in);
  COUNT(max_rdma_read_out);
#undef COUNT
  json["max_rdma_read_per_ep_in_guaranteed"] = IsTrue(attr.max_rdma_read_per_ep_in_guaranteed);
  json["max_rdma_read_per_ep_out_guaranteed"] = IsTrue(attr.max_rdma_read_per_ep_out_guaranteed);
  json["zb_supported"] = IsTrue(attr.zb_supported);
  json["extension_supported"] = Word(Raw(attr.extension_supported), kExtensions);
  json["extension_version"] = attr.extension_version;
  json["transport_attr"] = Named(attr.num_transport_attr, attr.transport_attr);
  json["vendor_attr"] = Named(attr.num_vendor_attr, attr.vendor_attr);
  return json;
}

Json ProviderAttributes(const DAT_PROVIDER_ATTR& attr) {
  Json json;
  json["provider_name"] = Text(attr.provider_name);
  json["provider_version"] = Version(attr.provider_version_major, attr.provider_version_minor);
  json["dapl_version"] = Version(attr.dapl_version_major, attr.dapl_version_minor);
  json["lmr_mem_types_supported"] = Words(Raw(attr.lmr_mem_types_supported), kMemTypes, "virtual");
  json["iov_ownership_on_return"] = Word(Raw(attr.iov_ownership_on_return), kIovOwnership);
  json["dat_qos_supported"] = Words(Raw(attr.dat_qos_supported), kQos, "best effort");
  json["completion_flags_supported"] =
      Words(Raw(attr.completion_flags_supported), kFlags, "default");
  json["is_thread_safe"] = IsTrue(attr.is_thread_safe);
  json["max_private_data_size"] = attr.max_private_data_size;
  json["supports_multipath"] = IsTrue(attr.supports_multipath);
  json["ep_creator"] = Word(Raw(attr.ep_creator), kEpCreator);
  json["pz_support"] = Word(Raw(attr.pz_support), kPzSupport);
  json["optimal_buffer_alignment"] = attr.optimal_buffer_alignment;
  json["evd_stream_merging_supported"] = Merging(attr);
  json["srq_supported"] = IsTrue(attr.srq_supported);
  json["srq_watermarks_supported"] = attr.srq_watermarks_supported;
  json["srq_ep_pz_difference_supported"] = IsTrue(attr.srq_ep_pz_difference_supported);
  json["srq_info_supported"] = attr.srq_info_supported;
  json["ep_recv_info_supported"] = attr.ep_recv_info_supported;
  json["lmr_sync_req"] = IsTrue(attr.lmr_sync_req);
  json["dto_async_return_guaranteed"] = IsTrue(attr.dto_async_return_guaranteed);
  json["rdma_write_for_rdma_read_req"] = IsTrue(attr.rdma_write_for_rdma_read_req);
  json["rdma_read_lmr_rmr_context_exposure"] = IsTrue(attr.rdma_read_lmr_rmr_context_exposure);
  json["rmr_scope_supported"] = Word(Raw(attr.rmr_scope_supported), kRmrScope);
  json["is_signal_safe"] = IsTrue(attr.is_signal_safe);
  json["ha_supported"] = IsTrue(attr.ha_supported);
  json["ha_loadbalancing"] = Words(attr.ha_loadbalancing, kHaLoad, "none");
  json["provider_specific_attr"] =
      Named(attr.num_provider_specific_attr, attr.provider_specific_attr);
  return json;
}

}  // namespace softdat::tools
