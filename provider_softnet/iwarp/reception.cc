// SPDX-License-Identifier: BSD-3-Clause
// Reception.
#include "provider_softnet/iwarp/reception.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "wire/private_header.h"

namespace softdat::softnet {

void Reception::OnReceived(size_t size) {
  if (state_ != State::kReading) return;
  have_ += std::min(size, wanted_ - have_);
  iwarp::MpaStart frame;
  const iwarp::MpaParseResult parsed = iwarp::ParseMpaStart({frame_.data(), have_}, &frame);
  if (parsed.status == iwarp::MpaParseStatus::kNeedMore) {
    wanted_ = std::min(parsed.bytes, frame_.size());
  } else if (parsed.status == iwarp::MpaParseStatus::kOk || have_ >= iwarp::kMpaHeaderSize) {
    state_ = State::kRead;
  } else {
    Drop("no MPA request");
  }
}

void Reception::OnLost(int error) {
  Drop(error == 0 ? "the peer closed before its request was complete" : strerror(error));
}

void Reception::OnTime(Time now) {
  if (now >= deadline_) Drop("no whole request within the time limit");
}

void Reception::Evict() { Drop("too many connections without a request; the oldest goes"); }

bool Reception::NamesQualifier(uint64_t* qualifier) const {
  iwarp::MpaStart frame;
  return iwarp::ParseMpaStart({frame_.data(), have_}, &frame).status ==
             iwarp::MpaParseStatus::kOk &&
         FindPrivateHeader(frame.private_data, kQualifierMagic, qualifier);
}

std::unique_ptr<MpaResponder> Reception::Judge(const MpaConfig& config, bool listened) const {
  auto responder = std::make_unique<MpaResponder>(config);
  responder->ReceiveAll({frame_.data(), have_});
  if (!listened) responder->Refuse(RefuseReason::kNoListener);
  return responder;
}

std::string Reception::RefusalText(const MpaResponder& responder) {
  return responder.reason().empty() ? "no service point for its qualifier" : responder.reason();
}

void Reception::Drop(std::string why) {
  if (state_ == State::kDropped) return;
  state_ = State::kDropped;
  why_ = std::move(why);
}

}  // namespace softdat::softnet
