// SPDX-License-Identifier: BSD-3-Clause
// Finds out what a device can do. It asks for some of this and tries the rest, because devices
// promise what they do not do.
#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dat/base/log.h"
#include "dat/base/settings.h"
#include "provider_verbs/device_open.h"
#include "provider_verbs/interfaces.h"
#include "provider_verbs/os_error.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::verbs {
namespace {

constexpr uint32_t kSiwVendor = 0x626d74;
constexpr uint32_t kRxeVendor = 0xffffff;
constexpr unsigned kKernelWithInvalidate = 1 << 2;
constexpr uint32_t kMostIov = 64;
// Larger inline sends would enlarge each place of a send queue.
constexpr std::array<uint32_t, 4> kInlineSizes = {256, 128, 64, 32};

uint32_t Positive(int value) { return static_cast<uint32_t>(std::max(value, 0)); }

// Returns the largest inline send that a queue pair of this device takes.
uint32_t TryInline(ibv_context* context, ibv_pd* pd) {
  ibv_cq* const cq = ibv_create_cq(context, 8, nullptr, nullptr, 0);
  if (cq == nullptr) return 0;
  uint32_t found = 0;
  for (const uint32_t size : kInlineSizes) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_RC;
    init.cap = {.max_send_wr = 4,
                .max_recv_wr = 4,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = size};
    ibv_qp* const qp = ibv_create_qp(pd, &init);
    if (qp == nullptr) continue;
    ibv_destroy_qp(qp);
    found = size;
    break;
  }
  ibv_destroy_cq(cq);
  return found;
}

// Returns whether the device makes queue pairs for datagrams.
bool TryDatagrams(ibv_context* context, ibv_pd* pd, uint32_t max_inline) {
  ibv_cq* const cq = ibv_create_cq(context, 8, nullptr, nullptr, 0);
  if (cq == nullptr) return false;
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.qp_type = IBV_QPT_UD;
  init.cap = {.max_send_wr = 4,
              .max_recv_wr = 4,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = max_inline};
  ibv_qp* const qp = ibv_create_qp(pd, &init);
  if (qp != nullptr) ibv_destroy_qp(qp);
  ibv_destroy_cq(cq);
  return qp != nullptr;
}

bool TryWindow(ibv_pd* pd, ibv_mw_type type) {
  ibv_mw* const mw = ibv_alloc_mw(pd, type);
  if (mw == nullptr) return false;
  ibv_dealloc_mw(mw);
  return true;
}

// Returns whether a region may be addressed from 0 that begins so far behind the start of a page.
bool TryZeroBased(ibv_pd* pd, size_t offset) {
  alignas(4096) static std::array<uint8_t, 4096> page;
  const int access = IBV_ACCESS_LOCAL_WRITE;  // the macro mixes its enumeration with another one
  ibv_mr* const mr = ibv_reg_mr_iova(pd, page.data() + offset, 32, 0, access);
  if (mr == nullptr) return false;
  ibv_dereg_mr(mr);
  return true;
}

