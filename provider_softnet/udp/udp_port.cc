// SPDX-License-Identifier: BSD-3-Clause
// UdpPort.
#include "provider_softnet/udp/udp_port.h"

#include <unistd.h>

#include <utility>

#include "dat/base/log.h"
#include "dat/base/settings.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/memory/random_numbers.h"
#include "provider_softnet/udp/datagram_sockets.h"
#include "wire/roce/icrc.h"

namespace softdat::softnet {
namespace {

// Below this, a burst of one peer may be lost while the program computes.
constexpr int kSmallBuffer = 1 << 20;

void ReportBuffers(const std::string& host, int receive, int send) {
  if (receive >= kSmallBuffer && send >= kSmallBuffer) return;
  SOFTDAT_LOG(Info,
              "UDP buffers at {} are small: {} bytes to receive, {} to send; the kernel's limits "
              "are net.core.rmem_max and net.core.wmem_max",
              host, receive, send);
}

// Starts to watch with the token, on some thread.
void WatchSoon(Driver* driver, const RefPtr<ReceiveSocket>& socket) {
  driver->Post([socket] {
    if (const Status s = socket->Watch(); !s.ok()) {
      SOFTDAT_LOG(Warning, "a local socket of a UDP port is not watched: {}", s.reason());
    }
  });
}

}  // namespace

UdpPort::UdpPort(std::shared_ptr<UdpCore> core, std::function<uint64_t()> random)
    : core_(std::move(core)), sender_(&core_->counters), random_(std::move(random)) {}

UdpPort::~UdpPort() { Close(); }

Result<std::unique_ptr<UdpPort>> UdpPort::Open(const sockaddr_storage& address,
                                               const UdpPortOptions& options, Driver* driver,
                                               PacketSink* sink) {
  Result<ImpairmentSpec> impairment = ParseImpairment(options.loss);
  if (!impairment.ok()) return impairment.TakeStatus();
  if (AddressSize(address) == 0 || IsWildcard(address) || IsOfNoHost(address)) {
    return Status(Code::kAddressUnsupported, "RoCE needs one IPv4 or IPv6 address of this host");
  }
  auto random = RandomNumbers();
  if (!random.ok()) return random.TakeStatus();
  if (Status s = driver->Start(); !s.ok()) return s;
  sockaddr_storage local = address;
  SetSocketPort(roce::kUdpPort, &local);
  std::unique_ptr<UdpPort> port(
      new UdpPort(std::make_shared<UdpCore>(local, driver, sink), random.Take()));
  const TokenHold token(&driver->token());
  port->PrepareSteering(options);
  if (impairment.value().active()) port->PrepareImpairment(impairment.value());
  if (Status s = port->OpenSockets(); !s.ok()) return s;
  return port;
}

void UdpPort::PrepareSteering(const UdpPortOptions& options) {
  steered_ = std::make_shared<SteeredSockets>(core_, options.most_steered);
  frequent_ = std::make_shared<FrequentSenders>(options.steer_after);
  core_->on_handed_here = [driver = core_->driver, weak = std::weak_ptr(steered_),
                           frequent = frequent_](const sockaddr_storage& source) {
    if (!frequent->Note(source)) return;
    driver->Post([weak, frequent, source] {
      const std::shared_ptr<SteeredSockets> steered = weak.lock();
      if (!steered) return;
      if (const auto gone = steered->Open(source)) frequent->Forget(*gone);
    });
  };
}

void UdpPort::Steer(const sockaddr_storage& source) {
  if (!frequent_->Expect(source)) return;
  if (const auto gone = steered_->Open(source)) frequent_->Forget(*gone);
}

void UdpPort::PrepareImpairment(const ImpairmentSpec& spec) {
  core_->impaired = std::make_shared<ImpairedArrivals>(
      spec, core_->driver, &core_->counters, [core = std::weak_ptr(core_)] {
        const std::shared_ptr<UdpCore> living = core.lock();
        if (!living) return;
        const SinkGate::Pass pass(&living->gate);
        if (pass.open() && living->TakeDue(pass) && pass.open()) living->sink->OnBatchEnd();
      });
}

// The block comes before the shared socket: what this member receives for itself must find it.
Status UdpPort::OpenSockets() {
  Result<UniqueFd> hand_on = OpenHandOn();
  if (!hand_on.ok()) return hand_on.TakeStatus();
  core_->hand_on_fd = hand_on.Take();
  core_->backlog =
      std::make_shared<HandOnBacklog>(core_->driver, &core_->counters, core_->hand_on_fd.get());
  Result<UniqueFd> sender = OpenSender(core_->local, random_);
  if (!sender.ok()) return sender.TakeStatus();
  sender_.Use(sender.Take());
  source_ = LocalEnd(sender_.fd());
  Result<uint32_t> block = ClaimBlock();
  if (!block.ok()) return block.TakeStatus();
  home_block_ = block.value();
  Result<UniqueFd> receiver = OpenReceiver(core_->local);
  if (!receiver.ok()) return receiver.TakeStatus();
  ReportBuffers(core_->host, ReceiveBufferSize(receiver.value().get()),
                SendBufferSize(sender_.fd()));
  if (Status s = WatchSender(); !s.ok()) return s;
  return NewSocket(receiver.Take(), ReceiveSocket::From::kNetwork)->Watch();
}

Status UdpPort::WatchSender() {
  const std::weak_ptr<UdpCore> weak = core_;
  writable_ = std::make_shared<SocketWatch>(&core_->driver->loop(), [this, weak](int) {
    const std::shared_ptr<UdpCore> core = weak.lock();
    if (!core) return;
    writable_->Update(0);
    const SinkGate::Pass pass(&core->gate);
    if (pass.open()) core->sink->OnWritable();
  });
  return writable_->Start(sender_.fd(), 0);
}

void UdpPort::WantWritable() {
  const std::weak_ptr<SocketWatch> weak = writable_;
  core_->driver->Post([weak] {
    const std::shared_ptr<SocketWatch> watch = weak.lock();
    if (watch && watch->active()) watch->Update(kWritable);
  });
}

RefPtr<ReceiveSocket> UdpPort::NewSocket(UniqueFd fd, ReceiveSocket::From from) {
  auto socket = RefPtr<ReceiveSocket>::Adopt(new ReceiveSocket(core_, std::move(fd), from));
  const std::lock_guard<std::mutex> lock(mutex_);
  sockets_.push_back(socket);
  return socket;
}

void UdpPort::TakeTheRest() {
  std::vector<RefPtr<ReceiveSocket>> sockets;
  {
    // A process may exit from a signal handler, in the midst of anything.
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    sockets = sockets_;
  }
  for (const auto& socket : sockets) socket->TakeTheRest();
}

void UdpPort::Close() {
  core_->gate.Close();  // before the token, which a thread inside the sink may wait for
  const TokenHold token(&core_->driver->token());
  std::vector<RefPtr<ReceiveSocket>> sockets;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    sockets.swap(sockets_);
  }
  for (const auto& socket : sockets) socket->Close();
  if (steered_) steered_->CloseAll();
  if (core_->backlog) {
    core_->backlog->Close();
    // Its own timer may be what closes the port.
    core_->driver->DeleteLater(core_->backlog);
  }
  if (core_->impaired) {
    core_->impaired->Close();
    // Its own timer may be what closes the port.
    core_->driver->DeleteLater(core_->impaired);
  }
  if (writable_) {
    writable_->Stop();
    // Its own handler may be what closes the port.
    core_->driver->DeleteLater(std::move(writable_));
  }
  SOFTDAT_LOG(Info, "UDP port of {}: {}", core_->host, core_->counters.Text());
}

