// SPDX-License-Identifier: BSD-3-Clause
// A batch leaves in chunks, because what describes a chunk to the kernel lies on the stack of the
// caller, which may be small. A message of a chunk is a packet, or several that the kernel cuts.
#include "provider_softnet/udp/packet_sender.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <span>
#include <utility>

#include "provider_softnet/udp/datagram_calls.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {
namespace {

// Payloads up to this length are copied behind their headers: one piece costs the kernel less than
// three, and the ICRC is that of the copy even if the program changes the memory meanwhile.
constexpr size_t kMostCopied = 256;
// What the kernel cuts: UDP_MAX_SEGMENTS of Linux before 6.9, and the length of an IP packet.
constexpr size_t kMostSegments = 64;
constexpr size_t kMostBytes = 65'000;

size_t SizeOf(const OutgoingPacket& packet) {
  return packet.header_size + packet.payload_size + roce::PadOf(packet.payload_size) +
         roce::kIcrcSize;
}

class Chunk {
 public:
  // `cuts`: packets may be joined.
  Chunk(const Destination& to, bool cuts) : to_(to), cuts_(cuts) {}

  bool HasRoom() const {
    return packet_count_ < PacketBatch::kMostPackets && sizeof(bytes_) - used_ >= kMostOfAPacket;
  }
  void Add(const PacketBatch& batch, const OutgoingPacket& packet) {
    const size_t size = SizeOf(packet);
    if (!Joins(size)) Begin(size);
    Message& last = messages_[message_count_ - 1];
    uint32_t state = StartOf(size) ^ to_.flow().ShareOf(static_cast<uint16_t>(last.packets));
    uint8_t* const begin = bytes_ + used_;
    memcpy(begin, packet.header, packet.header_size);
    uint8_t* end = begin + packet.header_size;
    if (packet.payload_size <= kMostCopied) {
      for (const iovec& piece : batch.pieces(packet)) {
        memcpy(end, piece.iov_base, piece.iov_len);
        end += piece.iov_len;
      }
      state = Sum(state, begin, end);
      end += roce::StoreTrailer(end, packet.payload_size, state);
    } else {
      state = Sum(state, begin, end);
      Append(begin, end);
      for (const iovec& piece : batch.pieces(packet)) {
        state =
            roce::IcrcExtend(state, {static_cast<const uint8_t*>(piece.iov_base), piece.iov_len});
        iov_[iov_count_++] = piece;
      }
      joinable_ = nullptr;
      end += roce::StoreTrailer(bytes_ + used_, packet.payload_size, state);
    }
    Append(bytes_ + used_, end);
    ++last.packets;
    last.bytes += size;
    last.closed = size < last.segment;
    ++packet_count_;
  }

  // Tells the kernel's structures what the messages are. To be called once, behind the last Add.
  void Finish() {
    for (size_t i = 0; i < message_count_; ++i) {
      const Message& message = messages_[i];
      msghdr& m = headers_[i].msg_hdr;
      m = {};
      m.msg_name = const_cast<sockaddr_storage*>(&to_.address());
      m.msg_namelen = to_.address_size();
      m.msg_iov = &iov_[message.first_piece];
      m.msg_iovlen = (i + 1 < message_count_ ? messages_[i + 1].first_piece : iov_count_) -
                     message.first_piece;
      if (message.packets > 1) DescribeCut(message, &m);
    }
  }

  size_t messages() const { return message_count_; }
  size_t packets_of(size_t message) const { return messages_[message].packets; }
  int Send(int fd, size_t from) { return SendMany(fd, headers_ + from, message_count_ - from); }

 private:
  // Bytes of a packet that lie in bytes_ at most.
  static constexpr size_t kMostOfAPacket =
      roce::kMaxHeaderSize + kMostCopied + roce::kMaxTrailerSize;
  // Room for a batch of the smallest messages.
  static constexpr size_t kRoom = 8192;
  // Any two messages that are cut have two packets each.
  static constexpr size_t kMostCut = PacketBatch::kMostPackets / 2;

  struct Message {
    size_t first_piece;
    size_t packets;
    size_t bytes;
    size_t segment;  // bytes of each packet; the last one may be shorter
    bool closed;     // its last packet is shorter
  };
  struct alignas(cmsghdr) Control {
    uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
  };

