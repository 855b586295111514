// SPDX-License-Identifier: BSD-3-Clause
// What RDS needs from a transport: connections that carry frames in order, RDMA on them, and memory
// that peers may access. uDAPL is behind it in librds (rds/link), a network in virtual time in
// tests.
#ifndef SOFTDAT_RDS_SOCKET_LINK_H_
#define SOFTDAT_RDS_SOCKET_LINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "rds/protocol/connection.h"
#include "rds/socket/address.h"
#include "rds/socket/control_messages.h"
#include "wire/bytes.h"

namespace softdat::rds {

// A transport connection, from its request on. Never 0, never used again.
using ChannelId = uint64_t;

// Memory that peers may access by its key. A cookie has both.
struct OpenRegion {
  uint32_t rkey = 0;
  uint32_t offset = 0;  // the address of the first octet
  uint64_t handle = 0;  // for Link::Deregister
};

// What a connection has room for.
struct ChannelLimits {
  uint32_t sends = 0, receives = 0;  // requests
  uint32_t segments = 0;             // of one request
};

class Link {
 public:
  virtual ~Link() = default;

  // Of each connection from an own address.
  virtual ChannelLimits limits(const Address& own) const = 0;

  // The service on which this process takes connections at an own address.
  virtual uint16_t service(const Address& own) const = 0;
  // Fragments for which a new connection has receives; 0 when the transport waits for receives by
  // itself, so that none need be counted.
  virtual uint32_t credit(const Address& own) const = 0;

  // Nothing when that fails at once. Else there will be OnEstablished, OnRejected or OnBroken.
  virtual std::optional<ChannelId> Connect(const Address& own, const Address& peer,
                                           uint16_t service, ByteSpan data) = 0;
  // For requests (LinkEvents::OnRequest). Accepting ends in OnEstablished or OnBroken.
  virtual void Accept(ChannelId request, ByteSpan data) = 0;
  virtual void Reject(ChannelId request, ByteSpan data) = 0;
  // There will be no event of this channel any more, and its operations do nothing more to the
  // memory of this program.
  virtual void Close(ChannelId channel) = 0;

  // How many of the following may be posted now. LinkEvents::OnRoom tells when there are more.
  virtual size_t room(ChannelId channel) const = 0;
  // `fence`: not before the reads in front of it have ended.
  virtual void Send(ChannelId channel, const Frame& frame, bool fence) = 0;
  // Posts the receives again whose frames OnFrame has had.
  virtual void PostReceives(ChannelId channel) = 0;
  // Ends in OnOperation with `id`.
  virtual void Post(ChannelId channel, uint64_t id, const RdmaOperation& operation) = 0;
  virtual void Post(ChannelId channel, uint64_t id, const AtomicOperation& operation) = 0;
  // The operation does nothing more to the memory of this program. If it has not ended, the channel
  // may break by that.
  virtual void Revoke(ChannelId channel, uint64_t id) = 0;

  // 0 or an errno: EAGAIN, EBUSY, ENOMEM, EOPNOTSUPP.
  virtual int Register(const Address& own, const Area& area, OpenRegion* out) = 0;
  virtual void Deregister(uint64_t handle) = 0;
};

// What a transport tells. Each call may call the link.
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;

  virtual void OnRequest(ChannelId request, const Address& own, const Address& peer,
                         ByteSpan data) = 0;
  // `data`: what the accepting end said; empty at that end.
  virtual void OnEstablished(ChannelId channel, ByteSpan data) = 0;
  // `data`: what Reject() was given.
  virtual void OnRejected(ChannelId channel, ByteSpan data) = 0;
  // It could not be made (`refused`: because nobody listens there), or has ended.
  virtual void OnBroken(ChannelId channel, bool refused) = 0;
  virtual void OnFrame(ChannelId channel, ByteSpan frame) = 0;
  virtual void OnRoom(ChannelId channel) = 0;
  // `status`: RDS_RDMA_*. After anything but success the channel breaks.
  virtual void OnOperation(ChannelId channel, uint64_t id, int status) = 0;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_LINK_H_
