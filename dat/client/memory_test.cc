// SPDX-License-Identifier: BSD-3-Clause
#include "dat/client/memory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "dat/client/client_test.h"

namespace softdat::client {
namespace {

TEST_F(ClientTest, MappedMemoryIsZero) {
  Memory memory;
  ASSERT_TRUE(memory.Map(5000));
  EXPECT_EQ(memory.size(), 5000u);
  EXPECT_TRUE(std::all_of(memory.data(), memory.data() + 5000, [](uint8_t b) { return b == 0; }));
}

TEST_F(ClientTest, MemoryThatIsNotThereSaysWhy) {
  Memory memory;
  EXPECT_FALSE(memory.Map(SIZE_MAX / 2));
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(memory.data(), nullptr);
}

TEST_F(ClientTest, TripletsNamePartsOfARegion) {
  Memory memory;
  ASSERT_TRUE(memory.Map(4096));
  ASSERT_OK(memory.Register(ia_, pz_));
  const DAT_LMR_TRIPLET local = memory.Local(8, 16);
  EXPECT_EQ(local.virtual_address, memory.address() + 8);
  EXPECT_EQ(local.segment_length, 16u);
  DAT_LMR_PARAM param{};
  ASSERT_EQ(dat_lmr_query(memory.lmr(), DAT_LMR_FIELD_ALL, &param), DAT_RETURN{DAT_SUCCESS});
  EXPECT_EQ(local.lmr_context, param.lmr_context);
  const DAT_RMR_TRIPLET remote = memory.Remote(8, 16);
  EXPECT_EQ(remote.virtual_address, memory.address() + 8);
  EXPECT_EQ(remote.segment_length, 16u);
  EXPECT_EQ(remote.rmr_context, param.rmr_context);
}

TEST_F(ClientTest, MemoryStaysWhenItsRegionGoes) {
  Memory memory;
  ASSERT_TRUE(memory.Map(64));
  ASSERT_OK(memory.Register(ia_, pz_));
  memory.data()[0] = 7;
  Memory moved(std::move(memory));
  EXPECT_EQ(memory.data(), nullptr);
  EXPECT_OK(moved.Deregister());
  EXPECT_EQ(moved.data()[0], 7);
  // The zone can be freed, because nothing is registered in it any more.
  EXPECT_OK(pz_.Free());
}

// The memory is the program's own. Closing the IA destroys the region.
TEST_F(ClientTest, ARegionOfMemoryThatIsThere) {
  std::array<uint8_t, 64> bytes{};
  Lmr lmr;
  ASSERT_OK(lmr.Register(ia_, pz_, bytes.data(), bytes.size(), DAT_MEM_PRIV_LOCAL_READ_FLAG));
  EXPECT_EQ(lmr.Local(1, 2).virtual_address, reinterpret_cast<uintptr_t>(bytes.data()) + 1);
  EXPECT_OK(ia_.Close());
  EXPECT_OK(lmr.Free());
}

}  // namespace
}  // namespace softdat::client
