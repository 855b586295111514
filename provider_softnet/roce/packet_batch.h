// SPDX-License-Identifier: BSD-3-Clause
// Packets that leave together, in order, for one peer. A protocol engine fills the batch; whoever
// owns a datagram port sends it. Between the two the memory that the payloads lie in is pinned, so
// nothing but the sending belongs there: no blocking call, and no call into the memory table.
//
// A packet is its headers (BTH and extended headers, complete) and a payload in some pieces. Pad
// and ICRC are made by the port, because the ICRC covers the addresses.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_PACKET_BATCH_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_PACKET_BATCH_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "provider_softnet/memory/memory_table.h"
#include "wire/bytes.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {

// One packet of a batch.
struct OutgoingPacket {
  uint8_t header[roce::kMaxHeaderSize];
  uint8_t header_size;    // bytes
  uint16_t first_piece;   // index into the batch's pieces
  uint16_t piece_count;   // 0: no payload
  uint16_t payload_size;  // bytes in all pieces
};

class PacketBatch {
 public:
  static constexpr size_t kMostPackets = 64;
  static constexpr size_t kMostPieces = 160;
  static constexpr size_t kMostPins = 48;

  PacketBatch() {}
  ~PacketBatch() { Clear(); }
  PacketBatch(const PacketBatch&) = delete;
  PacketBatch& operator=(const PacketBatch&) = delete;

  // ---- the sender's ----
  size_t size() const { return packet_count_; }
  bool empty() const { return packet_count_ == 0; }
  const OutgoingPacket& at(size_t i) const { return packets_[i]; }
  std::span<const iovec> pieces(const OutgoingPacket& packet) const {
    return {pieces_ + packet.first_piece, packet.piece_count};
  }
  // Lets go of the memory.
  void Clear() {
    for (size_t i = 0; i < pin_count_; ++i) pin(i).~Pin();
    packet_count_ = piece_count_ = pin_count_ = 0;
  }

  // ---- the engine's ----
  // Whether another packet with as many pieces as a request has segments fits for sure.
  bool HasRoom(size_t pieces) const {
    return packet_count_ < kMostPackets && piece_count_ + pieces <= kMostPieces &&
           pin_count_ + pieces <= kMostPins;
  }
  bool holds_memory() const { return pin_count_ > 0; }
  // Begins a packet, whose header the caller writes. HasRoom() was true.
  OutgoingPacket& Begin() {
    OutgoingPacket& p = packets_[packet_count_];
    p.first_piece = static_cast<uint16_t>(piece_count_);
    p.piece_count = 0;
    p.payload_size = 0;
    return p;
  }
  // Adds `access` to the payload of the packet that was begun, if the memory may be read now.
  AccessError Add(MemoryTable& memory, const AccessRequest& access) {
    uint8_t* address = nullptr;
    if (pin_count_ == 0 || !pin(pin_count_ - 1).Covers(access, &address)) {
      Pin* const fresh = new (&pins_[pin_count_]) Pin;
      const AccessError error = memory.Acquire(access, fresh);
      if (error != AccessError::kNone) {
        fresh->~Pin();
        return error;
      }
      ++pin_count_;
      address = fresh->address();
    }
    OutgoingPacket& p = packets_[packet_count_];
    pieces_[piece_count_++] = {address, static_cast<size_t>(access.length)};
    ++p.piece_count;
    p.payload_size = static_cast<uint16_t>(p.payload_size + access.length);
    return AccessError::kNone;
  }
  // Adds bytes that the caller keeps until the batch is sent.
  void AddOwn(std::span<const uint8_t> bytes) {
    OutgoingPacket& p = packets_[packet_count_];
    pieces_[piece_count_++] = {const_cast<uint8_t*>(bytes.data()), bytes.size()};
    ++p.piece_count;
    p.payload_size = static_cast<uint16_t>(p.payload_size + bytes.size());
  }
  // The packet is complete. Without it, the packet that was begun is not in the batch.
  void Commit() { ++packet_count_; }

 private:
  struct alignas(Pin) PinStorage {
    std::byte bytes[sizeof(Pin)];
  };
  Pin& pin(size_t i) { return *std::launder(reinterpret_cast<Pin*>(&pins_[i])); }

  // What lies behind the counts is not initialised: most batches are short.
  size_t packet_count_ = 0;
  size_t piece_count_ = 0;
  size_t pin_count_ = 0;
  OutgoingPacket packets_[kMostPackets];
  iovec pieces_[kMostPieces];
  PinStorage pins_[kMostPins];
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_PACKET_BATCH_H_
