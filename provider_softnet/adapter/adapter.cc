// SPDX-License-Identifier: BSD-3-Clause
// SoftnetAdapter: attributes, creation of objects, progress.
#include "provider_softnet/adapter/adapter.h"

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <future>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "dat/base/log.h"
#include "provider_softnet/objects/objects.h"
#include "provider_softnet/objects/queue_cores.h"

namespace softdat::softnet {
namespace {

constexpr uint32_t kMaxQueueWork = 65536;
constexpr uint32_t kMaxIov = 32;
constexpr uint32_t kMaxCompletions = 1 << 20;

transport::AdapterAttributes AttributesOf(const Interface& interface, const Wire& wire) {
  transport::AdapterAttributes a;
  a.device_name = interface.name;
  a.vendor = "SoftDAT";
  a.address = interface.address;
  // Objects cost only memory. The limits are the key space of 2^24 and, for connections,
  // descriptors.
  a.max_qps = 65536;
  a.max_qp_work = kMaxQueueWork;
  a.max_iov = kMaxIov;
  a.max_cqs = 65536;
  a.max_cq_depth = kMaxCompletions;
  a.max_pds = 65536;
  a.max_regions = 1 << 23;
  a.max_windows = 1 << 22;
  a.max_srqs = 65536;
  a.max_srq_depth = kMaxQueueWork;
  a.mtu = interface.mtu;
  a.windows = true;
  a.zero_based = true;
  a.srq = true;
  wire.Describe(&a);
  return a;
}

Status CheckLimits(const transport::QueuePairAttributes& a,
                   const transport::AdapterAttributes& limits) {
  if (a.max_send > limits.max_qp_work || a.max_recv > limits.max_qp_work) {
    return Status(Code::kInvalidArgument,
                  fmt::format("queues of {} and {} requests; at most {} are possible", a.max_send,
                              a.max_recv, limits.max_qp_work));
  }
  if (a.max_send_iov > limits.max_iov || a.max_recv_iov > limits.max_iov) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} and {} segments per request; at most {} are possible",
                              a.max_send_iov, a.max_recv_iov, limits.max_iov));
  }
  if (a.max_read_in > limits.max_read_in || a.max_read_out > limits.max_read_out) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} and {} outstanding reads; at most {} and {} are possible", a.max_read_in,
                    a.max_read_out, limits.max_read_in, limits.max_read_out));
  }
  return Status::Ok();
}

uint32_t IdOf(transport::ProtectionDomain& pd) {
  return static_cast<SoftnetProtectionDomain&>(pd).id();
}

AdapterOptions OptionsFor(AdapterOptions options, const Wire& wire) {
  options.driver.look = wire.look_interval();
  return options;
}

}  // namespace

SoftnetAdapter::SoftnetAdapter(const Interface& interface, const AdapterOptions& options,
                               std::unique_ptr<Wire> wire, std::function<uint64_t()> random)
    : shared_(std::make_shared<AdapterShared>(OptionsFor(options, *wire),
                                              AttributesOf(interface, *wire), interface.index,
                                              interface.chosen, std::move(random))),
      wire_(std::move(wire)) {
  wire_->Begin(shared_);
}

SoftnetAdapter::~SoftnetAdapter() {
  if (shared_ == nullptr) return;
  shared_->driver.StopHelper();
  wire_->Stop();
  shared_->driver.Stop();
  if (shared_->driver.started()) {
    SOFTDAT_LOG(Debug, "softnet on {} closed: {}", shared_->attributes.device_name,
                shared_->driver.counters().Text());
  }
}

Result<std::unique_ptr<transport::ProtectionDomain>> SoftnetAdapter::CreateProtectionDomain() {
  return std::unique_ptr<transport::ProtectionDomain>(
      std::make_unique<SoftnetProtectionDomain>(shared_->memory.NewProtectionDomainId()));
}

Result<std::unique_ptr<transport::MemoryRegion>> SoftnetAdapter::RegisterMemory(
    transport::ProtectionDomain& pd, const transport::RegionParameters& p) {
  if (p.length == 0) return Status(Code::kLength, "a region of length 0");
  const uint64_t start = reinterpret_cast<uintptr_t>(p.address);
  if (start + p.length < start)
    return Status(Code::kLength, "the region passes the end of the address space");
  const uint32_t key =
      shared_->memory.RegisterRegion(p.address, p.length, p.privileges, p.zero_based, IdOf(pd));
  if (key == 0) return Status(Code::kNoResources, "no key is left for another region");
  std::unique_ptr<transport::MemoryRegion> region(
      new (std::nothrow) SoftnetMemoryRegion(shared_, key, (p.privileges & kPrivAnyRemote) != 0));
  if (region == nullptr) {
    shared_->memory.DeregisterRegion(key);
    return Status(Code::kNoMemory, "no memory for another region");
  }
  return region;
}

