// SPDX-License-Identifier: BSD-3-Clause
// Handoffs between processes. Each end meets a counterpart that may do anything. An error must end
// only that handoff, the connection must stay with the process that had it, and no descriptor may
// be lost.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "provider_softnet/adapter/bench_node.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/tcp/handoff_message.h"
#include "provider_softnet/tcp/handoff_sender.h"
#include "provider_softnet/tcp/socket_util.h"
#include "wire/iwarp/mpa.h"

namespace softdat::softnet {
namespace {

using Wait = BenchNode::Wait;
using Bytes = std::vector<uint8_t>;
using std::chrono::milliseconds;

int OpenDescriptors() {
  int n = 0;
  for (int fd = 0; fd < 1024; ++fd) n += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return n;
}

// A TCP connection within this process, over which a peer has sent its Request.
struct Connection {
  Connection() {
    const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_storage a = Loopback();
    EXPECT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&a), sizeof(sockaddr_in)), 0);
    EXPECT_EQ(listen(listener.get(), 1), 0);
    a = LocalAddressOf(listener.get());
    peer = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(peer.get(), reinterpret_cast<sockaddr*>(&a), sizeof(sockaddr_in)), 0);
    own = UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_TRUE(own.valid());
  }
  // The connection must still be ours: the peer has received nothing, and receives what we send.
  void ExpectUntouched() {
    char byte = 0;
    EXPECT_EQ(recv(peer.get(), &byte, 1, MSG_DONTWAIT), -1);
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_EQ(send(own.get(), "x", 1, MSG_NOSIGNAL), 1);
    EXPECT_EQ(recv(peer.get(), &byte, 1, 0), 1);
    EXPECT_EQ(byte, 'x');
  }
  UniqueFd peer;
  UniqueFd own;
};

Bytes Request() {
  iwarp::MpaStart frame;
  frame.enhanced = true;
  frame.words.peer_to_peer = frame.words.rtr_write = true;
  const uint8_t data[3] = {1, 2, 3};
  frame.private_data = data;
  Bytes out(iwarp::kMpaMaxFrameSize);
  out.resize(iwarp::EncodeMpaStart(frame, out));
  return out;
}

Bytes Offer(uint64_t conn_qual, const Bytes& frame) {
  std::array<uint8_t, kMaxHandoffOffer> out;
  const size_t n = EncodeHandoffOffer({conn_qual, frame}, out);
  return {out.begin(), out.begin() + static_cast<ptrdiff_t>(n)};
}

UniqueFd LocalSocket() { return UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

// ---- the taking side ----------------------------------------------------------------------------

class HandoffArrivalTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.handshake_timeout = milliseconds(300);
    node_ = std::make_unique<BenchNode>(options_, 8192, 16);
    qual_ = node_->Listen();
    ASSERT_NE(qual_, 0u);
  }

  UniqueFd Come() {
    UniqueFd fd = LocalSocket();
    const LocalName a = HandoffAddressOf(geteuid(), "", qual_);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&a.address), a.size), 0);
    return fd;
  }
  static ssize_t Send(int to, Bytes bytes, const std::vector<int>& fds) {
    iovec iov{bytes.data(), bytes.size()};
    msghdr m{};
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    std::vector<char> control(CMSG_SPACE(fds.size() * sizeof(int)));
    if (!fds.empty()) {
      m.msg_control = control.data();
      m.msg_controllen = control.size();
      cmsghdr* const c = CMSG_FIRSTHDR(&m);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      memcpy(CMSG_DATA(c), fds.data(), fds.size() * sizeof(int));
    }
    return sendmsg(to, &m, MSG_NOSIGNAL);
  }
  // The node's answer; nothing when it closes without one. *in_time: one of the two happened.
  std::optional<HandoffVerdict> Answer(int from, bool* in_time) {
    std::optional<HandoffVerdict> verdict;
    *in_time = node_->Until(Wait::kPoll, [&] {
      uint8_t bytes[64];
      const ssize_t n = recv(from, bytes, sizeof(bytes), MSG_DONTWAIT);
      if (n > 0) verdict = DecodeHandoffAnswer({bytes, static_cast<size_t>(n)});
      return n >= 0 || errno != EAGAIN;
    });
    return verdict;
  }
  // A correct offer must be taken, and the peer must get its MPA Reply.
  void ExpectStillServing() {
    Connection connection;
    const UniqueFd fd = Come();
    ASSERT_GT(Send(fd.get(), Offer(qual_, Request()), {connection.own.get()}), 0);
    connection.own.Close();
    bool in_time = false;
    EXPECT_EQ(Answer(fd.get(), &in_time), HandoffVerdict::kTaken);
    EXPECT_TRUE(in_time);
    char key[iwarp::kMpaKeySize];
    ASSERT_EQ(recv(connection.peer.get(), key, sizeof(key), MSG_WAITALL),
              static_cast<ssize_t>(sizeof(key)));
    EXPECT_EQ(memcmp(key, iwarp::kMpaReplyKey, sizeof(key)), 0);
  }
  // This message must be refused, whoever sent it.
  void ExpectRefused(const std::string& what, const Bytes& bytes, const std::vector<int>& fds) {
    SCOPED_TRACE(what);
    const int before = OpenDescriptors();
    {
      const UniqueFd fd = Come();
      ASSERT_EQ(Send(fd.get(), bytes, fds), static_cast<ssize_t>(bytes.size()));
      bool in_time = false;
      EXPECT_EQ(Answer(fd.get(), &in_time), HandoffVerdict::kRefused);
      EXPECT_TRUE(in_time);
    }
    EXPECT_TRUE(node_->Until(Wait::kPoll, [&] { return OpenDescriptors() == before; }))
        << "a descriptor is left";
    EXPECT_FALSE(node_->established());
  }

  TcpOptions options_;
  std::unique_ptr<BenchNode> node_;
  uint64_t qual_ = 0;
};

