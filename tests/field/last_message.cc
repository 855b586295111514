// SPDX-License-Identifier: BSD-3-Clause
// A program takes the last message and returns from main() without closing anything. An InfiniBand
// adapter has acknowledged the message by then, so the sender's completion must succeed here too.
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "tests/field/plain.h"

namespace softdat::field {
namespace {

constexpr const char* kUsage =
    "[--ia NAME] [--rounds N] [--words N] [--poll]\n"
    "  --ia NAME   adapter (softnet-lo)\n"
    "  --rounds N  receivers, one after the other (50)\n"
    "  --words N   the message, of 8 bytes each (8)\n"
    "  --poll      the receiver polls by dat_evd_dequeue; it waits otherwise";

struct Settings {
  std::string ia;
  uint64_t rounds;
  size_t words;
  bool poll;
};

// One end of the only connection.
struct End {
  PlainIa ia;
  DAT_EVD_HANDLE recv_evd, request_evd, connect_evd;
  DAT_EP_HANDLE ep;
  PlainMemory memory;

  explicit End(const Settings& settings)
      : ia(settings.ia),
        recv_evd(ia.NewEvd(DAT_EVD_DTO_FLAG, 8)),
        request_evd(ia.NewEvd(DAT_EVD_DTO_FLAG, 8)),
        connect_evd(ia.NewEvd(DAT_EVD_CONNECTION_FLAG, 8)),
        ep(ia.NewEp({recv_evd, request_evd, connect_evd})),
        memory(ia, settings.words) {}
};

// Never returns to main(), but ends as main() does.
[[noreturn]] void RunReceiver(const Settings& settings, DAT_CONN_QUAL qualifier) {
  const End end(settings);
  MUST(client::PostReceive(end.ep, end.memory.Words(0, settings.words), 0));
  MUST(client::Connect(end.ep, end.ia.ia.address(), qualifier, DAT_TIMEOUT_INFINITE));
  MustWait(end.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  if (!settings.poll) {
    MustComplete(end.recv_evd);
    std::exit(0);
  }
  DAT_EVENT event{};
  while (dat_evd_dequeue(end.recv_evd, &event) != DAT_SUCCESS) {
  }
  std::exit(event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS ? 0 : 1);
}

int RunLauncher(const Settings& settings, int from_sender) {
  DAT_CONN_QUAL qualifier = 0;
  while (read(from_sender, &qualifier, sizeof qualifier) == sizeof qualifier) {
    const pid_t pid = Spawn([&]() -> int { RunReceiver(settings, qualifier); });
    int status = 0;
    waitpid(pid, &status, 0);
    if (status != 0) Die("receiver: ended with %#x", status);
  }
  return 0;
}

int RunSender(const Settings& settings, int to_launcher) {
  for (uint64_t round = 0; round < settings.rounds; ++round) {
    End end(settings);
    const DAT_EVD_HANDLE cr_evd = end.ia.NewEvd(DAT_EVD_CR_FLAG, 1);
    DAT_CONN_QUAL qualifier = 0;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    MUST(dat_psp_create_any(end.ia.ia, &qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
    if (write(to_launcher, &qualifier, sizeof qualifier) != sizeof qualifier) Die("no launcher");
    const DAT_EVENT request = MustWait(cr_evd, DAT_CONNECTION_REQUEST_EVENT);
    MUST(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, end.ep, 0, nullptr));
    MustWait(end.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    MUST(client::PostSend(end.ep, end.memory.Words(0, settings.words), 0));
    MustComplete(end.request_evd);
    MustWait(end.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
    MUST(end.ia.ia.Close());
  }
  return 0;
}

int Main(int argc, char** argv) {
  PlainOptions options(argc, argv, kUsage);
  const Settings settings{
      options.Text("--ia", "softnet-lo"), static_cast<uint64_t>(options.Number("--rounds", 50)),
      static_cast<size_t>(options.Number("--words", 8)), options.Flag("--poll")};
  options.RejectOthers();
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

}  // namespace
}  // namespace softdat::field

int main(int argc, char** argv) { return softdat::field::Main(argc, argv); }
