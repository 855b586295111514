// SPDX-License-Identifier: BSD-3-Clause
// Three processes on one address, each connected to both others, send messages all the time. One of
// them is killed. The two others learn of it: everything that they have posted for it completes,
// and its connections end. Between them no message is lost or changed, and they go on.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string>

#include "tests/field/plain.h"

namespace softdat::field {
namespace {

constexpr const char* kUsage =
    "[--ia NAME] [--before N] [--after N] [--words N] [--patience S] [--load N] [--together N]\n"
    "  --ia NAME     adapter (softnet-lo)\n"
    "  --before N    messages of each process before one is killed (500)\n"
    "  --after N     messages of each survivor when it knows of that (2000)\n"
    "  --words N     words of 8 bytes in a message (512)\n"
    "  --patience S  seconds within which they must know of it (15)\n"
    "  --load N      so many processes beside it do nothing but compute (0)\n"
    "  --together N  1: no survivor leaves before both have finished. On a wire that loses "
    "packets\n"
    "                nobody knows whether the peer has his last acknowledgement (0)";

using Clock = std::chrono::steady_clock;

struct Settings {
  std::string ia;
  uint64_t before, after;
  size_t words;
  std::chrono::seconds patience;
  bool together;
};

constexpr size_t kDepth = 8;  // messages on their way, and receives for them

// A connection with one neighbour. Message N has the pattern N of the two, and its last word says
// whether it is the last one.
class Link {
 public:
  Link(const PlainIa& ia, const Settings& settings, DAT_EVD_HANDLE dtos, DAT_EVD_HANDLE connects)
      : words_(settings.words), memory_(ia, 2 * kDepth * settings.words) {
    DAT_EP_ATTR attr{};
    attr.service_type = DAT_SERVICE_TYPE_RC;
    attr.max_recv_dtos = attr.max_request_dtos = kDepth;
    attr.max_recv_iov = attr.max_request_iov = 1;
    ep = ia.NewEp({dtos, dtos, connects}, &attr);
    for (uint64_t i = 0; i < kDepth; ++i) PostReceive(i);
  }

  bool MaySend() const { return !over && !last_sent && sent - sends_over < kDepth; }
  void Send(bool last) {
    uint64_t* const words = At(kDepth + sent % kDepth);
    FillPattern(words, words_, sent);
    words[words_ - 1] = last ? 1 : 0;
    MUST(client::PostSend(ep, Slot(kDepth + sent % kDepth), sent));
    ++sent;
    last_sent = last;
  }
  void OnCompletion(const DAT_DTO_COMPLETION_EVENT_DATA& data) {
    const bool send = data.operation == DAT_DTO_SEND;
    if (data.status != DAT_DTO_SUCCESS) {
      ++(send ? sends_over : receives_over);
      failed = true;
      send_failed = send_failed || send;
      return;
    }
    if (failed) Die("a success behind a failure");
    if (send) {
      if (data.user_cookie.as_64 != sends_over++) Die("completions out of order");
      return;
    }
    const uint64_t* const words = At(receives_over % kDepth);
    if (data.transfered_length != words_ * sizeof *words ||
        FirstStale(words, words_ - 1, receives_over) != words_ - 1) {
      Die("message %" PRIu64 " is wrong", receives_over);
    }
    last_received = words[words_ - 1] != 0;
    last_at = Clock::now();
    PostReceive(receives_over++ + kDepth);
  }
  // Receives may be left, which are flushed when the other end leaves.
  bool finished() const { return last_sent && last_received && sent == sends_over && !send_failed; }
  // Nothing that was posted is left.
  bool flushed() const { return sends_over == sent && receives_over == receives_posted_; }

  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  uint64_t sent = 0, sends_over = 0, receives_over = 0;
  bool last_sent = false, last_received = false;
  bool failed = false;  // a completion was no success
  bool send_failed = false;
  bool over = false;  // the connection
  Clock::time_point last_at = Clock::now();

