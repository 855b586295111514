// SPDX-License-Identifier: BSD-3-Clause
// A program whose sends have completed with success leaves, in each of the ways in which programs
// leave, while messages from its peer lie unread. With confirmed completions everything that it
// sent is in the peer's memory, whatever happens to the socket. A graceful disconnect loses nothing
// in either mode. The peer checks each word of each message, and that the connection's end is
// reported.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "tests/field/plain.h"

namespace softdat::field {
namespace {

constexpr const char* kUsage =
    "[--ia NAME] [--way WAY] [--rounds N] [--messages N] [--words N] [--unread N] [--busy]\n"
    "               [--load N]\n"
    "  --ia NAME     adapter (softnet-lo)\n"
    "  --way WAY     how it leaves: graceful, abrupt (dat_ep_disconnect), close (dat_ia_close),\n"
    "                exit, kill (SIGKILL), or all in turn (all)\n"
    "  --rounds N    connections for each way (20)\n"
    "  --messages N  what the leaver sends (32)\n"
    "  --words N     words of 8 bytes in each (8192)\n"
    "  --unread N    messages of the peer that the leaver posts no receive for (8)\n"
    "  --busy        the receiver computes, so that only the helper thread reads its socket\n"
    "  --load N      so many processes beside it do nothing but compute (0)";

constexpr const char* kWays[] = {"graceful", "abrupt", "close", "exit", "kill"};
enum Way { kGraceful, kAbrupt, kClose, kExit, kKill, kWayCount };
constexpr size_t kUnreadWords = 16;

struct Settings {
  std::string ia;
  uint64_t rounds;
  size_t messages, words, unread;
  bool busy;
};

DAT_EP_HANDLE NewEp(const PlainIa& ia, const Settings& settings, DAT_EVD_HANDLE recv_evd,
                    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd) {
  DAT_EP_ATTR attr{};
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.max_recv_dtos = static_cast<DAT_COUNT>(settings.messages);
  attr.max_request_dtos = static_cast<DAT_COUNT>(std::max(settings.messages, settings.unread));
  attr.max_recv_iov = attr.max_request_iov = 1;
  return ia.NewEp({recv_evd, request_evd, connect_evd}, &attr);
}

// The pattern of message `i` in a round.
uint64_t Seed(uint64_t round, size_t i) { return round * 1000 + i; }

// ---- the leaver: a process for each round ----

[[noreturn]] void Leave(Way way, const PlainIa& ia, DAT_EP_HANDLE ep, DAT_EVD_HANDLE connect_evd) {
  switch (way) {
    case kGraceful:
    case kAbrupt:
      MUST(dat_ep_disconnect(ep, way == kAbrupt ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG));
      MustWait(connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
      _exit(0);
    case kClose:
      MUST(dat_ia_close(ia.ia, DAT_CLOSE_ABRUPT_FLAG));
      _exit(0);
    case kExit:
      exit(0);
    default:
      kill(getpid(), SIGKILL);
      _exit(1);
  }
}

[[noreturn]] void RunLeaver(const Settings& settings, Way way, uint64_t round, uint64_t qualifier) {
  const PlainIa ia(settings.ia);
  const auto messages = static_cast<DAT_COUNT>(settings.messages);
  DAT_EVD_HANDLE recv_evd = ia.NewEvd(DAT_EVD_DTO_FLAG, 1);
  DAT_EVD_HANDLE request_evd = ia.NewEvd(DAT_EVD_DTO_FLAG, messages);
  DAT_EVD_HANDLE connect_evd = ia.NewEvd(DAT_EVD_CONNECTION_FLAG, 4);
  const PlainMemory memory(ia, settings.messages * settings.words);
  for (size_t i = 0; i < settings.messages; ++i) {
    FillPattern(memory.words + i * settings.words, settings.words, Seed(round, i));
  }
  const DAT_EP_HANDLE ep = NewEp(ia, settings, recv_evd, request_evd, connect_evd);
  MUST(client::Connect(ep, ia.ia.address(), qualifier, DAT_TIMEOUT_INFINITE));
  MustWait(connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  for (size_t i = 0; i < settings.messages; ++i) {
    MUST(client::PostSend(ep, memory.Words(i * settings.words, settings.words), i));
  }
  for (size_t i = 0; i < settings.messages; ++i) {
    const uint64_t done = MustComplete(request_evd).user_cookie.as_64;
    if (done != i) Die("leaver: completion of message %" PRIu64 " instead of %zu", done, i);
  }
  Leave(way, ia, ep, connect_evd);
}

// Starts one leaver after the other, from a process that knows nothing of adapters.
int RunLauncher(const Settings& settings, Way way, int from_receiver) {
  for (uint64_t round = 0; round < settings.rounds; ++round) {
    uint64_t qualifier = 0;
    if (read(from_receiver, &qualifier, sizeof qualifier) != sizeof qualifier) return 1;
    const pid_t pid = Spawn([&]() -> int { RunLeaver(settings, way, round, qualifier); });
    int status = 0;
    waitpid(pid, &status, 0);
    const bool as_meant = way == kKill ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                                       : WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!as_meant) Die("leaver: ended with %#x in round %" PRIu64, status, round);
  }
  return 0;
}

// ---- the receiver: one process for all rounds ----

class Receiver {
 public:
  Receiver(const Settings& settings, Way way, int to_launcher)
      : settings_(settings),
        way_(way),
        to_launcher_(to_launcher),
        ia_(settings.ia),
        recv_evd_(ia_.NewEvd(DAT_EVD_DTO_FLAG, static_cast<DAT_COUNT>(settings.messages))),
        request_evd_(ia_.NewEvd(DAT_EVD_DTO_FLAG, static_cast<DAT_COUNT>(settings.unread + 1))),
        connect_evd_(ia_.NewEvd(DAT_EVD_CONNECTION_FLAG, 4)),
        cr_evd_(ia_.NewEvd(DAT_EVD_CR_FLAG, 4)),
        memory_(ia_, settings.messages * settings.words + kUnreadWords) {
    MUST(dat_psp_create_any(ia_.ia, &qualifier_, cr_evd_, DAT_PSP_CONSUMER_FLAG, &psp_));
  }

  int Run() {
    for (round_ = 0; round_ < settings_.rounds; ++round_) Round();
    return 0;
  }

 private:
  void Round() {
    std::memset(memory_.words, 0, settings_.messages * settings_.words * sizeof(uint64_t));
    const DAT_EP_HANDLE ep = NewEp(ia_, settings_, recv_evd_, request_evd_, connect_evd_);
    for (size_t i = 0; i < settings_.messages; ++i) {
      MUST(client::PostReceive(ep, memory_.Words(i * settings_.words, settings_.words), i));
    }
    if (write(to_launcher_, &qualifier_, sizeof qualifier_) != sizeof qualifier_)
      Die("no launcher");
    const DAT_EVENT request = MustWait(cr_evd_, DAT_CONNECTION_REQUEST_EVENT);
    MUST(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, ep, 0, nullptr));
    MustWait(connect_evd_, DAT_CONNECTION_EVENT_ESTABLISHED);
    // Half of them wait before the program leaves. The others arrive while it leaves.
    const size_t early = (settings_.unread + 1) / 2;
    SendUnread(ep, early);
    if (settings_.busy) Compute();
    for (size_t i = 0; i < settings_.messages; ++i) {
      if (i + 1 == settings_.messages) SendUnread(ep, settings_.unread - early);
      Take(i);
    }
    for (size_t i = 0; i < settings_.unread; ++i) {
      MustWait(request_evd_, DAT_DTO_COMPLETION_EVENT);  // however it ended
    }
    DAT_EVENT end{};
    MUST(client::WaitEvent(connect_evd_, kPlainPatienceUs, &end));
    if (end.event_number != DAT_CONNECTION_EVENT_DISCONNECTED) {
      Die("round %" PRIu64 " of %s: event %#x came instead of DISCONNECTED", round_, kWays[way_],
          end.event_number);
    }
    MUST(dat_ep_free(ep));
  }

  // The leaver may be gone before all are posted. They are flushed then.
  void SendUnread(DAT_EP_HANDLE ep, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      MUST(client::PostSend(ep, memory_.Words(settings_.messages * settings_.words, kUnreadWords),
                            0));
    }
  }

