// SPDX-License-Identifier: BSD-3-Clause
// Two connections between the same two processes, as MPI libraries make them: a large RDMA write
// goes over the first one, and when it has completed, a message over the second one says so. With
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

// What the target tells before each round, and the writer after it.
struct Offer {
  uint64_t address;
  uint64_t context;
};

// Either end: an IA with two EPs.
struct Side {
  PlainIa ia;
  DAT_EVD_HANDLE recv_evd, request_evd, connect_evd;
  DAT_EP_HANDLE data_ep = DAT_HANDLE_NULL, message_ep = DAT_HANDLE_NULL;
  PlainMemory mail;  // word 0, 1: what comes; 2, 3: what goes

  explicit Side(const Settings& settings)
      : ia(settings.ia),
        recv_evd(ia.NewEvd(DAT_EVD_DTO_FLAG, 8)),
        request_evd(ia.NewEvd(DAT_EVD_DTO_FLAG, 8)),
        connect_evd(ia.NewEvd(DAT_EVD_CONNECTION_FLAG, 8)),
        mail(ia, 4) {
    for (DAT_EP_HANDLE* ep : {&data_ep, &message_ep}) {
      MUST(dat_ep_create(ia.ia, ia.pz, recv_evd, request_evd, connect_evd, nullptr, ep));
    }
    PostReceive();
  }

  void PostReceive() const {
    DAT_LMR_TRIPLET segment = mail.Local(0, 2);
    MUST(dat_ep_post_recv(message_ep, 1, &segment, DAT_DTO_COOKIE{}, DAT_COMPLETION_DEFAULT_FLAG));
  }
  void Tell(const Offer& offer) const {
    mail.words[2] = offer.address;
    mail.words[3] = offer.context;
    DAT_LMR_TRIPLET segment = mail.Local(2, 2);
    MUST(dat_ep_post_send(message_ep, 1, &segment, DAT_DTO_COOKIE{}, DAT_COMPLETION_DEFAULT_FLAG));
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
    MUST(dat_ep_connect(ep, side.ia.address, qualifier, DAT_TIMEOUT_INFINITE, 0, nullptr,
                        DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    MustWait(side.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  const PlainMemory memory(side.ia, settings.words);
  for (uint64_t round = 0; round < settings.rounds; ++round) {
    FillPattern(memory.words, settings.words, round);
    const Offer offer = side.Listen();
    DAT_LMR_TRIPLET segment = memory.Local(0, settings.words);
    DAT_RMR_TRIPLET target{};
    target.virtual_address = offer.address;
    target.segment_length = segment.segment_length;
    target.rmr_context = static_cast<DAT_RMR_CONTEXT>(offer.context);
    MUST(dat_ep_post_rdma_write(side.data_ep, 1, &segment, DAT_DTO_COOKIE{}, &target,
                                DAT_COMPLETION_DEFAULT_FLAG));
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
    const PlainMemory memory(side.ia, settings.words);
    side.Tell({reinterpret_cast<uintptr_t>(memory.words), memory.rmr_context});
    side.Listen();
    // Freed first: what has completed needs the memory no more, and stays in it.
    MUST(dat_lmr_free(memory.lmr));
    const size_t stale = FirstStale(memory.words, settings.words, round);
    if (stale != settings.words) Die("word %zu is stale in round %" PRIu64, stale, round);
    memory.Unmap();
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
