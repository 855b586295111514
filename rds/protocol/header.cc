// SPDX-License-Identifier: BSD-3-Clause
#include "rds/protocol/header.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace softdat::rds {

namespace {

// Offsets.
constexpr size_t kSequence = 0, kAck = 8, kLength = 16, kSourcePort = 20, kDestinationPort = 22,
                 kFlags = 24, kCredit = 25, kChecksum = 30, kExtensions = 32;

enum class Type : uint8_t {
  kEnd = 0,
  kVersion = 1,
  kRdma = 2,
  kRdmaDestination = 3,
  kRdmaBytes = 4,
  kPaths = 5,
  kGeneration = 6,
  kSourcePortIndex = 8,
  // Between instances of SoftDAT.
  kReturned = 0x40,
  kCarried = 0x41,
};

// Octets of an extension's data; nothing for a type that is not known.
std::optional<size_t> SizeOf(Type type) {
  switch (type) {
    case Type::kEnd:
      return 0;
    case Type::kSourcePortIndex:
      return 1;
    case Type::kPaths:
      return 2;
    case Type::kVersion:
    case Type::kRdma:
    case Type::kGeneration:
    case Type::kReturned:
    case Type::kCarried:
      return 4;
    case Type::kRdmaDestination:
    case Type::kRdmaBytes:
      return 8;
  }
  return std::nullopt;
}

// The ones' complement sum of IP, over a header.
uint16_t Sum(const uint8_t* header) {
  uint32_t sum = 0;
  for (size_t i = 0; i < kHeaderSize; i += 2) sum += LoadBe16(header + i);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>((sum & 0xffff) + (sum >> 16));
}

// The list of extensions, one behind the other.
class Writer {
 public:
  explicit Writer(uint8_t* header) : at_(header + kExtensions), end_(header + kHeaderSize) {}

  // Where the data go; null when they do not fit. The octet behind the last one ends the list.
  uint8_t* Add(Type type) {
    const size_t size = 1 + *SizeOf(type);
    if (static_cast<size_t>(end_ - at_) <= size) {
      fits_ = false;
      return nullptr;
    }
    *at_ = static_cast<uint8_t>(type);
    uint8_t* const data = at_ + 1;
    at_ += size;
    return data;
  }
  void Add32(Type type, const std::optional<uint32_t>& value) {
    if (!value) return;
    if (uint8_t* const data = Add(type)) StoreBe32(data, *value);
  }
  bool fits() const { return fits_; }

 private:
  uint8_t* at_;
  uint8_t* const end_;
  bool fits_ = true;
};

bool EncodeExtensions(const Extensions& extensions, uint8_t* header) {
  Writer writer(header);
  writer.Add32(Type::kVersion, extensions.version);
  writer.Add32(Type::kRdma, extensions.rdma_rkey);
  if (const auto& destination = extensions.rdma_destination) {
    if (uint8_t* const data = writer.Add(Type::kRdmaDestination)) {
      StoreBe32(data, destination->rkey);
      StoreBe32(data + 4, destination->offset);
    }
  }
  if (extensions.paths) {
    if (uint8_t* const data = writer.Add(Type::kPaths)) StoreBe16(data, *extensions.paths);
  }
  writer.Add32(Type::kGeneration, extensions.generation);
  writer.Add32(Type::kReturned, extensions.returned);
  writer.Add32(Type::kCarried, extensions.carried);
  return writer.fits();
}

void TakeExtension(Type type, const uint8_t* data, Extensions* extensions) {
  switch (type) {
    case Type::kVersion:
      extensions->version = LoadBe32(data);
      return;
    case Type::kRdma:
      extensions->rdma_rkey = LoadBe32(data);
      return;
    case Type::kRdmaDestination:
      extensions->rdma_destination = {LoadBe32(data), LoadBe32(data + 4)};
      return;
    case Type::kPaths:
      extensions->paths = LoadBe16(data);
      return;
    case Type::kGeneration:
      extensions->generation = LoadBe32(data);
      return;
    case Type::kReturned:
      extensions->returned = LoadBe32(data);
      return;
    case Type::kCarried:
      extensions->carried = LoadBe32(data);
      return;
    case Type::kEnd:
    case Type::kRdmaBytes:
    case Type::kSourcePortIndex:
      return;
  }
}

Extensions ParseExtensions(const uint8_t* header) {
  Extensions extensions;
  size_t at = kExtensions;
  while (at < kHeaderSize) {
    const Type type = static_cast<Type>(header[at]);
    const std::optional<size_t> size = SizeOf(type);
    if (type == Type::kEnd || !size || *size > kHeaderSize - at - 1) break;
    TakeExtension(type, header + at + 1, &extensions);
    at += 1 + *size;
  }
  return extensions;
}

}  // namespace

bool EncodeHeader(const Header& header, std::span<uint8_t, kHeaderSize> out) {
  std::array<uint8_t, kHeaderSize> octets{};
  uint8_t* const p = octets.data();
  StoreBe64(p + kSequence, header.sequence);
  StoreBe64(p + kAck, header.ack);
  StoreBe32(p + kLength, header.length);
  StoreBe16(p + kSourcePort, header.source_port);
  StoreBe16(p + kDestinationPort, header.destination_port);
  p[kFlags] = header.flags;
  p[kCredit] = header.credit;
  if (!EncodeExtensions(header.extensions, p)) return false;
  StoreBe16(p + kChecksum, static_cast<uint16_t>(~Sum(p)));
  std::ranges::copy(octets, out.begin());
  return true;
}

HeaderParse ParseHeader(ByteSpan octets, Header* header) {
  if (octets.size() < kHeaderSize) return HeaderParse::kShort;
  const uint8_t* const p = octets.data();
  if (LoadBe16(p + kChecksum) != 0 && Sum(p) != 0xffff) return HeaderParse::kBadChecksum;
  header->sequence = LoadBe64(p + kSequence);
  header->ack = LoadBe64(p + kAck);
  header->length = LoadBe32(p + kLength);
  header->source_port = LoadBe16(p + kSourcePort);
  header->destination_port = LoadBe16(p + kDestinationPort);
  header->flags = p[kFlags];
  header->credit = p[kCredit];
  header->extensions = ParseExtensions(p);
  return HeaderParse::kOk;
}

}  // namespace softdat::rds
