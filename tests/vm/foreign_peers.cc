// SPDX-License-Identifier: BSD-3-Clause
// softnet against the kernel's soft-iWARP, in softnet's default mode of completion. The other end
// is rping of rdmacm-utils in either role, or a target whose memory is read. tests/vm/check runs it
// in the guest, in the network namespace B of tests/vm/guest.sh (soft_peer), as one of the
// conformance suite's programs: foreign_peers --ia softnet-vD --families 4.
#include <arpa/inet.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/conformance/fixture.h"
#include "tests/conformance/peer_protocol.h"
#include "tests/vm/outside_program.h"
#include "tests/vm/rping_message.h"
#include "tests/vm/wiretap.h"

namespace softdat::conformance {
namespace {

using vm_test::Conversation;
using vm_test::Frame;
using vm_test::kMessage;
using vm_test::kPing;
using vm_test::kPings;
using vm_test::OutsideProgram;
using vm_test::PingText;
using vm_test::Wiretap;

constexpr char kSiwAddress[] = "10.8.0.1";
constexpr char kOwnAddress[] = "10.8.0.2";

class ForeignPeerTest : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    if (HasFatalFailure()) return;
    in_ = a_->MakeBuffer(kMessage);
    out_ = a_->MakeBuffer(kMessage);
    ping_ = a_->MakeBuffer(kPing);
    EXPECT_TRUE(ConfirmsCompletions(a_->ia)) << "the default";
  }
  void TearDown() override {
    in_.reset();
    out_.reset();
    ping_.reset();
    ConformanceTest::TearDown();
  }

