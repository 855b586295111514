// SPDX-License-Identifier: BSD-3-Clause
// One RDMA operation of 100 MiB, on endpoints that were created with no attributes or with size
// attributes of zero (semantics 8.1: zero means no limit).
#include <cstring>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

constexpr size_t kBytes = size_t{100} << 20;

// Fills the memory with words that show where they belong.
void Fill(uint8_t* data, uint64_t seed) {
  auto* const words = reinterpret_cast<uint64_t*>(data);
  for (size_t i = 0; i < kBytes / 8; ++i) words[i] = (i ^ seed) * 0x9E37'79B9'7F4A'7C15;
}

bool Holds(const uint8_t* data, uint64_t seed) {
  const auto* const words = reinterpret_cast<const uint64_t*>(data);
  for (size_t i = 0; i < kBytes / 8; ++i) {
    if (words[i] != (i ^ seed) * 0x9E37'79B9'7F4A'7C15) {
      ADD_FAILURE() << "the first wrong word is at offset " << i * 8;
      return false;
    }
  }
  return true;
}

void WriteAndRead(const DAT_EP_ATTR* attr) {
  Ia ia;
  End::Options options;
  options.attr = attr;
  Memory here(ia, kBytes + 4096);
  Memory there(ia, kBytes + 4096);
  End a(ia, options);
  End b(ia, options);
  ASSERT_TRUE(Join(a, b));
  Fill(here.data(), 1);
  ASSERT_DAT_OK(PostWrite(a.ep, here.Local(0, kBytes), there.Remote(0, kBytes), 11));
  ASSERT_TRUE(ExpectDto(a.request_evd, 11, kBytes));
  // The write's completion does not say that the data has arrived. A read after it does.
  std::memset(here.data(), 0, kBytes);
  ASSERT_DAT_OK(PostRead(a.ep, here.Local(0, kBytes), there.Remote(0, kBytes), 12));
  ASSERT_TRUE(ExpectDto(a.request_evd, 12, kBytes));
  EXPECT_TRUE(Holds(there.data(), 1));
  EXPECT_TRUE(Holds(here.data(), 1));
  for (size_t i = 0; i < 4096; ++i) {
    ASSERT_EQ(here.data()[kBytes + i], 0) << "written past the end";
    ASSERT_EQ(there.data()[kBytes + i], 0) << "written past the end";
  }
}

TEST(HugeRdmaTest, NoAttributes) { WriteAndRead(nullptr); }

// covers: semantics 8.1
TEST(HugeRdmaTest, SizesOfZero) {
  DAT_EP_ATTR attr{};  // as dtest and its kin leave it
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.max_recv_dtos = 8;
  attr.max_request_dtos = 8;
  attr.max_recv_iov = 1;
  attr.max_request_iov = 1;
  attr.max_rdma_read_in = 4;
  attr.max_rdma_read_out = 4;
  WriteAndRead(&attr);
}

}  // namespace
}  // namespace softdat::field
