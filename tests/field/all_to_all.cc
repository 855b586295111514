// SPDX-License-Identifier: BSD-3-Clause
// As many processes as a machine has ranks of MPI. Each is connected to each other one in both
// directions, and all connect at once, as MPI programs do. A write and a message go over every
// connection in every round, and each word is checked. Prints time, memory and failures. The exit
// status is 0 if there was no failure.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>

#include "tests/field/plain.h"

namespace softdat::field {
namespace {

constexpr const char* kUsage =
    "[--ia NAME] [--processes N] [--rounds N] [--words N] [--seconds N]\n"
    "  --ia NAME      adapter (softnet-lo)\n"
    "  --processes N  ranks; each pair has two connections, one in each direction (8)\n"
    "  --rounds N     rounds of a write and a message over each connection (5)\n"
    "  --words N      words of 8 bytes in a write and in a message (128)\n"
    "  --seconds N    limit for all of it (300)";
constexpr int kMostRanks = 1024;
enum Phase { kOpened, kConnected, kExchanged, kClosed, kPhases };
constexpr const char* kPhaseNames[] = {"open", "connect", "exchange", "close"};

struct Settings {
  std::string ia;
  int ranks;
  uint64_t rounds;
  size_t words;
  long seconds;
};

// The memory that the processes share. The barrier orders everything else in it.
struct Board {
  pthread_barrier_t barrier;
  DAT_CONN_QUAL qualifier[kMostRanks];
  struct Window {
    uint64_t address;
    DAT_RMR_CONTEXT context;
  } window[kMostRanks];
  double ends[kPhases];        // seconds, by rank 0
  long kilobytes[kMostRanks];  // of memory that only this rank uses, with all connections open
  std::atomic<uint64_t> writes, messages;
};

double Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

long PrivateKilobytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string name;
  long sum = 0, value = 0;
  for (std::string line; std::getline(file, line);) {
    char key[32];
    if (std::sscanf(line.c_str(), "%31[^:]: %ld", key, &value) != 2) continue;
    if (std::strncmp(key, "Private_", 8) == 0) sum += value;
  }
  return sum;
}

class Rank {
 public:
  Rank(const Settings& settings, Board* board, int rank)
      : settings_(settings),
        board_(board),
        rank_(rank),
        peers_(static_cast<size_t>(settings.ranks)),
        ia_(settings.ia),
        // For each peer: the words to write, the words to send, and the words that arrive.
        memory_(ia_, 3 * settings.words * peers_),
        out_(peers_),
        in_(peers_) {}

  int Run() {
    Open();
    Meet(kOpened);
    Connect();
    board_->kilobytes[rank_] = PrivateKilobytes();
    Meet(kConnected);
    for (uint64_t round = 0; round < settings_.rounds; ++round) {
      Exchange(round);
      pthread_barrier_wait(&board_->barrier);
    }
    Meet(kExchanged);
    Close();
    Meet(kClosed);
    return 0;
  }

 private:
  void Meet(Phase phase) {
    pthread_barrier_wait(&board_->barrier);
    if (rank_ == 0) board_->ends[phase] = Now();
  }
  size_t WrittenAt(size_t peer) const { return peer * settings_.words; }
  size_t ReceivedAt(size_t peer) const { return (peers_ + peer) * settings_.words; }
  size_t SourceAt(size_t peer) const { return (2 * peers_ + peer) * settings_.words; }
  // The pattern of the data that goes from one rank to another in a round.
  uint64_t Seed(uint64_t round, size_t from, size_t to) const {
    return (round * peers_ + from) * peers_ + to;
  }

  void Open() {
    const auto peers = static_cast<DAT_COUNT>(peers_);
    recv_evd_ = ia_.NewEvd(DAT_EVD_DTO_FLAG, 2 * peers);
    request_evd_ = ia_.NewEvd(DAT_EVD_DTO_FLAG, 4 * peers);
    connect_evd_ = ia_.NewEvd(DAT_EVD_CONNECTION_FLAG, 4 * peers);
    cr_evd_ = ia_.NewEvd(DAT_EVD_CR_FLAG, peers);
    for (size_t peer = 0; peer < peers_; ++peer) {
      if (peer == static_cast<size_t>(rank_)) continue;
      out_[peer] = ia_.NewEp({recv_evd_, request_evd_, connect_evd_});
      in_[peer] = ia_.NewEp({recv_evd_, request_evd_, connect_evd_});
      PostReceive(peer);
    }
    MUST(dat_psp_create_any(ia_.ia, &board_->qualifier[rank_], cr_evd_, DAT_PSP_CONSUMER_FLAG,
                            &psp_));
    board_->window[rank_] = {memory_.address(), memory_.rmr_context()};
  }

