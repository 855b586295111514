// SPDX-License-Identifier: BSD-3-Clause
// An own address: the IA that has it, its services, and its connections.
#ifndef SOFTDAT_RDS_LINK_ADAPTER_H_
#define SOFTDAT_RDS_LINK_ADAPTER_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "dat/client/endpoint.h"
#include "dat/client/events.h"
#include "dat/client/ia.h"
#include "dat/client/memory.h"
#include "rds/link/channel.h"
#include "rds/socket/link.h"

namespace softdat::rds {

class Adapter {
 public:
  Adapter(const Address& address, LinkEvents* events, ChannelId* last_channel)
      : address_(address), events_(*events), last_channel_(*last_channel) {}

  // Opens the IA of that name, which is to have the address. Empty, or why that failed.
  std::string Open(const std::string& ia_name);
  // Whether requests that go to RDS itself come here. At most one process has them.
  bool Hold();
  bool holds() const { return well_known_; }

  const Address& address() const { return address_; }
  uint16_t service() const { return static_cast<uint16_t>(service_.qualifier()); }
  bool counts_credit() const;

  Channel* Connect(const Address& peer, uint16_t service, ByteSpan data);
  void Accept(Channel& channel, ByteSpan data);
  void Reject(Channel& channel, ByteSpan data);
  void Close(ChannelId id);
  Channel* Find(ChannelId id);

  // `offset`: the address of the area's first octet for peers.
  int Register(const Area& area, client::Lmr* out, uint32_t* offset);

  // ---- events ----
  struct Arrived {
    int events = 0;            // the one that Wait() has given, and those behind it
    bool interrupted = false;  // by a signal
  };
  // Waits for an event, at most so long. The only call that blocks, and that needs no lock. It ends
  // early by Wake().
  Arrived Wait(DAT_TIMEOUT timeout_us, DAT_EVENT* event);
  // One of those behind it.
  bool Next(DAT_EVENT* event);
  void Wake();
  void Handle(const DAT_EVENT& event);

 private:
  void HandleDto(const DAT_DTO_COMPLETION_EVENT_DATA& event);
  void HandleConnection(const DAT_EVENT& event);
  void HandleRequest(const DAT_EVENT& event);
  Address PeerOf(const Address& remote, ByteSpan data) const;
  Channel* FindAny(ChannelId id);
  Channel* NewChannel();
  Channel* OfEp(DAT_EP_HANDLE ep);
  void Retire(std::unique_ptr<Channel> channel);
  void MakeRoomForEvents();

  const Address address_;
  LinkEvents& events_;
  ChannelId& last_channel_;
  client::Ia ia_;
  client::Pz pz_;
  client::Evd evd_;
  client::ServicePoint service_;
  client::ServicePoint well_known_service_;
  bool well_known_ = false;
  DAT_COUNT evd_length_ = 0;
  std::unordered_map<ChannelId, std::unique_ptr<Channel>> channels_;
  // Closed, but their EPs still have an event to come.
  std::unordered_map<ChannelId, std::unique_ptr<Channel>> ending_;
  // Their EPs have ended, and are freed a moment later, oldest first.
  struct Retired {
    std::chrono::steady_clock::time_point since;
    std::unique_ptr<Channel> channel;
  };
  std::deque<Retired> retired_;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_LINK_ADAPTER_H_
