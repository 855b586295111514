// SPDX-License-Identifier: BSD-3-Clause
// Opening a device, and finding out what it can do.
#ifndef SOFTDAT_PROVIDER_VERBS_DEVICE_OPEN_H_
#define SOFTDAT_PROVIDER_VERBS_DEVICE_OPEN_H_

#include <memory>
#include <string>

#include "provider_verbs/device.h"
#include "provider_verbs/device_finder.h"

namespace softdat::verbs {

// The RDMA device and port that rdma_cm takes for an interface's address: the truth about which
// device belongs to it.
Result<RdmaPort> PortOfNetdev(const std::string& netdev);

// kNotFound, kAddressUnsupported and so on, with the reason.
Result<std::unique_ptr<Device>> OpenDevice(const DeviceFinder& finder, const std::string& name,
                                           transport::AdapterSink* sink);

// What can be asked of an open context. For OpenDevice, and for tests with a context of their own.
Status Describe(Device* device);

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DEVICE_OPEN_H_
