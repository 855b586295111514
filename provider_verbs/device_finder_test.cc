// SPDX-License-Identifier: BSD-3-Clause
// DeviceFinder over folders with the layout of sysfs.
#include "provider_verbs/device_finder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace softdat::verbs {
namespace {

namespace fs = std::filesystem;

class DeviceFinderTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("TEST_TMPDIR");
    root_ = fs::path(folder != nullptr ? folder : "/tmp") /
            ("sysfs-" + std::to_string(getpid()) + "-" +
             testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(root_ / "class/net/eth0");
    fs::create_directories(root_ / "class/net/lo");
  }
  void TearDown() override { fs::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  void MakeRoce() {
    Write("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "eth0");
    Write("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/1", "eth0");
    Write("class/infiniband/rxe0/parent", "eth0");
  }
  DeviceFinder Finder() const { return DeviceFinder(root_.string()); }

  fs::path root_;
};

TEST_F(DeviceFinderTest, WithoutRdmaThereIsNothingToFind) {
  EXPECT_FALSE(Finder().HasRdma());
  EXPECT_TRUE(Finder().Ports().empty());
  auto parsed = Finder().Parse("verbs-eth0");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().netdev, "eth0");
}

TEST_F(DeviceFinderTest, InterfacesOfALargeTable) {
  for (int i = 0; i < 300; ++i) {
    const char* const netdev = i == 0 ? "eth0" : i == 60 ? "eth0.7" : i == 100 ? "eth0.8" : "";
    Write("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/" + std::to_string(i), netdev);
  }
  const std::vector<RdmaPort> ports = Finder().Ports();
  ASSERT_EQ(ports.size(), 1u);
  EXPECT_EQ(ports[0].netdevs, (std::vector<std::string>{"eth0", "eth0.7", "eth0.8"}));
}

TEST_F(DeviceFinderTest, NamesOfInterfacesDevicesAndPorts) {
  MakeRoce();
  Write("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
  Write("class/infiniband/mlx5_0/ports/2/state", "4: ACTIVE");
  Write("class/infiniband/with-dash/ports/1/state", "4: ACTIVE");
  EXPECT_EQ(Finder().Parse("verbs-eth0").value().netdev, "eth0");
  EXPECT_EQ(Finder().Parse("eth0 0").value().netdev, "eth0");
  EXPECT_EQ(Finder().Parse("verbs-rxe0").value().rdma_device, "rxe0");
  const DeviceName second = Finder().Parse("verbs-mlx5_0-2").value();
  EXPECT_EQ(second.rdma_device, "mlx5_0");
  EXPECT_EQ(second.port, 2);
  EXPECT_EQ(Finder().Parse("verbs-with-dash").value().rdma_device, "with-dash");
}

TEST_F(DeviceFinderTest, NamesThatAreNothingHaveAReason) {
  MakeRoce();
  for (const char* name : {"verbs-eth1", "verbs-", "", "verbs-..", "verbs-../net", "verbs-rxe0-0",
                           "verbs-rxe0-x", "verbs-rxe0-256", "verbs-rxe0-", "verbs-rxe0-1x"}) {
    const auto parsed = Finder().Parse(name);
    EXPECT_EQ(parsed.status().code(), Code::kNotFound) << name;
    EXPECT_NE(parsed.status().reason(), "") << name;
  }
}

TEST_F(DeviceFinderTest, InterfacesOfAPort) {
  MakeRoce();
  Write("class/infiniband/mlx4_0/ports/1/state", "4: ACTIVE");
  Write("class/infiniband/mlx4_0/ports/2/state", "4: ACTIVE");
  Write("class/infiniband/mlx4_0/device/net/ib0/dev_port", "0");
  Write("class/infiniband/mlx4_0/device/net/ib1/dev_port", "1");
  Write("class/infiniband/siw0/ports/1/state", "4: ACTIVE");
  Write("class/infiniband/siw0/parent", "eth0");
  const std::vector<RdmaPort> ports = Finder().Ports();
  ASSERT_EQ(ports.size(), 4u);
  EXPECT_EQ(ports[0].device, "mlx4_0");
  EXPECT_EQ(ports[0].netdevs, std::vector<std::string>{"ib0"});
  EXPECT_EQ(ports[1].port, 2);
  EXPECT_EQ(ports[1].netdevs, std::vector<std::string>{"ib1"});
  EXPECT_EQ(ports[2].device, "rxe0");
  EXPECT_EQ(ports[2].netdevs, std::vector<std::string>{"eth0"});
  EXPECT_EQ(ports[3].netdevs, std::vector<std::string>{"eth0"});
}

}  // namespace
}  // namespace softdat::verbs