 private:
  uint64_t* At(uint64_t slot) const { return memory_.words + slot * words_; }
  DAT_LMR_TRIPLET Slot(uint64_t slot) const { return memory_.Words(slot * words_, words_); }
  void PostReceive(uint64_t n) {
    MUST(client::PostReceive(ep, Slot(n % kDepth), n));
    ++receives_posted_;
  }

  const size_t words_;
  const PlainMemory memory_;
  uint64_t receives_posted_ = 0;
};

class Neighbour {
 public:
  explicit Neighbour(const Settings& settings)
      : settings_(settings),
        ia_(settings.ia),
        dto_evd_(ia_.NewEvd(DAT_EVD_DTO_FLAG, 4 * kDepth)),
        connect_evd_(ia_.NewEvd(DAT_EVD_CONNECTION_FLAG, 8)),
        cr_evd_(ia_.NewEvd(DAT_EVD_CR_FLAG, 4)) {
    MUST(dat_psp_create_any(ia_.ia, &qualifier_, cr_evd_, DAT_PSP_CONSUMER_FLAG, &psp_));
  }

  // The first link is the one between the survivors.
  std::optional<Link> links[2];

  void Connect(std::optional<Link>* link, int from_listener) {
    link->emplace(ia_, settings_, dto_evd_, connect_evd_);
    DAT_CONN_QUAL qualifier = 0;
    if (read(from_listener, &qualifier, sizeof qualifier) != sizeof qualifier) Die("no listener");
    MUST(client::Connect((*link)->ep, ia_.ia.address(), qualifier, DAT_TIMEOUT_INFINITE));
    MustWait(connect_evd_, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  void Accept(std::optional<Link>* link, int to_connector) {
    link->emplace(ia_, settings_, dto_evd_, connect_evd_);
    if (write(to_connector, &qualifier_, sizeof qualifier_) != sizeof qualifier_) Die("no pipe");
    const DAT_EVENT request = MustWait(cr_evd_, DAT_CONNECTION_REQUEST_EVENT);
    MUST(
        dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, (*link)->ep, 0, nullptr));
    MustWait(connect_evd_, DAT_CONNECTION_EVENT_ESTABLISHED);
  }

  // `from_parent`: a byte says that both may leave.
  int Survive(int to_parent, int from_parent) {
    const int done = to_parent;
    Link& other = *links[0];
    Link& victim = *links[1];
    uint64_t end_known_at = 0;  // so many had been sent
    while (!other.finished()) {
      const bool known = victim.over && victim.flushed();
      if (known && end_known_at == 0) end_known_at = other.sent + 1;
      if (other.MaySend()) {
        other.Send(known && other.sent >= end_known_at + settings_.after);
      }
      if (victim.MaySend() && !victim.failed) victim.Send(false);
      Take();
      if (other.over) {
        // The other survivor may have finished and left. Then all that it has sent has completed,
        // perhaps since the last look.
        Take();
        if (!other.finished()) {
          Die("the connection between the survivors has ended: %" PRIu64 " sent%s, %" PRIu64
              " completed%s, %" PRIu64 " received%s",
              other.sent, other.last_sent ? " with the last" : "", other.sends_over,
              other.send_failed ? " with failures" : "", other.receives_over,
              other.last_received ? " with the last" : "");
        }
      }
      if (to_parent >= 0 && other.receives_over >= settings_.before &&
          victim.receives_over >= settings_.before) {
        if (write(to_parent, "", 1) != 1) Die("no parent");
        to_parent = -1;
      }
      if (!known && Clock::now() - victim.last_at > settings_.patience) {
        Die("the end of the killed process was not told");
      }
    }
    std::printf("%" PRIu64 " messages between the survivors, %" PRIu64 " with the killed one\n",
                other.receives_over, victim.receives_over);
    char leave = 0;
    if (settings_.together && (write(done, "", 1) != 1 || read(from_parent, &leave, 1) != 1))
      Die("no parent");
    return 0;
  }

  [[noreturn]] void SendForEver() {
    for (;;) {
      for (std::optional<Link>& link : links) {
        if (link->MaySend()) link->Send(false);
        if (link->failed || link->over) Die("the third process is left before it is killed");
      }
      Take();
    }
  }

 private:
  // Takes the completions that are there, and what became of connections.
  void Take() {
    DAT_EVENT event{};
    while (client::WaitEvent(dto_evd_, 0, &event).ok()) {
      const auto& data = event.event_data.dto_completion_event_data;
      (data.ep_handle == links[0]->ep ? links[0] : links[1])->OnCompletion(data);
    }
    while (client::WaitEvent(connect_evd_, 0, &event).ok()) {
      if (event.event_number != DAT_CONNECTION_EVENT_DISCONNECTED &&
          event.event_number != DAT_CONNECTION_EVENT_BROKEN) {
        Die("event %#x", event.event_number);
      }
      const DAT_EP_HANDLE ep = event.event_data.connect_event_data.ep_handle;
      (ep == links[0]->ep ? links[0] : links[1])->over = true;
    }
  }

  const Settings& settings_;
  const PlainIa ia_;
  const DAT_EVD_HANDLE dto_evd_, connect_evd_, cr_evd_;
  DAT_CONN_QUAL qualifier_ = 0;
  DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
};

struct Pipe {
  int in = -1, out = -1;
  Pipe() {
    int fds[2];
    if (pipe(fds) != 0) Die("no pipe");
    in = fds[0];
    out = fds[1];
  }
};

int Main(int argc, char** argv) {
  PlainOptions options(argc, argv, kUsage);
  const Settings settings{options.Text("--ia", "softnet-lo"),
                          static_cast<uint64_t>(options.Number("--before", 500)),
                          static_cast<uint64_t>(options.Number("--after", 2000)),
                          static_cast<size_t>(options.Number("--words", 512)),
                          std::chrono::seconds(options.Number("--patience", 15)),
                          options.Number("--together", 0) != 0};
  const auto load = static_cast<int>(options.Number("--load", 0));
  options.RejectOthers();
  if (settings.words == 0) Die("--words is at least 1");
  std::optional<Load> others;
  if (load > 0) others.emplace(load);
  const Pipe left_to_right, left_to_victim, right_to_victim, to_parent, from_parent;
  const pid_t left = Spawn([&] {
    Neighbour n(settings);
    n.Accept(&n.links[0], left_to_right.out);
    n.Accept(&n.links[1], left_to_victim.out);
    return n.Survive(to_parent.out, from_parent.in);
  });
  const pid_t right = Spawn([&] {
    Neighbour n(settings);
    n.Connect(&n.links[0], left_to_right.in);
    n.Accept(&n.links[1], right_to_victim.out);
    return n.Survive(to_parent.out, from_parent.in);
  });
  const pid_t victim = Spawn([&]() -> int {
    Neighbour n(settings);
    n.Connect(&n.links[0], left_to_victim.in);
    n.Connect(&n.links[1], right_to_victim.in);
    n.SendForEver();
  });
  close(to_parent.out);
  char ready = 0;
  bool good = read(to_parent.in, &ready, 1) == 1 && read(to_parent.in, &ready, 1) == 1;
  kill(victim, SIGKILL);
  int status = 0;
  waitpid(victim, &status, 0);
  good &= WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (settings.together) {
    constexpr int kPatienceMs = 30'000;  // one that has failed says nothing
    pollfd said{to_parent.in, POLLIN, 0};
    for (int i = 0; i < 2 && good; ++i)
      good = poll(&said, 1, kPatienceMs) == 1 && read(to_parent.in, &ready, 1) == 1;
    good = good && write(from_parent.out, "..", 2) == 2;
  }
  for (const pid_t pid : {left, right}) {
    if (!good) kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    good &= status == 0;
  }
  std::printf("%s\n", good ? "the survivors went on" : "FAILED");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace softdat::field

int main(int argc, char** argv) { return softdat::field::Main(argc, argv); }
