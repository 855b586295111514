// SPDX-License-Identifier: BSD-3-Clause
// The active side of a connection until the start-up frames are exchanged, without I/O: attempts,
// retries after a refusal by this host, the fall-back to MPA revision 1, the time limit.
//
// The owner has the byte link and the clock. It does what need() asks for, and tells the result:
//
//   kLink    connect a new link; OnConnected() or OnLost() follows
//   kBytes   move output() and at most bytes_wanted() bytes; OnSent(), OnReceived(), OnLost()
//   kPause   close the link, if there is one, and wait for deadline()
//   kOver    outcome() says how it ended
//
// It calls OnTime() at deadline(), whatever is needed. Times are those of any clock that never goes
// backwards.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_INITIATION_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_INITIATION_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/iwarp/mpa_handshake.h"

namespace softdat::softnet {

class Initiation {
 public:
  using Time = std::chrono::microseconds;
  static constexpr Time kNever = Time::max();

  struct Parameters {
    MpaConfig mpa;
    std::vector<uint8_t> private_data;
    std::string where;       // the start of reasons: "connect to 10.0.0.1:5000 (qualifier 5000)"
    bool same_host = false;  // the peer is on this host: it may be about to listen
    Time grace{0};           // how long to try again after a refusal by this host
    Time limit = kNever;     // the consumer's time limit
  };
  enum class Need : uint8_t { kLink, kBytes, kPause, kOver };
  enum class Outcome : uint8_t {
    kNone,
    kEstablished,  // the link now belongs to the stream
    kRejected,     // by the peer's consumer: send last_words(), close gracefully
    kFailed,       // send last_words() if the link takes them, then close
  };

  explicit Initiation(Parameters parameters);

  void Begin(Time now);
  Need need() const { return need_; }
  Time deadline() const { return std::min(limit_at_, resume_at_); }
  // Counts the requested links. A link that belongs to an earlier attempt must be closed.
  uint32_t attempt() const { return attempt_; }

  // `to_itself`: both ends of the link are the same. This happens when nobody listens and the
  // system chose the destination port as its own port (RFC 9293 §3.5, simultaneous open).
  void OnConnected(bool to_itself, Time now);
  // The link could not be connected, or failed, with an errno value. 0: the peer closed it.
  void OnLost(int error, Time now);
  // No link can be had, for a reason of this host.
  void OnNoLink(const std::string& why);
  void OnTime(Time now);

  std::span<const uint8_t> output() const;
  void OnSent(size_t size, Time now);
  size_t bytes_wanted() const;
  void OnReceived(const void* data, size_t size, Time now);

  // In kOver:
  Outcome outcome() const { return outcome_; }
  std::span<const uint8_t> last_words() const { return output(); }
  transport::RejectReason reason() const { return reason_; }
  const std::string& why() const { return why_; }
  // kEstablished:
  const MpaAgreement& agreement() const { return initiator_->agreement(); }
  // In kEstablished and kRejected. Lives as long as this object.
  std::span<const uint8_t> peer_private_data() const;

 private:
  void Settle(Time now);
  void OnAttemptFailed(int error, Time now);
  void TryAgain(Time now);
  void Fail(transport::RejectReason reason, std::string why);

  Parameters parameters_;
  Need need_ = Need::kPause;
  Outcome outcome_ = Outcome::kNone;
  transport::RejectReason reason_ = transport::RejectReason::kNonPeer;
  std::string why_;
  std::optional<MpaInitiator> initiator_;  // of this attempt, once its link is connected
  uint32_t attempt_ = 0;
  Time started_{0};
  Time limit_at_ = kNever;
  Time resume_at_ = kNever;  // when a pause ends
  Time pause_{0};            // the length of the next pause
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_INITIATION_H_