void FillLimits(const ibv_device_attr& d, const ibv_port_attr& port, Device* device) {
  DeviceTraits& t = device->traits;
  t.max_qp_wr = Positive(d.max_qp_wr);
  t.max_sge = std::min(Positive(d.max_sge), kMostIov);
  t.max_read_sge = t.iwarp ? std::clamp(Positive(d.max_sge_rd), 1u, t.max_sge) : t.max_sge;
  t.max_cqe = Positive(d.max_cqe);
  t.atomics = d.atomic_cap != IBV_ATOMIC_NONE && !t.iwarp;
  t.signal_all = t.iwarp;
  t.silent_failures = !t.iwarp && d.vendor_id == kRxeVendor;
  if (t.silent_failures) t.invalidated_flags |= kKernelWithInvalidate;
  t.solicited_events = d.vendor_id != kSiwVendor;
  t.read_sink_remote_write = t.iwarp && d.vendor_id != kSiwVendor;
  t.short_reads = GetSettings().short_reads;

  transport::AdapterAttributes& a = device->attributes;
  a.device_name = t.rdma_device;
  a.vendor = fmt::format("{:#08x}:{:#06x} firmware {}", d.vendor_id, d.vendor_part_id, d.fw_ver);
  a.max_qps = Positive(d.max_qp);
  a.max_qp_work = t.max_qp_wr > 4 ? t.max_qp_wr - 4 : t.max_qp_wr;  // room for markers and rounding
  a.max_iov = t.max_sge;
  a.max_read_in = std::min(Positive(d.max_qp_rd_atom), 255u);
  a.max_read_out = std::min(Positive(d.max_qp_init_rd_atom), 255u);
  a.max_cqs = Positive(d.max_cq);
  a.max_cq_depth = t.max_cqe;
  a.max_pds = Positive(d.max_pd);
  a.max_regions = Positive(d.max_mr);
  a.max_windows = Positive(d.max_mw);
  a.max_srqs = Positive(d.max_srq);
  a.max_srq_depth = Positive(d.max_srq_wr);
  a.max_message = port.max_msg_sz;
  a.max_private_data = static_cast<uint32_t>(rdmacm::MaxPrivateData(t.iwarp));
  a.mtu = 128u << port.active_mtu;
  a.windows = t.windows_type1 || t.windows_type2;
  a.zone_windows = !t.windows_type2;
  a.immediate = !t.iwarp;
  a.confirms_writes = a.confirmed_completions =
      !t.iwarp;  // InfiniBand completes a write when the peer has acknowledged it
  a.atomics = t.atomics;
  a.datagrams = t.datagrams;
  a.max_datagram = t.datagrams ? a.mtu : 0;
  a.invalidate = t.windows_type2;
  a.srq = d.max_srq > 0;
  a.plain_read_iov = t.max_read_sge;
  a.read_sink_remote_write = t.read_sink_remote_write;
  a.shows_read_sink = t.iwarp;
}

}  // namespace

Status Describe(Device* device) {
  ibv_context* const context = device->context;
  DeviceTraits& t = device->traits;
  ibv_device_attr attr{};
  int error = ibv_query_device(context, &attr);
  if (error != 0) return OsStatus(error, "ibv_query_device");
  ibv_port_attr port{};
  error = ibv_query_port(context, t.port, &port);
  if (error != 0) return OsStatus(error, fmt::format("ibv_query_port {}", t.port));
  if (port.state != IBV_PORT_ACTIVE) {
    SOFTDAT_LOG(Warning, "{} port {} is {}", t.rdma_device, t.port, ibv_port_state_str(port.state));
  }
  t.iwarp = context->device->transport_type == IBV_TRANSPORT_IWARP;

  // This is the first object that pins memory, so a limit on locked memory shows here.
  ibv_pd* const pd = ibv_alloc_pd(context);
  if (pd == nullptr) return OsStatus(errno, "ibv_alloc_pd");
  t.windows_type2 = TryWindow(pd, IBV_MW_TYPE_2);
  t.windows_type1 = !t.windows_type2 && TryWindow(pd, IBV_MW_TYPE_1);
  t.max_inline = TryInline(context, pd);
  t.gids = Positive(port.gid_tbl_len);
  t.datagrams = !t.iwarp && port.link_layer == IBV_LINK_LAYER_ETHERNET &&
                TryDatagrams(context, pd, t.max_inline);
  const bool zero_based = TryZeroBased(pd, 3);
  // siw registers the region, but does not count from 0.
  const bool zero_based_pages = attr.vendor_id != kSiwVendor && TryZeroBased(pd, 0);
  ibv_dealloc_pd(pd);
  FillLimits(attr, port, device);
  device->attributes.zero_based = zero_based;
  device->attributes.zero_based_pages = zero_based_pages;
  const std::vector<sockaddr_storage> addresses = AddressesOf(t.netdev);
  if (!addresses.empty()) device->attributes.address = addresses.front();
  return Status::Ok();
}

}  // namespace softdat::verbs