  bool Joins(size_t size) const {
    if (!cuts_ || message_count_ == 0) return false;
    const Message& last = messages_[message_count_ - 1];
    return !last.closed && size <= last.segment && last.packets < kMostSegments &&
           last.bytes + size <= kMostBytes;
  }
  void Begin(size_t size) {
    messages_[message_count_++] = {iov_count_, 0, 0, size, false};
    joinable_ = nullptr;
  }
  // Adds bytes of bytes_ to the last message. Those that follow each other are one piece.
  void Append(uint8_t* begin, uint8_t* end) {
    used_ = static_cast<size_t>(end - bytes_);
    if (joinable_ == begin) {
      iov_[iov_count_ - 1].iov_len += static_cast<size_t>(end - begin);
    } else {
      iov_[iov_count_++] = {begin, static_cast<size_t>(end - begin)};
    }
    joinable_ = end;
  }
  uint32_t StartOf(size_t size) {
    if (size != start_size_) {
      start_size_ = size;
      start_ = to_.flow().IcrcStart(size);
    }
    return start_;
  }
  // Runs the BTH and what follows it through `state`.
  static uint32_t Sum(uint32_t state, uint8_t* bth, const uint8_t* end) {
    const uint8_t kept = std::exchange(bth[roce::kBthMaskedOctet], uint8_t{0xff});
    state = roce::IcrcExtend(state, {bth, end});
    bth[roce::kBthMaskedOctet] = kept;
    return state;
  }
  void DescribeCut(const Message& message, msghdr* m) {
    Control& control = controls_[control_count_++];
    m->msg_control = &control;
    m->msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(m);
    header->cmsg_level = SOL_UDP;
    header->cmsg_type = UDP_SEGMENT;
    header->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    const auto segment = static_cast<uint16_t>(message.segment);
    memcpy(CMSG_DATA(header), &segment, sizeof(segment));
  }

  const Destination& to_;
  const bool cuts_;
  size_t start_size_ = 0;
  uint32_t start_ = 0;
  size_t packet_count_ = 0;
  size_t message_count_ = 0;
  size_t iov_count_ = 0;
  size_t control_count_ = 0;
  size_t used_ = 0;              // of bytes_
  uint8_t* joinable_ = nullptr;  // the end of the last piece, if it lies in bytes_
  // What follows is not initialised: most chunks are short.
  Message messages_[PacketBatch::kMostPackets];
  mmsghdr headers_[PacketBatch::kMostPackets];
  Control controls_[kMostCut];
  iovec iov_[PacketBatch::kMostPieces + 2 * PacketBatch::kMostPackets];
  uint8_t bytes_[kRoom];
};

bool IsFull(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Whether the kernel may have refused a message because it was to be cut.
bool MayBeOfCutting(int error) {
  return error == EINVAL || error == EIO || error == EMSGSIZE || error == EOPNOTSUPP;
}

}  // namespace

[[gnu::hot]] SendResult PacketSender::Send(const PacketBatch& batch, size_t first,
                                           const Destination& to) {
  SendResult result;
  size_t next = first;
  while (next < batch.size()) {
    Chunk chunk(to, to.may_be_cut() && kernel_cuts_.load(std::memory_order_relaxed));
    for (size_t i = next; i < batch.size() && chunk.HasRoom(); ++i) chunk.Add(batch, batch.at(i));
    chunk.Finish();
    for (size_t done = 0; done < chunk.messages();) {
      const int n = chunk.Send(fd_.get(), done);
      counters_->send_calls.Add();
      if (n > 0) {
        size_t packets = 0;
        for (int i = 0; i < n; ++i) packets += chunk.packets_of(done++);
        counters_->sent.Add(packets);
        next += packets;
      } else if (n < 0 && IsFull(errno)) {
        counters_->socket_full.Add();
        result.wait = true;
        result.packets = next - first;
        return result;
      } else if (chunk.packets_of(done) > 1 && MayBeOfCutting(errno)) {
        // Each by itself from now on, and with the identification of such a one.
        kernel_cuts_.store(false, std::memory_order_relaxed);
        break;
      } else {
        counters_->send_refused.Add(chunk.packets_of(done));
        next += chunk.packets_of(done++);
      }
    }
  }
  result.packets = next - first;
  return result;
}

}  // namespace softdat::softnet
