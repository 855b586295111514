// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/info_exchange.h"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstring>

namespace softdat::rds {
namespace {

// The last digits change with the fields.
constexpr uint64_t kMagic = 0x736f667452445301;

template <typename T>
concept Number = std::integral<T> && !std::same_as<T, bool>;

class Writer {
 public:
  template <Number T>
  void Field(const T& value) {
    const auto octets = std::bit_cast<std::array<uint8_t, sizeof value>>(value);
    out_.insert(out_.end(), octets.begin(), octets.end());
  }
  void Field(const bool& value) { out_.push_back(value ? 1 : 0); }
  // Returns how many items follow.
  template <typename T>
  size_t Count(const std::vector<T>& items) {
    const size_t count = std::min(items.size(), kMostInfoItems);
    Field(static_cast<uint32_t>(count));
    return count;
  }
  template <typename T>
  bool Has(const std::optional<T>& value) {
    Field(value.has_value());
    return value.has_value();
  }
  std::vector<uint8_t> Take() { return std::move(out_); }

 private:
  std::vector<uint8_t> out_;
};

class Reader {
 public:
  explicit Reader(ByteSpan octets) : left_(octets) {}

  template <Number T>
  void Field(T& value) {
    std::array<uint8_t, sizeof value> octets{};
    if (left_.size() < sizeof value) {
      good_ = false;
      left_ = {};
    } else {
      std::memcpy(octets.data(), left_.data(), sizeof value);
      left_ = left_.subspan(sizeof value);
    }
    value = std::bit_cast<T>(octets);
  }
  void Field(bool& value) {
    uint8_t octet = 0;
    Field(octet);
    value = octet == 1;
    good_ &= octet <= 1;
  }
  template <typename T>
  size_t Count(std::vector<T>& items) {
    uint32_t count = 0;
    Field(count);
    // An item has more than one octet, so that what is promised cannot take more than what came.
    if (count > kMostInfoItems || count > left_.size()) {
      good_ = false;
      count = 0;
    }
    items.resize(count);
    return count;
  }
  template <typename T>
  bool Has(std::optional<T>& value) {
    bool has = false;
    Field(has);
    if (has) value.emplace();
    return has;
  }
  bool ended_well() const { return good_ && left_.empty(); }

 private:
  ByteSpan left_;
  bool good_ = true;
};

// ---- the fields, for both directions ----

// An Info to be written is const, and one to be read is not.
template <typename Archive, typename T>
requires Number<std::remove_const_t<T>> || std::same_as < std::remove_const_t<T>,
bool > void Visit(Archive& archive, T& value) { archive.Field(value); }

template <typename Archive, typename Array>
void VisitAll(Archive& archive, Array& octets) {
  for (auto& octet : octets) archive.Field(octet);
}

template <typename Archive, typename T>
requires std::same_as<std::remove_const_t<T>, Address>
void Visit(Archive& archive, T& address) {
  VisitAll(archive, address.octets);
  archive.Field(address.ipv6);
  archive.Field(address.scope);
}

template <typename Archive, typename T>
requires std::same_as<std::remove_const_t<T>, SocketName>
void Visit(Archive& archive, T& name) {
  Visit(archive, name.address);
  archive.Field(name.port);
}

template <typename Archive, typename T>
requires std::same_as<std::remove_const_t<T>, ConnectionInfo>
void Visit(Archive& archive, T& info) {
  Visit(archive, info.local);
  Visit(archive, info.remote);
  archive.Field(info.next_send);
  archive.Field(info.next_receive);
  archive.Field(info.flags);
  archive.Field(info.type_of_service);
}

template <typename Archive, typename T>
requires std::same_as<std::remove_const_t<T>, RdmaConnectionInfo>
void Visit(Archive& archive, T& info) {
  Visit(archive, info.local);
  Visit(archive, info.remote);
  VisitAll(archive, info.local_gid);
  VisitAll(archive, info.remote_gid);
  archive.Field(info.max_send_requests);
  archive.Field(info.max_receive_requests);
  archive.Field(info.max_send_segments);
  archive.Field(info.max_regions);
  archive.Field(info.max_region_pages);
  archive.Field(info.type_of_service);
  archive.Field(info.service_level);
  archive.Field(info.cache_allocations);
}

template <typename Archive, typename T>
requires std::same_as<std::remove_const_t<T>, MessageInfo>
void Visit(Archive& archive, T& info) {
  Visit(archive, info.local);
  Visit(archive, info.remote);
  archive.Field(info.sequence);
  archive.Field(info.length);
  archive.Field(info.type_of_service);
}

template <typename Archive, typename T>
requires std::same_as<std::remove_const_t<T>, SocketInfo>
void Visit(Archive& archive, T& info) {
  if (archive.Has(info.bound)) Visit(archive, *info.bound);
  if (archive.Has(info.connected)) Visit(archive, *info.connected);
  archive.Field(info.send_limit);
  archive.Field(info.receive_limit);
  archive.Field(info.inode);
}

template <typename Archive, typename Items>
void VisitList(Archive& archive, Items& items) {
  const size_t count = archive.Count(items);
  for (size_t i = 0; i < count; ++i) Visit(archive, items[i]);
}

template <typename Archive, typename T>
requires std::same_as<std::remove_const_t<T>, Info>
void Visit(Archive& archive, T& info) {
  VisitAll(archive, info.counters.values);
  VisitList(archive, info.connections);
  VisitList(archive, info.rdma_connections);
  VisitList(archive, info.sockets);
  VisitList(archive, info.unsent);
  VisitList(archive, info.unacknowledged);
  VisitList(archive, info.arrived);
}

}  // namespace

std::vector<uint8_t> EncodeForOthers(const Info& info) {
  Writer writer;
  writer.Field(kMagic);
  Visit(writer, info);
  return writer.Take();
}

std::optional<Info> DecodeFromOther(ByteSpan octets) {
  Reader reader(octets);
  uint64_t magic = 0;
  reader.Field(magic);
  if (magic != kMagic) return std::nullopt;
  std::optional<Info> info(std::in_place);
  Visit(reader, *info);
  if (!reader.ended_well()) return std::nullopt;
  return info;
}

}  // namespace softdat::rds