TEST_F(HandoffArrivalTest, AnOfferIsTakenAndAnswered) { ExpectStillServing(); }

TEST_F(HandoffArrivalTest, MessagesThatAreNoOffer) {
  Connection c;
  const int fd = c.own.get();
  const Bytes frame = Request();
  const Bytes offer = Offer(qual_, frame);
  const auto changed = [&](size_t at, uint8_t to) {
    Bytes bytes = offer;
    bytes[at] = to;
    return bytes;
  };
  const auto longer = [&](size_t by) {
    Bytes bytes = offer;
    bytes.resize(bytes.size() + by, 0xee);
    return bytes;
  };
  ExpectRefused("garbage", Bytes(33, 'G'), {fd});
  ExpectRefused("another version", changed(6, 2), {fd});
  ExpectRefused("another qualifier", changed(15, static_cast<uint8_t>(offer[15] ^ 1)), {fd});
  for (const size_t size : {size_t{1}, size_t{15}, size_t{16}, size_t{35}, offer.size() - 1}) {
    ExpectRefused("cut to " + std::to_string(size), {offer.begin(), offer.begin() + size}, {fd});
  }
  ExpectRefused("a byte too many", longer(1), {fd});
  ExpectRefused("as long as can be", longer(kMaxHandoffOffer - offer.size()), {fd});
  ExpectRefused("longer", longer(5000), {fd});
  ExpectRefused("no MPA key", changed(16, 'm'), {fd});
  ExpectRefused("too much private data", changed(16 + 18, 0xff), {fd});
  ExpectRefused("a Request with markers", changed(16 + 16, 0x90), {fd});
  Bytes reply = frame;
  memcpy(reply.data(), iwarp::kMpaReplyKey, iwarp::kMpaKeySize);
  ExpectRefused("a Reply", Offer(qual_, reply), {fd});
  c.ExpectUntouched();
  ExpectStillServing();
}

