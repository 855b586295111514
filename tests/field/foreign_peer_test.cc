// SPDX-License-Identifier: BSD-3-Clause
// A peer that is not softnet and does not confirm. Completions are then those of an iWARP adapter,
// and the EP says so.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "dat2/softdat.h"
#include "tests/field/field.h"

namespace softdat::field {
namespace {

// The peer's answer to the connection request, after the key (RFC 5044 §7.1, RFC 6581 §4).
struct Reply {
  const char* what;
  size_t size;
  uint8_t bytes[8];
};

class ForeignPeerTest : public testing::TestWithParam<Reply> {
 protected:
  void SetUp() override {
    ASSERT_GE(listener_, 0);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address_;
    auto* const raw = reinterpret_cast<sockaddr*>(&address_);
    ASSERT_EQ(bind(listener_, raw, length), 0);
    ASSERT_EQ(listen(listener_, 1), 0);
    ASSERT_EQ(getsockname(listener_, raw, &length), 0);
  }
  void TearDown() override {
    if (peer_.joinable()) peer_.join();
    close(listener_);
    close(connection_);
  }
  // Answers one request, and sends nothing more.
  void Serve() {
    peer_ = std::thread([this] {
      connection_ = accept(listener_, nullptr, nullptr);
      uint8_t request[20];
      if (recv(connection_, request, sizeof request, MSG_WAITALL) != sizeof request) return;
      uint8_t reply[16 + sizeof(Reply::bytes)];
      std::memcpy(reply, "MPA ID Rep Frame", 16);
      std::memcpy(reply + 16, GetParam().bytes, GetParam().size);
      send(connection_, reply, 16 + GetParam().size, MSG_NOSIGNAL);
    });
  }

  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int connection_ = -1;
  sockaddr_in address_{};
  std::thread peer_;
};

INSTANTIATE_TEST_SUITE_P(, ForeignPeerTest,
                         testing::Values(Reply{"OldRevision", 4, {0, 1, 0, 0}},
                                         // This is enhanced and peer-to-peer, with a read as its
                                         // first message, and has no reads.
                                         Reply{"NoReads", 8, {0x10, 2, 0, 4, 0x80, 0, 0x40, 0}}),
                         [](const auto& reply) { return std::string(reply.param.what); });

TEST_P(ForeignPeerTest, CompletionsAreTakenAndTheEpSaysSo) {
  Ia ia;
  Memory memory(ia, 64);
  End end(ia);
  End other(ia);
  DAT_EP_PARAM param{};
  ASSERT_DAT_OK(dat_ep_query(end.ep, DAT_EP_FIELD_ALL, &param));
  EXPECT_EQ(param.ep_attr.ep_provider_specific_count, 0);
  Serve();
  ASSERT_DAT_OK(StartConnect(end.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address_),
                             ntohs(address_.sin_port)));
  ASSERT_TRUE(Expect(end.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  ASSERT_DAT_OK(PostSend(end.ep, memory.Local(0, 64), 1));
  EXPECT_TRUE(ExpectDto(end.request_evd, 1, 64));
  ASSERT_DAT_OK(dat_ep_query(end.ep, DAT_EP_FIELD_ALL, &param));
  ASSERT_EQ(param.ep_attr.ep_provider_specific_count, 1);
  EXPECT_STREQ(param.ep_attr.ep_provider_specific[0].name, SOFTDAT_ATTR_COMPLETION);
  EXPECT_STREQ(param.ep_attr.ep_provider_specific[0].value, "taken");
  client::Ep alike;
  EXPECT_DAT_OK(alike.Create(ia, ia.pz(), other.evds(), &param.ep_attr));
}

}  // namespace
}  // namespace softdat::field
