// SPDX-License-Identifier: BSD-3-Clause
// rds-softstress: load for RDS, verified. See --help.
#include <fmt/format.h>
#include <linux/rds.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "dat/base/setting_values.h"
#include "tools/common/address.h"
#include "tools/common/build_paths.h"
#include "tools/rds/stress_children.h"
#include "tools/rds/stress_control.h"
#include "tools/rds/stress_options.h"
#include "tools/rds/stress_report.h"

namespace softdat::tools {
namespace {

constexpr char kGreeting[] = "rds-softstress 1 ";
// How long requests may wait for their acks at the end.
constexpr double kDrainSeconds = 30;

double NowSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string CpuStat() {
  std::ifstream file("/proc/stat");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Name(const sockaddr_storage& address) {
  return FormatAddress(reinterpret_cast<const sockaddr*>(&address));
}

// One end, from its start to its end.
class End {
 public:
  explicit End(const StressOptions& options) : options_(options), job_(options.job) {}

  Outcome Run() {
    SOFTDAT_TRY(options_.active() ? Ask() : Answer());
    SOFTDAT_TRY(StartTasks());
    Outcome outcome = Conduct();
    if (!outcome.ok()) {
      children_.Kill();
      // The peer may have ended. Then it needs not be told.
      if (!peer_failed_)
        static_cast<void>(!control_.Send("failed: " + FirstLine(outcome.message())).ok());
    }
    return outcome;
  }

 private:
  static std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

  void Print(const std::string& text) const {
    if (options_.json) return;
    fmt::print("{}", text);
    std::fflush(stdout);
  }

  // ---- agreeing ----

  Outcome Ask() {
    Print(fmt::format("connecting to {}:{}\n", options_.send_address, options_.port));
    SOFTDAT_TRY(control_.Connect(options_.send_address, options_.port, options_.receive_address,
                                 options_.connect_retries));
    SOFTDAT_TRY(control_.Send(kGreeting + JobToJson(job_).dump()));
    std::string answer;
    SOFTDAT_TRY(control_.Await(&answer));
    if (answer == "agreed") return {};
    return Outcome::Fail("the other end refuses: " + Printable(answer));
  }

  Outcome Answer() {
    SOFTDAT_TRY(control_.Listen(options_.receive_address, options_.port));
    // Scripts wait for this line.
    fmt::print(options_.json ? stderr : stdout, "waiting for incoming connection on {}:{}\n",
               options_.receive_address.empty() ? "*" : options_.receive_address, options_.port);
    std::fflush(nullptr);
    SOFTDAT_TRY(control_.Accept());
    Print(fmt::format("accepted connection from {}:{}\n", Name(control_.peer()),
                      PortOf(control_.peer())));
    std::string line;
    SOFTDAT_TRY(control_.Await(&line));
    std::optional<StressJob> job;
    if (line.starts_with(kGreeting))
      job = JobFromJson(nlohmann::ordered_json::parse(line.substr(sizeof kGreeting - 1), nullptr,
                                                      /*allow_exceptions=*/false));
    if (!job) {
      static_cast<void>(!control_.Send("it is of another version, or asks for too much").ok());
      return Outcome::Fail("the other end is no rds-softstress of this version");
    }
    job_ = *job;
    return control_.Send("agreed");
  }

  Outcome StartTasks() {
    StressTaskSetup setup;
    // From here on they are read from a descriptor. Before, they end the process as usual.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    signals_ = UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    setup.options = &options_;
    setup.job = job_;
    setup.own = control_.own();
    setup.peer = control_.peer();
    // The passive end's ports follow that of TCP. At one address the active end's follow those.
    const uint32_t passive = (options_.active() ? PortOf(setup.peer) : PortOf(setup.own)) + 1u;
    const uint32_t active = passive + (SameHost(setup.own, setup.peer) ? job_.tasks : 0);
    SetPort(&setup.own, static_cast<uint16_t>(options_.active() ? active : passive));
    SetPort(&setup.peer, static_cast<uint16_t>(options_.active() ? passive : active));
    if (options_.show_params) Print(StressParameters(job_));
    SOFTDAT_TRY(children_.Start(setup, control_.fd()));
    // After the tasks have been started, which are to have the ordinary one.
    sched_param priority{};
    priority.sched_priority = 1;
    if (options_.realtime && sched_setscheduler(0, SCHED_RR, &priority) != 0)
      return Outcome::Fail(
          fmt::format("-R: no real-time priority: {}\n  it needs the right to it (CAP_SYS_NICE, or "
                      "ulimit -r)",
                      strerrordesc_np(errno)));
    return {};
  }

  // ---- running ----

  enum class Phase : uint8_t { kStarting, kRunning, kDraining, kEnding };

  Outcome Conduct() {
    while (!(phase_ == Phase::kEnding && children_.AllEnded())) {
      std::vector<pollfd> polled = {{signals_.get(), POLLIN, 0}};
      if (!peer_ended_) polled.push_back({control_.fd(), POLLIN, 0});
      children_.AddTo(&polled);
      if (poll(polled.data(), polled.size(), Timeout()) < 0 && errno != EINTR)
        return Outcome::Fail(fmt::format("poll: {}", strerrordesc_np(errno)));
      SOFTDAT_TRY(children_.Look());
      SOFTDAT_TRY(ListenToPeer());
      if (polled[0].revents != 0) {
        signalfd_siginfo info;
        static_cast<void>(!read(signals_.get(), &info, sizeof info));
        SOFTDAT_TRY(OnSignal());
      }
      SOFTDAT_TRY(Advance());
      if (aborted_) break;
    }
    Report();
    return {};
  }

  int Timeout() const {
    double until = 0;
    if (phase_ == Phase::kRunning) {
      until = next_report_;
      if (StopAt() > 0) until = std::min(until, StopAt());
    } else if (phase_ == Phase::kDraining) {
      until = drained_until_;
    } else {
      return -1;
    }
    return static_cast<int>(std::max(0.0, until - NowSeconds()) * 1e3) + 1;
  }

  // When this end ends the run by itself; 0: not.
  double StopAt() const {
    const double abort = options_.abort_after > 0 ? started_ + options_.abort_after : 0;
    const double stop = options_.seconds > 0 ? started_ + options_.seconds : 0;
    return abort > 0 && stop > 0 ? std::min(abort, stop) : std::max(abort, stop);
  }

  Outcome ListenToPeer() {
    if (peer_ended_) return {};
    const bool open = control_.Fill();
    while (const auto line = control_.Line()) {
      if (*line == "ready") {
        peer_ready_ = true;
      } else if (*line == "stop") {
        if (phase_ == Phase::kRunning) SOFTDAT_TRY(Stop());
      } else if (*line == "drained") {
        peer_drained_ = true;
      } else if (*line == "abort") {
        Abort();
      } else {
        peer_failed_ = true;
        return Outcome::Fail("the other end has " + Printable(*line));
      }
    }
    if (open || aborted_) return {};
    peer_ended_ = true;
    if (peer_drained_) return {};
    return Outcome::Fail("the other end has ended, or the connection to it is lost");
  }

  Outcome OnSignal() {
    if (phase_ == Phase::kRunning) {
      SOFTDAT_TRY(control_.Send("stop"));
      return Stop();
    }
    return Outcome::Fail("ended by a signal");
  }

  Outcome Advance() {
    const double now = NowSeconds();
    if (phase_ == Phase::kStarting && children_.AllReady()) {
      if (!std::exchange(told_ready_, true)) SOFTDAT_TRY(control_.Send("ready"));
      if (peer_ready_) Begin(now);
    } else if (phase_ == Phase::kRunning) {
      if (now >= next_report_) ReportSecond(now);
      if (StopAt() > 0 && now >= StopAt()) {
        if (options_.abort_after > 0 && now >= started_ + options_.abort_after) {
          SOFTDAT_TRY(control_.Send("abort"));
          Abort();
        } else {
          SOFTDAT_TRY(control_.Send("stop"));
          SOFTDAT_TRY(Stop());
        }
      }
    } else if (phase_ == Phase::kDraining) {
      if (children_.AllDrained() && !std::exchange(told_drained_, true))
        SOFTDAT_TRY(control_.Send("drained"));
      if (told_drained_ && peer_drained_) {
        phase_ = Phase::kEnding;
        children_.Open(StressChildren::kEnd);
      } else if (now >= drained_until_) {
        const StressCounts counts = children_.Counts();
        return Outcome::Fail(fmt::format(
            "{} of {} requests have no ack {} s after the end{}",
            counts[kRequestsSent] - counts[kAcksReceived], counts[kRequestsSent], kDrainSeconds,
            children_.AllDrained() ? ", and the other end waits for some, too" : ""));
      }
    }
    return {};
  }

  void Begin(double now) {
    phase_ = Phase::kRunning;
    started_ = reported_at_ = now;
    next_report_ = now + 1;
    cpu_at_start_ = cpu_ = options_.report_cpu ? CpuStat() : "";
    Print("Starting up....\n");
    if (!options_.summary_only) Print(StressHeading());
    children_.Open(StressChildren::kRun);
  }

  // An interval until now. Its counts are those since `earlier`.
  StressInterval Interval(double now, double since, const StressCounts& earlier,
                          std::string* cpu) const {
    StressInterval interval;
    interval.seconds = now - since;
    interval.counts = children_.Counts() - earlier;
    if (options_.report_cpu) {
      const std::string stat = CpuStat();
      interval.cpu = CpuPercent(*cpu, stat);
      *cpu = stat;
    }
    return interval;
  }

  void ReportSecond(double now) {
    result_.intervals.push_back(Interval(now, reported_at_, reported_, &cpu_));
    reported_ += result_.intervals.back().counts;
    reported_at_ = now;
    next_report_ = std::max(next_report_ + 1, now);
    if (!options_.summary_only) Print(StressRow(job_.tasks, result_.intervals.back()));
    // An endless run needs no endless memory.
    if (!options_.json) result_.intervals.clear();
  }

  Outcome Stop() {
    const double now = NowSeconds();
    result_.total = Interval(now, started_, {}, &cpu_at_start_);
    phase_ = Phase::kDraining;
    drained_until_ = now + kDrainSeconds;
    children_.Open(StressChildren::kDrain);
    return {};
  }

  void Abort() {
    if (phase_ == Phase::kRunning)
      result_.total = Interval(NowSeconds(), started_, {}, &cpu_at_start_);
    aborted_ = true;
    children_.Kill();
  }

  void Report() {
    result_.active = options_.active();
    result_.kernel = options_.kernel;
    result_.address = Name(control_.own());
    result_.peer = Name(control_.peer());
    result_.job = job_;
    result_.final_counts = children_.Counts();
    if (options_.json) {
      fmt::print("{}", StressJson(result_));
      std::fflush(stdout);
    }
    if (options_.summary_only) Print(StressHeading());
    Print(StressAverage(job_.tasks, result_.total, result_.final_counts));
    if (options_.histogram) Print(StressHistogram(result_.final_counts));
  }

  const StressOptions& options_;
  StressJob job_;
  UniqueFd signals_;
  StressControl control_;
  StressChildren children_;
  StressResult result_;
  Phase phase_ = Phase::kStarting;
  bool told_ready_ = false, told_drained_ = false;
  bool peer_ready_ = false, peer_drained_ = false, peer_ended_ = false, peer_failed_ = false;
  bool aborted_ = false;
  double started_ = 0, reported_at_ = 0, next_report_ = 0, drained_until_ = 0;
  StressCounts reported_;
  std::string cpu_, cpu_at_start_;
};

// --reset: drops the connection between two addresses.
Outcome Reset(const StressOptions& options) {
  // Oracle's RDS has this option at the number that Linux uses for the transport.
  constexpr int kConnectionReset = 8;
  struct {
    uint8_t tos;
    uint8_t zero[3];
    in_addr source, destination;
  } argument = {static_cast<uint8_t>(options.job.tos), {}, {}, {}};
  sockaddr_storage own{};
  sockaddr_storage peer{};
  SOFTDAT_TRY(ResolveHost(options.receive_address, AF_INET, &own));
  SOFTDAT_TRY(ResolveHost(options.send_address, AF_INET, &peer));
  argument.source = reinterpret_cast<sockaddr_in&>(own).sin_addr;
  argument.destination = reinterpret_cast<sockaddr_in&>(peer).sin_addr;
  const RdsCalls& calls = options.kernel ? KernelCalls() : LibraryCalls();
  RdsSocket socket;
  SOFTDAT_TRY(socket.Open(calls, own, 0));
  if (calls.setsockopt(socket.fd(), SOL_RDS, kConnectionReset, &argument, sizeof argument) == 0) {
    fmt::print("the connection between {} and {} was dropped\n", Name(own), Name(peer));
    return {};
  }
  return Outcome::Fail(fmt::format(
      "setsockopt(RDS_CONN_RESET): {}\n  not every RDS has this option", strerrordesc_np(errno)));
}

int Main(const std::vector<std::string>& arguments) {
  int exit_status = kExitOk;
  std::string output;
  const auto options = ParseStressOptions(arguments, &exit_status, &output);
  if (!options) {
    fmt::print(exit_status == kExitOk ? stdout : stderr, "{}", output);
    return exit_status;
  }
  UseProvidersOfThisBuild();
  const Outcome outcome = options->reset ? Reset(*options) : End(*options).Run();
  if (!outcome.ok()) fmt::print(stderr, "rds-softstress: {}\n", outcome.message());
  return outcome.exit_code();
}

}  // namespace
}  // namespace softdat::tools

int main(int argc, char** argv) {
  return softdat::tools::Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}
