// SPDX-License-Identifier: BSD-3-Clause
#include "rds/link/channel.h"

#include <linux/rds.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dat/client/post.h"
#include "rds/link/errors.h"

namespace softdat::rds {
namespace {

constexpr size_t kSlot = 8256;  // a header and a fragment, and the next one is aligned again
static_assert(kSlot >= kHeaderSize + kOwnFragmentSize);

// Parts of operations that an EP may have at a time, and segments of one part.
constexpr uint32_t kParts = 128;
constexpr DAT_COUNT kSegments = 16;
// Of so many frames one is asked about.
constexpr uint32_t kAskEvery = 16;

constexpr DAT_TIMEOUT kConnectTimeoutUs = 10'000'000;

// A cookie: whose it is, the kind, and a number.
enum CookieKind : uint64_t { kReceive, kFrame, kOperation };
constexpr int kChannelBits = 32, kValueBits = 28;

uint64_t KindOf(const DAT_DTO_COMPLETION_EVENT_DATA& event) {
  return event.user_cookie.as_64 >> kValueBits & 0xf;
}
uint64_t ValueOf(const DAT_DTO_COMPLETION_EVENT_DATA& event) {
  return event.user_cookie.as_64 & ((uint64_t{1} << kValueBits) - 1);
}

}  // namespace

// ---- the EP ----

bool Channel::Open() {
  const DAT_IA_ATTR& adapter = ia_.attributes();
  DAT_EP_ATTR attributes{};
  attributes.service_type = DAT_SERVICE_TYPE_RC;
  attributes.max_message_size = kSlot;
  attributes.max_rdma_size = adapter.max_rdma_size;
  attributes.qos = DAT_QOS_BEST_EFFORT;
  attributes.max_recv_dtos = kReceives;
  attributes.max_request_dtos = kSends + kParts;
  attributes.max_recv_iov = 1;
  attributes.max_request_iov = 1;
  attributes.max_rdma_read_in = adapter.max_rdma_read_per_ep_in;
  attributes.max_rdma_read_out = adapter.max_rdma_read_per_ep_out;
  attributes.max_rdma_read_iov = std::min(kSegments, adapter.max_iov_segments_per_rdma_read);
  attributes.max_rdma_write_iov = std::min(kSegments, adapter.max_iov_segments_per_rdma_write);
  if (!memory_.Map((kReceives + kSends) * kSlot)) return false;
  if (!memory_.Register(ia_, pz_, DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG)
           .ok())
    return false;
  if (!ep_.Create(ia_, pz_, {evd_, evd_, evd_}, &attributes).ok()) return false;
  for (uint32_t slot = 0; slot < kReceives; ++slot) {
    if (!PostReceive(slot)) return false;
  }
  return true;
}

ChannelLimits Channel::Limits() {
  return {kSends + kParts, kReceives, static_cast<uint32_t>(kSegments)};
}

bool Channel::Connect(const sockaddr* peer, uint16_t service, ByteSpan data) {
  if (!client::Connect(ep_, peer, service, kConnectTimeoutUs, data).ok()) return false;
  ended_ = false;
  return true;
}

bool Channel::Accept(ByteSpan data) {
  const bool accepted = request_->Accept(ep_, data).ok();
  request_.reset();
  ended_ = !accepted;
  return accepted;
}

void Channel::Disconnect() { dat_ep_disconnect(ep_, DAT_CLOSE_ABRUPT_FLAG); }

// ---- receiving ----

uint64_t Channel::CookieOf(uint64_t kind, uint64_t value) const {
  return id_ << kChannelBits | kind << kValueBits | value;
}

ChannelId Channel::IdOf(const DAT_DTO_COMPLETION_EVENT_DATA& event) {
  return event.user_cookie.as_64 >> kChannelBits;
}

bool Channel::IsReceive(const DAT_DTO_COMPLETION_EVENT_DATA& event) {
  return KindOf(event) == kReceive;
}

bool Channel::PostReceive(uint32_t slot) {
  const DAT_LMR_TRIPLET segment = memory_.Local(slot * kSlot, kHeaderSize + kOwnFragmentSize);
  return client::PostReceive(ep_, segment, CookieOf(kReceive, slot)).ok();
}

ByteSpan Channel::Received(const DAT_DTO_COMPLETION_EVENT_DATA& event) {
  used_.push_back(static_cast<uint32_t>(ValueOf(event)));
  return {memory_.data() + ValueOf(event) * kSlot, event.transfered_length};
}

void Channel::PostReceives() {
  for (const uint32_t slot : used_) PostReceive(slot);
  used_.clear();
}

// ---- frames ----

size_t Channel::room() const { return waiting_.empty() ? kSends - (sent_ - completed_) : 0; }

void Channel::Send(const Frame& frame, bool fence) {
  const size_t at = (kReceives + sent_ % kSends) * kSlot;
  uint8_t* const slot = memory_.data() + at;
  std::memcpy(slot, frame.header.data(), kHeaderSize);
  if (!frame.payload.empty()) {
    std::memcpy(slot + kHeaderSize, frame.payload.data(), frame.payload.size());
  }
  ++sent_;
  const uint64_t cookie = CookieOf(kFrame, sent_ & ((1u << kValueBits) - 1));
  const DAT_LMR_TRIPLET segment = memory_.Local(at, kHeaderSize + frame.payload.size());
  int flags = DAT_COMPLETION_DEFAULT_FLAG;
  if (sent_ % kAskEvery != 0) flags |= DAT_COMPLETION_SUPPRESS_FLAG;
  // Linux sleeps until a frame asks for its attention.
  if (frame.last) flags |= DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  if (fence) flags |= DAT_COMPLETION_BARRIER_FENCE_FLAG;
  // Most find no other one in front of them, and so need no place among those that wait.
  const auto posted = static_cast<DAT_COMPLETION_FLAGS>(flags);
  if (waiting_.empty() && client::PostSend(ep_, segment, cookie, posted).ok()) return;
  Work work;
  work.cookie = cookie;
  work.local.push_back(segment);
  work.flags = flags;
  Push(std::move(work));
}

// ---- operations ----

uint64_t Channel::Begin(uint64_t id) {
  const uint64_t number = ++last_operation_ & ((1u << kValueBits) - 1);
  operations_[number].id = id;
  return number;
}

// The rest of the connection's work is not to go on as if nothing had been.
void Channel::Refuse(uint64_t number) {
  const auto found = operations_.find(number);
  if (found != operations_.end()) {
    refused_ = Ended{found->second.id, RDS_RDMA_OTHER_ERROR};
    operations_.erase(found);
  }
  Disconnect();
}

bool Channel::Register(Operation& operation, const std::vector<Area>& local,
                       std::vector<DAT_LMR_TRIPLET>* out) {
  for (size_t i = 0; i < local.size(); ++i) {
    // Areas that lie one behind the other need one region.
    Area area = local[i];
    while (i + 1 < local.size() && local[i + 1].address == area.address + area.bytes) {
      area.bytes += local[++i].bytes;
    }
    client::Lmr& lmr = operation.memory.emplace_back();
    if (!lmr.Register(ia_, pz_, reinterpret_cast<void*>(area.address), area.bytes,
                      DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG)
             .ok()) {
      return false;
    }
    out->push_back(lmr.Local(0, area.bytes));
  }
  return true;
}

void Channel::Post(uint64_t id, const RdmaOperation& wanted) {
  const uint64_t number = Begin(id);
  Operation& operation = operations_.at(number);
  std::vector<DAT_LMR_TRIPLET> local;
  if (!Register(operation, wanted.local, &local)) {
    Refuse(number);
    return;
  }
  const DAT_IA_ATTR& adapter = ia_.attributes();
  const size_t most = static_cast<size_t>(
      std::min(kSegments, wanted.write ? adapter.max_iov_segments_per_rdma_write
                                       : adapter.max_iov_segments_per_rdma_read));
  uint64_t remote = (wanted.cookie >> 32) + wanted.offset;
  std::vector<Work> parts;
  for (size_t first = 0; first < local.size(); first += most) {
    Work work;
    work.kind = wanted.write ? Work::Kind::kWrite : Work::Kind::kRead;
    work.cookie = CookieOf(kOperation, number);
    size_t octets = 0;
    for (size_t i = first; i < std::min(local.size(), first + most); ++i) {
      work.local.push_back(local[i]);
      octets += local[i].segment_length;
    }
    work.remote =
        client::RemoteSegment(remote, static_cast<DAT_RMR_CONTEXT>(wanted.cookie), octets);
    remote += octets;
    parts.push_back(std::move(work));
  }
  operation.parts = static_cast<uint32_t>(parts.size());
  for (Work& part : parts) Push(std::move(part));
}

void Channel::Post(uint64_t id, const AtomicOperation& wanted) {
  const uint64_t number = Begin(id);
  Operation& operation = operations_.at(number);
  Work work;
  if (!Register(operation, {{wanted.local, sizeof(uint64_t)}}, &work.local)) {
    Refuse(number);
    return;
  }
  work.kind = wanted.kind == AtomicOperation::Kind::kFetchAdd ? Work::Kind::kFetchAdd
                                                              : Work::Kind::kCompareSwap;
  work.cookie = CookieOf(kOperation, number);
  work.operand = wanted.swap_or_add;
  work.compare = wanted.compare;
  work.remote =
      client::RemoteSegment((wanted.cookie >> 32) + wanted.offset,
                            static_cast<DAT_RMR_CONTEXT>(wanted.cookie), sizeof(uint64_t));
  operation.parts = 1;
  Push(std::move(work));
}

// When a region is freed, nothing accesses it any more. What the EP had still to do there fails.
void Channel::Revoke(uint64_t id) {
  for (auto& [number, operation] : operations_) {
    if (operation.id == id) operation.memory.clear();
  }
}

void Channel::RevokeAll() {
  for (auto& [number, operation] : operations_) operation.memory.clear();
}

// ---- the queue ----

void Channel::Push(Work work) {
  waiting_.push_back(std::move(work));
  Drain();
}

void Channel::Drain() {
  while (!waiting_.empty()) {
    const bool part = waiting_.front().kind != Work::Kind::kFrame;
    if (part && parts_ == kParts) return;
    const DAT_RETURN posted = PostNow(waiting_.front());
    if (posted != DAT_SUCCESS) {
      // The EP is no longer connected, whose end is an event; or the operation is impossible.
      const bool ended = DAT_GET_TYPE(posted) == DAT_INVALID_STATE;
      if (part && !ended) {
        Refuse(waiting_.front().cookie & ((uint64_t{1} << kValueBits) - 1));
      } else {
        Disconnect();
      }
      return;
    }
    if (part) ++parts_;
    waiting_.pop_front();
  }
}

DAT_RETURN Channel::PostNow(const Work& work) {
  const client::Segments local(work.local.data(), work.local.size());
  const auto flags = static_cast<DAT_COMPLETION_FLAGS>(work.flags);
  switch (work.kind) {
    case Work::Kind::kFrame:
      return client::PostSend(ep_, local, work.cookie, flags);
    case Work::Kind::kWrite:
      return client::PostWrite(ep_, local, work.remote, work.cookie, flags);
    case Work::Kind::kRead:
      return client::PostRead(ep_, local, work.remote, work.cookie, flags);
    case Work::Kind::kFetchAdd:
      return client::PostFetchAndAdd(ep_, local, work.remote, work.operand, work.cookie, flags);
    case Work::Kind::kCompareSwap:
      return client::PostCompareAndSwap(ep_, local, work.remote, work.compare, work.operand,
                                        work.cookie, flags);
  }
  return DAT_INTERNAL_ERROR;
}

std::optional<Channel::Ended> Channel::Completed(const DAT_DTO_COMPLETION_EVENT_DATA& event) {
  const int status = StatusOf(event.status);
  if (KindOf(event) == kFrame) {
    // Those in front of it are done as well.
    if (status == RDS_RDMA_SUCCESS) {
      const uint32_t mask = (1u << kValueBits) - 1;
      completed_ += (static_cast<uint32_t>(ValueOf(event)) - completed_) & mask;
    }
    return std::nullopt;
  }
  const auto found = operations_.find(ValueOf(event));
  if (found == operations_.end()) return std::nullopt;
  --parts_;
  Operation& operation = found->second;
  if (operation.status == RDS_RDMA_SUCCESS) operation.status = status;
  std::optional<Ended> ended;
  if (--operation.parts == 0) {
    ended = Ended{operation.id, operation.status};
    operations_.erase(found);
  }
  Drain();
  return ended;
}

}  // namespace softdat::rds
