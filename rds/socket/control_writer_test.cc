// SPDX-License-Identifier: BSD-3-Clause
// The control messages of recvmsg: how much room each needs, and what a program then reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "rds/socket/control_messages.h"

namespace softdat::rds {
namespace {

// A control buffer of this size, with octets behind it that must stay.
class Room {
 public:
  explicit Room(size_t size) : octets_(size + 8, 0xEE) {
    message_.msg_control = octets_.data();
    message_.msg_controllen = size;
  }
  msghdr& message() { return message_; }
  bool BehindIsUntouched(size_t size) const {
    return std::all_of(octets_.begin() + static_cast<ptrdiff_t>(size), octets_.end(),
                       [](uint8_t octet) { return octet == 0xEE; });
  }

 private:
  std::vector<uint8_t> octets_;
  msghdr message_{};
};

TEST(ControlWriterTest, RoomForOne) {
  const uint64_t word = 0x0123456789ABCDEF;
  for (size_t size = 0; size <= 48; ++size) {
    SCOPED_TRACE(size);
    Room room(size);
    ControlWriter writer(room.message());
    const bool fits = size >= CMSG_LEN(8);
    EXPECT_EQ(writer.HasRoom(8), fits);
    EXPECT_EQ(writer.Add(SOL_RDS, RDS_CMSG_CONG_UPDATE, &word, sizeof word), fits);
    EXPECT_EQ(writer.truncated(), !fits);
    writer.Finish(&room.message());
    EXPECT_EQ(room.message().msg_controllen, fits ? 24u : 0u);
    EXPECT_EQ(room.message().msg_flags, fits ? 0 : MSG_CTRUNC);
    EXPECT_TRUE(room.BehindIsUntouched(fits ? 24 : 0));
  }
}

TEST(ControlWriterTest, SeveralAsAProgramReadsThem) {
  Room room(24 + 24 + 56);
  ControlWriter writer(room.message());
  const uint64_t word = 77;
  const uint32_t half = 88;
  const std::array<uint8_t, 36> many{1, 2, 3};
  EXPECT_TRUE(writer.Add(SOL_RDS, RDS_CMSG_RDMA_DEST, &word, sizeof word));
  EXPECT_TRUE(writer.Add(SOL_SOCKET, SCM_TIMESTAMP, &half, sizeof half));
  EXPECT_TRUE(writer.Add(SOL_RDS, RDS_CMSG_ZCOPY_COMPLETION, many.data(), many.size()));
  EXPECT_FALSE(writer.HasRoom(0));
  writer.Finish(&room.message());
  EXPECT_EQ(room.message().msg_controllen, 104u);
  EXPECT_EQ(room.message().msg_flags, 0);

  const cmsghdr* at = CMSG_FIRSTHDR(&room.message());
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(at->cmsg_len, CMSG_LEN(8));
  EXPECT_EQ(at->cmsg_type, RDS_CMSG_RDMA_DEST);
  EXPECT_EQ(std::memcmp(CMSG_DATA(at), &word, sizeof word), 0);
  at = CMSG_NXTHDR(&room.message(), const_cast<cmsghdr*>(at));
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(at->cmsg_len, CMSG_LEN(4));
  EXPECT_EQ(at->cmsg_level, SOL_SOCKET);
  EXPECT_EQ(std::memcmp(CMSG_DATA(at), &half, sizeof half), 0);
  at = CMSG_NXTHDR(&room.message(), const_cast<cmsghdr*>(at));
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(at->cmsg_len, CMSG_LEN(36));
  EXPECT_EQ(std::memcmp(CMSG_DATA(at), many.data(), many.size()), 0);
  EXPECT_EQ(CMSG_NXTHDR(&room.message(), const_cast<cmsghdr*>(at)), nullptr);
}

// The last one needs no padding, and what was lost does not take room from what comes after it.
TEST(ControlWriterTest, WithoutPaddingAtTheEnd) {
  Room room(CMSG_LEN(4));
  ControlWriter writer(room.message());
  const uint64_t word = 1;
  EXPECT_FALSE(writer.Add(SOL_RDS, RDS_CMSG_RDMA_DEST, &word, sizeof word));
  EXPECT_TRUE(writer.Add(SOL_RDS, RDS_CMSG_RDMA_DEST, &word, 4));
  writer.Finish(&room.message());
  EXPECT_EQ(room.message().msg_controllen, CMSG_LEN(4));
  EXPECT_EQ(room.message().msg_flags, MSG_CTRUNC);
  EXPECT_TRUE(room.BehindIsUntouched(CMSG_LEN(4)));
}

TEST(ControlWriterTest, NoBuffer) {
  msghdr message{};
  message.msg_controllen = 100;
  ControlWriter writer(message);
  const uint64_t word = 1;
  EXPECT_FALSE(writer.HasRoom(0));
  EXPECT_FALSE(writer.Add(SOL_RDS, RDS_CMSG_RDMA_DEST, &word, sizeof word));
  writer.Finish(&message);
  EXPECT_EQ(message.msg_controllen, 0u);
  EXPECT_EQ(message.msg_flags, MSG_CTRUNC);
}

TEST(ControlWriterTest, OtherFlagsStay) {
  Room room(0);
  room.message().msg_flags = MSG_TRUNC;
  ControlWriter writer(room.message());
  writer.Finish(&room.message());
  EXPECT_EQ(room.message().msg_flags, MSG_TRUNC);
}

}  // namespace
}  // namespace softdat::rds
