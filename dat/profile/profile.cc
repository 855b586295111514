// SPDX-License-Identifier: BSD-3-Clause
// The profiles.
#include "dat/profile/profile.h"

#include <algorithm>

namespace softdat {
namespace {

// Linux 6.1, rdma_rxe, over Ethernet: what verbs-* announces there (tests/vm compares).
constexpr Profile kRxe = {
    .device = "soft-RoCE (rdma_rxe)",
    .max_qp_work = 1048572,
    .max_iov = 32,
    .max_read_in = 128,
    .max_read_out = 128,
    .max_cq_depth = 32767,
    .max_srq_depth = 1048576,
    .max_private_data = 52,
    .max_message = 8u << 20,
    .windows = true,
    .zone_windows = false,
    .zero_based = false,
    .zero_based_pages = true,
    .immediate = true,
    .atomics = true,
    .confirms_writes = true,
    .invalidate = true,
    .reads_fail_flushed = false,
};

// Linux 6.1, siw.
constexpr Profile kSiw = {
    .device = "soft-iWARP (siw)",
    .max_qp_work = 32764,
    .max_iov = 6,
    .max_read_in = 128,
    .max_read_out = 128,
    .max_cq_depth = 3276800,
    .max_srq_depth = 327680,
    .max_private_data = 239,
    .max_message = UINT32_MAX,
    .windows = false,
    .zone_windows = false,
    .zero_based = false,
    .zero_based_pages = false,
    .immediate = false,
    .atomics = false,
    .confirms_writes = false,
    .invalidate = false,
    .reads_fail_flushed = true,
};

// An InfiniBand or RoCE adapter of the ConnectX family: what its ibv_devinfo -v says, less what
// rdma_cm and this library's verbs provider keep for themselves.
constexpr Profile kIb = {
    .device = "InfiniBand (ConnectX)",
    .max_qp_work = 32764,
    .max_iov = 30,
    .max_read_in = 16,
    .max_read_out = 16,
    .max_cq_depth = 4194303,
    .max_srq_depth = 32767,
    .max_private_data = 52,
    .max_message = 1u << 30,
    .windows = true,
    .zone_windows = false,
    .zero_based = false,
    .zero_based_pages = true,
    .immediate = true,
    .atomics = true,
    .confirms_writes = true,
    .invalidate = true,
    .reads_fail_flushed = false,
};

template <typename T>
void Lower(T* own, T limit) {
  *own = std::min(*own, limit);
}

}  // namespace

const Profile* FindProfile(DeviceProfile which) {
  switch (which) {
    case DeviceProfile::kRxe:
      return &kRxe;
    case DeviceProfile::kSiw:
      return &kSiw;
    case DeviceProfile::kIb:
      return &kIb;
    case DeviceProfile::kNone:
      break;
  }
  return nullptr;
}

transport::AdapterAttributes Limited(const Profile& p, transport::AdapterAttributes own) {
  Lower(&own.max_qp_work, p.max_qp_work);
  Lower(&own.max_iov, p.max_iov);
  Lower(&own.max_read_in, p.max_read_in);
  Lower(&own.max_read_out, p.max_read_out);
  Lower(&own.max_cq_depth, p.max_cq_depth);
  Lower(&own.max_srq_depth, p.max_srq_depth);
  Lower(&own.max_private_data, p.max_private_data);
  Lower(&own.max_message, p.max_message);
  own.windows = own.windows && p.windows;
  if (!own.windows) own.max_windows = 0;
  own.zone_windows = own.zone_windows && p.zone_windows;
  own.zero_based_pages = (own.zero_based || own.zero_based_pages) && p.zero_based_pages;
  own.zero_based = own.zero_based && p.zero_based;
  own.immediate = own.immediate && p.immediate;
  own.immediate_as_message = own.immediate_as_message && p.immediate;
  own.atomics = own.atomics && p.atomics;
  own.confirms_writes = own.confirms_writes && p.confirms_writes;
  own.confirmed_completions = own.confirmed_completions && p.confirms_writes;
  own.invalidate = own.invalidate && p.invalidate;
  // Adapters do not count the receive buffers of an endpoint, and verbs-* has no datagrams.
  own.receive_watermarks = false;
  own.datagrams = false;
  own.max_datagram = 0;
  return own;
}

}  // namespace softdat
