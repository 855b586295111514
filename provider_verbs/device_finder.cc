// SPDX-License-Identifier: BSD-3-Clause
// DeviceFinder.
#include "provider_verbs/device_finder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace softdat::verbs {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> EntriesOf(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    names.push_back(i->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string FirstLine(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// Returns 1 to 255, or 0 for text that is no port number.
uint8_t PortNumber(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value <= 255
             ? static_cast<uint8_t>(value)
             : 0;
}

// Whether the name is a path component that cannot lead out of its folder.
bool IsPlain(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

}  // namespace

bool DeviceFinder::HasRdma() const {
  std::error_code error;
  return fs::exists(fs::path(sysfs_) / "class/infiniband", error);
}

bool DeviceFinder::IsNetdev(const std::string& name) const {
  std::error_code error;
  return IsPlain(name) && fs::exists(fs::path(sysfs_) / "class/net" / name, error);
}

bool DeviceFinder::IsRdmaDevice(const std::string& name) const {
  std::error_code error;
  return IsPlain(name) && fs::exists(fs::path(sysfs_) / "class/infiniband" / name, error);
}

std::vector<std::string> DeviceFinder::NetdevsOf(const std::string& device,
                                                 const std::string& port) const {
  const fs::path root = fs::path(sysfs_) / "class/infiniband" / device;
  std::vector<std::string> netdevs;
  const auto add = [&netdevs](const std::string& name) {
    if (!name.empty() && std::find(netdevs.begin(), netdevs.end(), name) == netdevs.end()) {
      netdevs.push_back(name);
    }
  };
  // RoCE and iWARP: each GID names its interface. There may be a thousand entries. The kernel fills
  // the first free one.
  constexpr int kMostGaps = 64;
  const fs::path ndevs = root / "ports" / port / "gid_attrs/ndevs";
  std::error_code error;
  int gaps = 0;
  for (int index = 0; gaps < kMostGaps; ++index) {
    const fs::path entry = ndevs / std::to_string(index);
    if (!fs::exists(entry, error)) break;
    const std::string netdev = FirstLine(entry);
    gaps = netdev.empty() ? gaps + 1 : 0;
    add(netdev);
  }
  if (!netdevs.empty()) return netdevs;
  // InfiniBand: the IPoIB interfaces of the same adapter, by their port (counted from 0).
  const fs::path nets = root / "device/net";
  for (const std::string& name : EntriesOf(nets)) {
    const std::string dev_port = FirstLine(nets / name / "dev_port");
    const uint8_t number = PortNumber(dev_port.empty() ? "0" : dev_port);
    if (number + 1 == PortNumber(port)) add(name);
  }
  if (!netdevs.empty()) return netdevs;
  // Devices without a bus (siw): `parent` names the interface below them.
  add(FirstLine(root / "parent"));
  return netdevs;
}

std::vector<RdmaPort> DeviceFinder::Ports() const {
  std::vector<RdmaPort> ports;
  const fs::path root = fs::path(sysfs_) / "class/infiniband";
  for (const std::string& device : EntriesOf(root)) {
    for (const std::string& port : EntriesOf(root / device / "ports")) {
      const uint8_t number = PortNumber(port);
      if (number == 0) continue;
      ports.push_back({.device = device, .port = number, .netdevs = NetdevsOf(device, port)});
    }
  }
  return ports;
}

Result<DeviceName> DeviceFinder::Parse(const std::string& name) const {
  constexpr std::string_view kPrefix = "verbs-";
  std::string rest = name.substr(0, name.find_first_of(" \t"));
  if (rest.rfind(kPrefix, 0) == 0) rest.erase(0, kPrefix.size());
  DeviceName found;
  if (IsNetdev(rest)) {
    found.netdev = rest;
    return found;
  }
  if (IsRdmaDevice(rest)) {
    found.rdma_device = rest;
    return found;
  }
  const size_t dash = rest.rfind('-');
  if (dash != std::string::npos && IsRdmaDevice(rest.substr(0, dash))) {
    found.rdma_device = rest.substr(0, dash);
    found.port = PortNumber(std::string_view(rest).substr(dash + 1));
    if (found.port != 0) return found;
    return Status(Code::kNotFound,
                  "'" + rest.substr(dash + 1) + "' is no port of " + found.rdma_device);
  }
  return Status(Code::kNotFound,
                "'" + rest + "' is neither a network interface nor an RDMA device of this host");
}

}  // namespace softdat::verbs