TEST_F(HandoffArrivalTest, DescriptorsThatAreNoConnection) {
  Connection c;
  const Bytes offer = Offer(qual_, Request());
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reading(ends[0]), writing(ends[1]);
  const UniqueFd udp(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const UniqueFd local = LocalSocket();
  const UniqueFd unconnected(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const UniqueFd listening(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(listen(listening.get(), 1), 0);
  ExpectRefused("none", offer, {});
  ExpectRefused("a pipe", offer, {reading.get()});
  ExpectRefused("UDP", offer, {udp.get()});
  ExpectRefused("a local socket", offer, {local.get()});
  ExpectRefused("a socket that is not connected", offer, {unconnected.get()});
  ExpectRefused("a listening socket", offer, {listening.get()});
  ExpectRefused("two", offer, {c.own.get(), c.own.get()});
  ExpectRefused("a hundred", offer, std::vector<int>(100, c.own.get()));
  ExpectRefused("two, and no offer", Bytes(7, 1), {c.own.get(), reading.get()});
  c.ExpectUntouched();
  ExpectStillServing();
}

TEST_F(HandoffArrivalTest, OneThatSaysNothingIsDroppedAfterTheTimeLimit) {
  const int before = OpenDescriptors();
  {
    const UniqueFd fd = Come();
    bool in_time = false;
    EXPECT_EQ(Answer(fd.get(), &in_time), std::nullopt);
    EXPECT_TRUE(in_time);
  }
  for (int i = 0; i < 200; ++i) Come();  // each leaves at once
  {
    const UniqueFd last = Come();
    ASSERT_EQ(Send(last.get(), Bytes(3, 1), {}), 3);
    bool in_time = false;
    EXPECT_EQ(Answer(last.get(), &in_time), HandoffVerdict::kRefused);
  }
  EXPECT_TRUE(node_->Until(Wait::kPoll, [&] { return OpenDescriptors() == before; }));
  ExpectStillServing();
}

// The request changes hands at the moment of the answer. Without an answer nothing is taken.
TEST_F(HandoffArrivalTest, AnOfferWhoseSenderHasGivenUpIsNotTaken) {
  Connection c;
  const int before = OpenDescriptors();
  UniqueFd fd = Come();
  ASSERT_EQ(shutdown(fd.get(), SHUT_RD), 0);
  ASSERT_GT(Send(fd.get(), Offer(qual_, Request()), {c.own.get()}), 0);
  EXPECT_TRUE(node_->Until(Wait::kPoll, [&] {
    return send(fd.get(), "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EPIPE;
  })) << "it is not dropped";
  EXPECT_TRUE(node_->Until(Wait::kPoll, [&] { return OpenDescriptors() == before + 1; }));
  fd.Close();
  c.ExpectUntouched();
  EXPECT_FALSE(node_->established());
  ExpectStillServing();
}

TEST_F(HandoffArrivalTest, TheNameGoesWithTheServicePoint) {
  const LocalName a = HandoffAddressOf(geteuid(), "", qual_);
  node_.reset();
  const UniqueFd fd = LocalSocket();
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&a.address), a.size), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
}

// ---- the handing-off side -----------------------------------------------------------------------

class HandoffSenderTest : public testing::Test {
 protected:
  HandoffSenderTest() : qual_(uint64_t{0xfeed} << 40 | static_cast<uint64_t>(getpid())) {}

  UniqueFd ListenAs(const std::string& host, int backlog = 8) {
    UniqueFd fd = LocalSocket();
    const LocalName a = HandoffAddressOf(geteuid(), host, qual_);
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&a.address), a.size), 0);
    EXPECT_EQ(listen(fd.get(), backlog), 0);
    return fd;
  }
  Status Hand(milliseconds limit = milliseconds(10'000)) {
    const Bytes frame = Request();
    return OfferToProcess({qual_, frame}, "127.0.0.1", connection_.own.get(), limit);
  }
  // Hands a request to a process that gives this answer, or closes when `answer` is empty.
  Code HandTo(const std::string& host, const Bytes& answer) {
    const UniqueFd listener = ListenAs(host);
    std::thread other([&] {
      const UniqueFd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      uint8_t bytes[kMaxHandoffOffer + 1];
      const ssize_t n = recv(fd.get(), bytes, sizeof(bytes), 0);
      ASSERT_GT(n, 0);
      const auto offer = DecodeHandoffOffer({bytes, static_cast<size_t>(n)});
      ASSERT_TRUE(offer.has_value());
      EXPECT_EQ(offer->conn_qual, qual_);
      EXPECT_EQ(Bytes(offer->frame.begin(), offer->frame.end()), Request());
      if (!answer.empty()) {
        EXPECT_EQ(send(fd.get(), answer.data(), answer.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(answer.size()));
      }
    });
    const Code code = Hand().code();
    other.join();
    return code;
  }
  static Bytes Say(HandoffVerdict verdict) {
    const auto bytes = EncodeHandoffAnswer(verdict);
    return {bytes.begin(), bytes.end()};
  }

  const uint64_t qual_;
  Connection connection_;
};

TEST_F(HandoffSenderTest, EachAnswerHasItsCode) {
  const int before = OpenDescriptors();
  EXPECT_EQ(Hand().code(), Code::kNotFound) << "nobody is there";
  for (const std::string host : {"", "127.0.0.1"}) {
    EXPECT_EQ(HandTo(host, Say(HandoffVerdict::kTaken)), Code::kOk);
    EXPECT_EQ(HandTo(host, Say(HandoffVerdict::kNoListener)), Code::kNotFound);
    EXPECT_EQ(HandTo(host, Say(HandoffVerdict::kRefused)), Code::kNoFreeQualifier);
    EXPECT_EQ(HandTo(host, {}), Code::kNotFound) << "it dies";
    EXPECT_EQ(HandTo(host, Bytes(16, 'x')), Code::kNoFreeQualifier);
    EXPECT_EQ(HandTo(host, Bytes(1, 0)), Code::kNoFreeQualifier);
    EXPECT_EQ(HandTo(host, Bytes(500, 0)), Code::kNoFreeQualifier);
  }
  EXPECT_EQ(OpenDescriptors(), before);
  connection_.ExpectUntouched();
}

TEST_F(HandoffSenderTest, AnAnswerThatIsTooLateCannotBeSent) {
  const UniqueFd listener = ListenAs("");
  EXPECT_EQ(Hand(milliseconds(50)).code(), Code::kNoFreeQualifier);
  const UniqueFd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_TRUE(fd.valid());
  const Bytes taken = Say(HandoffVerdict::kTaken);
  EXPECT_EQ(send(fd.get(), taken.data(), taken.size(), MSG_NOSIGNAL), -1);
  EXPECT_EQ(errno, EPIPE);
  connection_.ExpectUntouched();
}

TEST_F(HandoffSenderTest, AFullBacklogIsWaitedForAndGivenUp) {
  const UniqueFd listener = ListenAs("", 0);
  const UniqueFd first = LocalSocket();
  const LocalName a = HandoffAddressOf(geteuid(), "", qual_);
  ASSERT_EQ(connect(first.get(), reinterpret_cast<const sockaddr*>(&a.address), a.size), 0);
  EXPECT_EQ(Hand(milliseconds(50)).code(), Code::kNoFreeQualifier);
  connection_.ExpectUntouched();
}

}  // namespace
}  // namespace softdat::softnet
