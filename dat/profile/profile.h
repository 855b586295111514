// SPDX-License-Identifier: BSD-3-Clause
// What an RDMA device allows and how it fails, as data. SOFTDAT_PROFILE names one, so that a
// program which is tested on another back end meets there what it will meet on the device. A
// profile only ever takes something away: where a device checks less than it should, the back end
// goes on checking. Some behaviour is beyond a wrapper, and the back end itself has to show it.
// Settings that SOFTDAT_PROFILE implies ask for that (dat/base/settings.cc).
#ifndef SOFTDAT_DAT_PROFILE_PROFILE_H_
#define SOFTDAT_DAT_PROFILE_PROFILE_H_

#include <cstdint>
#include <string_view>

#include "dat/base/settings.h"
#include "dat/transport/transport.h"

namespace softdat {

struct Profile {
  std::string_view device;  // the device that the profile stands for

  // Limits, as verbs-* announces them on the device. The last two are in bytes.
  uint32_t max_qp_work;
  uint32_t max_iov;
  uint32_t max_read_in;
  uint32_t max_read_out;
  uint32_t max_cq_depth;
  uint32_t max_srq_depth;
  uint32_t max_private_data;
  uint64_t max_message;

  // Operations and features that the device has.
  bool windows;
  bool zone_windows;  // a window works over every queue pair of its domain
  bool zero_based;
  bool zero_based_pages;
  bool immediate;
  bool atomics;
  bool confirms_writes;
  bool invalidate;

  // Whether an RDMA read that the peer refuses is flushed, and the connection ends as disconnected.
  bool reads_fail_flushed;
};

// The profile that a setting asks for; null for DeviceProfile::kNone.
const Profile* FindProfile(DeviceProfile which);

// `own`, less what the device does not have.
transport::AdapterAttributes Limited(const Profile& profile, transport::AdapterAttributes own);

}  // namespace softdat

#endif  // SOFTDAT_DAT_PROFILE_PROFILE_H_