  void PostReceive(size_t peer) {
    MUST(client::PostReceive(in_[peer], memory_.Words(ReceivedAt(peer), settings_.words), peer));
  }

  // Connects to every rank at once, beginning with the next one. Then accepts every request.
  void Connect() {
    for (size_t step = 1; step < peers_; ++step) {
      const size_t peer = (static_cast<size_t>(rank_) + step) % peers_;
      std::array<uint8_t, sizeof(uint32_t)> self;
      std::memcpy(self.data(), &rank_, sizeof self);
      MUST(client::Connect(out_[peer], ia_.ia.address(), board_->qualifier[peer],
                           DAT_TIMEOUT_INFINITE, self));
    }
    for (size_t i = 1; i < peers_; ++i) Accept();
    for (size_t i = 0; i < 2 * (peers_ - 1); ++i) {
      MustWait(connect_evd_, DAT_CONNECTION_EVENT_ESTABLISHED);
    }
    MUST(dat_psp_free(psp_));
  }

  void Accept() {
    const DAT_CR_HANDLE cr =
        MustWait(cr_evd_, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data.cr_handle;
    DAT_CR_PARAM param{};
    MUST(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
    uint32_t peer = 0;
    if (param.private_data_size != sizeof peer) {
      Die("rank %d: %d bytes of private data", rank_, param.private_data_size);
    }
    std::memcpy(&peer, param.private_data, sizeof peer);
    if (peer >= peers_) Die("rank %d: a request of rank %u", rank_, peer);
    MUST(dat_cr_accept(cr, in_[peer], 0, nullptr));
  }

  void Exchange(uint64_t round) {
    for (size_t step = 1; step < peers_; ++step) {
      Send(round, (static_cast<size_t>(rank_) + step) % peers_);
    }
    for (size_t i = 1; i < peers_; ++i) Receive(round);
    for (size_t i = 1; i < peers_; ++i) {
      MustComplete(request_evd_);
      MustComplete(request_evd_);
    }
  }

  void Send(uint64_t round, size_t peer) {
    const auto self = static_cast<size_t>(rank_);
    FillPattern(memory_.words + SourceAt(peer), settings_.words, Seed(round, self, peer));
    const DAT_LMR_TRIPLET segment = memory_.Words(SourceAt(peer), settings_.words);
    const Board::Window& window = board_->window[peer];
    const DAT_RMR_TRIPLET target =
        client::RemoteSegment(window.address + WrittenAt(self) * sizeof(uint64_t), window.context,
                              segment.segment_length);
    MUST(client::PostWrite(out_[peer], segment, target, peer));
    MUST(client::PostSend(out_[peer], segment, peer));
  }

  // A message has arrived, and with it the write before it.
  void Receive(uint64_t round) {
    const DAT_DTO_COMPLETION_EVENT_DATA data = MustComplete(recv_evd_);
    const size_t peer = data.user_cookie.as_64;
    const uint64_t seed = Seed(round, peer, static_cast<size_t>(rank_));
    if (data.transfered_length != settings_.words * sizeof(uint64_t)) {
      Die("rank %d: %u bytes from rank %zu", rank_, data.transfered_length, peer);
    }
    const struct {
      const char* name;
      size_t at;
    } parts[] = {{"message", ReceivedAt(peer)}, {"write", WrittenAt(peer)}};
    for (const auto& part : parts) {
      const size_t stale = FirstStale(memory_.words + part.at, settings_.words, seed);
      if (stale != settings_.words) {
        Die("rank %d: word %zu of the %s of rank %zu is wrong in round %" PRIu64, rank_, stale,
            part.name, peer, round);
      }
    }
    PostReceive(peer);
    board_->writes.fetch_add(1, std::memory_order_relaxed);
    board_->messages.fetch_add(1, std::memory_order_relaxed);
  }

  void Close() {
    for (size_t peer = 0; peer < peers_; ++peer) {
      if (out_[peer] != DAT_HANDLE_NULL) {
        MUST(dat_ep_disconnect(out_[peer], DAT_CLOSE_GRACEFUL_FLAG));
      }
    }
    for (size_t i = 0; i < 2 * (peers_ - 1); ++i) {
      MustWait(connect_evd_, DAT_CONNECTION_EVENT_DISCONNECTED);
    }
    MUST(ia_.ia.Close());
  }

  const Settings& settings_;
  Board* const board_;
  const int rank_;
  const size_t peers_;  // ranks, this one included
  PlainIa ia_;
  PlainMemory memory_;
  std::vector<DAT_EP_HANDLE> out_, in_;
  DAT_EVD_HANDLE recv_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE request_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connect_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE cr_evd_ = DAT_HANDLE_NULL;
  DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
};

Board* NewBoard(int ranks) {
  void* p = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) Die("no shared memory");
  auto* const board = new (p) Board{};
  pthread_barrierattr_t attr;
  pthread_barrierattr_init(&attr);
  pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&board->barrier, &attr, static_cast<unsigned>(ranks));
  return board;
}

// Each connection is a descriptor at each end.
void RaiseDescriptorLimit(int ranks) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const auto wanted = static_cast<rlim_t>(2 * ranks + 64);
  if (limit.rlim_cur < wanted) {
    Die("a rank needs %lu descriptors, the limit is %lu (ulimit -Hn)",
        static_cast<unsigned long>(wanted), static_cast<unsigned long>(limit.rlim_cur));
  }
}

