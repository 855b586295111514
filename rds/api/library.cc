// SPDX-License-Identifier: BSD-3-Clause
#include "rds/api/library.h"

#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "rds/api/kernel_calls.h"
#include "rds/api/own_descriptor.h"
#include "rds/socket/program_memory.h"

namespace softdat::rds {
namespace {

// The library of this process. Written under no lock: by the first call, and in a child by the
// thread that has forked, which is alone.
std::atomic<Library*> current{nullptr};
std::mutex making;  // guards the making of it

// Which descriptors are sockets. Each bit is written under the library's lock, and read without.
constexpr int kMostDescriptors = 1 << 20;
std::array<std::atomic<uint64_t>, kMostDescriptors / 64> is_socket;

// And the other end of each, for a child of fork.
std::array<OwnDescriptor, kMostDescriptors> own_ends;

void Mark(int fd, bool socket) {
  if (!socket) own_ends[static_cast<size_t>(fd)].Forget();
  std::atomic<uint64_t>& word = is_socket[static_cast<size_t>(fd) / 64];
  const uint64_t bit = uint64_t{1} << fd % 64;
  if (socket) {
    word.fetch_or(bit);
  } else {
    word.fetch_and(~bit);
  }
}

Instance DrawInstance() {
  std::random_device random;
  Instance drawn = kKernelInstance;
  while (drawn == kKernelInstance) drawn = random();
  return drawn;
}

// Signals that come of what a thread does itself, and so never while it waits.
bool IsOwnDoing(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
         signal == SIGTRAP;
}

// Whether every handler that the program has set wants interrupted calls to go on. Which of them
// has interrupted a call cannot be found out.
bool HandlersRestart() {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (IsOwnDoing(signal)) continue;
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    const bool handled = (action.sa_flags & SA_SIGINFO) != 0 ||
                         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
    if (handled && (action.sa_flags & SA_RESTART) == 0) return false;
  }
  return true;
}

void Report(const std::string& why) {
  if (std::getenv("SOFTDAT_RDS_VERBOSE") != nullptr) std::fprintf(stderr, "rds: %s\n", why.c_str());
}

}  // namespace

// ---- the process ----

Library& Library::Get() {
  Library* library = current.load();
  if (library != nullptr) return *library;
  const std::lock_guard lock(making);
  library = current.load();
  if (library == nullptr) {
    static std::once_flag once;
    std::call_once(once, [] { pthread_atfork(nullptr, nullptr, AfterForkInChild); });
    library = new Library;
    current.store(library);
  }
  return *library;
}

Library::Library() : self_(DrawInstance()), node_(self_, &link_, &ports_) {
  link_.SetEvents(&node_);
}

bool Library::IsSocket(int fd) {
  if (fd < 0 || fd >= kMostDescriptors) return false;
  return (is_socket[static_cast<size_t>(fd) / 64].load(std::memory_order_relaxed) >> fd % 64 & 1) !=
         0;
}

// Sockets, threads and IAs are the parent's: nothing of them is touched here, not even freed. No
// lock is taken before a fork, because a thread that holds it may be waiting for one of DAT's.
void Library::AfterForkInChild() {
  new (&making) std::mutex;
  ProgramMemoryAfterForkInChild();
  if (current.exchange(nullptr) == nullptr) return;
  InfoService::AfterForkInChild();
  CloseNames();
  // The parent's ports must not stay published because a child has copies of the descriptors.
  for (int word = 0; word < kMostDescriptors / 64; ++word) {
    const uint64_t marked = is_socket[static_cast<size_t>(word)].load();
    for (int bit = 0; marked != 0 && bit < 64; ++bit) {
      if ((marked >> bit & 1) == 0) continue;
      const size_t fd = size_t{64} * static_cast<size_t>(word) + static_cast<size_t>(bit);
      own_ends[fd].Close();
    }
  }
}

// ---- descriptors ----

int Library::Open(int flags) {
  auto open = std::make_shared<OpenSocket>();
  if (const int error = open->readiness.Open(flags); error != 0) return -error;
  const int fd = open->readiness.program_end();
  if (fd >= kMostDescriptors) {
    kernel::Close(fd);
    return -EMFILE;
  }
  open->socket = &node_.Open();
  sockets_.emplace(open->socket->id(), open.get());
  own_ends[static_cast<size_t>(fd)].Set(open->readiness.own_end());
  descriptors_[fd] = std::move(open);
  Mark(fd, true);
  return fd;
}

std::shared_ptr<OpenSocket> Library::Find(int fd) const {
  const auto found = descriptors_.find(fd);
  return found == descriptors_.end() ? nullptr : found->second;
}

