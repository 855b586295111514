// SPDX-License-Identifier: BSD-3-Clause
#include "tests/vm/rping_fixture.h"

#include <arpa/inet.h>

#include <algorithm>
#include <vector>

namespace softdat::vm_test {

using namespace conformance;  // NOLINT(google-build-using-namespace): its helpers

void RpingTest::SetUp() {
  ConformanceTest::SetUp();
  if (HasFatalFailure()) return;
  in_ = a_->MakeBuffer(kMessage);
  out_ = a_->MakeBuffer(kMessage);
  ping_ = a_->MakeBuffer(kPing);
}

void RpingTest::TearDown() {
  in_.reset();
  out_.reset();
  ping_.reset();
  ConformanceTest::TearDown();
}

void RpingTest::AcceptFrom(DAT_PSP_HANDLE psp) {
  const DAT_CR_HANDLE cr = NextRequest(*a_);
  ASSERT_NE(cr, DAT_HANDLE_NULL);
  ASSERT_OK(dat_cr_accept(cr, a_->ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_OK(dat_psp_free(psp));
}

DAT_CONNECTION_EVENT_DATA RpingTest::ConnectTo(const char* where, DAT_CONN_QUAL qualifier) {
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  auto* address = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&ipv4);
  if (inet_pton(AF_INET, where, &ipv4.sin_addr) != 1) {
    EXPECT_EQ(inet_pton(AF_INET6, where, &ipv6.sin6_addr), 1);
    address = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&ipv6);
  }
  EXPECT_OK(dat_ep_connect(a_->ep, address, qualifier, kPatienceUs, 0, nullptr, DAT_QOS_BEST_EFFORT,
                           DAT_CONNECT_DEFAULT_FLAG));
  return a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
}

void RpingTest::ServePing(int ping, size_t pieces) {
  SCOPED_TRACE(ping);
  std::fill_n(ping_->data(), kPing, uint8_t{0});
  a_->ExpectDto(a_->recv_evd, a_->ep, 1);
  const DAT_RMR_TRIPLET source = Advertised(*in_);
  ASSERT_EQ(source.segment_length, kPing);
  ReadIn(source, pieces);
  const std::string text = PingText(ping);
  EXPECT_TRUE(std::equal(text.begin(), text.end(), ping_->data()));
  Message();
  a_->ExpectDto(a_->recv_evd, a_->ep, 1);
  const DAT_RMR_TRIPLET sink = Advertised(*in_);
  ASSERT_EQ(sink.segment_length, kPing);
  ASSERT_OK(PostWrite(a_->ep, {ping_->local()}, sink, 2));
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  Message();
}

void RpingTest::ReadIn(const DAT_RMR_TRIPLET& source, size_t pieces) {
  const size_t each = kPing / pieces;
  for (size_t i = 0; i < pieces; ++i) {
    DAT_RMR_TRIPLET piece = source;
    piece.virtual_address += i * each;
    piece.segment_length = i + 1 < pieces ? each : kPing - i * each;
    ASSERT_OK(PostRead(a_->ep, {ping_->local(i * each, piece.segment_length)}, piece, 10 + i));
  }
  for (size_t i = 0; i < pieces; ++i) a_->ExpectDto(a_->request_evd, a_->ep, 10 + i);
  EXPECT_TRUE(ping_->guards_intact());
}

void RpingTest::Message() {
  ASSERT_OK(PostRecv(a_->ep, {in_->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {out_->local()}, 3));
  a_->ExpectDto(a_->request_evd, a_->ep, 3);
}

void RpingTest::ServeRping(uint16_t port, DAT_PSP_HANDLE psp, size_t pieces) {
  OutsideProgram rping({"stdbuf", "-oL", "rping", "-c", "-v", "-V", "-a", own_address(), "-p",
                        std::to_string(port), "-C", std::to_string(kPings), "-S",
                        std::to_string(kPing)});
  ASSERT_OK(PostRecv(a_->ep, {in_->local()}, 1));
  AcceptFrom(psp);
  for (int ping = 0; ping < kPings && !HasFailure(); ++ping) ServePing(ping, pieces);
  ExpectWhenConnected();
  // rping names a ping when it has compared what came back. Its exit status says nothing, because
  // now and then one of its threads takes events from a channel that another thread has closed.
  std::vector<std::string> said;
  for (const std::string& line : rping.Rest()) {
    EXPECT_EQ(line.find("mismatch"), std::string::npos) << line;
    if (line.starts_with("ping data: ")) said.push_back(line.substr(11));
  }
  ASSERT_EQ(said.size(), size_t{kPings});
  for (int ping = 0; ping < kPings; ++ping) {
    EXPECT_STREQ(said[static_cast<size_t>(ping)].c_str(), PingText(ping).c_str());
  }
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  a_->ExpectDto(a_->recv_evd, a_->ep, 1, DAT_DTO_ERR_FLUSHED);
}

void RpingTest::PingRping(const char* where, uint16_t port) {
  ASSERT_OK(PostRecv(a_->ep, {in_->local()}, 1));
  ConnectTo(where, port);
  const auto sink = a_->MakeBuffer(kPing);
  for (int ping = 0; ping < kPings; ++ping) {
    SCOPED_TRACE(ping);
    const std::string text = PingText(ping);
    std::copy(text.begin(), text.end(), ping_->data());
    for (const Buffer* memory : {ping_.get(), sink.get()}) {
      Advertise(*memory, out_.get());
      ASSERT_OK(PostSend(a_->ep, {out_->local()}, 3));
      a_->ExpectDto(a_->request_evd, a_->ep, 3);
      a_->ExpectDto(a_->recv_evd, a_->ep, 1);
      ASSERT_OK(PostRecv(a_->ep, {in_->local()}, 1));
    }
    EXPECT_TRUE(std::equal(text.begin(), text.end(), sink->data()));
    EXPECT_TRUE(std::equal(text.begin(), text.end(), ping_->data()));
    EXPECT_TRUE(sink->guards_intact());
  }
  ExpectWhenConnected();
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_GRACEFUL_FLAG));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  a_->ExpectDto(a_->recv_evd, a_->ep, 1, DAT_DTO_ERR_FLUSHED);
}

std::unique_ptr<OutsideProgram> RpingTest::StartServer(uint16_t port) const {
  return std::make_unique<OutsideProgram>(
      std::vector<std::string>{"rping", "-s", "-a", kernel_address(), "-p", std::to_string(port),
                               "-S", std::to_string(kPing)});
}

}  // namespace softdat::vm_test
