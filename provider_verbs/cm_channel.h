// SPDX-License-Identifier: BSD-3-Clause
// The rdma_cm event channel of an adapter, and the ownership of rdma_cm ids.
#ifndef SOFTDAT_PROVIDER_VERBS_CM_CHANNEL_H_
#define SOFTDAT_PROVIDER_VERBS_CM_CHANNEL_H_

#include <rdma/rdma_cma.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

#include "dat/base/status.h"

namespace softdat::verbs {

// A copy of an event. The original is acknowledged before anyone sees the copy, so that destroying
// an id never waits for an upcall.
struct CmEvent {
  rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_ERROR;
  int status = 0;
  rdma_cm_id* id = nullptr;
  uint64_t serial = 0;  // CmId::serial of the addressee
  // Their private_data are not valid; use data.
  rdma_conn_param params{};
  rdma_ud_param datagrams{};  // in place of params, if the id is for datagrams
  std::array<uint8_t, 256> data{};
  size_t data_size = 0;

  std::span<const uint8_t> private_data() const { return {data.data(), data_size}; }
};

// Gets the events of an id. The driver's leader calls it without a lock.
class CmSink {
 public:
  virtual ~CmSink() = default;
  virtual void OnCmEvent(const CmEvent& event) = 0;
};

class CmChannel {
 public:
  static Result<std::unique_ptr<CmChannel>> Create();
  ~CmChannel();
  CmChannel(const CmChannel&) = delete;
  CmChannel& operator=(const CmChannel&) = delete;

  int fd() const { return channel_->fd; }
  // Delivers the events that are there, without blocking. Returns whether there were any.
  bool Dispatch();

  void AbandonAfterFork() { abandoned_ = true; }

 private:
  friend class CmId;
  CmChannel() = default;

  rdma_event_channel* channel_ = nullptr;
  struct Addressee {
    std::shared_ptr<CmSink> sink;
    uint64_t serial;
  };

  std::mutex mutex_;  // protects sinks_
  std::unordered_map<rdma_cm_id*, Addressee> sinks_;
  bool abandoned_ = false;  // written only in a child with one thread
};

// Owns an rdma_cm id. Events that come after its destruction reach nobody.
class CmId {
 public:
  // Makes a new id: for reliable connections (RDMA_PS_TCP) or for datagrams (RDMA_PS_UDP).
  static Result<std::unique_ptr<CmId>> Create(CmChannel& channel,
                                              rdma_port_space space = RDMA_PS_TCP);
  // Takes an id that came with a connection request.
  CmId(CmChannel& channel, rdma_cm_id* id) : channel_(channel), id_(id), serial_(NextSerial()) {}
  ~CmId();
  CmId(const CmId&) = delete;
  CmId& operator=(const CmId&) = delete;

  rdma_cm_id* get() const { return id_; }
  // No other CmId of the process has this number. An event that is on its way while its id is
  // destroyed must not be taken for an event of the next id, which may get the same address.
  uint64_t serial() const { return serial_; }
  // rdma_bind_addr, rdma_listen and rdma_resolve_addr, which look for the device of the address and
  // open it. Return 0 or an error number.
  int Bind(sockaddr_storage* address);
  int Listen(int backlog);
  int Resolve(sockaddr_storage* from, sockaddr_storage* to, int timeout_ms);
  // Replaces the sink. Events that come while there is no sink are dropped.
  void SetSink(std::shared_ptr<CmSink> sink);

 private:
  static uint64_t NextSerial();

  CmChannel& channel_;
  rdma_cm_id* const id_;
  const uint64_t serial_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_CM_CHANNEL_H_
