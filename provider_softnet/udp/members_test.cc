// SPDX-License-Identifier: BSD-3-Clause
// What members say to each other, and where they meet.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>
#include <vector>

#include "dat/base/socket_address.h"
#include "provider_softnet/udp/forward_message.h"
#include "provider_softnet/udp/member_names.h"

namespace softdat::softnet {
namespace {

using Bytes = std::vector<uint8_t>;

std::string Text(const MemberName& name) {
  const size_t front = offsetof(sockaddr_un, sun_path) + 1;
  return {name.address.sun_path + 1, name.size - front};
}

TEST(MemberNames, HoldUserAddressAndNumber) {
  EXPECT_EQ(Text(BlockName(7, "fe80::1%eth0", 4095)), "softdat-roce/7/fe80::1%eth0/block/4095");
  EXPECT_EQ(Text(ServiceName(0, "10.0.0.1", 0x1061234)),
            "softdat-roce/0/10.0.0.1/service/17175092");
  EXPECT_EQ(BlockName(7, "10.0.0.1", 1).address.sun_path[0], '\0');
}

TEST(MemberNames, OneThatDoesNotFitIsNone) {
  EXPECT_EQ(BlockName(7, std::string(100, 'x'), 1).size, 0u);
}

TEST(MemberNames, ABlockIsTheUpperBitsOfANumber) {
  EXPECT_EQ(BlockOfQpn(0xabc123), 0xabcu);
  EXPECT_EQ(BlockOfCommId(0xabc12345), 0xabcu);
  EXPECT_EQ(BlockOfQpn(1), 0u);
}

Bytes Message(const sockaddr_storage& source, const Bytes& datagram) {
  const ForwardPrefix prefix = EncodeForwardPrefix(source);
  Bytes out(prefix.begin(), prefix.end());
  out.insert(out.end(), datagram.begin(), datagram.end());
  return out;
}

void ExpectSame(const sockaddr_storage& source) {
  const Bytes datagram = {1, 2, 3};
  const Bytes message = Message(source, datagram);
  const auto forwarded = DecodeForward(message);
  ASSERT_TRUE(forwarded.has_value());
  EXPECT_EQ(AddressText(forwarded->source), AddressText(source));
  EXPECT_TRUE(std::ranges::equal(forwarded->datagram, datagram));
}

TEST(ForwardMessage, HoldsTheSenderAndThePacket) {
  sockaddr_storage v4{};
  v4.ss_family = AF_INET;
  SetSocketPort(0xc0de, &v4);
  reinterpret_cast<sockaddr_in&>(v4).sin_addr.s_addr = htonl(0x0a000102);
  ExpectSame(v4);
  sockaddr_storage v6{};
  auto& in6 = reinterpret_cast<sockaddr_in6&>(v6);
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(0xffff);
  in6.sin6_addr.s6_addr[0] = 0xfe;
  in6.sin6_addr.s6_addr[1] = 0x80;
  in6.sin6_addr.s6_addr[15] = 9;
  in6.sin6_scope_id = 1;
  ExpectSame(v6);
}

Bytes Offer(uint64_t conn_qual, const Bytes& mad) {
  MemberOffer offer;
  offer.conn_qual = conn_qual;
  offer.source.ss_family = AF_INET;
  SetSocketPort(0xc0de, &offer.source);
  const OfferPrefix prefix = EncodeOfferPrefix(offer);
  Bytes out(prefix.begin(), prefix.end());
  out.insert(out.end(), mad.begin(), mad.end());
  return out;
}

TEST(OfferMessage, HoldsTheRequesterAndTheRequest) {
  const Bytes message = Offer(0xab00000000000001, {4, 5, 6});
  const auto offer = DecodeOffer(message);
  ASSERT_TRUE(offer.has_value());
  EXPECT_EQ(AddressText(offer->source), "0.0.0.0:49374");
  EXPECT_EQ(offer->conn_qual, 0xab00000000000001u);
  EXPECT_TRUE(std::ranges::equal(offer->mad, Bytes{4, 5, 6}));
}

TEST(OfferMessage, IsNoPacketAndOtherBytesAreNone) {
  const Bytes right = Offer(1, {});
  EXPECT_TRUE(DecodeOffer(right).has_value());
  EXPECT_FALSE(DecodeForward(right).has_value());
  EXPECT_FALSE(DecodeOffer(std::span(right).first(kOfferPrefixSize - 1)).has_value());
  EXPECT_FALSE(DecodeOffer({}).has_value());
  for (const size_t i : {size_t{0}, size_t{3}, size_t{5}}) {
    Bytes wrong = right;
    wrong[i] ^= 0x80;
    EXPECT_FALSE(DecodeOffer(wrong).has_value()) << i;
  }
}

TEST(ForwardMessage, OtherBytesAreNone) {
  sockaddr_storage v4{};
  v4.ss_family = AF_INET;
  const Bytes right = Message(v4, {1});
  ASSERT_TRUE(DecodeForward(right).has_value());
  for (const size_t i : {size_t{0}, size_t{3}, size_t{4}, size_t{5}}) {
    Bytes wrong = right;
    wrong[i] ^= 0x80;
    EXPECT_FALSE(DecodeForward(wrong).has_value()) << i;
  }
  EXPECT_FALSE(DecodeForward(std::span(right).first(kForwardPrefixSize - 1)).has_value());
  EXPECT_FALSE(DecodeForward({}).has_value());
}

}  // namespace
}  // namespace softdat::softnet
