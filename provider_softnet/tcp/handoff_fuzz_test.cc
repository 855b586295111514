// SPDX-License-Identifier: BSD-3-Clause
// Feeds garbage as the offer of another process of the same user. The offer must be refused with a
// reason, or become a request that can be answered.
#include <cstdint>
#include <cstdlib>

#include "provider_softnet/tcp/handoff_message.h"
#include "provider_softnet/tcp/handoff_rebuild.h"

namespace softdat::softnet {
namespace {

void Check(bool ok) {
  if (!ok) std::abort();
}

// The service point that the corpus is made for.
constexpr uint64_t kConnQual = 0x0123456789abcdef;

void Run(const uint8_t* data, size_t size) {
  if (size < 1) return;
  const uint8_t choice = data[0];
  const std::span<const uint8_t> message{data + 1, size - 1};
  static_cast<void>(DecodeHandoffAnswer(message));
  // Some offers must match the service point, so it may take the qualifier that the offer names.
  const std::optional<HandoffOffer> offer = DecodeHandoffOffer(message);
  const uint64_t conn_qual = offer && (choice & 4) != 0 ? offer->conn_qual : kConnQual;
  RebuiltRequest request =
      RebuildRequest(message, conn_qual, 7000, static_cast<CrcPolicy>(choice % 3));
  Check((request.responder == nullptr) == (request.refusal != nullptr));
  if (request.responder == nullptr) return;
  Check(offer.has_value() && message.size() <= kMaxHandoffOffer);
  MpaResponder& responder = *request.responder;
  Check(responder.state() == MpaState::kRequest);
  Check(responder.peer_private_data().size() <= iwarp::kMpaMaxPrivateData);
  // A request that is handed on once more must stay the same.
  std::array<uint8_t, kMaxHandoffOffer> again;
  const size_t written = EncodeHandoffOffer({conn_qual, responder.received()}, again);
  Check(written > 0 &&
        RebuildRequest({again.data(), written}, conn_qual, 7000, CrcPolicy::kAuto).aimed_at ==
            request.aimed_at);
  if ((choice & 8) != 0) {
    Check(responder.Accept(choice, choice, {}));
  } else {
    responder.Refuse(RefuseReason::kBacklog);
  }
  Check(!responder.output().empty());
}

}  // namespace
}  // namespace softdat::softnet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::softnet::Run(data, size);
  return 0;
}
