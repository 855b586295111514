// SPDX-License-Identifier: BSD-3-Clause
// Garbage at start-up, for both roles. The start-up must end in a defined state, and never ask for
// more than a frame can hold.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "provider_softnet/iwarp/mpa_handshake.h"

namespace softdat::softnet {
namespace {

void Check(bool ok) {
  if (!ok) std::abort();
}

void Feed(MpaHandshake& h, const uint8_t* data, size_t size, size_t step) {
  size_t at = 0;
  while (at < size && h.bytes_wanted() > 0) {
    Check(h.bytes_wanted() <= iwarp::kMpaMaxFrameSize);
    const size_t n = std::min({step, size - at, h.bytes_wanted()});
    h.OnReceived(data + at, n);
    at += n;
  }
  if (h.bytes_wanted() > 0) h.OnClosed("end of input");
  Check(h.state() != MpaState::kFailed || !h.reason().empty());
  Check(h.peer_private_data().size() <= iwarp::kMpaMaxPrivateData);
}

void Run(const uint8_t* data, size_t size) {
  if (size < 2) return;
  MpaConfig config;
  config.crc = static_cast<CrcPolicy>(data[0] % 3);
  config.max_read_in = data[0] >> 4;
  config.max_read_out = data[1] >> 4;
  config.conn_qual = (data[0] & 8) != 0 ? 1ull << 40 : 5000;
  const size_t step = 1 + data[1] % 16;
  MpaInitiator initiator(config, {});
  initiator.OnSent(initiator.output().size());
  Feed(initiator, data + 2, size - 2, step);
  MpaResponder responder(config);
  Feed(responder, data + 2, size - 2, step);
  if (responder.state() != MpaState::kRequest) return;
  switch (data[1] & 3) {
    case 0:
      Check(responder.Accept(data[0], data[1], {}));
      break;
    case 1:
      Check(responder.Reject({}));
      break;
    default:
      responder.Refuse(RefuseReason::kBacklog);
      break;
  }
  Check(!responder.output().empty());
  responder.OnSent(responder.output().size());
  Check(responder.state() == MpaState::kEstablished || responder.state() == MpaState::kRejected);
}

}  // namespace
}  // namespace softdat::softnet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::softnet::Run(data, size);
  return 0;
}
