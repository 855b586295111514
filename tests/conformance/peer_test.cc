// SPDX-License-Identifier: BSD-3-Clause
// Two processes: a target that makes no DAT call, and peers that die at any moment (semantics 9.6,
// 10.3). For IAs that reach other processes.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <numeric>

#include "tests/conformance/fixture.h"
#include "tests/conformance/peer_protocol.h"

extern char** environ;

namespace softdat::conformance {
namespace {

// The peer program as a child process.
class Peer {
 public:
  // It listens on `qualifier`. 0: on one that the provider chooses.
  explicit Peer(size_t bytes, DAT_CONN_QUAL qualifier = 0) {
    const char* const program = std::getenv("CONFORMANCE_PEER");
    int to[2], from[2];
    EXPECT_NE(program, nullptr) << "CONFORMANCE_PEER names no program";
    if (program == nullptr || pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    std::string ia = TheOptions().ia, size = std::to_string(bytes), path = program;
    std::string where = std::to_string(qualifier);
    char* arguments[] = {path.data(), ia.data(), size.data(), where.data(), nullptr};
    const int error = posix_spawn(&pid_, program, &actions, nullptr, arguments, environ);
    EXPECT_EQ(error, 0) << std::strerror(error);
    if (error != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    input_ = to[1];
    output_ = fdopen(from[0], "r");
  }
  ~Peer() {
    Kill();
    close(input_);
    std::fclose(output_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void Tell(const std::string& command) {
    const std::string line = command + "\n";
    EXPECT_EQ(write(input_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  // The next line that the peer prints.
  std::string Line() {
    char line[256] = {};
    if (std::fgets(line, sizeof line, output_) == nullptr) return "";
    line[std::strcspn(line, "\n")] = '\0';
    return line;
  }
  DAT_CONN_QUAL Qualifier() {
    const std::string line = Line();
    EXPECT_EQ(line.rfind("listening ", 0), 0u) << line;
    return line.size() > 10 ? std::strtoull(line.c_str() + 10, nullptr, 10) : 0;
  }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    Reap();
  }
  void Reap() {
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  std::FILE* output_ = nullptr;
};

class PeerTest : public ConformanceTest {
 protected:
  // Connects a_'s EP to a new peer.
  void Start(size_t bytes) {
    peer_ = std::make_unique<Peer>(bytes);
    ASSERT_OK(Connect(a_->ep, peer_->Qualifier()));
    const DAT_CONNECTION_EVENT_DATA data =
        a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
    TargetDescription target{};
    // Connection managers of InfiniBand pad the private data with zeros.
    ASSERT_GE(data.private_data_size, static_cast<DAT_COUNT>(sizeof target));
    std::memcpy(&target, data.private_data, sizeof target);
    AddressOf(remote_) = target.address;
    remote_.segment_length = static_cast<SegmentLength>(target.bytes);
    remote_.rmr_context = target.rmr_context;
    ASSERT_EQ(peer_->Line(), "connected");
  }
  // Expects one final event. The peer's operating system reports for its process that it has left.
  void ExpectEnd() {
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_DISCONNECTED);
    EXPECT_TRUE(Side::Drain(a_->connect_evd).empty());
  }

  std::unique_ptr<Peer> peer_;
  DAT_RMR_TRIPLET remote_{};
};
CONFORMANCE_ALL_VARIANTS(PeerTest);

// covers: semantics 10.3
TEST_P(PeerTest, ATargetThatMakesNoCallIsServed) {
  constexpr size_t kSize = 1 << 20;
  Start(kSize);
  const auto out = a_->MakeBuffer(kSize), in = a_->MakeBuffer(kSize);
  out->FillPattern(7);
  // The peer is in read(2) the whole time.
  ASSERT_OK(PostWrite(a_->ep, {out->local()}, remote_, 1));
  ASSERT_OK(PostRead(a_->ep, {in->local()}, remote_, 2));
  a_->ExpectDto(a_->request_evd, a_->ep, 1);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(std::memcmp(out->data(), in->data(), kSize), 0);
  peer_->Tell("sum");
  EXPECT_EQ(peer_->Line(), "sum " + std::to_string(std::accumulate(out->data(), out->data() + kSize,
                                                                   uint64_t{0})));
}

// covers: semantics 9.6
TEST_P(PeerTest, AKilledPeerEndsTheConnectionAndNothingElse) {
  Join(*b_, b_->ep, *b_, b_->MakeEp());  // a connection of this process
  Start(4096);
  const auto memory = a_->MakeBuffer(64);
  for (uint64_t i = 0; i < 4; ++i) ASSERT_OK(PostRecv(a_->ep, {memory->local()}, i));
  peer_->Kill();
  ExpectEnd();
  for (uint64_t i = 0; i < 4; ++i) a_->ExpectDto(a_->recv_evd, a_->ep, i, DAT_DTO_ERR_FLUSHED);
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_CONNECTED);
  // The EP can be used again.
  ASSERT_OK(dat_ep_reset(a_->ep));
  Start(4096);
}

// covers: semantics 9.6
TEST_P(PeerTest, APeerKilledInMidTransferLeavesNoRequestUnanswered) {
  constexpr size_t kSize = 1 << 20;
  constexpr uint64_t kRequests = 12;
  Start(kSize);
  const auto memory = a_->MakeBuffer(kSize);
  uint64_t posted = 0;
  for (; posted < kRequests; ++posted) {
    const DAT_RETURN ret = posted % 3 == 2 ? PostRead(a_->ep, {memory->local()}, remote_, posted)
                                           : PostWrite(a_->ep, {memory->local()}, remote_, posted);
    // The connection may end before the last posts.
    if (posted > kRequests / 2 && DAT_GET_TYPE(ret) == DAT_INVALID_STATE) break;
    ASSERT_OK(ret);
    if (posted == kRequests / 2) peer_->Kill();
  }
  ExpectEnd();
  bool failed = false;
  for (uint64_t i = 0; i < posted; ++i) {
    const auto done =
        a_->Expect(a_->request_evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
    EXPECT_EQ(done.user_cookie.as_64, i);
    if (i > kRequests / 2 && i % 3 == 2) {
      EXPECT_EQ(done.status, DAT_DTO_ERR_FLUSHED) << "posted when the process was dead";
    }
    if (failed) {
      EXPECT_EQ(done.status, DAT_DTO_ERR_FLUSHED);
    }
    failed |= done.status != DAT_DTO_SUCCESS;
  }
  EXPECT_TRUE(Side::Drain(a_->request_evd).empty());
}

// covers: semantics 9.6
TEST_P(PeerTest, APeerThatExitsWithoutClosing) {
  Start(4096);
  peer_->Tell("leave");
  peer_->Reap();
  ExpectEnd();
}

// covers: semantics 9.6
TEST_P(PeerTest, APeerKilledWhileASendWaitsForItsReceive) {
  Start(4096);
  const auto memory = a_->MakeBuffer(64);
  ASSERT_OK(PostSend(a_->ep, {memory->local()}, 1));
  peer_->Kill();
  ExpectEnd();
  const auto done =
      a_->Expect(a_->request_evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
  EXPECT_EQ(done.user_cookie.as_64, 1u);
  EXPECT_EQ(done.status, ConfirmsCompletions(a_->ia) ? DAT_DTO_ERR_FLUSHED : DAT_DTO_SUCCESS);
}

// covers: semantics 9.2
TEST_P(PeerTest, APeerKilledBeforeItAnsweredIsAnEvent) {
  const DAT_CONN_QUAL qualifier = FreeQualifier();
  peer_ = std::make_unique<Peer>(4096, qualifier);
  ASSERT_EQ(peer_->Qualifier(), qualifier);
  peer_->Kill();
  ASSERT_OK(Connect(a_->ep, qualifier));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

}  // namespace
}  // namespace softdat::conformance
