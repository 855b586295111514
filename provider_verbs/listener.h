// SPDX-License-Identifier: BSD-3-Clause
// The passive side: listeners on the interface's addresses, and the requests that arrive.
#ifndef SOFTDAT_PROVIDER_VERBS_LISTENER_H_
#define SOFTDAT_PROVIDER_VERBS_LISTENER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "dat/backend_kit/upcall_gate.h"
#include "dat/transport/transport.h"
#include "provider_verbs/cm_channel.h"
#include "provider_verbs/device.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::verbs {

// The listener and its rdma_cm ids share it.
class ListenerCore : public CmSink {
 public:
  ListenerCore(Device& device, uint64_t conn_qual, transport::ListenerSink* sink)
      : device_(device), conn_qual_(conn_qual), sink_(sink) {}
  void OnCmEvent(const CmEvent& event) override;
  void Close() { gate_.Close(); }

  // To be called before it listens.
  void set_conn_qual(uint64_t conn_qual) { conn_qual_ = conn_qual; }
  uint64_t conn_qual() const { return conn_qual_; }

 private:
  Device& device_;
  uint64_t conn_qual_;
  transport::ListenerSink* const sink_;
  UpcallGate gate_;
};

class Listener : public transport::Listener {
 public:
  static Result<std::unique_ptr<transport::Listener>> Create(
      Device& device, const transport::ListenParameters& parameters);
  ~Listener() override;
  uint64_t conn_qual() const override { return core_->conn_qual(); }

 private:
  Listener(Device& device, std::shared_ptr<ListenerCore> core,
           std::vector<std::shared_ptr<CmId>> ids)
      : device_(device), core_(std::move(core)), ids_(std::move(ids)) {}

  Device& device_;
  const std::shared_ptr<ListenerCore> core_;
  std::vector<std::shared_ptr<CmId>> ids_;  // one for each address
};

// Watches a request until it is answered.
class RequestCore : public CmSink {
 public:
  void OnCmEvent(const CmEvent& event) override;
  // From now on `successor` gets the events. Returns whether the requester has already gone.
  bool HandOver(std::shared_ptr<CmSink> successor);

 private:
  std::mutex mutex_;  // protects the two members below
  bool gone_ = false;
  std::shared_ptr<CmSink> successor_;
};

class ConnectionRequest : public transport::ConnectionRequest {
 public:
  ConnectionRequest(Device& device, std::shared_ptr<CmId> id, uint64_t conn_qual,
                    const rdmacm::FieldView& field, const rdma_conn_param& params);
  ~ConnectionRequest() override;

  std::span<uint8_t> private_data() override { return data_; }
  const transport::ConnectionAddresses& addresses() const override { return addresses_; }
  uint64_t conn_qual() const override { return conn_qual_; }
  Status Accept(transport::QueuePair& qp, std::span<const uint8_t> private_data) override;
  Status Reject(std::span<const uint8_t> private_data) override;

  // The back end's own reject.
  static void Refuse(Device& device, rdma_cm_id* id, bool padded);

 private:
  Status CheckData(std::span<const uint8_t> private_data) const;

  Device& device_;
  const std::shared_ptr<RequestCore> core_ = std::make_shared<RequestCore>();
  std::shared_ptr<CmId> id_;  // null once answered
  const uint64_t conn_qual_;
  const bool padded_;
  const uint8_t responder_resources_;
  const uint8_t initiator_depth_;
  std::vector<uint8_t> data_;
  transport::ConnectionAddresses addresses_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_LISTENER_H_
