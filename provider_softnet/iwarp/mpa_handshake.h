// SPDX-License-Identifier: BSD-3-Clause
// MPA start-up without I/O, both roles (RFC 5044 §7.1, RFC 6581). The driver moves bytes and keeps
// time:
//
//   while (hs.bytes_wanted() > 0 && n = recv(fd, buf, hs.bytes_wanted())) hs.OnReceived(buf, n);
//   while (!hs.output().empty() && n = send(fd, hs.output())) hs.OnSent(n);
//
// The first read takes a whole frame without private data in the enhanced form, which most are.
// Later ones never go past the frame, because the bytes after it belong to the stream. The first
// one may go past a frame of revision 1, but nothing may come there yet: an initiator waits for the
// Reply, and a responder for the first message (RFC 5044 §7.1). An end that does not wait has
// failed.
//
// A responder answers only when it is told to (Accept, Reject, Refuse). An initiator sends nothing
// after its Request.
//
// Private header (wire/private_header.h). A request to a qualifier above 65535 starts its private
// data with the whole qualifier. A responder that finds this header removes it and compares the
// qualifier. A responder that listens on such a qualifier refuses a request without the header. A
// refusal by the back end itself (not the consumer's reject) is a reject Reply with the header of a
// refusal and a RefuseReason.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_MPA_HANDSHAKE_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_MPA_HANDSHAKE_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "wire/iwarp/mpa.h"
#include "wire/iwarp/terminate_code.h"
#include "wire/private_header.h"

namespace softdat::softnet {

// The room that is left for the consumer in the worst case: with enhanced words and private header.
inline constexpr size_t kMaxConsumerPrivateData =
    iwarp::kMpaMaxPrivateData - iwarp::kMpaEnhancedSize - kPrivateHeaderSize;

// When CRC32c is used on a connection.
enum class CrcPolicy : uint8_t {
  kAuto,  // not requested, but agreed to when the peer requests it
  kOn,    // requested
  kOff,   // a peer that requests it is refused
};

// The message by which an initiator gives a peer-to-peer responder the right to send (RFC 6581 §4).
enum class Rtr : uint8_t { kNone, kSend, kWrite, kRead };

// What both ends agreed on. Goes into StreamConfig.
struct MpaAgreement {
  bool crc = false;
  uint8_t revision = iwarp::kMpaRevision2;
  Rtr rtr = Rtr::kNone;  // the initiator's first FPDU; kNone: client-server
  uint16_t ird = 0;      // reads and atomics that the peer may have outstanding here
  uint16_t ord = 0;      // reads and atomics that may be outstanding towards the peer
  // The same numbers on the wire. A consumer that wants none still gets some, for confirmations. A
  // peer that takes none leaves request_slots_out at 0.
  uint16_t request_slots_in = 0;
  uint16_t request_slots_out = 0;
  // The peer knows reads of nothing: the zero-length RDMA read is among its ready-to-receive
  // messages (RFC 6581). No other peer is asked to confirm by one. siw of Linux 6.1 may answer such
  // a read with old bytes: if the read arrives while siw sends, the answer holds what its work
  // request held before.
  bool empty_reads = false;
};

enum class MpaState : uint8_t {
  kExchange,     // bytes are wanted, or wait to be sent
  kRequest,      // responder: a request is complete and waits for Accept, Reject or Refuse
  kEstablished,  // agreed, and our own frame is sent: FPDUs follow
  kRejected,     // initiator: the peer's consumer refused; responder: our refusal is sent
  kFailed,       // `failure` says why
};

// Why a start-up failed.
enum class MpaFailure : uint8_t {
  kNone,
  kNotMpa,     // bytes that are no start-up frame of the right kind
  kFrame,      // an MPA frame that cannot be right (lengths, revision)
  kMarkers,    // the peer demands markers
  kCrc,        // the CRC policies exclude each other
  kDepth,      // the responder wants more reads than we serve (Terminate 2/0/6 is in output())
  kRtr,        // no common ready-to-receive message
  kQualifier,  // responder: it does not listen on the qualifier in the private header
  kRefusedByBackend,  // initiator: the peer's back end refused (nobody listens, backlog full)
  kClosed,            // the peer closed or reset before the start-up was complete
};

// Reasons of Refuse, carried on the wire.
enum class RefuseReason : uint64_t {
  kUnspecified = 0,
  kNoListener = 1,
  kBacklog = 2,
  kIncompatible = 3
};

// A fixed text for logs and reasons.
const char* RefuseReasonText(RefuseReason reason);

// Used by both roles.
struct MpaConfig {
  CrcPolicy crc = CrcPolicy::kAuto;
  uint8_t revision =
      iwarp::kMpaRevision2;  // initiator: to offer (1 or 2); responder: highest to accept
  uint32_t max_read_in = 0;  // values above 14 bits are cut to kMpaMaxDepth
  uint32_t max_read_out = 0;
  uint64_t conn_qual = 0;    // the destination, or that of the listener
  bool peer_to_peer = true;  // initiator: offer the peer-to-peer model (RTR write, read)
};

// The part that both roles share: one frame in, one frame out.
class MpaHandshake {
 public:
  MpaState state() const { return state_; }
  MpaFailure failure() const { return failure_; }
  // One sentence. Empty unless kFailed or kRejected.
  const std::string& reason() const { return reason_; }

