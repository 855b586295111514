// SPDX-License-Identifier: BSD-3-Clause
// Two connections between the same two processes, as MPI libraries make them. A large RDMA write
// goes over the first one. When it has completed, a message over the second one says so. With
// confirmed completions the message cannot overtake the data, and the target may free the memory at
// once. The target checks each word.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>

#include "tests/field/plain.h"

namespace softdat::field {
namespace {

constexpr const char* kUsage =
    "[--ia NAME] [--rounds N] [--words N] [--load N]\n"
    "  --ia NAME   adapter (softnet-lo)\n"
    "  --rounds N  writes, each into memory of its own (100)\n"
    "  --words N   words of 8 bytes in a write (131072)\n"
    "  --load N    so many processes beside it do nothing but compute (0)";

struct Settings {
  std::string ia;
  uint64_t rounds;
  size_t words;
};

// The message that the target sends before each round, and the writer after it.
struct Offer {
  uint64_t address;
  uint64_t context;
};

// Either end: an IA with two EPs.
struct Side {
  PlainIa ia;
  DAT_EVD_HANDLE recv_evd, request_evd, connect_evd;
  DAT_EP_HANDLE data_ep = DAT_HANDLE_NULL, message_ep = DAT_HANDLE_NULL;
  PlainMemory mail;  // word 0, 1: received; 2, 3: to send

  explicit Side(const Settings& settings)
      : ia(settings.ia),
        recv_evd(ia.NewEvd(DAT_EVD_DTO_FLAG, 8)),
        request_evd(ia.NewEvd(DAT_EVD_DTO_FLAG, 8)),
        connect_evd(ia.NewEvd(DAT_EVD_CONNECTION_FLAG, 8)),
        mail(ia, 4) {
    for (DAT_EP_HANDLE* ep : {&data_ep, &message_ep}) {
      *ep = ia.NewEp({recv_evd, request_evd, connect_evd});
    }
    PostReceive();
  }

  void PostReceive() const { MUST(client::PostReceive(message_ep, mail.Words(0, 2), 0)); }
  void Tell(const Offer& offer) const {
    mail.words[2] = offer.address;
    mail.words[3] = offer.context;
    MUST(client::PostSend(message_ep, mail.Words(2, 2), 0));
    MustComplete(request_evd);
  }
  Offer Listen() const {
    MustComplete(recv_evd);
    const Offer offer{mail.words[0], mail.words[1]};
    PostReceive();
    return offer;
  }
};

int RunWriter(const Settings& settings, int from_target) {
  const Side side(settings);
  DAT_CONN_QUAL qualifier = 0;
  if (read(from_target, &qualifier, sizeof qualifier) != sizeof qualifier) return 1;
  for (DAT_EP_HANDLE ep : {side.data_ep, side.message_ep}) {
    MUST(client::Connect(ep, side.ia.ia.address(), qualifier, DAT_TIMEOUT_INFINITE));
    MustWait(side.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  const PlainMemory memory(side.ia, settings.words);
  for (uint64_t round = 0; round < settings.rounds; ++round) {
    FillPattern(memory.words, settings.words, round);
    const Offer offer = side.Listen();
    const DAT_RMR_TRIPLET target = client::RemoteSegment(
        offer.address, static_cast<DAT_RMR_CONTEXT>(offer.context), memory.size());
    MUST(client::PostWrite(side.data_ep, memory.Words(0, settings.words), target, 0));
    MustComplete(side.request_evd);
    side.Tell(offer);
  }
  for (int i = 0; i < 2; ++i) MustWait(side.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  return 0;
}

int RunTarget(const Settings& settings, int to_writer) {
  const Side side(settings);
  const DAT_EVD_HANDLE cr_evd = side.ia.NewEvd(DAT_EVD_CR_FLAG, 4);
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  MUST(dat_psp_create_any(side.ia.ia, &qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  if (write(to_writer, &qualifier, sizeof qualifier) != sizeof qualifier) return 1;
  for (DAT_EP_HANDLE ep : {side.data_ep, side.message_ep}) {
    const DAT_EVENT request = MustWait(cr_evd, DAT_CONNECTION_REQUEST_EVENT);
    MUST(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, ep, 0, nullptr));
    MustWait(side.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  for (uint64_t round = 0; round < settings.rounds; ++round) {
    PlainMemory memory(side.ia, settings.words);
    side.Tell({memory.address(), memory.rmr_context()});
    side.Listen();
    // Freed first, because a completed write needs the memory no more, and its data stays there.
    MUST(memory.Deregister());
    const size_t stale = FirstStale(memory.words, settings.words, round);
    if (stale != settings.words) Die("word %zu is stale in round %" PRIu64, stale, round);
  }
  for (DAT_EP_HANDLE ep : {side.data_ep, side.message_ep}) {
    MUST(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
    MustWait(side.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  }
  return 0;
}

int Main(int argc, char** argv) {
  PlainOptions options(argc, argv, kUsage);
  const Settings settings{options.Text("--ia", "softnet-lo"),
                          static_cast<uint64_t>(options.Number("--rounds", 100)),
                          static_cast<size_t>(options.Number("--words", 131072))};
  const auto load = static_cast<int>(options.Number("--load", 0));
  options.RejectOthers();
  if (settings.words == 0) Die("--words is at least 1");
  int fds[2];
  if (pipe(fds) != 0) Die("no pipe");
  const pid_t writer = Spawn([&] { return RunWriter(settings, fds[0]); });
  const pid_t target = Spawn([&] { return RunTarget(settings, fds[1]); });
  std::optional<Load> others;
  if (load > 0) others.emplace(load);
  bool good = true;
  for (const pid_t pid : {target, writer}) {
    int status = 0;
    waitpid(pid, &status, 0);
    if (status != 0) kill(writer, SIGKILL);
    good &= status == 0;
  }
  std::printf("%" PRIu64 " rounds of %zu bytes: %s\n", settings.rounds,
              settings.words * sizeof(uint64_t), good ? "every word right" : "FAILED");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace softdat::field

int main(int argc, char** argv) { return softdat::field::Main(argc, argv); }
