// SPDX-License-Identifier: BSD-3-Clause
// Finds out which RDMA device belongs to a network interface, from sysfs.
#ifndef SOFTDAT_PROVIDER_VERBS_DEVICE_FINDER_H_
#define SOFTDAT_PROVIDER_VERBS_DEVICE_FINDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "dat/base/status.h"

namespace softdat::verbs {

struct RdmaPort {
  std::string device;  // "rxe0"
  uint8_t port = 1;
  std::vector<std::string> netdevs;  // interfaces that it serves; empty if sysfs does not say
};

// The meaning of an IA name.
struct DeviceName {
  std::string netdev;       // set if the name is a network interface
  std::string rdma_device;  // set if the name is an RDMA device
  uint8_t port = 1;         // of the RDMA device
};

class DeviceFinder {
 public:
  // `sysfs` is "/sys", or a folder with the same layout in tests.
  explicit DeviceFinder(std::string sysfs = "/sys") : sysfs_(std::move(sysfs)) {}

  // Every port of every RDMA device, sorted by name.
  std::vector<RdmaPort> Ports() const;
  // Whether the kernel has RDMA at all (ib_core is loaded).
  bool HasRdma() const;

  // The name is "verbs-eth0", "verbs-mlx5_0", "verbs-mlx5_0-2", or one of these without "verbs-".
  // Only the first word counts. An interface takes precedence over an RDMA device of the same name.
  // kNotFound with the reason.
  Result<DeviceName> Parse(const std::string& name) const;

 private:
  bool IsNetdev(const std::string& name) const;
  bool IsRdmaDevice(const std::string& name) const;
  std::vector<std::string> NetdevsOf(const std::string& device, const std::string& port) const;

  const std::string sysfs_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DEVICE_FINDER_H_