  // How many bytes may be read now, at most. 0 while none are wanted.
  size_t bytes_wanted() const { return wanted_; }
  // Takes at most bytes_wanted() bytes, split in any way.
  void OnReceived(const void* data, size_t size);
  // Takes as much of `frame` as is wanted. For a frame that was read elsewhere.
  void ReceiveAll(std::span<const uint8_t> frame);
  // The frame so far, as it was received.
  std::span<const uint8_t> received() const { return {in_.data(), in_size_}; }
  // The peer closed (or the connection broke) before the start-up was complete.
  void OnClosed(const std::string& why);

  // The bytes to be sent now. In kRejected and kFailed they must still be sent before closing.
  std::span<const uint8_t> output() const {
    return {out_.data() + out_sent_, out_size_ - out_sent_};
  }
  void OnSent(size_t size);

  // Valid in kEstablished (initiator) and after Accept (responder).
  const MpaAgreement& agreement() const { return agreement_; }
  // The peer's consumer data without the header. Valid in kRequest (responder), kEstablished and
  // kRejected (initiator). Lives as long as this object.
  std::span<const uint8_t> peer_private_data() const { return peer_data_; }

 protected:
  explicit MpaHandshake(const MpaConfig& config);
  virtual ~MpaHandshake() = default;
  virtual void OnFrame(const iwarp::MpaStart& frame) = 0;
  void Fail(MpaFailure failure, std::string reason);
  bool Emit(const iwarp::MpaStart& frame);
  void EmitRaw(std::span<const uint8_t> bytes);
  bool got_bytes() const { return in_size_ > 0; }

  MpaConfig config_;
  MpaState state_ = MpaState::kExchange;
  MpaState after_output_ = MpaState::kExchange;  // the state after the last byte of output is sent
  MpaFailure failure_ = MpaFailure::kNone;
  std::string reason_;
  MpaAgreement agreement_;
  std::span<const uint8_t> peer_data_;
  size_t wanted_ = 0;

 private:
  std::array<uint8_t, iwarp::kMpaMaxFrameSize> in_;
  std::array<uint8_t, iwarp::kMpaMaxFrameSize> out_;
  size_t in_size_ = 0;
  size_t out_size_ = 0;
  size_t out_sent_ = 0;
};

class MpaInitiator final : public MpaHandshake {
 public:
  // output() has the Request at once. kFailed when `private_data` is longer than
  // kMaxConsumerPrivateData (callers check first).
  MpaInitiator(const MpaConfig& config, std::span<const uint8_t> private_data);

  // Whether it is kFailed before any byte of a Reply came, after a revision 2 Request. The peer may
  // know only revision 1 and have dropped us. Connect once more with config.revision = 1.
  bool retry_with_revision1() const;

 private:
  void OnFrame(const iwarp::MpaStart& frame) override;
  bool Settle(const iwarp::MpaStart& frame);
  void FailWithTerminate(MpaFailure failure, iwarp::TerminateCode code, std::string reason);
};

class MpaResponder final : public MpaHandshake {
 public:
  explicit MpaResponder(const MpaConfig& config);

  // Each may be called once, in kRequest. `max_read_in`, `max_read_out`: those of the queue pair
  // that accepts. Returns false and changes nothing when the private data are too long.
  bool Accept(uint32_t max_read_in, uint32_t max_read_out, std::span<const uint8_t> private_data);
  // The consumer's reject. The peer reports PEER_REJECTED with the data.
  bool Reject(std::span<const uint8_t> private_data);
  // The back end's own refusal. The peer reports NON_PEER_REJECTED. Also used internally for
  // requests that are not acceptable (markers, CRC policy, qualifier). These never reach kRequest.
  void Refuse(RefuseReason reason);

  // The qualifier that the peer aimed at: the one in the private header, or the listener's own.
  uint64_t conn_qual() const { return config_.conn_qual; }
  // The depths in the peer's frame (0 in revision 1), for EPs that the provider makes.
  uint16_t peer_ird() const { return request_.words.ird; }
  uint16_t peer_ord() const { return request_.words.ord; }

 private:
  void OnFrame(const iwarp::MpaStart& frame) override;
  void RefuseFor(MpaFailure failure, RefuseReason reason, std::string text);
  iwarp::MpaStart ReplyHead(bool reject) const;

  iwarp::MpaStart request_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_MPA_HANDSHAKE_H_
