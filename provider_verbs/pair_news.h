// SPDX-License-Identifier: BSD-3-Clause
// What the consumer is to learn about its connection. Kept until no lock is held.
#ifndef SOFTDAT_PROVIDER_VERBS_PAIR_NEWS_H_
#define SOFTDAT_PROVIDER_VERBS_PAIR_NEWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "dat/transport/transport.h"

namespace softdat::verbs {

struct PairNews {
  enum class What : uint8_t { kNothing, kEstablished, kFailed, kEnded } what = What::kNothing;
  transport::RejectReason reject = transport::RejectReason::kNonPeer;
  transport::EndReason end = transport::EndReason::kDisconnected;
  std::vector<uint8_t> data{};  // from the peer's consumer
  std::string why{};

  void Tell(transport::ConnectionSink* sink) const {
    switch (what) {
      case What::kEstablished:
        return sink->OnEstablished(data);
      case What::kFailed:
        return sink->OnFailed(reject, data, why);
      case What::kEnded:
        return sink->OnEnded(end, why);
      case What::kNothing:
        return;
    }
  }
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_PAIR_NEWS_H_