int Library::Duplicated(int fd, int copy) {
  const std::shared_ptr<OpenSocket> open = Find(fd);
  if (open == nullptr || copy < 0 || copy >= kMostDescriptors) return EBADF;
  if (fd == copy) return 0;
  ++open->descriptors;
  own_ends[static_cast<size_t>(copy)].Set(open->readiness.own_end());
  descriptors_[copy] = open;
  Mark(copy, true);
  return 0;
}

int Library::Close(std::unique_lock<std::mutex>& lock, int fd) {
  if (!Forget(lock, fd)) return EBADF;
  kernel::Close(fd);
  return 0;
}

bool Library::Forget(std::unique_lock<std::mutex>& lock, int fd) {
  if (!IsSocket(fd)) return false;
  Mark(fd, false);
  // In a child, a socket of the parent is only a descriptor.
  const auto found = descriptors_.find(fd);
  if (found == descriptors_.end()) return true;
  const std::shared_ptr<OpenSocket> open = std::move(found->second);
  descriptors_.erase(found);
  if (--open->descriptors > 0) {
    for (const auto& [other, same] : descriptors_) {
      if (same == open) open->readiness.SetProgramEnd(other);
    }
    return true;
  }
  sockets_.erase(open->socket->id());
  Socket* const socket = std::exchange(open->socket, nullptr);
  const SocketId id = socket->id();
  node_.Close(*socket, Now());
  Settle(Now());
  changed_.Ring();
  EndWork(lock, open->driver, id);
  // Its name is free at once, whoever else still has the object.
  open->readiness.Close();
  return true;
}

// ---- names ----

int Library::TakeAnyPort(OpenSocket& open, SocketName* name) {
  constexpr uint32_t kFirst = 2, kPorts = 65536 - kFirst;
  const uint32_t start = std::random_device()() % kPorts;
  for (uint32_t i = 0; i < kPorts; ++i) {
    name->port = static_cast<uint16_t>(kFirst + (start + i) % kPorts);
    const int error = TakePort(open.readiness.program_end(), *name);
    if (error != EADDRINUSE) return error;
  }
  return EADDRINUSE;
}

int Library::Bind(OpenSocket& open, SocketName name) {
  std::string why;
  Adapter* const adapter = link_.Attach(name.address, &why);
  if (adapter == nullptr) {
    Report("bind: " + why);
    // Who has chosen a transport is told of that.
    return open.socket->options().transport_chosen ? ENOPROTOOPT : EADDRNOTAVAIL;
  }
  const auto take = [&] {
    if (name.port == kReservedPort) return EINVAL;
    return name.port == 0 ? TakeAnyPort(open, &name) : TakePort(open.readiness.program_end(), name);
  };
  if (const int error = take(); error != 0) {
    // As Linux has it, the socket is without a transport again.
    open.socket->options().transport_chosen = false;
    return error;
  }
  if (adapter->Hold()) OnHold(*adapter);
  const Location here{self_, adapter->service()};
  if (const int failed = PublishPort(open.readiness.own_end(), name, here); failed != 0)
    return failed;
  node_.Bind(*open.socket, name);
  Driver*& driver = drivers_[adapter];
  if (driver == nullptr) driver = new Driver(adapter, &mutex_, this);
  open.driver = driver;
  if (info_service_ == nullptr) {
    info_service_ = new InfoService(self_, [this] {
      const auto lock = Lock();
      return CollectInfo();
    });
  }
  Settle(Now());
  return 0;
}

void Library::OnHold(Adapter& adapter) {
  const Address& own = adapter.address();
  if (node_.holds(own)) return;
  node_.Hold(own, Now());
  PublishHolder(own, {self_, adapter.service()});
}

// ---- turns ----

void Library::BeforeWait() {
  if (node_.PostReceives()) Settle(Now());
}

void Library::EndTurn(const Driver& driver, Time now) {
  turning_ = &driver;
  node_.EndTurn(now);
  ShowChanges();
  turning_ = nullptr;
}

void Library::Settle(Time now) {
  if (node_.NeedsTurn(now)) node_.EndTurn(now);
  ShowChanges();
}

void Library::ShowChanges() {
  for (const auto& [own, kernel] : node_.TakeNewKernels()) PublishKernel(own, kernel);
  const SmallSet<SocketId>& changed = node_.TakeChanged();
  // What another thread has done is no event of an adapter.
  for (const auto& [adapter, driver] : drivers_) {
    if (sending_ > 0 && driver != turning_ && !changed.empty()) driver->WakeCaller();
  }
  for (const SocketId id : changed) {
    const auto found = sockets_.find(id);
    if (found != sockets_.end()) ShowReadiness(*found->second);
  }
  changed_.Ring();
}

