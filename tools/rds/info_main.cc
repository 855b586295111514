// SPDX-License-Identifier: BSD-3-Clause
// rds-softinfo: the sockets, connections, messages and counters of RDS. See --help.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <linux/rds.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "tools/common/build_paths.h"
#include "tools/rds/calls.h"
#include "tools/rds/info_lists.h"
#include "tools/rds/info_options.h"
#include "tools/rds/info_report.h"

namespace softdat::tools {
namespace {

class Looker {
 public:
  explicit Looker(const RdsInfoOptions& options)
      : options_(options), calls_(options.kernel ? KernelCalls() : LibraryCalls()) {}

  Outcome Run() {
    SOFTDAT_TRY(socket_.OpenUnbound(calls_));
    for (uint64_t look = 1;; ++look) {
      SOFTDAT_TRY(Look());
      std::fflush(stdout);
      if (options_.watch_us == 0 || look == options_.count || !Sleep()) return {};
    }
  }

 private:
  Outcome Look() {
    std::vector<InfoList> lists;
    for (const InfoListKind& kind : InfoListKinds()) {
      const bool all = options_.letters.empty();
      if (!all && options_.letters.find(kind.letter) == std::string::npos) continue;
      bool missing = false;
      InfoList list;
      SOFTDAT_TRY(AskInfoList(calls_, socket_.fd(), kind, options_.ipv6, &list, &missing));
      if (missing && !all) {
        return Outcome::Fail(fmt::format(
            "this RDS has no list '{}' (-{})\n  {}", kind.title, kind.letter,
            kind.letter == 'T' ? "RDS over TCP is the kernel's only" : "leave the letter out"));
      }
      if (!missing) lists.push_back(std::move(list));
    }
    Show(lists);
    before_ = std::move(lists);
    return {};
  }

  void Show(const std::vector<InfoList>& lists) const {
    if (options_.json) {
      fmt::print("{}", InfoJson(lists));
      return;
    }
    if (options_.watch_us != 0)
      fmt::print("\n--- {:%H:%M:%S} ---\n", fmt::localtime(std::time(nullptr)));
    for (const InfoList& list : lists) {
      const auto same = std::ranges::find(before_, list.kind, &InfoList::kind);
      fmt::print("{}", InfoText(list, {options_.verbose, options_.ipv6},
                                same == before_.end() ? nullptr : &*same));
    }
  }

  // False: a signal has come.
  bool Sleep() const {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    const timespec limit = {options_.watch_us / 1'000'000, options_.watch_us % 1'000'000 * 1000};
    return sigtimedwait(&ends, nullptr, &limit) < 0 && errno == EAGAIN;
  }

  const RdsInfoOptions& options_;
  const RdsCalls& calls_;
  RdsSocket socket_;
  std::vector<InfoList> before_;
};

int Main(const std::vector<std::string>& arguments) {
  int exit_status = kExitOk;
  std::string output;
  const auto options = ParseRdsInfoOptions(arguments, &exit_status, &output);
  if (!options) {
    fmt::print(exit_status == kExitOk ? stdout : stderr, "{}", output);
    return exit_status;
  }
  UseProvidersOfThisBuild();
  if (options->watch_us != 0) {
    // They are waited for.
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : {SIGINT, SIGTERM}) sigaddset(&blocked, signal);
    sigprocmask(SIG_BLOCK, &blocked, nullptr);
  }
  const Outcome outcome = Looker(*options).Run();
  if (!outcome.ok()) fmt::print(stderr, "rds-softinfo: {}\n", outcome.message());
  return outcome.exit_code();
}

}  // namespace
}  // namespace softdat::tools

int main(int argc, char** argv) {
  return softdat::tools::Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}