  // Waits for rping's request to connect. One receive must be posted before.
  void AcceptFrom(DAT_PSP_HANDLE psp) {
    const DAT_CR_HANDLE cr = NextRequest(*a_);
    ASSERT_NE(cr, DAT_HANDLE_NULL);
    ASSERT_OK(dat_cr_accept(cr, a_->ep, 0, nullptr));
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_OK(dat_psp_free(psp));
  }
  DAT_CONNECTION_EVENT_DATA ConnectTo(const char* where, DAT_CONN_QUAL qualifier) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    EXPECT_EQ(inet_pton(AF_INET, where, &address.sin_addr), 1);
    EXPECT_OK(dat_ep_connect(a_->ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), qualifier,
                             kPatienceUs, 0, nullptr, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG));
    return a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  }

  // One round as rping's server: reads rping's memory, in `pieces` reads at once, and writes to it.
  void ServePing(int ping, size_t pieces) {
    SCOPED_TRACE(ping);
    std::fill_n(ping_->data(), kPing, uint8_t{0});
    a_->ExpectDto(a_->recv_evd, a_->ep, 1);
    const DAT_RMR_TRIPLET source = vm_test::Advertised(*in_);
    ASSERT_EQ(source.segment_length, kPing);
    ReadIn(source, pieces);
    const std::string text = PingText(ping);
    EXPECT_TRUE(std::equal(text.begin(), text.end(), ping_->data()));
    Message();
    a_->ExpectDto(a_->recv_evd, a_->ep, 1);
    const DAT_RMR_TRIPLET sink = vm_test::Advertised(*in_);
    ASSERT_EQ(sink.segment_length, kPing);
    ASSERT_OK(PostWrite(a_->ep, {ping_->local()}, sink, 2));
    a_->ExpectDto(a_->request_evd, a_->ep, 2);
    Message();
  }
  void ReadIn(const DAT_RMR_TRIPLET& source, size_t pieces) {
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
  // Sends the message. The receive for its answer is posted first.
  void Message() {
    ASSERT_OK(PostRecv(a_->ep, {in_->local()}, 1));
    ASSERT_OK(PostSend(a_->ep, {out_->local()}, 3));
    a_->ExpectDto(a_->request_evd, a_->ep, 3);
  }

  void ServeRping(uint16_t port, DAT_PSP_HANDLE psp, size_t pieces) {
    OutsideProgram rping({"stdbuf", "-oL", "rping", "-c", "-v", "-V", "-a", kOwnAddress, "-p",
                          std::to_string(port), "-C", std::to_string(kPings), "-S",
                          std::to_string(kPing)});
    ASSERT_OK(PostRecv(a_->ep, {in_->local()}, 1));
    AcceptFrom(psp);
    for (int ping = 0; ping < kPings && !HasFailure(); ++ping) ServePing(ping, pieces);
    ExpectCompletion("taken");
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

  // The rounds as rping's client, whose memory rping's server reads and writes.
  void PingRping(const char* where, uint16_t port) {
    ASSERT_OK(PostRecv(a_->ep, {in_->local()}, 1));
    ConnectTo(where, port);
    const auto sink = a_->MakeBuffer(kPing);
    for (int ping = 0; ping < kPings; ++ping) {
      SCOPED_TRACE(ping);
      const std::string text = PingText(ping);
      std::copy(text.begin(), text.end(), ping_->data());
      for (const Buffer* memory : {ping_.get(), sink.get()}) {
        vm_test::Advertise(*memory, out_.get());
        ASSERT_OK(PostSend(a_->ep, {out_->local()}, 3));
        a_->ExpectDto(a_->request_evd, a_->ep, 3);
        a_->ExpectDto(a_->recv_evd, a_->ep, 1);
        ASSERT_OK(PostRecv(a_->ep, {in_->local()}, 1));
      }
      EXPECT_TRUE(std::equal(text.begin(), text.end(), sink->data()));
      EXPECT_TRUE(std::equal(text.begin(), text.end(), ping_->data()));
      EXPECT_TRUE(sink->guards_intact());
    }
    ExpectCompletion("taken");
    ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_GRACEFUL_FLAG));
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    a_->ExpectDto(a_->recv_evd, a_->ep, 1, DAT_DTO_ERR_FLUSHED);
  }
  // Starts rping's server, and waits until it listens.
  static std::unique_ptr<OutsideProgram> StartServer(uint16_t port) {
    auto rping = std::make_unique<OutsideProgram>(std::vector<std::string>{
        "rping", "-s", "-a", kSiwAddress, "-p", std::to_string(port), "-S", std::to_string(kPing)});
    EXPECT_TRUE(vm_test::SomebodyListensOutside(port));
    return rping;
  }
  // Nothing else listens in the kernel's network.
  static constexpr uint16_t kPort = 7174;

  // The EP must say that its requests complete otherwise than those of the IA.
  void ExpectCompletion(const char* value) {
    DAT_EP_PARAM param{};
    ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &param));
    ASSERT_EQ(param.ep_attr.ep_provider_specific_count, 1);
    EXPECT_STREQ(param.ep_attr.ep_provider_specific[0].name, "SOFTDAT_COMPLETION");
    EXPECT_STREQ(param.ep_attr.ep_provider_specific[0].value, value);
  }
  // The sizes of the reads that one end has sent to the other.
  static std::vector<uint32_t> Reads(const Conversation& said, bool by_client) {
    std::vector<uint32_t> sizes;
    for (const Frame& frame : said.frames) {
      if (frame.opcode == iwarp::Opcode::kReadRequest && frame.from_client == by_client) {
        sizes.push_back(frame.read_size);
      }
    }
    return sizes;
  }
  // The largest number of reads of one end that were outstanding at the same time.
  static int MostOutstanding(const Conversation& said, bool by_client) {
    int outstanding = 0, most = 0;
    for (const Frame& frame : said.frames) {
      if (frame.opcode == iwarp::Opcode::kReadRequest && frame.from_client == by_client) {
        most = std::max(most, ++outstanding);
      } else if (frame.opcode == iwarp::Opcode::kReadResponse && frame.last &&
                 frame.from_client != by_client) {
        --outstanding;
      }
    }
    EXPECT_EQ(outstanding, 0);
    return most;
  }

  std::unique_ptr<Buffer> in_, out_, ping_;
};
CONFORMANCE_FAMILIES(ForeignPeerTest);

TEST_P(ForeignPeerTest, AsTheServerOfRping) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*a_, &qualifier);
  ServeRping(static_cast<uint16_t>(qualifier), psp, 1);
}

TEST_P(ForeignPeerTest, AsTheClientOfRping) {
  const auto rping = StartServer(kPort);
  PingRping(kSiwAddress, kPort);
}

