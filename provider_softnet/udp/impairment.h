// SPDX-License-Identifier: BSD-3-Clause
// Loss on demand: what SOFTDAT_UDP_LOSS says happens to the datagrams that arrive. Pure: the time
// comes in, and the random numbers follow from the seed. What happens to the n-th datagram depends
// on what is set and on n alone.
//
// Most datagrams go on as they are. Only one that is held back or damaged is copied, so that what a
// measurement shows is the loss and not the setting.
//
//   SOFTDAT_UDP_LOSS="1%;reorder=2%;delay=200us;corrupt=1%;duplicate=1%;seed=7"
//
//   N%, loss=N%   is lost
//   reorder=N%    is held back for a while, so that later ones overtake it
//   delay=TIME    all are held back for so long
//   corrupt=N%    one of its bits is flipped
//   duplicate=N%  arrives twice
//   seed=NUMBER   another sequence
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_IMPAIRMENT_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_IMPAIRMENT_H_

#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "dat/base/status.h"

namespace softdat::softnet {

struct ImpairmentSpec {
  // Parts in a million.
  uint32_t loss = 0;
  uint32_t reorder = 0;
  uint32_t corrupt = 0;
  uint32_t duplicate = 0;
  std::chrono::microseconds delay{0};
  uint64_t seed = 1;

  bool active() const { return (loss | reorder | corrupt | duplicate) != 0 || delay.count() > 0; }
};
// Nothing is impaired by "". kInvalidArgument for what is not understood, with the part that is
// wrong.
Result<ImpairmentSpec> ParseImpairment(std::string_view text);

struct HeldDatagram {
  sockaddr_storage source{};
  std::vector<uint8_t> bytes;
  size_t segment = 0;  // its number in the run that it came in
};

// Not thread-safe.
class Impairment {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // How much longer a datagram is held back that later ones shall overtake.
  static constexpr std::chrono::microseconds kHeldBack{500};

  explicit Impairment(const ImpairmentSpec& spec) : spec_(spec), random_(spec.seed) {}

  // What becomes of a datagram at once.
  struct Passage {
    uint32_t times = 1;     // it is to be taken in so often, as it is
    bool impaired = false;  // something happens to it besides the delay of all
    bool held = false;      // TakeDue() will give it out
  };

  // A datagram arrives, number `segment` of a run.
  Passage Offer(Time now, const sockaddr_storage& source, std::span<const uint8_t> bytes,
                size_t segment = 0);
  // Those that were held back until now, in order.
  std::vector<HeldDatagram> TakeDue(Time now);
  // When the next one is due, if any is held.
  std::optional<Time> next_due() const;

 private:
  bool Draw(uint32_t parts) { return parts != 0 && random_() % 1'000'000 < parts; }

  const ImpairmentSpec spec_;
  std::mt19937_64 random_;
  std::multimap<Time, HeldDatagram> held_;  // equal times in the order of arrival
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_IMPAIRMENT_H_
