// SPDX-License-Identifier: BSD-3-Clause
#include "rds/link/adapter.h"

#include <linux/rds.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "rds/link/errors.h"
#include "rds/link/ia_names.h"
#include "rds/protocol/connect_data.h"
#include "rds/socket/introduction.h"

namespace softdat::rds {
namespace {

// Events of one connection that may wait: of receives, of frames and of operations.
constexpr DAT_COUNT kEventsOfChannel = Channel::kReceives + Channel::kSends + 128 + 4;
constexpr DAT_COUNT kRequests = 64;

}  // namespace

std::string Adapter::Open(const std::string& ia_name) {
  const auto failed = [&](const client::Result& result) {
    return ia_name + ": " + result.Describe();
  };
  const auto has_address = [&] { return NameOf(*ia_.address()).address == address_; };
  if (const auto r = ia_.Open(ia_name); !r.ok()) return failed(r);
  if (!has_address()) {
    // Another address of the same interface has a name, too, with softnet.
    const std::string other = ToText(NameOf(*ia_.address()).address);
    const auto r = ia_.Open(ia_name + "/" + ToText(address_));
    if (!r.ok() || !has_address()) return ia_name + " has the address " + other;
  }
  if (const auto r = pz_.Create(ia_); !r.ok()) return failed(r);
  evd_length_ = kRequests + 4 * kEventsOfChannel;
  const int kinds =
      DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_SOFTWARE_FLAG;
  if (const auto r = evd_.Create(ia_, kinds, evd_length_); !r.ok()) return failed(r);
  if (const auto r = service_.ListenAny(ia_, evd_); !r.ok()) return failed(r);
  if (service_.qualifier() > UINT16_MAX) return ia_name + ": its services have no port numbers";
  return {};
}

bool Adapter::Hold() {
  if (well_known_) return true;
  well_known_ = well_known_service_.Listen(ia_, evd_, address_.ipv6 ? kPort6 : kPort).ok();
  return well_known_;
}

// A transport that fails when there is no receive needs it: iWARP. Its adapters are those of TCP.
bool Adapter::counts_credit() const { return true; }

// ---- channels ----

void Adapter::MakeRoomForEvents() {
  const auto channels = static_cast<DAT_COUNT>(channels_.size() + ending_.size() + 1);
  const DAT_COUNT needed = kRequests + channels * kEventsOfChannel;
  if (needed <= evd_length_) return;
  const DAT_COUNT length = std::min(2 * needed, ia_.attributes().max_evd_qlen);
  if (dat_evd_resize(evd_, length) == DAT_SUCCESS) evd_length_ = length;
}

Channel* Adapter::NewChannel() {
  MakeRoomForEvents();
  auto channel = std::make_unique<Channel>(++last_channel_, ia_, pz_, evd_.get());
  Channel* const made = channel.get();
  channels_.emplace(made->id(), std::move(channel));
  return made;
}

Channel* Adapter::Connect(const Address& peer, uint16_t service, ByteSpan data) {
  Channel* const channel = NewChannel();
  const RawName to = Raw({peer, 0});
  if (channel->Open() && channel->Connect(to.get(), service, data)) return channel;
  channels_.erase(channel->id());
  return nullptr;
}

void Adapter::Accept(Channel& channel, ByteSpan data) {
  if (channel.Open() && channel.Accept(data)) return;
  // The one who asked has gone, or there is no memory.
  const ChannelId id = channel.id();
  channels_.erase(id);
  events_.OnBroken(id, /*refused=*/false);
}

void Adapter::Reject(Channel& channel, ByteSpan data) {
  const DAT_CR_HANDLE request = channel.request()->Release();
  dat_cr_reject(request, static_cast<DAT_COUNT>(data.size()), const_cast<uint8_t*>(data.data()));
  channels_.erase(channel.id());
}

void Adapter::Close(ChannelId id) {
  const auto found = channels_.find(id);
  if (found == channels_.end()) return;
  std::unique_ptr<Channel> channel = std::move(found->second);
  channels_.erase(found);
  // The EP's last event names it. So it stays until then, or its successor might be taken for it.
  const bool ended = channel->ended();
  if (!ended) channel->Disconnect();
  channel->RevokeAll();
  if (ended) return Retire(std::move(channel));
  ending_.emplace(id, std::move(channel));
}

// An EP that has ended may have something to say still, to its peer why it has refused something,
// and to this end which operation was refused. So it stays a moment longer.
void Adapter::Retire(std::unique_ptr<Channel> channel) {
  constexpr auto kMoment = std::chrono::milliseconds(50);
  const auto now = std::chrono::steady_clock::now();
  while (!retired_.empty() && retired_.front().since + kMoment < now) retired_.pop_front();
  retired_.push_back({now, std::move(channel)});
}

Channel* Adapter::Find(ChannelId id) {
  const auto found = channels_.find(id);
  return found == channels_.end() ? nullptr : found->second.get();
}

// The end of a connection may be told before the operation that has ended it.
Channel* Adapter::FindAny(ChannelId id) {
  if (Channel* const open = Find(id)) return open;
  if (const auto found = ending_.find(id); found != ending_.end()) return found->second.get();
  for (const Retired& retired : retired_) {
    if (retired.channel->id() == id) return retired.channel.get();
  }
  return nullptr;
}

// ---- memory ----

int Adapter::Register(const Area& area, client::Lmr* out, uint32_t* offset) {
  const auto try_from = [&](uint64_t first) {
    const auto before = static_cast<uint32_t>(area.address - first);
    auto* const data = reinterpret_cast<void*>(first);
    const uint64_t bytes = area.bytes + before;
    client::Result result =
        out->RegisterZeroBased(ia_, pz_, data, bytes, client::kEverythingAndAtomics);
    // Not every adapter has atomics.
    if (!result.ok()) result = out->RegisterZeroBased(ia_, pz_, data, bytes, DAT_MEM_PRIV_ALL_FLAG);
    *offset = before;
    return result.type();
  };
  const DAT_RETURN type = try_from(area.address);
  if (type != DAT_MODEL_NOT_SUPPORTED) return ErrnoOfRegistration(type);
  // The adapter counts from the start of a page, as Linux does, which opens all of it.
  static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return ErrnoOfRegistration(try_from(area.address / page * page));
}

// ---- events ----

Adapter::Arrived Adapter::Wait(DAT_TIMEOUT timeout_us, DAT_EVENT* event) {
  DAT_COUNT behind = 0;
  const DAT_RETURN result = dat_evd_wait(evd_, timeout_us, 1, event, &behind);
  Arrived arrived;
  arrived.interrupted = DAT_GET_TYPE(result) == DAT_INTERRUPTED_CALL;
  if (result == DAT_SUCCESS) arrived.events = 1 + static_cast<int>(behind);
  return arrived;
}

bool Adapter::Next(DAT_EVENT* event) { return dat_evd_dequeue(evd_, event) == DAT_SUCCESS; }

void Adapter::Wake() {
  DAT_EVENT event{};
  event.event_number = DAT_SOFTWARE_EVENT;
  dat_evd_post_se(evd_, &event);
}

void Adapter::Handle(const DAT_EVENT& event) {
  switch (static_cast<int>(event.event_number)) {
    case DAT_DTO_COMPLETION_EVENT:
    case DAT_IB_DTO_EVENT:
      HandleDto(event.event_data.dto_completion_event_data);
      return;
    case DAT_CONNECTION_REQUEST_EVENT:
      HandleRequest(event);
      return;
    case DAT_SOFTWARE_EVENT:
      return;
    default:
      HandleConnection(event);
  }
}

void Adapter::HandleDto(const DAT_DTO_COMPLETION_EVENT_DATA& event) {
  const ChannelId id = Channel::IdOf(event);
  Channel* const channel = Channel::IsReceive(event) ? Find(id) : FindAny(id);
  if (channel == nullptr) return;
  if (!Channel::IsReceive(event)) {
    const std::optional<Channel::Ended> ended = channel->Completed(event);
    const std::optional<Channel::Ended> refused = channel->TakeRefused();
    if (ended) events_.OnOperation(id, ended->id, ended->status);
    if (refused) events_.OnOperation(id, refused->id, refused->status);
    events_.OnRoom(id);
    return;
  }
  if (event.status != DAT_DTO_SUCCESS) return;
  events_.OnFrame(id, channel->Received(event));
}

// Between two addresses of this host TCP says that the peer has this one. Which it is, the peer
// says itself; it can only be one of this host's.
Address Adapter::PeerOf(const Address& remote, ByteSpan data) const {
  if (remote != address_) return remote;
  const std::optional<Introduction> says = ParseIntroduction(data, address_.ipv6);
  if (!says || says->kind == Introduction::Kind::kKernel || says->for_kernel) return remote;
  Address out = says->own;
  out.scope = remote.scope;
  return OnThisHost(out).value_or(remote);
}

void Adapter::HandleRequest(const DAT_EVENT& event) {
  client::ConnectionRequest request(ia_, event);
  DAT_CR_PARAM param{};
  if (dat_cr_query(request, DAT_CR_FIELD_ALL, &param) != DAT_SUCCESS) return;
  // An IA may listen for both families. This address has one.
  if (NameOf(*param.remote_ia_address_ptr).address.ipv6 != address_.ipv6) {
    std::vector<uint8_t> why = Encode(Refusal{});
    dat_cr_reject(request.Release(), static_cast<DAT_COUNT>(why.size()), why.data());
    return;
  }
  const auto* const data = static_cast<const uint8_t*>(param.private_data);
  const std::vector<uint8_t> copy(data, data + param.private_data_size);
  const Address peer = PeerOf(NameOf(*param.remote_ia_address_ptr).address, copy);
  Channel* const channel = NewChannel();
  channel->SetRequest(std::move(request));
  events_.OnRequest(channel->id(), address_, peer, copy);
}

Channel* Adapter::OfEp(DAT_EP_HANDLE ep) {
  for (auto* const channels : {&channels_, &ending_}) {
    for (const auto& [id, channel] : *channels) {
      if (channel->ep() == ep) return channel.get();
    }
  }
  return nullptr;
}

void Adapter::HandleConnection(const DAT_EVENT& event) {
  const DAT_CONNECTION_EVENT_DATA& of = event.event_data.connect_event_data;
  Channel* const channel = OfEp(of.ep_handle);
  if (channel == nullptr) return;
  const ChannelId id = channel->id();
  const bool established = event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED;
  if (!established) channel->SetEnded();
  if (ending_.contains(id)) {
    if (!established) ending_.erase(id);
    return;
  }
  const ByteSpan data(static_cast<const uint8_t*>(of.private_data),
                      static_cast<size_t>(of.private_data_size));
  if (established) {
    events_.OnEstablished(id, data);
  } else if (event.event_number == DAT_CONNECTION_EVENT_PEER_REJECTED) {
    events_.OnRejected(id, data);
  } else {
    events_.OnBroken(id, event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  }
}

}  // namespace softdat::rds
