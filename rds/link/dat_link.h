// SPDX-License-Identifier: BSD-3-Clause
// The link over uDAPL: an adapter for each own address.
#ifndef SOFTDAT_RDS_LINK_DAT_LINK_H_
#define SOFTDAT_RDS_LINK_DAT_LINK_H_

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "rds/link/adapter.h"
#include "rds/socket/link.h"

namespace softdat::rds {

class DatLink : public Link {
 public:
  // To be called before anything else.
  void SetEvents(LinkEvents* events) { events_ = events; }

  // Opens an own address, unless it is open. Nothing when no IA has it: `why` says why.
  Adapter* Attach(const Address& own, std::string* why);
  Adapter* AdapterOf(const Address& own) const;
  const std::map<Address, std::unique_ptr<Adapter>>& adapters() const { return adapters_; }

  ChannelLimits limits(const Address& own) const override;
  uint16_t service(const Address& own) const override;
  uint32_t credit(const Address& own) const override;
  std::optional<ChannelId> Connect(const Address& own, const Address& peer, uint16_t service,
                                   ByteSpan data) override;
  void Accept(ChannelId request, ByteSpan data) override;
  void Reject(ChannelId request, ByteSpan data) override;
  void Close(ChannelId channel) override;
  size_t room(ChannelId channel) const override;
  void Send(ChannelId channel, const Frame& frame, bool fence) override;
  void PostReceives(ChannelId channel) override;
  void Post(ChannelId channel, uint64_t id, const RdmaOperation& operation) override;
  void Post(ChannelId channel, uint64_t id, const AtomicOperation& operation) override;
  void Revoke(ChannelId channel, uint64_t id) override;
  int Register(const Address& own, const Area& area, OpenRegion* out) override;
  void Deregister(uint64_t handle) override;

 private:
  template <typename Operation>
  void PostOn(ChannelId id, uint64_t operation_id, const Operation& operation);
  // The channel, and whose it is.
  Channel* Find(ChannelId id, Adapter** adapter = nullptr) const;

  LinkEvents* events_ = nullptr;
  ChannelId last_channel_ = 0;
  std::map<Address, std::unique_ptr<Adapter>> adapters_;
  uint64_t last_region_ = 0;
  std::unordered_map<uint64_t, client::Lmr> regions_;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_LINK_DAT_LINK_H_
