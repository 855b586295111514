// SPDX-License-Identifier: BSD-3-Clause
// The wire ring-<dev>: its context, its listener and the wire itself.
#include "provider_softnet/ring/ring_wire.h"

#include <map>
#include <utility>
#include <vector>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/transport/transport.h"
#include "provider_softnet/connection/connection_context.h"
#include "provider_softnet/connection/connection_request.h"
#include "provider_softnet/connection/endpoint.h"
#include "provider_softnet/connection/incoming.h"
#include "provider_softnet/ring/ring_link.h"
#include "provider_softnet/ring/ring_ports.h"

namespace softdat::softnet {
namespace {

struct RingContext final : ConnectionContext {
  using ConnectionContext::ConnectionContext;

  Result<std::unique_ptr<ByteLink>> OpenLink(const sockaddr_storage&, bool) override {
    auto cable = std::make_shared<RingCable>();
    if (!cable->valid()) return Status(Code::kNoResources, "no descriptors for a ring");
    return std::unique_ptr<ByteLink>(std::make_unique<RingLink>(std::move(cable), 0));
  }
  void CloseNow(std::unique_ptr<ByteLink> link, bool reset) override {
    if (!reset) Finish(*link, true, {});
    link.reset();
  }
  // The rings keep what the peer has not read, so this end need not stay for it.
  uint64_t CloseGently(std::unique_ptr<ByteLink> link, bool abrupt, std::vector<uint8_t> rest,
                       SocketWatch* watch) override {
    if (watch != nullptr) watch->Stop();
    auto& ring = static_cast<RingLink&>(*link);
    const int end = ring.end();
    const std::shared_ptr<RingCable> cable = Finish(ring, abrupt, rest);
    if (abrupt) return 0;
    std::erase_if(closing, [](const auto& one) { return one.second.first.expired(); });
    closing[++last_closing] = {cable, end};
    return last_closing;
  }
  void HurryClosing(uint64_t id) override {
    const auto it = closing.find(id);
    if (it == closing.end()) return;
    if (const auto cable = it->second.first.lock()) cable->Leave(it->second.second);
    closing.erase(it);
  }
  Status HandOn(ArrivedRequest* request, uint64_t conn_qual) override {
    const auto point = RingPorts::Get().Find(PortOfQualifier(conn_qual), conn_qual, true);
    if (point == nullptr) return Status(Code::kNotFound, "nobody listens there");
    request->conn_qual = conn_qual;
    request->handed_on = true;
    return PostRequest(point, request) ? Status::Ok() : Status(Code::kNotFound, "it has closed");
  }

 private:
  static std::shared_ptr<RingCable> Finish(ByteLink& link, bool leave,
                                           std::span<const uint8_t> rest) {
    auto& ring = static_cast<RingLink&>(link);
    std::shared_ptr<RingCable> cable = ring.Release();
    cable->Finish(ring.end(), rest);
    if (leave) cable->Leave(ring.end());
    return cable;
  }

  // Token.
  std::map<uint64_t, std::pair<std::weak_ptr<RingCable>, int>> closing;
  uint64_t last_closing = 0;
};

class RingListener final : public transport::Listener {
 public:
  static Result<std::unique_ptr<transport::Listener>> Create(
      const std::shared_ptr<RingContext>& context, const transport::ListenParameters& p) {
    if (p.sink == nullptr) return Status(Code::kInvalidArgument, "a listener without a sink");
    if (!p.any && p.conn_qual == 0) return Status(Code::kInvalidArgument, "connection qualifier 0");
    if (Status s = context->driver.Start(); !s.ok()) return s;
    const TokenHold token(&context->driver.token());
    std::unique_ptr<RingListener> listener(new RingListener(context));
    if (!listener->backlog_->valid())
      return Status(Code::kNoResources, "no descriptor for a listener");
    listener->point_->conn_qual = p.any ? 0 : p.conn_qual;
    listener->point_->sink = p.sink;
    if (Status s =
            RingPorts::Get().Join(listener->point_, p.any, listener->backlog_, &listener->port_);
        !s.ok()) {
      return s;
    }
    listener->joined_ = true;
    if (Status s = listener->watch_.Start(listener->backlog_->doorbell(), kReadable); !s.ok())
      return s;
    return std::unique_ptr<transport::Listener>(std::move(listener));
  }
  ~RingListener() override {
    const TokenHold token(&context_->driver.token());
    watch_.Stop();
    point_->sink = nullptr;
    if (joined_) RingPorts::Get().Leave(port_, point_->conn_qual);
  }
  uint64_t conn_qual() const override { return point_->conn_qual; }

 private:
  explicit RingListener(std::shared_ptr<RingContext> context)
      : context_(std::move(context)),
        point_(std::make_shared<ServicePoint>(ServicePoint{context_, 0, nullptr})),
        watch_(&context_->driver.loop(), [this](int) { OnArrival(); }) {}

  void OnArrival() {
    const std::shared_ptr<RingContext> context = context_;
    const std::shared_ptr<RingBacklog> backlog = backlog_;
    const std::shared_ptr<ServicePoint> point = point_;
    const uint16_t port = port_;
    const auto find = [port](uint64_t conn_qual, bool whole) {
      return RingPorts::Get().Find(port, conn_qual, whole);
    };
    // An upcall may have destroyed this listener.
    while (point->sink != nullptr) {
      std::shared_ptr<RingCable> cable = backlog->Take();
      if (cable == nullptr) return;
      if (Incoming* const oldest = context->half_open.Surplus()) oldest->Evict();
      auto link = std::make_unique<RingLink>(std::move(cable), 1);
      context->half_open.Add(std::make_unique<Incoming>(context, std::move(link), port, find))
          ->Start();
    }
  }

  const std::shared_ptr<RingContext> context_;
  const std::shared_ptr<ServicePoint> point_;
  const std::shared_ptr<RingBacklog> backlog_ = std::make_shared<RingBacklog>();
  uint16_t port_ = 0;
  bool joined_ = false;
  SocketWatch watch_;
};

class RingWire final : public Wire {
 public:
  void Describe(transport::AdapterAttributes* a) const override {
    DescribeConnections(options_, a);
  }
  void Begin(std::shared_ptr<AdapterShared> shared) override {
    context_ = std::make_shared<RingContext>(std::move(shared), options_);
  }
  Result<std::unique_ptr<transport::QueuePair>> CreateQueuePair(
      const transport::QueuePairAttributes& a) override {
    return std::unique_ptr<transport::QueuePair>(std::make_unique<IwarpQueuePair>(context_, a));
  }
  Result<std::unique_ptr<transport::Listener>> Listen(
      const transport::ListenParameters& p) override {
    return RingListener::Create(context_, p);
  }
  void Stop() override {
    context_->half_open.Clear();
    context_->paths.Close();
  }
  void AbandonAfterFork() override {}

 private:
  const ConnectionOptions options_ = ConnectionOptions::FromSettings();
  std::shared_ptr<RingContext> context_;
};

}  // namespace

std::unique_ptr<Wire> MakeRingWire() { return std::make_unique<RingWire>(); }

}  // namespace softdat::softnet
