// SPDX-License-Identifier: BSD-3-Clause
// rds-softping: whether a host is reachable over RDS. See --help.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/common/address.h"
#include "tools/common/build_paths.h"
#include "tools/rds/calls.h"
#include "tools/rds/ping_book.h"
#include "tools/rds/ping_options.h"

namespace softdat::tools {
namespace {

constexpr size_t kSockets = 8;

volatile std::sig_atomic_t g_ended = 0;
void End(int) { g_ended = 1; }

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const sockaddr* Raw(const sockaddr_storage& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

class Ping {
 public:
  explicit Ping(const PingOptions& options) : options_(options), book_(kSockets) {}

  Outcome Run() {
    SOFTDAT_TRY(Open());
    int64_t next = NowNs();
    int64_t end = 0;  // of waiting for answers; 0: pings are left to be sent
    while (g_ended == 0) {
      const int64_t now = NowNs();
      if (end == 0 && now >= next) {
        Send();
        next += options_.interval_us * 1000;
        if (options_.count != 0 && book_.next_number() > options_.count)
          end = NowNs() + options_.LingerUs() * 1000;
        // With an interval of 0 the answers need their turn, too.
        next = std::max(next, now - options_.interval_us * 1000);
      }
      if (end != 0 && (book_.AllAnswered() || now >= end)) break;
      SOFTDAT_TRY(Receive(end != 0 ? end : next));
    }
    Print(options_.json
              ? SummaryJson(book_, FormatAddress(Raw(destination_)), FormatAddress(Raw(source_)))
              : SummaryLine(book_));
    if (book_.answered() > 0) return {};
    return Outcome::Fail(
        fmt::format("no answer from {}: no RDS there, no way to it, or none from {} (-I)\n"
                    "  rds-softping waits {} s for the last answer; -w TIME waits longer",
                    FormatAddress(Raw(destination_)), FormatAddress(Raw(source_)),
                    static_cast<double>(options_.LingerUs()) / 1e6));
  }

 private:
  static void Print(const std::string& text) {
    fmt::print("{}", text);
    std::fflush(stdout);
  }

  Outcome Open() {
    SOFTDAT_TRY(ResolveHost(options_.host, options_.ipv6 ? AF_INET6 : AF_UNSPEC, &destination_));
    SetPort(&destination_, 0);
    if (options_.source.empty()) {
      SOFTDAT_TRY(SourceFor(destination_, &source_));
    } else {
      SOFTDAT_TRY(ResolveHost(options_.source, destination_.ss_family, &source_));
    }
    const RdsCalls& calls = options_.kernel ? KernelCalls() : LibraryCalls();
    for (size_t i = 0; i < kSockets; ++i) {
      SOFTDAT_TRY(sockets_[i].Open(calls, source_, SOCK_NONBLOCK));
      SOFTDAT_TRY(sockets_[i].SetTypeOfService(static_cast<uint8_t>(options_.tos)));
      polled_[i] = {sockets_[i].fd(), POLLIN, 0};
    }
    return {};
  }

  void Send() {
    const RdsSocket& socket = sockets_[book_.next_socket()];
    msghdr message{};
    message.msg_name = &destination_;
    message.msg_namelen = AddressLength(destination_);
    const uint64_t number = book_.next_number();
    const int64_t now = NowNs();
    if (socket.calls().sendmsg(socket.fd(), &message, 0) == 0) {
      book_.Sent(now);
      return;
    }
    const int error = errno;
    book_.Failed();
    Print(options_.json ? ErrorJson(number, error) : ErrorLine(number, error));
  }

  // Takes answers until `until` at the latest.
  Outcome Receive(int64_t until) {
    const int64_t left = std::max<int64_t>(until - NowNs(), 0);
    const timespec limit = {left / 1000000000, left % 1000000000};
    // The signals are let in here alone, so that none comes between a look at g_ended and the
    // sleep.
    sigset_t none;
    sigemptyset(&none);
    const int ready = ppoll(polled_.data(), polled_.size(), &limit, &none);
    if (ready < 0 && errno != EINTR) return RdsFailure(sockets_[0].calls(), "poll", errno);
    if (ready <= 0) return {};
    for (size_t i = 0; i < kSockets; ++i) {
      if (polled_[i].revents != 0) SOFTDAT_TRY(Take(i));
    }
    return {};
  }

  Outcome Take(size_t i) {
    sockaddr_storage from{};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    const ssize_t size = sockets_[i].calls().recvmsg(sockets_[i].fd(), &message, MSG_DONTWAIT);
    const int64_t now = NowNs();
    // A socket may be ready without an answer, after news of congestion.
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (size < 0) return RdsFailure(sockets_[i].calls(), "recvmsg", errno);
    const auto answer = book_.Answered(i, now);
    if (!answer) return {};
    const std::string source = FormatAddress(Raw(from));
    Print(options_.json ? AnswerJson(*answer, source)
                        : AnswerLine(*answer, SameHost(from, destination_) ? "" : source));
    return {};
  }

  const PingOptions& options_;
  PingBook book_;
  sockaddr_storage destination_{};
  sockaddr_storage source_{};
  std::array<RdsSocket, kSockets> sockets_;
  std::array<pollfd, kSockets> polled_{};
};

int Main(const std::vector<std::string>& arguments) {
  int exit_status = kExitOk;
  std::string output;
  const auto options = ParsePingOptions(arguments, &exit_status, &output);
  if (!options) {
    fmt::print(exit_status == kExitOk ? stdout : stderr, "{}", output);
    return exit_status;
  }
  UseProvidersOfThisBuild();
  struct sigaction end {};
  end.sa_handler = End;
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : {SIGINT, SIGTERM}) {
    sigaction(signal, &end, nullptr);
    sigaddset(&blocked, signal);
  }
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  const Outcome outcome = Ping(*options).Run();
  if (!outcome.ok()) fmt::print(stderr, "rds-softping: {}\n", outcome.message());
  return outcome.exit_code();
}

}  // namespace
}  // namespace softdat::tools

int main(int argc, char** argv) {
  return softdat::tools::Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}
