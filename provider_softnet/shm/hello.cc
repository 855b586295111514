// SPDX-License-Identifier: BSD-3-Clause
// The first message of a connection in memory, and where it is sent.
#include "provider_softnet/shm/hello.h"

#include <fmt/format.h>
#include <netinet/in.h>

#include <cstring>

#include "provider_softnet/shm/byte_ring.h"
#include "wire/bytes.h"

namespace softdat::softnet {
namespace {

constexpr uint64_t kMagic = 0x53444154'534d01bf;
constexpr uint64_t kMemory = 2 * kRingSize;
constexpr size_t kAddressSize = 24;

void StoreAddress(const sockaddr_storage& address, uint8_t* out) {
  std::memset(out, 0, kAddressSize);
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    out[0] = 4;
    std::memcpy(out + 2, &v4.sin_port, 2);
    std::memcpy(out + 8, &v4.sin_addr, 4);
  } else {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    out[0] = 6;
    std::memcpy(out + 2, &v6.sin6_port, 2);
    StoreBe32(out + 4, v6.sin6_scope_id);
    std::memcpy(out + 8, &v6.sin6_addr, 16);
  }
}

bool LoadAddress(const uint8_t* in, sockaddr_storage* address) {
  *address = {};
  if (in[0] == 4) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(*address);
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_port, in + 2, 2);
    std::memcpy(&v4.sin_addr, in + 8, 4);
    return true;
  }
  if (in[0] != 6) return false;
  auto& v6 = reinterpret_cast<sockaddr_in6&>(*address);
  v6.sin6_family = AF_INET6;
  std::memcpy(&v6.sin6_port, in + 2, 2);
  v6.sin6_scope_id = LoadBe32(in + 4);
  std::memcpy(&v6.sin6_addr, in + 8, 16);
  return true;
}

}  // namespace

std::array<uint8_t, kHelloSize> EncodeHello(const Hello& hello) {
  std::array<uint8_t, kHelloSize> out;
  StoreBe64(out.data(), kMagic);
  StoreBe64(out.data() + 8, kMemory);
  StoreAddress(hello.from, out.data() + 16);
  StoreAddress(hello.to, out.data() + 16 + kAddressSize);
  return out;
}

std::optional<Hello> DecodeHello(std::span<const uint8_t> in) {
  if (in.size() != kHelloSize || LoadBe64(in.data()) != kMagic) return std::nullopt;
  if (LoadBe64(in.data() + 8) != kMemory) return std::nullopt;
  Hello hello;
  if (!LoadAddress(in.data() + 16, &hello.from)) return std::nullopt;
  if (!LoadAddress(in.data() + 16 + kAddressSize, &hello.to)) return std::nullopt;
  return hello;
}

LocalName MeetingPlaceOf(uid_t user, const std::string& host, uint16_t port) {
  return AbstractName(fmt::format("softdat-shm/{}/{}/{}", user, host, port));
}

}  // namespace softdat::softnet
