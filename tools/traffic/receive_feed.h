// SPDX-License-Identifier: BSD-3-Clause
// The receives of a job on one connection, posted in the order of the messages that take them.
#ifndef SOFTDAT_TOOLS_TRAFFIC_RECEIVE_FEED_H_
#define SOFTDAT_TOOLS_TRAFFIC_RECEIVE_FEED_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tools/common/outcome.h"
#include "tools/traffic/link.h"

namespace softdat::tools {

class ReceiveFeed {
 public:
  // `data_count` receives of `data`, and then one of `control`, if given, for the message that ends
  // the job.
  ReceiveFeed(Link* link, uint32_t connection, DAT_LMR_TRIPLET data, uint64_t data_count,
              std::optional<DAT_LMR_TRIPLET> control)
      : link_(link),
        connection_(connection),
        data_(data),
        data_count_(data_count),
        control_(control),
        total_(data_count + (control ? 1 : 0)) {}

  // Posts the first `depth` receives.
  Outcome Prime(uint64_t depth) {
    while (posted_ < std::min(depth, total_)) SOFTDAT_TRY(PostNext());
    return {};
  }
  // To be called after each receive completion, or after `count` of them.
  Outcome PostNext(uint32_t count = 1) {
    for (; count > 0 && posted_ < total_; --count)
      SOFTDAT_TRY(link_->PostReceive(posted_++ < data_count_ ? data_ : *control_, connection_));
    return {};
  }

 private:
  Link* link_;
  uint32_t connection_;
  DAT_LMR_TRIPLET data_;
  uint64_t data_count_;
  std::optional<DAT_LMR_TRIPLET> control_;
  uint64_t total_;
  uint64_t posted_ = 0;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_RECEIVE_FEED_H_
