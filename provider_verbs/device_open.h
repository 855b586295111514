// SPDX-License-Identifier: BSD-3-Clause
// Opens a device, and finds out what it can do.
#ifndef SOFTDAT_PROVIDER_VERBS_DEVICE_OPEN_H_
#define SOFTDAT_PROVIDER_VERBS_DEVICE_OPEN_H_

#include <memory>
#include <string>

#include "provider_verbs/device.h"
#include "provider_verbs/device_finder.h"

namespace softdat::verbs {

// Returns the RDMA device and port that rdma_cm uses for an interface's address. Only rdma_cm knows
// for certain which device belongs to the interface.
Result<RdmaPort> PortOfNetdev(const std::string& netdev);

// kNotFound, kAddressUnsupported and others, with the reason.
Result<std::unique_ptr<Device>> OpenDevice(const DeviceFinder& finder, const std::string& name,
                                           transport::AdapterSink* sink);

// Fills in everything that an open context can be asked. For OpenDevice, and for tests with their
// own context.
Status Describe(Device* device);

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DEVICE_OPEN_H_
