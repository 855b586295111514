// SPDX-License-Identifier: BSD-3-Clause
// The arguments of a call as text, with structures as either version of DAT has them.
#include "dat/base/failed_call.h"

#include <gtest/gtest.h>

namespace softdat {
namespace {

// A segment in 2.0 and in 1.2.
struct Segment2 {
  uint64_t virtual_address;
  uint32_t segment_length;
  uint32_t lmr_context;
};
struct Segment12 {
  uint32_t lmr_context;
  uint32_t pad;
  uint64_t virtual_address;
  uint64_t segment_length;
};
struct Remote12 {
  uint32_t rmr_context;
  uint32_t pad;
  uint64_t target_address;
  uint64_t segment_length;
};
union Context {
  void* as_ptr;
  uint64_t as_64;
};
enum Flags { kFlag = 0x40 };

template <typename... Args>
std::string Text(Args... args) {
  ArgumentText text;
  (text.Add<Args>(args), ...);
  return text.text();
}
template <typename T>
std::string Address(const T* at) {
  return Text(reinterpret_cast<const void*>(at));
}

TEST(FailedCallTest, PlainArguments) {
  EXPECT_EQ(Text(), "");
  EXPECT_EQ(Text(-5, 17u, kFlag, Context{.as_64 = 0x77}), "-5, 0x11, 0x40, 0x77");
  EXPECT_EQ(Text(static_cast<void*>(nullptr), reinterpret_cast<void*>(0x1234)), "NULL, 0x1234");
}

TEST(FailedCallTest, NamesAreReadAsFarAsTheyAreThere) {
  char name[] = "softnet-lo";
  EXPECT_EQ(Text(static_cast<char*>(name)), "\"softnet-lo\"");
  EXPECT_EQ(Text(static_cast<char*>(nullptr)), "NULL");
  EXPECT_EQ(Text(reinterpret_cast<char*>(16)), "\"\"");
}

TEST(FailedCallTest, SegmentsOfEitherVersion) {
  Segment2 of_2[6] = {{0x1000, 8, 0x11}, {0x2000, 9, 0x22}};
  EXPECT_EQ(Text(2, &of_2[0]), "2, " + Address(of_2) + " [{0x1000, 8, 0x11} {0x2000, 9, 0x22}]");
  EXPECT_EQ(Text(&of_2[0]), Address(of_2) + " [{0x1000, 8, 0x11}]") << "without a number: one";
  EXPECT_EQ(Text(0, &of_2[0]), "0, " + Address(of_2));
  EXPECT_EQ(Text(6, &of_2[2]).substr(Address(of_2 + 2).size() + 3),
            " [{0x0, 0, 0x0} {0x0, 0, 0x0} {0x0, 0, 0x0} {0x0, 0, 0x0} ...]");
  const Segment12 of_12 = {0x33, 0, 0x3000, uint64_t{1} << 32};
  EXPECT_EQ(Text(1, &of_12), "1, " + Address(&of_12) + " [{0x3000, 4294967296, 0x33}]");
  const Remote12 remote = {0x44, 0, 0x4000, 10};
  EXPECT_EQ(Text(&remote), Address(&remote) + " [{0x4000, 10, 0x44}]");
}

TEST(FailedCallTest, SegmentsThatAreNowhere) {
  EXPECT_EQ(Text(1'000'000, reinterpret_cast<Segment2*>(16)), "1000000, 0x10");
  EXPECT_EQ(Text(reinterpret_cast<Remote12*>(16)), "0x10");
}

}  // namespace
}  // namespace softdat
