// SPDX-License-Identifier: BSD-3-Clause
// Every (state x upcall) of semantics 8.3: the state that follows, and the event that is posted.
// States without a connection must not react, whatever a back end reports.
#include <tuple>

#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

using transport::EndReason;
using transport::RejectReason;

constexpr int kNone = 0;
constexpr int kEstablished = DAT_CONNECTION_EVENT_ESTABLISHED;
constexpr int kPeerRejected = DAT_CONNECTION_EVENT_PEER_REJECTED;
constexpr int kNonPeer = DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
constexpr int kAccept = DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR;
constexpr int kDisconnected = DAT_CONNECTION_EVENT_DISCONNECTED;
constexpr int kBroken = DAT_CONNECTION_EVENT_BROKEN;
constexpr int kTimedOut = DAT_CONNECTION_EVENT_TIMED_OUT;
constexpr int kUnreachable = DAT_CONNECTION_EVENT_UNREACHABLE;

// The event of each cell. Established leads to CONNECTED, all others lead to DISCONNECTED. Without
// an event the state stays.
struct Row {
  const char* name;
  void (*make)(transport::ConnectionSink&);
  int event[9];  // in the order of kAllStates
};

// covers: semantics 8.3
const Row kTable[] = {
    //  UC RS PP TP  AP  CP  CO  DP  DI
    {"Established",
     [](transport::ConnectionSink& s) { s.OnEstablished({}); },
     {kNone, kNone, kNone, kNone, kEstablished, kEstablished, kNone, kNone, kNone}},
    {"PeerRejected",
     [](transport::ConnectionSink& s) { s.OnFailed(RejectReason::kPeer, {}, "test"); },
     {kNone, kNone, kNone, kNone, kPeerRejected, kAccept, kBroken, kDisconnected, kNone}},
    {"NonPeer",
     [](transport::ConnectionSink& s) { s.OnFailed(RejectReason::kNonPeer, {}, "test"); },
     {kNone, kNone, kNone, kNone, kNonPeer, kAccept, kBroken, kDisconnected, kNone}},
    {"Unreachable",
     [](transport::ConnectionSink& s) { s.OnFailed(RejectReason::kUnreachable, {}, "test"); },
     {kNone, kNone, kNone, kNone, kUnreachable, kAccept, kBroken, kDisconnected, kNone}},
    {"TimedOut",
     [](transport::ConnectionSink& s) { s.OnFailed(RejectReason::kTimedOut, {}, "test"); },
     {kNone, kNone, kNone, kNone, kTimedOut, kAccept, kBroken, kDisconnected, kNone}},
    {"Aborted",
     [](transport::ConnectionSink& s) { s.OnFailed(RejectReason::kAborted, {}, "test"); },
     {kNone, kNone, kNone, kNone, kAccept, kAccept, kBroken, kDisconnected, kNone}},
    {"Disconnected",
     [](transport::ConnectionSink& s) { s.OnEnded(EndReason::kDisconnected, "test"); },
     {kNone, kNone, kNone, kNone, kNonPeer, kAccept, kDisconnected, kDisconnected, kNone}},
    {"Broken",
     [](transport::ConnectionSink& s) { s.OnEnded(EndReason::kBroken, "test"); },
     {kNone, kNone, kNone, kNone, kNonPeer, kAccept, kBroken, kBroken, kNone}},
};

class EpUpcallTable : public EngineTest,
                      public ::testing::WithParamInterface<std::tuple<size_t, size_t>> {};

TEST_P(EpUpcallTable, Cell) {
  const auto [row, column] = GetParam();
  const int expected = kTable[row].event[column];
  const DAT_EP_HANDLE ep = MakeEpIn(kAllStates[column]);

  kTable[row].make(adapter().last_qp().sink());

  const std::vector<DAT_EVENT> events = Take(connect_evd_);
  if (expected == kNone) {
    EXPECT_TRUE(events.empty());
    EXPECT_EQ(StateOf(ep), kAllStates[column]);
    return;
  }
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event_number, expected);
  EXPECT_EQ(events[0].evd_handle, connect_evd_);
  EXPECT_EQ(events[0].event_data.connect_event_data.ep_handle, ep);
  EXPECT_EQ(events[0].event_data.connect_event_data.private_data_size, 0);
  EXPECT_EQ(StateOf(ep),
            expected == kEstablished ? DAT_EP_STATE_CONNECTED : DAT_EP_STATE_DISCONNECTED);
}

INSTANTIATE_TEST_SUITE_P(AllCells, EpUpcallTable,
                         ::testing::Combine(::testing::Range(size_t{0}, std::size(kTable)),
                                            ::testing::Range(size_t{0}, std::size(kAllStates))),
                         [](const auto& cell) {
                           return std::string(kTable[std::get<0>(cell.param)].name) + "_" +
                                  StateName(kAllStates[std::get<1>(cell.param)]);
                         });

}  // namespace
}  // namespace softdat::engine::testing
