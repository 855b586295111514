// SPDX-License-Identifier: BSD-3-Clause
// Which RDMA device belongs to a network interface, by what sysfs says.
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
  std::vector<std::string> netdevs;  // interfaces that it serves; empty when sysfs does not tell
};

// What an IA name means.
struct DeviceName {
  std::string netdev;       // set for a network interface
  std::string rdma_device;  // set for an RDMA device
  uint8_t port = 1;         // of that
};

class DeviceFinder {
 public:
  // `sysfs` is "/sys", or a copy of its shape in tests.
  explicit DeviceFinder(std::string sysfs = "/sys") : sysfs_(std::move(sysfs)) {}

  // Every port of every RDMA device, sorted by name.
  std::vector<RdmaPort> Ports() const;
  // Whether the kernel has RDMA at all (ib_core is loaded).
  bool HasRdma() const;

  // "verbs-eth0", "verbs-mlx5_0", "verbs-mlx5_0-2", or the same without "verbs-"; only the first
  // word counts. An interface comes before an RDMA device of the same name. kNotFound with the
  // reason.
  Result<DeviceName> Parse(const std::string& name) const;

 private:
  bool IsNetdev(const std::string& name) const;
  bool IsRdmaDevice(const std::string& name) const;
  std::vector<std::string> NetdevsOf(const std::string& device, const std::string& port) const;

  const std::string sysfs_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DEVICE_FINDER_H_