// rping allows one read at a time, so those behind it wait their turn. softnet sends it no empty
// read as a request to confirm, since soft-iWARP does not say that it answers one.
TEST_P(ForeignPeerTest, NoReadsButTheProgramsGoToRpingAndOneAtATime) {
  constexpr size_t kPieces = 10;
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*a_, &qualifier);
  Wiretap tap(kOwnAddress, kOwnAddress, static_cast<uint16_t>(qualifier));
  ServeRping(tap.port(), psp, kPieces);
  const Conversation said = tap.Finish();
  EXPECT_FALSE(said.request.peer_to_peer);
  EXPECT_EQ(said.request.ird, 1);
  EXPECT_EQ(Reads(said, false), std::vector<uint32_t>(kPings * kPieces, kPing / kPieces));
  EXPECT_EQ(MostOutstanding(said, false), 1);
  EXPECT_TRUE(Reads(said, true).empty());
}

TEST_P(ForeignPeerTest, NothingIsReadFromTheServerOfRping) {
  const auto rping = StartServer(kPort);
  Wiretap tap(kOwnAddress, kSiwAddress, kPort);
  PingRping(kOwnAddress, tap.port());
  const Conversation said = tap.Finish();
  EXPECT_TRUE(said.request.rtr_read) << "it was offered";
  EXPECT_FALSE(said.reply.rtr_read) << "and not chosen";
  EXPECT_TRUE(Reads(said, true).empty());
  EXPECT_EQ(Reads(said, false), std::vector<uint32_t>(kPings, kPing));
}

// When soft-iWARP gets a request to connect, it allows as many reads at a time as the request asks
// for, up to 128. So the EP sets the limit. What is posted beyond it waits its turn.
TEST_P(ForeignPeerTest, MoreReadsThanTheConnectionHasQueueUp) {
  constexpr size_t kBytes = 1 << 16, kReads = 32, kEach = kBytes / kReads, kAtATime = 4;
  DAT_EP_ATTR attr{};
  attr.max_request_dtos = 2 * kReads;
  attr.max_recv_dtos = attr.max_recv_iov = attr.max_request_iov = 1;
  attr.max_rdma_read_out = kAtATime;
  a_->FreeEp(a_->ep);
  a_->ep = a_->MakeEp(&attr);
  const char* const program = std::getenv("CONFORMANCE_PEER");
  ASSERT_NE(program, nullptr) << "CONFORMANCE_PEER names no program";
  OutsideProgram target({program, "verbs-vC", std::to_string(kBytes)});
  const std::string listening = target.Line();
  ASSERT_EQ(listening.rfind("listening ", 0), 0u) << listening;
  Wiretap tap(kOwnAddress, kSiwAddress, static_cast<uint16_t>(std::stoul(listening.substr(10))));
  const DAT_CONNECTION_EVENT_DATA data = ConnectTo(kOwnAddress, tap.port());
  TargetDescription description{};
  ASSERT_EQ(data.private_data_size, static_cast<DAT_COUNT>(sizeof description));
  std::memcpy(&description, data.private_data, sizeof description);
  DAT_RMR_TRIPLET remote{};
  remote.virtual_address = description.address;
  remote.rmr_context = description.rmr_context;
  remote.segment_length = kBytes;
  auto from = a_->MakeBuffer(kBytes), to = a_->MakeBuffer(kBytes);
  from->FillPattern(3);
  ASSERT_OK(PostWrite(a_->ep, {from->local()}, remote, 1));
  remote.segment_length = kEach;
  for (size_t i = 0; i < kReads; ++i, remote.virtual_address += kEach) {
    ASSERT_OK(PostRead(a_->ep, {to->local(i * kEach, kEach)}, remote, 10 + i));
  }
  a_->ExpectDto(a_->request_evd, a_->ep, 1);
  for (size_t i = 0; i < kReads; ++i) a_->ExpectDto(a_->request_evd, a_->ep, 10 + i);
  EXPECT_TRUE(std::equal(to->data(), to->data() + kBytes, from->data()));
  EXPECT_TRUE(to->guards_intact());
  ExpectCompletion("taken");
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_GRACEFUL_FLAG));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  const Conversation said = tap.Finish();
  EXPECT_EQ(Reads(said, true), std::vector<uint32_t>(kReads, kEach));
  EXPECT_GE(said.reply.ird, kAtATime);
  EXPECT_EQ(MostOutstanding(said, true), int{kAtATime});
}

}  // namespace
}  // namespace softdat::conformance
