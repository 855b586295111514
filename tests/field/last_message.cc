// SPDX-License-Identifier: BSD-3-Clause
// A program takes the last of some messages, or of some writes, and leaves at once, in each of the
// ways in which programs leave. An InfiniBand adapter has acknowledged everything by then, so all
// completions of the sender must succeed here too. The sender keeps several messages under way, so
// it has not asked to confirm the last ones when they arrive.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "tests/field/plain.h"

namespace softdat::field {
namespace {

constexpr const char* kUsage =
    "[--ia NAME] [--rounds N] [--messages N] [--words N] [--writes] [--way WAY] [--poll]\n"
    "               [--own N] [--pause MS]\n"
    "  --ia NAME     adapter (softnet-lo)\n"
    "  --rounds N    receivers, one after the other (50)\n"
    "  --messages N  in each round, at most 8 of them under way (1)\n"
    "  --words N     each, of 8 bytes (8)\n"
    "  --writes      RDMA writes, with a message behind each\n"
    "  --way WAY     how the receiver leaves: exit, graceful, abrupt (dat_ep_disconnect), free\n"
    "                (dat_ep_free), close (dat_ia_close), or all in turn (all) (exit)\n"
    "  --poll        the receiver polls by dat_evd_dequeue; it waits otherwise\n"
    "  --own N       the receiver leaves while a message of its own, of N words, is under way (0)\n"
    "  --pause MS    the sender's process stops when the receiver leaves, for so long (0)";

constexpr size_t kDepth = 8;  // messages under way, and receives for them
constexpr const char* kWays[] = {"exit", "graceful", "abrupt", "free", "close"};
enum Way { kExit, kGraceful, kAbrupt, kFree, kClose };

struct Settings {
  std::string ia;
  uint64_t rounds;
  size_t messages, words;
  bool writes;
  std::string way;
  bool poll;
  size_t own;
  int64_t pause;

  Way WayOf(uint64_t round) const {
    for (size_t i = 0; i < std::size(kWays); ++i) {
      if (way == kWays[i]) return static_cast<Way>(i);
    }
    return static_cast<Way>(round % std::size(kWays));
  }
};

// What the sender tells each receiver.
struct Invitation {
  DAT_CONN_QUAL qualifier;
  Way way;
};

// One end of the only connection.
struct End {
  PlainIa ia;
  DAT_EVD_HANDLE recv_evd, request_evd, connect_evd;
  DAT_EP_HANDLE ep;
  PlainMemory memory;

  explicit End(const Settings& settings)
      : ia(settings.ia),
        recv_evd(ia.NewEvd(DAT_EVD_DTO_FLAG, 2 * kDepth)),
        request_evd(ia.NewEvd(DAT_EVD_DTO_FLAG, 2 * kDepth)),
        connect_evd(ia.NewEvd(DAT_EVD_CONNECTION_FLAG, 8)),
        ep(ia.NewEp({recv_evd, request_evd, connect_evd})),
        memory(ia, std::max(settings.words, settings.own)) {}
};

void TakeOne(const Settings& settings, DAT_EVD_HANDLE evd) {
  if (!settings.poll) {
    MustComplete(evd);
    return;
  }
  DAT_EVENT event{};
  while (dat_evd_dequeue(evd, &event) != DAT_SUCCESS) {
  }
  const DAT_DTO_COMPLETION_STATUS status = event.event_data.dto_completion_event_data.status;
  if (status != DAT_DTO_SUCCESS) Die("receiver: status %d", status);
}

// A sender that reads nothing at the moment. It is another process than the receiver, which leaves
// meanwhile, so the launcher makes it go on.
class SenderPause {
 public:
  SenderPause(pid_t sender, int64_t ms) : sender_(sender), ms_(ms) {
    if (ms_ > 0 && pipe(fds_) != 0) Die("no pipe");
  }
  // In the receiver.
  void Begin() const {
    if (ms_ == 0) return;
    kill(sender_, SIGSTOP);
    if (write(fds_[1], "s", 1) != 1) Die("no launcher");
  }
  // In the launcher.
  void End() {
    if (ms_ == 0) return;
    close(fds_[1]);
    char byte;
    if (read(fds_[0], &byte, 1) == 1) usleep(static_cast<useconds_t>(ms_ * 1000));
    close(fds_[0]);
    kill(sender_, SIGCONT);
  }

