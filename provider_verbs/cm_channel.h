// SPDX-License-Identifier: BSD-3-Clause
// The rdma_cm event channel of an adapter, and ownership of rdma_cm ids.
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

// A copy of an event: the original is acknowledged before anyone sees it, so that no id's
// destruction waits for an upcall.
struct CmEvent {
  rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_ERROR;
  int status = 0;
  rdma_cm_id* id = nullptr;
  uint64_t serial = 0;       // CmId::serial of the addressee
  rdma_conn_param params{};  // its private_data is not valid: see data
  std::array<uint8_t, 256> data{};
  size_t data_size = 0;

  std::span<const uint8_t> private_data() const { return {data.data(), data_size}; }
};

// Gets the events of an id. Called by the driver's leader, without a lock.
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
  // Hands out what is there, without blocking; whether there was anything.
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
  bool abandoned_ = false;  // only ever written in a child with one thread
};

// Owns an rdma_cm id. Events after its destruction reach nobody.
class CmId {
 public:
  // A fresh one for reliable connections.
  static Result<std::unique_ptr<CmId>> Create(CmChannel& channel);
  // One that came with a connection request.
  CmId(CmChannel& channel, rdma_cm_id* id) : channel_(channel), id_(id), serial_(NextSerial()) {}
  ~CmId();
  CmId(const CmId&) = delete;
  CmId& operator=(const CmId&) = delete;

  rdma_cm_id* get() const { return id_; }
  // No other CmId of the process has it: an event that is on its way while its id is destroyed must
  // not be taken for one of the next id, which may get the same address.
  uint64_t serial() const { return serial_; }
  // Replaces the sink. Events that come while there is none are dropped.
  void SetSink(std::shared_ptr<CmSink> sink);

 private:
  static uint64_t NextSerial();

  CmChannel& channel_;
  rdma_cm_id* const id_;
  const uint64_t serial_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_CM_CHANNEL_H_