void Library::ShowReadiness(OpenSocket& open) {
  if (open.receiving == 0 || !open.socket->receivable()) {
    const bool readable = open.socket->readable();
    if (readable && open.driver != nullptr && open.driver == turning_ &&
        turning_->in_background()) {
      if (open.readiness.WillBeReadable()) to_wake_.push_back(open.shared_from_this());
    } else {
      open.readiness.SetReadable(readable);
    }
  } else if (open.driver != turning_) {
    // Another thread of this process has sent it, which is no event of the adapter.
    open.driver->WakeCaller();
  }
  open.readiness.SetWritable(open.socket->writable());
}

void Library::WakeProgram(std::unique_lock<std::mutex>& lock) {
  if (to_wake_.empty()) return;
  const std::vector<std::shared_ptr<OpenSocket>> sockets = std::exchange(to_wake_, {});
  lock.unlock();
  for (const std::shared_ptr<OpenSocket>& open : sockets) open->readiness.Show();
  lock.lock();
}

// What is under way ends by itself in a moment, unless the peer does not answer. Then connections
// are broken.
void Library::EndWork(std::unique_lock<std::mutex>& lock, Driver* driver, SocketId socket) {
  constexpr Time kMoment = std::chrono::milliseconds(100);
  const Time until = Now() + kMoment;
  while (driver != nullptr && node_.IsAtWork(socket)) {
    const Time left = until - Now();
    if (left <= Time{}) break;
    const bool busy = driver->Drive(lock, until) == Driver::Result::kBusy;
    Settle(Now());
    if (busy) changed_.Wait(lock, left);
  }
  node_.Revoke(socket);
}

bool Library::Look(std::unique_lock<std::mutex>& lock, OpenSocket& open) {
  constexpr int kFew = 4;
  if (++open.looks < kFew || open.driver == nullptr) return false;
  ++open.receiving;
  open.driver->Drive(lock, Now());
  --open.receiving;
  // The caller receives it now, and does what is left to be done after that.
  if (open.socket != nullptr && open.socket->receivable()) return true;
  Settle(Now());
  return open.socket != nullptr && open.socket->readable();
}

int Library::Wait(std::unique_lock<std::mutex>& lock, OpenSocket& open, For what,
                  std::optional<Time> until) {
  if (until && *until <= Now()) return EAGAIN;
  auto driven = Driver::Result::kBusy;
  if (open.driver != nullptr) {
    int& waiting = what == For::kReceive ? open.receiving : sending_;
    ++waiting;
    driven = open.driver->Drive(lock, until);
    --waiting;
  }
  if (driven != Driver::Result::kBusy) {
    // The caller receives it now, and does what is left to be done after that. Showing it and
    // taking that back would be two system calls.
    if (what == For::kReceive && open.socket != nullptr && open.socket->receivable()) return 0;
    if (open.socket != nullptr) node_.MarkChanged(*open.socket);
    Settle(Now());
    if (open.socket == nullptr) return EBADF;
    return driven == Driver::Result::kInterrupted && !HandlersRestart() ? EINTR : 0;
  }
  if (open.socket == nullptr) return EBADF;
  // The descriptor does not say what these wait for: of congestion it says nothing, and it can be
  // read because of payloads that have come back.
  if (what == For::kCongestion || (what == For::kReceive && open.socket->readable())) {
    const bool interrupted =
        changed_.Wait(lock, until ? std::optional(*until - Now()) : std::nullopt);
    if (open.socket == nullptr) return EBADF;
    return interrupted && !HandlersRestart() ? EINTR : 0;
  }
  const auto left =
      until ? std::chrono::ceil<std::chrono::milliseconds>(*until - Now()).count() : -1;
  pollfd ready{open.readiness.program_end(),
               static_cast<short>(what == For::kReceive ? POLLIN : POLLOUT), 0};
  lock.unlock();
  const int polled = poll(&ready, 1, static_cast<int>(std::min<int64_t>(left, INT_MAX)));
  const bool interrupted = polled < 0 && errno == EINTR;
  lock.lock();
  if (open.socket == nullptr) return EBADF;
  return interrupted && !HandlersRestart() ? EINTR : 0;
}

// ---- for those who look ----

Info Library::CollectInfo() const {
  return node_.CollectInfo([this](SocketId id) -> uint64_t {
    const auto open = sockets_.find(id);
    struct stat status {};
    if (open == sockets_.end() || fstat(open->second->readiness.program_end(), &status) != 0) {
      return 0;
    }
    return status.st_ino;
  });
}

}  // namespace softdat::rds