  static void Compute() {
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < 2'000'000; ++i) sum = sum + i;
  }

  void Take(size_t i) {
    const DAT_DTO_COMPLETION_EVENT_DATA data =
        MustWait(recv_evd_, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
    if (data.status != DAT_DTO_SUCCESS || data.user_cookie.as_64 != i ||
        data.transfered_length != settings_.words * sizeof(uint64_t)) {
      Die("round %" PRIu64 " of %s: receive %zu: status %d, cookie %" PRIu64 ", %" PRIu64 " bytes",
          round_, kWays[way_], i, data.status, uint64_t{data.user_cookie.as_64},
          uint64_t{data.transfered_length});
    }
    const size_t stale =
        FirstStale(memory_.words + i * settings_.words, settings_.words, Seed(round_, i));
    if (stale != settings_.words) {
      Die("round %" PRIu64 " of %s: word %zu of message %zu is wrong", round_, kWays[way_], stale,
          i);
    }
  }

  const Settings& settings_;
  const Way way_;
  const int to_launcher_;
  const PlainIa ia_;
  const DAT_EVD_HANDLE recv_evd_, request_evd_, connect_evd_, cr_evd_;
  const PlainMemory memory_;
  DAT_CONN_QUAL qualifier_ = 0;
  DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
  uint64_t round_ = 0;
};

// Returns true if every round went well.
bool TryWay(const Settings& settings, Way way) {
  int fds[2];
  if (pipe(fds) != 0) Die("no pipe");
  const pid_t launcher = Spawn([&] {
    close(fds[1]);
    return RunLauncher(settings, way, fds[0]);
  });
  close(fds[0]);
  const pid_t receiver = Spawn([&] { return Receiver(settings, way, fds[1]).Run(); });
  close(fds[1]);
  bool good = true;
  for (int left = 2; left > 0; --left) {
    int status = 0;
    const pid_t pid = wait(&status);
    good &= status == 0;
    if (status != 0) kill(pid == launcher ? receiver : launcher, SIGKILL);
  }
  std::printf("%-9s %8" PRIu64 " rounds  %s\n", kWays[way], settings.rounds,
              good ? "every word right" : "FAILED");
  std::fflush(stdout);
  return good;
}

int Main(int argc, char** argv) {
  PlainOptions options(argc, argv, kUsage);
  const std::string name = options.Text("--way", "all");
  const Settings settings{options.Text("--ia", "softnet-lo"),
                          static_cast<uint64_t>(options.Number("--rounds", 20)),
                          static_cast<size_t>(options.Number("--messages", 32)),
                          static_cast<size_t>(options.Number("--words", 8192)),
                          static_cast<size_t>(options.Number("--unread", 8)),
                          options.Flag("--busy")};
  const auto load = static_cast<int>(options.Number("--load", 0));
  options.RejectOthers();
  if (settings.messages == 0 || settings.words == 0) Die("--messages and --words are at least 1");
  bool good = true, known = false;
  for (int way = 0; way < kWayCount; ++way) {
    if (name != "all" && name != kWays[way]) continue;
    known = true;
    std::optional<Load> others;  // anew for each way: wait() here must see no other child
    if (load > 0) others.emplace(load);
    good &= TryWay(settings, static_cast<Way>(way));
  }
  if (!known) Die("--way %s: there is graceful, abrupt, close, exit, kill, all", name.c_str());
  return good ? 0 : 1;
}

}  // namespace
}  // namespace softdat::field

int main(int argc, char** argv) { return softdat::field::Main(argc, argv); }
