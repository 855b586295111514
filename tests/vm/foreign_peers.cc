// SPDX-License-Identifier: BSD-3-Clause
// softnet against the kernel's soft-iWARP, in softnet's default mode of completion. The other end
// is rping of rdmacm-utils in either role, or a target whose memory is read. tests/vm/check runs it
// in the guest, in the network namespace B of tests/vm/guest.sh (soft_peer), as one of the
// conformance suite's programs: foreign_peers --ia softnet-vD --families 4.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/conformance/fixture.h"
#include "tests/conformance/peer_protocol.h"
#include "tests/vm/outside_program.h"
#include "tests/vm/rping_fixture.h"
#include "tests/vm/wiretap.h"

namespace softdat::conformance {
namespace {

using vm_test::Conversation;
using vm_test::Frame;
using vm_test::kKernelAddress;
using vm_test::kOwnAddress;
using vm_test::kPing;
using vm_test::kPings;
using vm_test::kRpingPort;
using vm_test::OutsideProgram;
using vm_test::RpingTest;
using vm_test::Wiretap;

class ForeignPeerTest : public RpingTest {
 protected:
  void SetUp() override {
    RpingTest::SetUp();
    if (HasFatalFailure()) return;
    EXPECT_TRUE(ConfirmsCompletions(a_->ia)) << "the default";
  }
  void ExpectWhenConnected() override { ExpectCompletion("taken"); }
  // Starts rping's server, and waits until it listens.
  std::unique_ptr<OutsideProgram> StartListening() const {
    auto rping = StartServer(kRpingPort);
    EXPECT_TRUE(vm_test::SomebodyListensOutside(kRpingPort));
    return rping;
  }

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
};
CONFORMANCE_FAMILIES(ForeignPeerTest);

TEST_P(ForeignPeerTest, AsTheServerOfRping) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*a_, &qualifier);
  ServeRping(static_cast<uint16_t>(qualifier), psp, 1);
}

TEST_P(ForeignPeerTest, AsTheClientOfRping) {
  const auto rping = StartListening();
  PingRping(kKernelAddress, kRpingPort);
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
  const auto rping = StartListening();
  Wiretap tap(kOwnAddress, kKernelAddress, kRpingPort);
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
  OutsideProgram target({program, "verbs-vC", std::to_string(kBytes), "0"});
  const std::string listening = target.Line();
  ASSERT_EQ(listening.rfind("listening ", 0), 0u) << listening;
  Wiretap tap(kOwnAddress, kKernelAddress, static_cast<uint16_t>(std::stoul(listening.substr(10))));
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