// Waits until all have ended. After the first failure ends the others, which would wait for the
// failed one.
int Reap(std::vector<pid_t> ranks, int* failures) {
  int seen = 0;
  for (size_t left = ranks.size(); left > 0; --left) {
    int status = 0;
    const pid_t pid = wait(&status);
    if (pid < 0) break;
    for (pid_t& rank : ranks) rank = rank == pid ? 0 : rank;
    if (status == 0) continue;
    if (seen++ == 0) {
      for (const pid_t rank : ranks) {
        if (rank != 0) kill(rank, SIGKILL);
      }
    }
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
      ++*failures;
      if (WIFSIGNALED(status)) std::printf("a rank was killed by signal %d\n", WTERMSIG(status));
    }
  }
  return seen;
}

int Main(int argc, char** argv) {
  PlainOptions options(argc, argv, kUsage);
  Settings settings{
      options.Text("--ia", "softnet-lo"), static_cast<int>(options.Number("--processes", 8)),
      static_cast<uint64_t>(options.Number("--rounds", 5)),
      static_cast<size_t>(options.Number("--words", 128)), options.Number("--seconds", 300)};
  options.RejectOthers();
  if (settings.ranks < 2 || settings.ranks > kMostRanks) Die("--processes is 2 to %d", kMostRanks);
  if (settings.words == 0) Die("--words is at least 1");
  RaiseDescriptorLimit(settings.ranks);
  Board* const board = NewBoard(settings.ranks);
  double at = Now();
  alarm(static_cast<unsigned>(settings.seconds));  // kills the parent, and with it the ranks
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < settings.ranks; ++rank) {
    ranks.push_back(Spawn([&, rank] { return Rank(settings, board, rank).Run(); }));
  }
  int failures = 0;
  const int ended = Reap(std::move(ranks), &failures);
  const long connections = static_cast<long>(settings.ranks) * (settings.ranks - 1);
  std::printf("%d processes, %ld connections, %" PRIu64 " writes and %" PRIu64
              " messages of %zu bytes checked\n",
              settings.ranks, connections, board->writes.load(), board->messages.load(),
              settings.words * sizeof(uint64_t));
  for (int phase = 0; phase < kPhases; ++phase) {
    if (board->ends[phase] == 0) break;
    std::printf("%-10s %8.2f s\n", kPhaseNames[phase], board->ends[phase] - at);
    at = board->ends[phase];
  }
  long kilobytes = 0;
  for (int rank = 0; rank < settings.ranks; ++rank) kilobytes += board->kilobytes[rank];
  std::printf("%-10s %8.1f MiB, %.1f KiB a connection's end\n", "memory",
              static_cast<double>(kilobytes) / 1024,
              static_cast<double>(kilobytes) / (2.0 * static_cast<double>(connections)));
  std::printf("%-10s %8d\n", "failures", failures);
  return ended == 0 ? 0 : 1;
}

}  // namespace
}  // namespace softdat::field

int main(int argc, char** argv) { return softdat::field::Main(argc, argv); }
