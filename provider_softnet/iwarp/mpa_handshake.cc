// SPDX-License-Identifier: BSD-3-Clause
// MPA start-up: the parts that both roles share.
#include "provider_softnet/iwarp/mpa_handshake.h"

#include <algorithm>
#include <cstring>

namespace softdat::softnet {

MpaHandshake::MpaHandshake(const MpaConfig& config) : config_(config) {}

void MpaHandshake::OnReceived(const void* data, size_t size) {
  if (wanted_ == 0) return;
  size = std::min(size, wanted_);
  std::memcpy(in_.data() + in_size_, data, size);
  in_size_ += size;
  wanted_ -= size;
  iwarp::MpaStart frame;
  const iwarp::MpaParseResult parsed = iwarp::ParseMpaStart({in_.data(), in_size_}, &frame);
  switch (parsed.status) {
    case iwarp::MpaParseStatus::kNeedMore:
      wanted_ = parsed.bytes - in_size_;
      return;
    case iwarp::MpaParseStatus::kOk:
      if (parsed.bytes < in_size_)
        return Fail(MpaFailure::kFrame,
                    "bytes came behind the MPA start-up frame before their time");
      wanted_ = 0;
      peer_data_ = frame.private_data;
      OnFrame(frame);
      return;
    case iwarp::MpaParseStatus::kBadKey:
      return Fail(MpaFailure::kNotMpa, "the other end does not speak MPA");
    case iwarp::MpaParseStatus::kPrivateDataTooLong:
    case iwarp::MpaParseStatus::kEnhancedTooShort:
      return Fail(MpaFailure::kFrame, std::string("bad MPA start-up frame: ") +
                                          iwarp::MpaParseStatusText(parsed.status));
  }
}

void MpaHandshake::ReceiveAll(std::span<const uint8_t> frame) {
  while (!frame.empty() && wanted_ > 0) {
    const size_t n = std::min(wanted_, frame.size());
    OnReceived(frame.data(), n);
    frame = frame.subspan(n);
  }
}

void MpaHandshake::OnSent(size_t size) {
  out_sent_ = std::min(out_sent_ + size, out_size_);
  if (out_sent_ == out_size_ && after_output_ != MpaState::kExchange) {
    state_ = after_output_;
    after_output_ = MpaState::kExchange;
  }
}

void MpaHandshake::OnClosed(const std::string& why) {
  if (state_ == MpaState::kExchange || state_ == MpaState::kRequest) {
    Fail(MpaFailure::kClosed, "closed during MPA start-up: " + why);
  }
}

void MpaHandshake::Fail(MpaFailure failure, std::string reason) {
  state_ = MpaState::kFailed;
  after_output_ = MpaState::kExchange;
  failure_ = failure;
  reason_ = std::move(reason);
  wanted_ = 0;
}

bool MpaHandshake::Emit(const iwarp::MpaStart& frame) {
  const size_t size = iwarp::EncodeMpaStart(frame, out_);
  if (size == 0) return false;
  out_size_ = size;
  out_sent_ = 0;
  return true;
}

void MpaHandshake::EmitRaw(std::span<const uint8_t> bytes) {
  std::memcpy(out_.data(), bytes.data(), bytes.size());
  out_size_ = bytes.size();
  out_sent_ = 0;
}

}  // namespace softdat::softnet
