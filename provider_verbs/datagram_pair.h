// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs for unreliable datagrams over ibv_qp, which meet by the SIDR of rdma_cm.
//
// The hardware is made with the object and is ready at once. It knows no peer: where a datagram
// goes is said with the post. Each Resolve is a Question with an rdma_cm id of its own.
//
// All news from the wire arrives in the driver's leader. These and the control calls share
// `control_`. Upcalls are made after it is released.
#ifndef SOFTDAT_PROVIDER_VERBS_DATAGRAM_PAIR_H_
#define SOFTDAT_PROVIDER_VERBS_DATAGRAM_PAIR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dat/backend_kit/upcall_gate.h"
#include "dat/transport/transport.h"
#include "provider_verbs/cm_connector.h"
#include "provider_verbs/completion_queue.h"
#include "provider_verbs/device.h"
#include "provider_verbs/hardware_pair.h"
#include "provider_verbs/memory.h"
#include "provider_verbs/pair_queues.h"
#include "provider_verbs/pair_sink.h"
#include "provider_verbs/receive_queue.h"
#include "provider_verbs/send_queue.h"

namespace softdat::verbs {

class DatagramCore final : public PairSink {
 public:
  static Result<std::shared_ptr<DatagramCore>> Create(
      Device& device, const transport::QueuePairAttributes& attributes);
  DatagramCore(const DatagramCore&) = delete;
  DatagramCore& operator=(const DatagramCore&) = delete;

  SendQueue& sends() { return sends_; }
  ReceiveQueue& receives() { return receives_; }

  // transport::QueuePair.
  Status Configure(const transport::QueuePairAttributes& attributes);
  Status Resolve(const transport::ConnectParameters& parameters, uint64_t token);
  // The object is being destroyed. Afterwards no upcall is running or will come.
  void Close();

  // A peer is about to be told the pair's number, which is returned. `*domain`: where its way is
  // made. From then on the pair is not configured.
  Result<uint32_t> Meet(ProtectionDomain** domain);

  // PairSink.
  ReceiveProgress& receive_progress() override { return receives_.progress(); }
  bool Shares(const SrqCore* srq) override;
  void ReportFailure() override;
  void OnArrivals() override {}
  void OnAsyncError(const char* what, uint32_t life) override;
  void OnFirstMessage(uint32_t) override {}

 private:
  // One Resolve that has no outcome yet.
  struct Question final : public CmSink, public std::enable_shared_from_this<Question> {
    Question(std::weak_ptr<DatagramCore> asker, Device& device, uint64_t number)
        : pair(std::move(asker)), cm(device, RDMA_PS_UDP), token(number) {}
    void OnCmEvent(const CmEvent& event) override;

    const std::weak_ptr<DatagramCore> pair;
    CmConnector cm;
    const uint64_t token;
    std::optional<Driver::TimerId> timer;
  };
  using QuestionPtr = std::shared_ptr<Question>;
  // The end of a question, to be told without control_.
  struct Outcome {
    QuestionPtr question{};  // null: there is none yet
    std::optional<transport::DatagramPeer> peer{};
    transport::RejectReason reject = transport::RejectReason::kNonPeer;
    std::string why{};
    std::vector<uint8_t> data{};
    transport::DatagramSink* sink = nullptr;
  };
  struct Deferred {
    std::shared_ptr<CqCore> send_cq, recv_cq;
    CqCore::Due send, receive;
    void Run();
  };

  explicit DatagramCore(Device& device)
      : device_(device),
        queues_(device),
        hardware_(device),
        sends_(device, this),
        receives_(device, this) {}

  // control_ must be held, or the object not shared yet.
  Status Adopt(const transport::QueuePairAttributes& attributes);
  Status MakeHardware();
  void DestroyHardware(Deferred* deferred);
  void Detach();
  Result<uint32_t> NumberToTell(ProtectionDomain** domain);

  void OnCmEvent(const QuestionPtr& question, const CmEvent& event);
  // Makes a driver task that does `work` with control_ held, if the question has no outcome by
  // then.
  Driver::Task Later(const QuestionPtr& question, std::function<Outcome()> work);
  // control_ must be held:
  Outcome Follow(const QuestionPtr& question, const CmStep& step, const CmEvent& event);
  Outcome Ask(const QuestionPtr& question, const CmEvent& event);
  Outcome Met(const QuestionPtr& question, const CmStep& step, const CmEvent& event);
  Outcome TryAgain(const QuestionPtr& question);
  Outcome Fail(const QuestionPtr& question, transport::RejectReason reject, std::string why,
               std::span<const uint8_t> data = {});
  Outcome OutcomeOf(const QuestionPtr& question);
  // Without control_.
  void Tell(Outcome outcome);

  std::shared_ptr<DatagramCore> Self() {
    return std::static_pointer_cast<DatagramCore>(shared_from_this());
  }

  Device& device_;
  UpcallGate gate_;

  // Protects the members up to the next comment.
  std::mutex control_;
  transport::QueuePairAttributes attributes_;
  PairQueues queues_;
  HardwarePair hardware_;
  std::set<QuestionPtr> questions_;
  bool met_ = false;  // peers know the pair
  bool closed_ = false;

  // Each has its own lock, which is taken after control_.
  SendQueue sends_;
  ReceiveQueue receives_;
};

class DatagramPair final : public transport::QueuePair {
 public:
  explicit DatagramPair(std::shared_ptr<DatagramCore> core) : core_(std::move(core)) {}
  ~DatagramPair() override { core_->Close(); }
  Code PostSend(const transport::SendRequest& r) override { return core_->sends().Post(r); }
  Code PostReceive(const transport::ReceiveRequest& r) override {
    return core_->receives().Post(r);
  }
  Status Configure(const transport::QueuePairAttributes& a) override { return core_->Configure(a); }
  Status Resolve(const transport::ConnectParameters& p, uint64_t token) override {
    return core_->Resolve(p, token);
  }
  uint32_t OutstandingSends() const override { return core_->sends().Outstanding(); }
  uint32_t OutstandingReceives() const override { return core_->receives().Outstanding(); }

  // For connections, which datagrams do not have.
  Status Connect(const transport::ConnectParameters&) override {
    return Status(Code::kInvalidState, "a queue pair for datagrams has no connection");
  }
  void Disconnect(transport::DisconnectMode) override {}
  Status Reset() override { return Status::Ok(); }
  transport::ConnectionAddresses Addresses() const override { return {}; }

  DatagramCore& core() { return *core_; }

 private:
  const std::shared_ptr<DatagramCore> core_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DATAGRAM_PAIR_H_
