// SPDX-License-Identifier: BSD-3-Clause
// Party until the connection is agreed on.
#include "tests/sim/connecting_party.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tests/sim/connecting_node.h"
#include "wire/iwarp/mpa.h"

namespace softdat::sim {

using softnet::Acceptance;
using softnet::Initiation;
using softnet::MpaConfig;
using softnet::MpaState;
using softnet::Reception;
using softnet::RefuseReason;
using transport::RejectReason;
using Need = Initiation::Need;
using Outcome = Initiation::Outcome;
using Kind = StreamEvent::Kind;

Party::Party(ConnectingNode* node) : node_(node), serial_(node->NextSerial()) {}

Party::~Party() { StopTimers(); }

void Party::OnEvent(const StreamEvent& event) {
  switch (phase_) {
    case Phase::kConnecting:
      if (event.kind == Kind::kConnected) {
        const bool to_itself = node_->streams().local(link_) == node_->streams().remote(link_);
        initiation_->OnConnected(to_itself, node_->now());
      } else if (event.kind == Kind::kFailed) {
        initiation_->OnLost(event.error, node_->now());
      }
      return Proceed();
    case Phase::kHalfOpen:
      return ReadRequest();
    case Phase::kAccepting:
      return LookForFirstByte();
    case Phase::kConnected:
      return Move();
    case Phase::kClosing:
      return Drain();
    default:
      return;  // nobody looks at the link of a request that waits
  }
}

std::optional<uint64_t> Party::due_us() const {
  const auto us = [](std::chrono::microseconds t) { return static_cast<uint64_t>(t.count()); };
  switch (phase_) {
    case Phase::kConnecting:
      if (parameters_.limit == Initiation::kNever) return std::nullopt;
      return started_us_ + us(parameters_.limit);
    case Phase::kHalfOpen:
      return started_us_ + node_->options().handshake_us;
    case Phase::kAccepting:
      return us(acceptance_->deadline());
    default:
      return std::nullopt;
  }
}

// -------------------------------------------------------------------------------------------------
// Active

void Party::Connect(const ConnectParameters& parameters) {
  phase_ = Phase::kConnecting;
  parameters_ = parameters;
  qualifier_ = parameters.qualifier;
  started_us_ = node_->time().now_us();
  Initiation::Parameters p;
  p.mpa.crc = node_->options().crc;
  p.mpa.revision = node_->options().revision1_only ? 1 : 2;
  p.mpa.max_read_in = p.mpa.max_read_out = node_->options().depth;
  p.mpa.conn_qual = parameters.qualifier;
  p.private_data = parameters.private_data;
  p.where = "connect to node " + std::to_string(parameters.to);
  p.same_host = parameters.to == node_->number();
  p.grace = parameters.grace;
  p.limit = parameters.limit;
  initiation_.emplace(std::move(p));
  initiation_->Begin(node_->now());
  Proceed();
}

void Party::Proceed() {
  while (true) {
    switch (initiation_->need()) {
      case Need::kLink:
        if (dialled_ != initiation_->attempt()) {
          Dial();
          continue;
        }
        break;
      case Need::kBytes:
        MoveFrames();
        if (initiation_->need() != Need::kBytes) continue;
        break;
      case Need::kPause:
        if (link_ != 0) node_->streams().Close(link_);
        node_->Unroute(std::exchange(link_, 0));
        break;
      case Need::kOver:
        return Report();
    }
    const Initiation::Time at = initiation_->deadline();
    node_->time().Cancel(std::exchange(timer_, 0));
    if (at != Initiation::kNever) {
      SetTimer(&timer_, static_cast<uint64_t>(at.count()), &Party::OnConnectTime);
    }
    return;
  }
}

void Party::OnConnectTime() {
  initiation_->OnTime(node_->now());
  Proceed();
}

void Party::Dial() {
  dialled_ = initiation_->attempt();
  if (link_ != 0) {
    node_->streams().Close(link_);
    node_->Unroute(link_);
  }
  link_ = node_->streams().Connect(node_->number(), {parameters_.to, PortOf(qualifier_)},
                                   parameters_.local_port);
  initiator_link_ = link_;
  node_->Route(link_, this);
}

void Party::MoveFrames() {
  ByteStreams& streams = node_->streams();
  while (!initiation_->output().empty() && initiation_->need() == Need::kBytes) {
    const ssize_t n = streams.Send(link_, initiation_->output());
    if (n == -EAGAIN) break;
    if (n < 0) return initiation_->OnLost(static_cast<int>(-n), node_->now());
    initiation_->OnSent(static_cast<size_t>(n), node_->now());
  }
  std::array<uint8_t, iwarp::kMpaMaxFrameSize> buffer;
  while (initiation_->bytes_wanted() > 0) {
    const size_t size = std::min(buffer.size(), initiation_->bytes_wanted());
    const ssize_t n = streams.Receive(link_, {buffer.data(), size});
    if (n == -EAGAIN) return;
    if (n <= 0) return initiation_->OnLost(static_cast<int>(-n), node_->now());
    initiation_->OnReceived(buffer.data(), static_cast<size_t>(n), node_->now());
  }
}

void Party::Report() {
  StopTimers();
  if (initiation_->outcome() == Outcome::kEstablished) {
    agreement_ = initiation_->agreement();
    StartStream(/*initiator=*/true);
    Transmit();  // the ready-to-receive message, if one was agreed
    return Establish(initiation_->peer_private_data());
  }
  const bool rejected = initiation_->outcome() == Outcome::kRejected;
  if (link_ != 0 && !initiation_->last_words().empty()) {
    node_->streams().Send(link_, initiation_->last_words());
  }
  node_->sink().OnFailed(*this, initiation_->reason(),
                         rejected ? initiation_->peer_private_data() : Data(), initiation_->why());
  if (link_ != 0 && rejected) return CloseGently();
  Finish();
}

void Party::GiveUp() { Finish(); }

// -------------------------------------------------------------------------------------------------
// Passive

void Party::Receive(StreamId link, uint16_t port) {
  phase_ = Phase::kHalfOpen;
  link_ = link;
  qualifier_ = port;
  started_us_ = node_->time().now_us();
  initiator_link_ = node_->streams().peer(link);
  node_->Route(link, this);
  reception_.emplace(std::chrono::microseconds(node_->options().handshake_us), node_->now());
  SetTimer(&timer_, started_us_ + node_->options().handshake_us, &Party::OnReceptionTime);
  ReadRequest();
}

void Party::OnReceptionTime() {
  reception_->OnTime(node_->now());
  if (reception_->state() == Reception::State::kDropped) Discard();
}

void Party::Evict() {
  reception_->Evict();
  Discard();
}

void Party::Discard() {
  if (link_ != 0) {
    node_->streams().Reset(link_);
    node_->Unroute(std::exchange(link_, 0));
  }
  Finish();
}

void Party::ReadRequest() {
  while (reception_->bytes_wanted() > 0) {
    const ssize_t n =
        node_->streams().Receive(link_, {reception_->room(), reception_->bytes_wanted()});
    if (n == -EAGAIN) return;
    if (n > 0) {
      reception_->OnReceived(static_cast<size_t>(n));
    } else {
      reception_->OnLost(static_cast<int>(-n));
    }
  }
  if (reception_->state() == Reception::State::kDropped) return Discard();
  Judge();
}

void Party::Judge() {
  const bool named = reception_->NamesQualifier(&qualifier_);
  const bool listened = node_->listens(qualifier_) && (named || qualifier_ <= 65535);
  MpaConfig config;
  config.crc = node_->options().crc;
  config.revision = node_->options().revision1_only ? 1 : 2;
  config.conn_qual = qualifier_;
  responder_ = reception_->Judge(config, listened);
  iwarp::MpaStart frame;
  const bool whole =
      iwarp::ParseMpaStart(responder_->received(), &frame).status == iwarp::MpaParseStatus::kOk;
  if (node_->options().revision1_only && whole && frame.revision > 1) return Finish();
  if (responder_->state() != MpaState::kRequest) {
    if (responder_->output().empty()) return Discard();
    Answer();
    node_->Keep(this);
    return CloseGently();
  }
  node_->time().Cancel(std::exchange(timer_, 0));
  phase_ = Phase::kRequested;
  node_->Keep(this);
  node_->sink().OnRequest(*this, responder_->peer_private_data());
}

// Whether the requester gave up before the Reply, and why.
std::string Party::RequesterGone() {
  const ssize_t n = node_->streams().Peek(link_);
  if (n > 0 || n == -EAGAIN) return {};
  return n == 0 ? "the requester closed before it was answered" : strerror(static_cast<int>(-n));
}

// A Reply fits into any buffer, because nothing else was sent on this link.
void Party::Answer() {
  while (!responder_->output().empty()) {
    const ssize_t n = node_->streams().Send(link_, responder_->output());
    if (n <= 0) return;
    responder_->OnSent(static_cast<size_t>(n));
  }
}

void Party::Accept(Data private_data) {
  responder_->Accept(node_->options().depth, node_->options().depth, private_data);
  std::string gone = RequesterGone();
  if (gone.empty()) Answer();
  agreement_ = responder_->agreement();
  phase_ = Phase::kAccepting;
  acceptance_.emplace(agreement_, std::move(gone),
                      std::chrono::microseconds(node_->options().handshake_us), node_->now());
  StartStream(/*initiator=*/false);
  // The consumer is in the middle of its accept, so nothing is reported from here. The timer looks
  // at the link afterwards.
  SetTimer(&timer_, node_->time().now_us(), &Party::OnAcceptanceTime);
}

void Party::OnAcceptanceTime() {
  LookForFirstByte();
  if (phase_ != Phase::kAccepting) return;
  acceptance_->OnTime(node_->now());
  SettleAcceptance();
  if (phase_ != Phase::kAccepting) return;
  SetTimer(&timer_, static_cast<uint64_t>(acceptance_->deadline().count()),
           &Party::OnAcceptanceTime);
}

void Party::LookForFirstByte() {
  const ssize_t n = node_->streams().Peek(link_);
  if (n > 0) {
    acceptance_->OnReadable();
  } else if (n != -EAGAIN && acceptance_->state() == Acceptance::State::kWaiting) {
    acceptance_->OnLost(static_cast<int>(-n));
  }
  SettleAcceptance();
}

void Party::SettleAcceptance() {
  switch (acceptance_->state()) {
    case Acceptance::State::kWaiting:
      return;
    case Acceptance::State::kEstablished:
      node_->time().Cancel(std::exchange(timer_, 0));
      return Establish({});
    case Acceptance::State::kFailed:
      node_->sink().OnFailed(*this, RejectReason::kAborted, {}, acceptance_->why());
      return Discard();
  }
}

void Party::Reject(Data private_data) {
  responder_->Reject(private_data);
  Answer();
  CloseGently();
}

void Party::Refuse(RefuseReason reason) {
  responder_->Refuse(reason);
  Answer();
  CloseGently();
}

}  // namespace softdat::sim
