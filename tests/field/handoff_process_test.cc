// SPDX-License-Identifier: BSD-3-Clause
// Connection requests are handed to another process (handoff_target, fork and exec), as in a
// program that spreads its peers over workers. The active side does not notice.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

class Target {
 public:
  // It listens on `here`. 0: on a qualifier that the provider chooses.
  Target(const std::string& mode, uint64_t number, DAT_CONN_QUAL here = 0) {
    int in[2];
    int out[2];
    EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    const std::string text = std::to_string(number);
    const std::string where = std::to_string(here);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execl("tests/field/handoff_target", "handoff_target", mode.c_str(), text.c_str(),
            where.c_str(), nullptr);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = fdopen(out[0], "r");
    qualifier_ = std::strtoull(Line().c_str(), nullptr, 10);
    EXPECT_NE(qualifier_, 0u);
  }
  ~Target() {
    Kill();
    if (to_ >= 0) close(to_);
    std::fclose(from_);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  DAT_CONN_QUAL qualifier() const { return qualifier_; }
  // The target goes on to its next request.
  void Go() { EXPECT_EQ(write(to_, "\n", 1), 1); }
  void Pass(DAT_CONN_QUAL to) {
    const std::string line = "pass " + std::to_string(to) + "\n";
    EXPECT_EQ(write(to_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  std::string Line() {
    char line[64] = {};
    if (std::fgets(line, sizeof(line), from_) == nullptr) return "";
    return line;
  }
  void Stop() {
    kill(pid_, SIGSTOP);
    // The process is stopped when the system says so.
    EXPECT_TRUE(Eventually([&] {
      std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
      std::string text;
      std::getline(stat, text);
      const size_t end = text.rfind(')');
      return end != std::string::npos && end + 2 < text.size() && text[end + 2] == 'T';
    }));
  }
  ptrdiff_t Descriptors() const {
    namespace fs = std::filesystem;
    const fs::directory_iterator all("/proc/" + std::to_string(pid_) + "/fd");
    return std::distance(fs::begin(all), fs::end(all));
  }
  void Continue() { kill(pid_, SIGCONT); }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    WaitForChild(pid_);
    pid_ = -1;
  }
  // Ends the target's input, and returns its exit status.
  int Finish() {
    close(to_);
    to_ = -1;
    const int status = WaitForChild(pid_);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  std::FILE* from_ = nullptr;
  DAT_CONN_QUAL qualifier_ = 0;
};

class HandoffProcessTest : public testing::Test {
 protected:
  void SetUp() override { ListenOn(0); }
  void TearDown() override { EXPECT_DAT_OK(psp_.Free()); }

  // Listens on `qualifier`. 0: the provider chooses one.
  void ListenOn(DAT_CONN_QUAL qualifier) {
    EXPECT_DAT_OK(psp_.Free());
    EXPECT_DAT_OK(qualifier == 0 ? psp_.ListenAny(ia_, here_.cr_evd)
                                 : psp_.Listen(ia_, here_.cr_evd, qualifier));
    qualifier_ = psp_.qualifier();
  }
  // `peer` asks for a connection with private data. Returns the request, which has arrived here.
  DAT_CR_HANDLE Request(const End& peer) {
    EXPECT_DAT_OK(client::Connect(peer.ep, ia_.address(), qualifier_, kPatienceUs, data_));
    DAT_EVENT event{};
    EXPECT_TRUE(Expect(here_.cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event));
    EXPECT_EQ(event.event_data.cr_arrival_event_data.conn_qual, qualifier_);
    return event.event_data.cr_arrival_event_data.cr_handle;
  }
  // The target accepts with the private data that came, and sends a message back.
  void ExpectServed(Target& target, const End& peer) {
    DAT_EVENT event{};
    ASSERT_TRUE(Expect(peer.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED, &event));
    const auto& answer = event.event_data.connect_event_data;
    ASSERT_EQ(answer.private_data_size, static_cast<DAT_COUNT>(sizeof(data_)));
    EXPECT_EQ(std::memcmp(answer.private_data, data_, sizeof(data_)), 0);
    for (size_t i = 0; i < 1000; ++i) memory_.data()[i] = static_cast<uint8_t>(i * 31);
    ASSERT_DAT_OK(PostReceive(peer.ep, memory_.Local(2000, 1000), 1));
    ASSERT_DAT_OK(PostSend(peer.ep, memory_.Local(0, 1000), 2));
    ASSERT_TRUE(ExpectDto(peer.request_evd, 2, 1000));
    ASSERT_TRUE(ExpectDto(peer.recv_evd, 1, 1000));
    EXPECT_EQ(std::memcmp(memory_.data(), memory_.data() + 2000, 1000), 0);
    ASSERT_DAT_OK(dat_ep_disconnect(peer.ep, DAT_CLOSE_GRACEFUL_FLAG));
    ASSERT_TRUE(Expect(peer.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
    EXPECT_EQ(target.Line(), "served\n");
  }
  // The request is still intact and can be accepted here.
  void AcceptHere(DAT_CR_HANDLE cr, const End& peer) {
    ASSERT_DAT_OK(dat_cr_accept(cr, here_.ep, 0, nullptr));
    EXPECT_TRUE(Expect(peer.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
    EXPECT_TRUE(Expect(here_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  }

  Ia ia_;
  End here_{ia_};
  Memory memory_{ia_, 4096};
  uint8_t data_[5] = {9, 8, 7, 6, 5};
  client::ServicePoint psp_;
  DAT_CONN_QUAL qualifier_ = 0;
};

// covers: semantics 9.3
TEST_F(HandoffProcessTest, TheOtherProcessServesIt) {
  Target target("serve", 8);
  for (int i = 0; i < 20; ++i) {
    End peer(ia_);
    const DAT_CR_HANDLE cr = Request(peer);
    target.Go();
    ASSERT_DAT_OK(dat_cr_handoff(cr, target.qualifier()));
    EXPECT_DAT_TYPE(dat_cr_reject(cr, 0, nullptr), DAT_INVALID_HANDLE);
    ExpectServed(target, peer);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_EQ(here_.state(), DAT_EP_STATE_UNCONNECTED);
  EXPECT_EQ(target.Finish(), 0);
}

// The request of a qualifier above 65535 names the qualifier. The other service point does not
// check it again.
TEST_F(HandoffProcessTest, FromALargeQualifierAndThroughTwoProcesses) {
  ListenOn(FreeLargeQualifier(ia_));
  Target last("serve", 8);
  Target first("pass", last.qualifier());
  End peer(ia_);
  const DAT_CR_HANDLE cr = Request(peer);
  first.Go();
  last.Go();
  ASSERT_DAT_OK(dat_cr_handoff(cr, first.qualifier()));
  EXPECT_EQ(first.Line(), "passed\n");
  ExpectServed(last, peer);
  EXPECT_EQ(first.Finish(), 0);
  EXPECT_EQ(last.Finish(), 0);
}

// covers: semantics 9.3
TEST_F(HandoffProcessTest, BackAgainAndRejected) {
  Target target("pass", qualifier_);
  End peer(ia_);
  const DAT_CR_HANDLE cr = Request(peer);
  target.Go();
  ASSERT_DAT_OK(dat_cr_handoff(cr, target.qualifier()));
  DAT_EVENT event{};
  ASSERT_TRUE(Expect(here_.cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event));
  const auto& request = event.event_data.cr_arrival_event_data;
  EXPECT_EQ(request.conn_qual, qualifier_);
  EXPECT_EQ(request.sp_handle.psp_handle, psp_.get());
  DAT_CR_PARAM param{};
  ASSERT_DAT_OK(dat_cr_query(request.cr_handle, DAT_CR_FIELD_ALL, &param));
  ASSERT_EQ(param.private_data_size, static_cast<DAT_COUNT>(sizeof(data_)));
  EXPECT_EQ(std::memcmp(param.private_data, data_, sizeof(data_)), 0);
  ASSERT_DAT_OK(dat_cr_reject(request.cr_handle, 0, nullptr));
  EXPECT_TRUE(Expect(peer.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED));
  EXPECT_EQ(target.Line(), "passed\n");
  EXPECT_EQ(target.Finish(), 0);
}

// The second owner gets it again. To this process it makes no difference where it went meanwhile.
TEST_F(HandoffProcessTest, BackToOneWhoHandedItOn) {
  Target first("serve", 8);
  Target second("serve", 8);
  for (int i = 0; i < 20; ++i) {
    End peer(ia_);
    const DAT_CR_HANDLE cr = Request(peer);
    ASSERT_DAT_OK(dat_cr_handoff(cr, first.qualifier()));
    first.Pass(second.qualifier());
    EXPECT_EQ(first.Line(), "passed\n");
    second.Pass(first.qualifier());
    EXPECT_EQ(second.Line(), "passed\n");
    first.Go();
    ExpectServed(first, peer);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_EQ(first.Finish(), 0);
  EXPECT_EQ(second.Finish(), 0);
}

// It may be back before this process has seen that the other one took it.
TEST_F(HandoffProcessTest, BackAgainAtOnce) {
  Target target("pass", qualifier_);
  for (int i = 0; i < 300; ++i) {
    End peer(ia_);
    const DAT_CR_HANDLE cr = Request(peer);
    target.Go();
    ASSERT_DAT_OK(dat_cr_handoff(cr, target.qualifier()));
    DAT_EVENT event{};
    ASSERT_TRUE(Expect(here_.cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event)) << i;
    ASSERT_DAT_OK(dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, nullptr));
    ASSERT_TRUE(Expect(peer.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED));
    ASSERT_EQ(target.Line(), "passed\n");
  }
  EXPECT_EQ(target.Finish(), 0);
}

// The request arrives there like any other, so a full queue rejects it.
// covers: semantics 9.1, 9.3
TEST_F(HandoffProcessTest, AFullEventQueueThereRejectsIt) {
  Target target("serve", 1);
  End served(ia_);
  End rejected(ia_);
  ASSERT_DAT_OK(dat_cr_handoff(Request(served), target.qualifier()));
  ASSERT_DAT_OK(dat_cr_handoff(Request(rejected), target.qualifier()));
  EXPECT_TRUE(Expect(rejected.connect_evd, DAT_CONNECTION_EVENT_NON_PEER_REJECTED));
  target.Go();
  ExpectServed(target, served);
  EXPECT_EQ(target.Finish(), 0);
}

TEST_F(HandoffProcessTest, AProcessThatIsGone) {
  Target target("serve", 8, FreeQualifier(ia_));
  target.Kill();
  End peer(ia_);
  const DAT_CR_HANDLE cr = Request(peer);
  const DAT_RETURN ret = dat_cr_handoff(cr, target.qualifier());
  EXPECT_EQ(ret, DAT_RETURN{DAT_CLASS_ERROR} | DAT_INVALID_PARAMETER | DAT_INVALID_ARG2)
      << Text(ret);
  AcceptHere(cr, peer);
}

TEST_F(HandoffProcessTest, AProcessThatIsKilledMeanwhile) {
  Target target("serve", 8, FreeQualifier(ia_));
  End peer(ia_);
  const DAT_CR_HANDLE cr = Request(peer);
  target.Stop();  // over UDP not before, because the request may come by way of the target
  DAT_RETURN ret = DAT_SUCCESS;
  const size_t before = OpenDescriptors().size();
  std::thread handing([&] { ret = dat_cr_handoff(cr, target.qualifier()); });
  // The local sockets by which the request is offered.
  EXPECT_TRUE(Eventually([&] { return OpenDescriptors().size() > before; }));
  target.Kill();
  handing.join();
  EXPECT_EQ(ret, DAT_RETURN{DAT_CLASS_ERROR} | DAT_INVALID_PARAMETER | DAT_INVALID_ARG2)
      << Text(ret);
  AcceptHere(cr, peer);
}

// A request that was given up here is not taken there, however late the other process looks.
TEST_F(HandoffProcessTest, AProcessThatDoesNotAnswer) {
  Target target("serve", 8);
  End peer(ia_);
  const DAT_CR_HANDLE cr = Request(peer);
  target.Stop();  // over UDP not before, because the request may come by way of the target
  EXPECT_DAT_TYPE(dat_cr_handoff(cr, target.qualifier()), DAT_CONN_QUAL_UNAVAILABLE);
  target.Continue();
  AcceptHere(cr, peer);
  End next(ia_);
  const DAT_CR_HANDLE another = Request(next);
  target.Go();
  ASSERT_DAT_OK(dat_cr_handoff(another, target.qualifier()));
  ExpectServed(target, next);
  EXPECT_EQ(target.Finish(), 0);
}

TEST_F(HandoffProcessTest, NoDescriptorIsLost) {
  Target target("serve", 8);
  const auto serve = [&] {
    End peer(ia_);
    const DAT_CR_HANDLE cr = Request(peer);
    target.Go();
    ASSERT_DAT_OK(dat_cr_handoff(cr, target.qualifier()));
    ExpectServed(target, peer);
  };
  // Opens the descriptors that are opened only once: over UDP also a socket for each sender whose
  // packets keep being handed on.
  for (int i = 0; i < 10; ++i) serve();
  const size_t before = OpenDescriptors().size();
  const ptrdiff_t there = target.Descriptors();
  for (int i = 0; i < 10; ++i) serve();
  EXPECT_TRUE(Eventually([&] { return OpenDescriptors().size() <= before; }));
  EXPECT_TRUE(Eventually([&] { return target.Descriptors() <= there; }));
  EXPECT_EQ(target.Finish(), 0);
}

}  // namespace
}  // namespace softdat::field