Result<std::unique_ptr<transport::MemoryWindow>> SoftnetAdapter::CreateWindow(
    transport::ProtectionDomain& pd, bool exclusive_to_qp) {
  const uint32_t key = shared_->memory.CreateWindow(IdOf(pd), exclusive_to_qp);
  if (key == 0) return Status(Code::kNoResources, "no key is left for another window");
  std::unique_ptr<transport::MemoryWindow> window(new (std::nothrow)
                                                      SoftnetMemoryWindow(shared_, key));
  if (window == nullptr) {
    shared_->memory.DestroyWindow(key);
    return Status(Code::kNoMemory, "no memory for another window");
  }
  return window;
}

Result<std::unique_ptr<transport::CompletionQueue>> SoftnetAdapter::CreateCompletionQueue(
    uint32_t capacity, transport::CompletionSink* sink) {
  if (capacity == 0 || capacity > kMaxCompletions) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a completion queue of {} entries; at most {} are possible", capacity,
                              kMaxCompletions));
  }
  return std::unique_ptr<transport::CompletionQueue>(
      std::make_unique<SoftnetCompletionQueue>(capacity, sink, &shared_->driver.callers()));
}

Result<std::unique_ptr<transport::QueuePair>> SoftnetAdapter::CreateQueuePair(
    const transport::QueuePairAttributes& a) {
  if (Status s = CheckLimits(a, shared_->attributes); !s.ok()) return s;
  return wire_->CreateQueuePair(a);
}

Result<std::unique_ptr<transport::SharedReceiveQueue>> SoftnetAdapter::CreateSharedReceiveQueue(
    transport::ProtectionDomain& pd, uint32_t capacity, uint32_t max_iov,
    transport::SharedReceiveSink* sink) {
  if (capacity == 0 || capacity > kMaxQueueWork || max_iov > kMaxIov) {
    return Status(Code::kInvalidArgument, fmt::format("a shared receive queue of {} receives with "
                                                      "{} segments; at most {} and {} are possible",
                                                      capacity, max_iov, kMaxQueueWork, kMaxIov));
  }
  return std::unique_ptr<transport::SharedReceiveQueue>(std::make_unique<SoftnetSharedReceiveQueue>(
      &shared_->driver, &shared_->memory, capacity, max_iov == 0 ? 1 : max_iov, IdOf(pd), sink));
}

Result<std::unique_ptr<transport::Listener>> SoftnetAdapter::Listen(
    const transport::ListenParameters& p) {
  return wire_->Listen(p);
}

Code SoftnetAdapter::CheckSegments(std::span<const DAT_LMR_TRIPLET> segments) {
  for (const DAT_LMR_TRIPLET& s : segments) {
    if (s.segment_length == 0) continue;
    switch (shared_->memory.CheckInside(s.lmr_context, s.virtual_address, s.segment_length)) {
      case AccessError::kNone:
        break;
      case AccessError::kBounds:
      case AccessError::kWrap:
        return Code::kOutOfBounds;
      default:
        return Code::kProtection;
    }
  }
  return Code::kOk;
}

[[gnu::hot]] transport::ProgressResult SoftnetAdapter::Poll(transport::CompletionQueue& queue) {
  return shared_->driver.Poll(static_cast<SoftnetCompletionQueue&>(queue).core()->hot.get());
}

[[gnu::hot]] transport::ProgressResult SoftnetAdapter::Spin(transport::CompletionQueue& queue,
                                                            transport::Clock::time_point deadline,
                                                            transport::Clock::time_point* until) {
  HotSet* const hot = static_cast<SoftnetCompletionQueue&>(queue).core()->hot.get();
  return shared_->driver.Spin(hot, deadline, until);
}

transport::ProgressResult SoftnetAdapter::Progress(transport::Waiter* waiter,
                                                   transport::Clock::time_point deadline) {
  return shared_->driver.Progress(waiter, deadline);
}

// The calling thread may hold any of our locks, because the handler of a signal may call exit(). So
// another thread does the work, and is not waited for behind the deadline.
void SoftnetAdapter::OnProcessExit(transport::Clock::time_point deadline) {
  constexpr std::chrono::milliseconds kToReturn{10};
  Driver& driver = shared_->driver;
  if (!driver.started()) return;
  driver.LendTokenAtExit();
  const auto said = std::make_shared<std::promise<void>>();
  const auto say = [said, shared = shared_, wire = wire_.get(), deadline] {
    shared->driver.PayAtExit();
    wire->OnProcessExit(deadline);
    said->set_value();
  };
  std::thread speaker;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    speaker = std::thread(say);
  } catch (const std::system_error&) {
    say();  // no thread is to be had, and hardly ever is a lock held
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!speaker.joinable()) return;
  const bool done =
      said->get_future().wait_until(deadline + kToReturn) == std::future_status::ready;
  done ? speaker.join() : speaker.detach();
}

void SoftnetAdapter::AbandonAfterFork() {
  // Locks may be held by threads that do not exist here, so nothing is ever destroyed. The list
  // keeps leak checkers content.
  CloseInheritedDescriptors();
  shared_->driver.Abandon();
  wire_->AbandonAfterFork();
  struct Abandoned {
    std::shared_ptr<AdapterShared> shared;
    std::unique_ptr<Wire> wire;
    Abandoned* next;
  };
  static Abandoned* abandoned = nullptr;
  abandoned = new Abandoned{std::move(shared_), std::move(wire_), abandoned};
}

}  // namespace softdat::softnet
