// SPDX-License-Identifier: BSD-3-Clause
// A batch leaves in chunks, because what describes a chunk to the kernel lies on the stack of the
// caller, which may be small.
#include "provider_softnet/udp/packet_sender.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>

#include "provider_softnet/udp/datagram_calls.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {
namespace {

// Payloads up to this length are copied behind their headers: one piece costs the kernel less than
// three, and the ICRC is that of the copy even if the program changes the memory meanwhile.
constexpr size_t kMostCopied = 256;

class Chunk {
 public:
  static constexpr size_t kMostPackets = 32;

  Chunk() {}  // nothing is initialised: most chunks are short

  bool full() const { return count_ == kMostPackets; }
  size_t size() const { return count_; }

  void Add(const PacketBatch& batch, const OutgoingPacket& packet, const Destination& to) {
    const size_t size = packet.header_size + packet.payload_size +
                        roce::PadOf(packet.payload_size) + roce::kIcrcSize;
    uint32_t state = to.flow().IcrcStart(size);
    state = roce::IcrcOfBth(state, std::span(packet.header).first<roce::kBthSize>());
    state = roce::IcrcExtend(state,
                             {packet.header + roce::kBthSize, packet.header_size - roce::kBthSize});
    iovec* const first = &iov_[iov_count_];
    if (packet.payload_size <= kMostCopied) {
      AddCopied(batch, packet, state);
    } else {
      AddPieces(batch, packet, state);
    }
    msghdr& m = messages_[count_++].msg_hdr;
    m = {};
    m.msg_name = const_cast<sockaddr_storage*>(&to.address());
    m.msg_namelen = to.address_size();
    m.msg_iov = first;
    m.msg_iovlen = static_cast<size_t>(&iov_[iov_count_] - first);
  }

  int Send(int fd, size_t from) { return SendMany(fd, messages_ + from, count_ - from); }

 private:
  void AddCopied(const PacketBatch& batch, const OutgoingPacket& packet, uint32_t state) {
    uint8_t* const slot = slots_[count_];
    memcpy(slot, packet.header, packet.header_size);
    uint8_t* const payload = slot + packet.header_size;
    uint8_t* end = payload;
    for (const iovec& piece : batch.pieces(packet)) {
      memcpy(end, piece.iov_base, piece.iov_len);
      end += piece.iov_len;
    }
    state = roce::IcrcExtend(state, {payload, end});
    end += roce::StoreTrailer(end, packet.payload_size, state);
    iov_[iov_count_++] = {slot, static_cast<size_t>(end - slot)};
  }

  void AddPieces(const PacketBatch& batch, const OutgoingPacket& packet, uint32_t state) {
    iov_[iov_count_++] = {const_cast<uint8_t*>(packet.header), packet.header_size};
    for (const iovec& piece : batch.pieces(packet)) {
      state = roce::IcrcExtend(state, {static_cast<const uint8_t*>(piece.iov_base), piece.iov_len});
      iov_[iov_count_++] = piece;
    }
    uint8_t* const trailer = slots_[count_];
    iov_[iov_count_++] = {trailer, roce::StoreTrailer(trailer, packet.payload_size, state)};
  }

  size_t count_ = 0;
  size_t iov_count_ = 0;
  mmsghdr messages_[kMostPackets];
  iovec iov_[PacketBatch::kMostPieces + 2 * kMostPackets];
  uint8_t slots_[kMostPackets][roce::kMaxHeaderSize + kMostCopied + roce::kMaxTrailerSize];
};

bool IsFull(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Returns the packets of the chunk that are done with, and sets *wait when the rest must wait.
size_t SendChunk(int fd, Chunk* chunk, UdpCounters* counters, bool* wait) {
  size_t done = 0;
  while (done < chunk->size()) {
    const int n = chunk->Send(fd, done);
    counters->send_calls.Add();
    if (n > 0) {
      counters->sent.Add(static_cast<uint64_t>(n));
      done += static_cast<size_t>(n);
    } else if (n < 0 && IsFull(errno)) {
      counters->socket_full.Add();
      *wait = true;
      break;
    } else {
      counters->send_refused.Add();
      ++done;
    }
  }
  return done;
}

}  // namespace

SendResult SendPackets(int fd, const PacketBatch& batch, size_t first, const Destination& to,
                       UdpCounters* counters) {
  SendResult result;
  for (size_t next = first; next < batch.size() && !result.wait;) {
    Chunk chunk;
    for (; next < batch.size() && !chunk.full(); ++next) chunk.Add(batch, batch.at(next), to);
    result.packets += SendChunk(fd, &chunk, counters, &result.wait);
  }
  return result;
}

}  // namespace softdat::softnet