 private:
  const pid_t sender_;
  const int64_t ms_;
  int fds_[2] = {-1, -1};
};

// Never returns to main(), but ends as main() does.
[[noreturn]] void RunReceiver(const Settings& settings, const Invitation& invitation,
                              const SenderPause& pause) {
  End end(settings);
  size_t posted = 0;
  const auto post = [&] {
    if (posted == settings.messages) return;
    MUST(client::PostReceive(end.ep, end.memory.Words(0, settings.words), posted++));
  };
  while (posted < std::min(settings.messages, kDepth)) post();
  MUST(client::Connect(end.ep, end.ia.ia.address(), invitation.qualifier, DAT_TIMEOUT_INFINITE));
  MustWait(end.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  if (settings.own > 0) {
    MUST(client::PostSend(end.ep, end.memory.Words(0, settings.own), 0));
  }
  for (size_t taken = 0; taken < settings.messages; ++taken) {
    TakeOne(settings, end.recv_evd);
    post();
  }
  pause.Begin();
  switch (invitation.way) {
    case kExit:
      break;
    case kGraceful:
    case kAbrupt:
      MUST(dat_ep_disconnect(
          end.ep, invitation.way == kAbrupt ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG));
      MustWait(end.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
      break;
    case kFree:
      MUST(dat_ep_free(end.ep));
      break;
    case kClose:
      MUST(end.ia.ia.Close());
      break;
  }
  std::exit(0);
}

int RunLauncher(const Settings& settings, int from_sender) {
  Invitation invitation{};
  while (read(from_sender, &invitation, sizeof invitation) == sizeof invitation) {
    SenderPause pause(getppid(), settings.pause);
    const pid_t pid = Spawn([&]() -> int { RunReceiver(settings, invitation, pause); });
    pause.End();
    int status = 0;
    waitpid(pid, &status, 0);
    if (status != 0) Die("receiver: ended with %#x", status);
  }
  return 0;
}

// A process that was stopped, and goes on, waits on.
DAT_EVENT WaitThroughPause(const Settings& settings, DAT_EVD_HANDLE evd) {
  DAT_EVENT event{};
  DAT_RETURN result;
  do {
    result = client::WaitEvent(evd, kPlainPatienceUs, &event);
  } while (settings.pause > 0 && DAT_GET_TYPE(result) == DAT_INTERRUPTED_CALL);
  MUST(result);
  return event;
}

// Sends the messages, each behind a write if so asked. All must complete with success.
void SendAll(const Settings& settings, const End& end, uint64_t round) {
  const size_t each = settings.writes ? 2 : 1;
  size_t posted = 0;
  for (size_t over = 0; over < settings.messages * each; ++over) {
    while (posted < settings.messages && posted < over / each + kDepth) {
      const DAT_LMR_TRIPLET words = end.memory.Words(0, settings.words);
      if (settings.writes) {
        // Nothing is written, but it is a message of its own on the wire.
        const DAT_RMR_TRIPLET nowhere{};
        MUST(client::PostWrite(end.ep, end.memory.Words(0, 0), nowhere, posted));
      }
      MUST(client::PostSend(end.ep, words, posted++));
    }
    const DAT_EVENT event = WaitThroughPause(settings, end.request_evd);
    const DAT_DTO_COMPLETION_EVENT_DATA& data = event.event_data.dto_completion_event_data;
    if (data.status != DAT_DTO_SUCCESS) {
      Die("round %" PRIu64 " (%s): completion %zu of %zu has status %d", round,
          kWays[settings.WayOf(round)], over, settings.messages * each, data.status);
    }
  }
}

int RunSender(const Settings& settings, int to_launcher) {
  for (uint64_t round = 0; round < settings.rounds; ++round) {
    End end(settings);
    const DAT_EVD_HANDLE cr_evd = end.ia.NewEvd(DAT_EVD_CR_FLAG, 1);
    Invitation invitation{0, settings.WayOf(round)};
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    MUST(dat_psp_create_any(end.ia.ia, &invitation.qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
    if (write(to_launcher, &invitation, sizeof invitation) != sizeof invitation) Die("no launcher");
    const DAT_EVENT request = MustWait(cr_evd, DAT_CONNECTION_REQUEST_EVENT);
    if (settings.own > 0) {
      MUST(client::PostReceive(end.ep, end.memory.Words(0, settings.own), 0));
    }
    MUST(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, end.ep, 0, nullptr));
    MustWait(end.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    SendAll(settings, end, round);
    const DAT_EVENT last = WaitThroughPause(settings, end.connect_evd);
    if (last.event_number != DAT_CONNECTION_EVENT_DISCONNECTED) {
      Die("event %#x at the end", last.event_number);
    }
    MUST(end.ia.ia.Close());
  }
  return 0;
}

int RunBoth(const Settings& settings) {
  int fds[2];
  if (pipe(fds) != 0) Die("no pipe");
  const pid_t launcher = Spawn([&] {
    close(fds[1]);
    return RunLauncher(settings, fds[0]);
  });
  close(fds[0]);
  const int failed = RunSender(settings, fds[1]);
  close(fds[1]);
  int status = 0;
  waitpid(launcher, &status, 0);
  std::printf("%" PRIu64 " rounds: %s\n", settings.rounds,
              failed == 0 && status == 0 ? "every last message confirmed" : "FAILED");
  return failed == 0 && status == 0 ? 0 : 1;
}

int Main(int argc, char** argv) {
  PlainOptions options(argc, argv, kUsage);
  const Settings settings{options.Text("--ia", "softnet-lo"),
                          static_cast<uint64_t>(options.Number("--rounds", 50)),
                          static_cast<size_t>(options.Number("--messages", 1)),
                          static_cast<size_t>(options.Number("--words", 8)),
                          options.Flag("--writes"),
                          options.Text("--way", "exit"),
                          options.Flag("--poll"),
                          static_cast<size_t>(options.Number("--own", 0)),
                          static_cast<int64_t>(options.Number("--pause", 0))};
  options.RejectOthers();
  if (settings.pause == 0) return RunBoth(settings);
  // A shell that waits for this program may take its stop for its end. So a child is stopped.
  int status = 0;
  waitpid(Spawn([&] { return RunBoth(settings); }), &status, 0);
  return status == 0 ? 0 : 1;
}

}  // namespace
}  // namespace softdat::field

int main(int argc, char** argv) { return softdat::field::Main(argc, argv); }