UdpPortOptions UdpPortOptions::FromSettings() { return {.loss = GetSettings().udp_loss}; }

Result<uint32_t> UdpPort::ClaimBlock() {
  std::unique_lock<std::mutex> lock(mutex_);
  Result<ClaimedBlock> claimed = OpenFreeBlock(core_->host, random_);
  lock.unlock();
  if (!claimed.ok()) return claimed.TakeStatus();
  ClaimedBlock block = claimed.Take();
  core_->own_blocks.Add(block.number);
  // Without the token: a caller may hold a lock that the holder of the token waits for.
  WatchSoon(core_->driver, NewSocket(std::move(block.fd), ReceiveSocket::From::kMembers));
  return block.number;
}

bool UdpPort::HasMember(const std::string& host, uint32_t qpn) const {
  return IsTaken(BlockName(geteuid(), host, BlockOfQpn(qpn)));
}

HandOnResult UdpPort::HandOnToBlock(uint32_t block, const Arrival& arrival) {
  return core_->HandOnTo(BlockName(geteuid(), core_->host, block), arrival);
}

HandOnResult UdpPort::HandOnToService(uint64_t service_id, const Arrival& arrival) {
  return core_->HandOnTo(ServiceName(geteuid(), core_->host, service_id), arrival);
}

Result<std::unique_ptr<ServiceBinding>> UdpPort::ListenOn(uint64_t service_id) {
  Result<UniqueFd> opened = OpenNamed(ServiceName(geteuid(), core_->host, service_id));
  if (!opened.ok()) return opened.TakeStatus();
  auto socket = RefPtr<ReceiveSocket>::Adopt(
      new ReceiveSocket(core_, opened.Take(), ReceiveSocket::From::kMembers));
  auto binding = std::make_unique<ServiceBinding>(socket);
  if (Status s = socket->Watch(); !s.ok()) return s;
  return binding;
}

uint16_t UdpPort::source_port() const { return SocketPort(source_); }

}  // namespace softdat::softnet
