// SPDX-License-Identifier: BSD-3-Clause
// Checks during and after every run of connecting, whatever its seed.
#include <algorithm>

#include "tests/sim/connect_program.h"

namespace softdat::sim {

using softnet::CrcPolicy;
using transport::RejectReason;

namespace {

// The longest time after the shut-down: a graceful disconnect becomes an abrupt one, and TCP loses
// its patience.
constexpr uint64_t kLongestEndUs = 200'000'000;

}  // namespace

void ConnectProgram::CheckLimits() {
  for (const auto& own : nodes_) {
    if (dead(own->number())) continue;
    Expect(own->half_open() <= own->options().half_open, "too many half-open connections");
    for (const Party* const party : own->parties()) {
      Expect(party->due_us().value_or(~uint64_t{0}) >= time_.now_us(),
             "node " + std::to_string(own->number()) + " waits beyond its time limit, in phase " +
                 std::to_string(static_cast<int>(party->phase())));
    }
  }
}

void ConnectProgram::CheckLeftovers() {
  Expect(tally_.end_us <= kShutDownUs + kLongestEndUs, "the shut-down takes too long");
  for (const auto& own : nodes_) {
    const int i = own->number();
    const std::string where = "at node " + std::to_string(i);
    Expect(own->parties().empty(), "connections left " + where);
    Expect(own->half_open() == 0, "half-open connections left " + where);
    Expect(streams_->open(i) == 0, "streams left open " + where);
    Expect(streams_->remaining(i) == 0, "the system has streams left " + where);
    Expect(own->memory().regions() == 0, "regions left " + where);
    Expect(own->most_half_open() <= own->options().half_open, "too many half-open connections");
    tally_.most_half_open = std::max<uint64_t>(tally_.most_half_open, own->most_half_open());
  }
  Expect(ends_.empty() && strangers_.empty(), "somebody still waits to be told");
}

// Each Connect and each Accept is reported once, and the end of what was established once.
void ConnectProgram::CheckReports(uint64_t number, const Attempt& attempt) {
  const std::string which = " of connection " + std::to_string(number);
  const auto check = [&](const End& end, int reports) {
    Expect(end.reports == reports, std::to_string(end.reports) + " reports" + which);
    Expect(end.ends == (end.result == Result::kEstablished), "ends told" + which);
  };
  if (number != 0 && !dead(attempt.from)) check(attempt.active, 1);
  for (const auto& p : attempt.passive) {
    if (dead(p->node)) continue;
    Expect(p->answer != Answer::kNone, "no answer to the request" + which);
    check(*p, p->answer == Answer::kAccept ? 1 : 0);
  }
}

// The initiator's first bytes did not arrive in time.
bool ConnectProgram::TooLate(const End& acceptor) {
  return acceptor.result == Result::kFailed &&
         acceptor.why.find("sent nothing after our Reply") != std::string::npos;
}

// The acceptor's report fits the initiator's.
void ConnectProgram::CheckAcceptor(uint64_t number, const End& a, const End& p) {
  const std::string which = " of connection " + std::to_string(number);
  const bool same_link = a.link == p.link;
  if (p.result == Result::kEstablished && p.peer_to_peer) {
    Expect(a.result == Result::kEstablished && same_link,
           "the acceptor alone is established" + which + ": " + a.why);
  }
  if (!same_link || dead(p.node)) return;
  switch (a.result) {
    case Result::kEstablished:
      Expect(p.answer == Answer::kAccept && a.got == p.answered, "data of the accept" + which);
      // The initiator's first bytes came too late, or a fault overtook them, or the reset that ends
      // an abrupt disconnect did.
      Expect(p.result == Result::kEstablished || faults_ || TooLate(p) ||
                 (a.disconnected && !a.graceful),
             "the initiator alone is established" + which + ": " + p.why);
      CheckMessages(number, a, p, /*by_initiator=*/true);
      CheckMessages(number, p, a, /*by_initiator=*/false);
      break;
    case Result::kFailed:
      if (faults_ || a.reason == RejectReason::kTimedOut) break;
      // The Reply asks for something that the initiator's settings forbid.
      if (node(p.node).options().crc == CrcPolicy::kOn &&
          node(a.node).options().crc == CrcPolicy::kOff) {
        break;
      }
      // The Reply was under way for longer than the acceptor waits.
      if (TooLate(p)) break;
      // Without a ready-to-receive message the acceptor may have established the connection and
      // left it.
      if (p.result == Result::kEstablished && p.disconnected) break;
      Expect(p.answer != Answer::kAccept,
             "an accept failed for the initiator" + which + ": " + a.why);
      Expect((p.answer == Answer::kReject) == (a.reason == RejectReason::kPeer),
             "the answer does not arrive" + which + ": " + a.why);
      break;
    default:
      break;
  }
}

void ConnectProgram::CheckInitiator(uint64_t number, const Attempt& attempt) {
  const End& a = attempt.active;
  if (dead(attempt.from)) return;
  const std::string which = " of connection " + std::to_string(number);
  const End* other = nullptr;
  int established = 0;
  for (const auto& p : attempt.passive) {
    CheckAcceptor(number, a, *p);
    established += p->result == Result::kEstablished;
    if (a.link == p->link) other = p.get();
  }
  Expect(established <= 1, "established more than once for the acceptor" + which);
  if (a.result == Result::kEstablished) {
    Expect(other != nullptr && other->answer == Answer::kAccept, "nobody accepted" + which);
  } else if (a.result == Result::kFailed && a.reason == RejectReason::kPeer) {
    Expect(other != nullptr && other->answer == Answer::kReject && a.got == other->answered,
           "a consumer's reject that was none" + which);
  } else {
    Expect(a.got.empty(), "private data of nobody" + which);
  }
}

// Checks the messages of `from` at `to`. The connection was established at both.
void ConnectProgram::CheckMessages(uint64_t number, const End& from, const End& to,
                                   bool by_initiator) {
  if (to.result != Result::kEstablished || dead(from.node) || dead(to.node)) return;
  const std::string which = " of connection " + std::to_string(number);
  Expect(to.received <= from.posted, "more messages than were sent" + which);
  // An old peer is not asked to confirm.
  if (to.peer_to_peer) {
    Expect(from.completed <= to.received,
           "a send succeeded, and its message did not arrive" + which);
  }
  if (faults_ || !from.graceful || to.disconnected) return;
  // An acceptor sends nothing to an old peer before that has sent something (RFC 5044 §7.1).
  if (!by_initiator && !to.peer_to_peer && to.posted == 0) return;
  Expect(from.completed == from.posted && to.received == from.posted,
         "a graceful disconnect left messages behind" + which + ": " + std::to_string(from.posted) +
             " posted, " + std::to_string(from.completed) + " completed, " +
             std::to_string(to.received) + " received" +
             (to.peer_to_peer ? "" : ", with an old peer"));
}

}  // namespace softdat::sim
