// SPDX-License-Identifier: BSD-3-Clause
#include "rds/api/info_service.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "rds/api/driver.h"
#include "rds/api/kernel_calls.h"
#include "rds/api/own_descriptor.h"
#include "rds/socket/info_exchange.h"

namespace softdat::rds {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kNames = "softdat-rds/info/";
constexpr int kBacklog = 64;
// What all others together may take, and what one asker may.
constexpr Time kPatience = milliseconds(500);

// The listening socket. Written by the thread that makes it, and read by a forked child.
OwnDescriptor listening;

struct Name {
  sockaddr_un address{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Name NameOf(Instance instance) {
  const std::string text = std::string(kNames) + std::to_string(instance);
  Name out;
  out.address.sun_family = AF_UNIX;
  std::memcpy(out.address.sun_path + 1, text.data(), text.size());
  out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return out;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) kernel::Close(fd_);
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::optional<uid_t> UserAt(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

// Waits for one of `events`. False when the time is over.
bool Await(int fd, short events, Time until) {
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(until - Now()).count();
    if (left <= 0) return false;
    pollfd p{fd, events, 0};
    const int ready = poll(&p, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

void SendAll(int fd, const std::vector<uint8_t>& octets) {
  const Time until = Now() + kPatience;
  for (size_t sent = 0; sent < octets.size();) {
    const ssize_t n =
        send(fd, octets.data() + sent, octets.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      sent += static_cast<size_t>(n);
    } else if (errno != EINTR && (errno != EAGAIN || !Await(fd, POLLOUT, until))) {
      return;
    }
  }
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Answering

InfoService::InfoService(Instance self, std::function<Info()> collect)
    : collect_(std::move(collect)) {
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const Name name = NameOf(self);
  if (!fd.valid() || kernel::Bind(fd.get(), name.get(), name.size) != 0 ||
      listen(fd.get(), kBacklog) != 0) {
    return;
  }
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  listening.Set(fd.get());
  try {
    std::thread([this] { Run(); }).detach();
    fd.Release();
  } catch (const std::system_error&) {
    listening.Forget();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void InfoService::AfterForkInChild() { listening.Close(); }

void InfoService::Run() {
  pthread_setname_np(pthread_self(), "rds-info");
  const int fd = listening.get();
  while (true) {
    // An accept that waits would keep the number of a descriptor from the program meanwhile.
    pollfd p{fd, POLLIN, 0};
    poll(&p, 1, -1);
    if (!listening.IsThere()) return;
    const Descriptor asker(accept4(fd, nullptr, nullptr, SOCK_CLOEXEC));
    if (!asker.valid()) {
      // Without a descriptor the asker waits, and then gives up.
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        std::this_thread::sleep_for(kPatience);
      }
      continue;
    }
    const std::optional<uid_t> user = UserAt(asker.get());
    if (!user || (*user != geteuid() && *user != 0)) continue;
    try {
      SendAll(asker.get(), EncodeForOthers(collect_()));
    } catch (const std::bad_alloc&) {
      continue;  // it is not told anything
    }
  }
}

// -------------------------------------------------------------------------------------------------
// Asking

// Other programs may bind what names they like, so the number may be anything.
Instance AnsweringInstance(const std::string& line) {
  const std::string prefix = "@" + std::string(kNames);
  const size_t at = line.find(prefix);
  if (at == std::string::npos) return kKernelInstance;
  const std::string_view number = std::string_view(line).substr(at + prefix.size());
  Instance instance = kKernelInstance;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), instance);
  const bool whole = error == std::errc() && end == number.data() + number.size();
  return whole ? instance : kKernelInstance;
}

namespace {

// Every process that answers, once. Connections that it has taken have the same name.
std::vector<Instance> Others(Instance self) {
  std::vector<Instance> out;
  std::ifstream table("/proc/net/unix");
  std::string line;
  while (std::getline(table, line)) {
    const Instance instance = AnsweringInstance(line);
    if (instance != kKernelInstance && instance != self) out.push_back(instance);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

struct Answer {
  Descriptor fd;
  std::vector<uint8_t> octets;
  bool whole = false;
};

std::optional<Answer> Ask(Instance instance) {
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const Name name = NameOf(instance);
  // It connects at once, or too many ask already.
  if (!fd.valid() || connect(fd.get(), name.get(), name.size) != 0) return std::nullopt;
  const std::optional<uid_t> user = UserAt(fd.get());
  if (!user || (*user != geteuid() && *user != 0 && geteuid() != 0)) return std::nullopt;
  return Answer{std::move(fd), {}, false};
}

// Takes what is there. False when no more comes.
bool Take(Answer* answer) {
  constexpr size_t kPiece = 1 << 16;
  while (answer->octets.size() <= kMostInfoOctets) {
    const size_t before = answer->octets.size();
    answer->octets.resize(before + kPiece);
    const ssize_t n = recv(answer->fd.get(), answer->octets.data() + before, kPiece, MSG_DONTWAIT);
    answer->octets.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    if (n < 0 && errno == EAGAIN) return true;
    answer->whole = n == 0;
    return false;
  }
  return false;
}

}  // namespace

Info AskOthers(Instance self) {
  const Time until = Now() + kPatience;
  std::vector<Answer> answers;
  for (const Instance instance : Others(self)) {
    if (auto answer = Ask(instance)) answers.push_back(std::move(*answer));
  }
  Info out;
  while (!answers.empty()) {
    std::vector<pollfd> polled;
    polled.reserve(answers.size());
    for (const Answer& answer : answers) polled.push_back({answer.fd.get(), POLLIN, 0});
    const auto left = std::chrono::ceil<milliseconds>(until - Now()).count();
    if (left <= 0) break;
    if (poll(polled.data(), polled.size(), static_cast<int>(left)) <= 0) continue;
    for (size_t i = polled.size(); i-- > 0;) {
      if (polled[i].revents == 0 || Take(&answers[i])) continue;
      if (answers[i].whole) {
        if (const auto info = DecodeFromOther(answers[i].octets)) out += *info;
      }
      answers.erase(answers.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return out;
}

}  // namespace softdat::rds
