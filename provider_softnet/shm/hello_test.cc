// SPDX-License-Identifier: BSD-3-Clause
// The first message, and the memory that comes with it: what is refused.
#include "provider_softnet/shm/hello.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "dat/base/socket_address.h"
#include "provider_softnet/shm/bell.h"
#include "provider_softnet/shm/shared_area.h"

namespace softdat::softnet {
namespace {

sockaddr_storage V4(uint16_t port) {
  sockaddr_storage out{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(out);
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

sockaddr_storage V6(uint16_t port) {
  sockaddr_storage out{};
  auto& v6 = reinterpret_cast<sockaddr_in6&>(out);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_scope_id = 3;
  inet_pton(AF_INET6, "fe80::1", &v6.sin6_addr);
  return out;
}

TEST(HelloTest, RoundTrip) {
  const auto bytes = EncodeHello({V4(7), V6(65535)});
  const std::optional<Hello> hello = DecodeHello(bytes);
  ASSERT_TRUE(hello);
  EXPECT_EQ(AddressText(hello->from), AddressText(V4(7)));
  EXPECT_EQ(AddressText(hello->to), AddressText(V6(65535)));
}

TEST(HelloTest, EveryOtherLengthAndEveryWrongByteThatMattersIsRefused) {
  const auto bytes = EncodeHello({V4(7), V4(8)});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeHello({bytes.data(), size})) << size;
  }
  for (size_t at = 0; at <= 16; ++at) {  // magic, size, family
    auto wrong = bytes;
    wrong[at] ^= 0x80;
    EXPECT_FALSE(DecodeHello(wrong)) << at;
  }
  auto wrong = bytes;
  wrong[40] = 5;
  EXPECT_FALSE(DecodeHello(wrong));
}

TEST(HelloTest, TravelsWithTheMemory) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
  const UniqueFd a(ends[0]), b(ends[1]);
  Result<UniqueFd> memory = SharedArea::MakeMemory();
  ASSERT_TRUE(memory.ok());
  const auto hello = EncodeHello({V4(1), V4(2)});
  ASSERT_EQ(SendWithDescriptor(a.get(), hello, memory.value().get()), 0);
  std::vector<uint8_t> bytes(kHelloSize + 1);
  ReceivedMessage received = ReceiveWithDescriptors(b.get(), bytes);
  ASSERT_EQ(received.size, static_cast<ssize_t>(kHelloSize));
  ASSERT_EQ(received.descriptors.size(), 1u);
  const auto here = SharedArea::Map(memory.value().get(), SharedArea::Side::kRequester);
  const auto there =
      SharedArea::Map(received.descriptors.front().get(), SharedArea::Side::kListener);
  ASSERT_NE(here, nullptr);
  ASSERT_NE(there, nullptr);
  bool bell;
  uint8_t byte = 9;
  const iovec iov{&byte, 1};
  ASSERT_EQ(here->out.Write(&iov, 1, &bell), 1);
  byte = 0;
  ASSERT_EQ(there->in.Read(&iov, 1, &bell), 1);
  EXPECT_EQ(byte, 9);
  // Later messages ring the bell.
  RingBell(a.get());
  received = ReceiveWithDescriptors(b.get(), bytes);
  EXPECT_EQ(received.size, 1);
  EXPECT_TRUE(received.descriptors.empty());
}

TEST(HelloTest, MemoryThatCouldShrinkOrHasAnotherSizeIsRefused) {
  constexpr size_t kSize = 2 * kRingSize;
  const UniqueFd loose(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(loose.get(), kSize), 0);
  EXPECT_EQ(SharedArea::Map(loose.get(), SharedArea::Side::kListener), nullptr);
  const UniqueFd small(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(small.get(), kSize - 1), 0);
  ASSERT_EQ(fcntl(small.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_EQ(SharedArea::Map(small.get(), SharedArea::Side::kListener), nullptr);
  const UniqueFd no_memory(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(SharedArea::Map(no_memory.get(), SharedArea::Side::kListener), nullptr);
}

}  // namespace
}  // namespace softdat::softnet
