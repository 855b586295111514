// SPDX-License-Identifier: BSD-3-Clause
// RDMA into another process (rdma_target, fork and exec), which makes no DAT call while its memory
// is written and read.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

class Target {
 public:
  Target(size_t bytes, int rounds) {
    int out[2];
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    const std::string size = std::to_string(bytes);
    const std::string count = std::to_string(rounds);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      execl("tests/field/rdma_target", "rdma_target", size.c_str(), count.c_str(), nullptr);
      _exit(127);
    }
    close(out[1]);
    from_ = fdopen(out[0], "r");
    unsigned long long qualifier = 0;
    unsigned long long address = 0;
    unsigned context = 0;
    EXPECT_EQ(std::fscanf(from_, "%llu %llu %u", &qualifier, &address, &context), 3);
    qualifier_ = qualifier;
    address_ = address;
    context_ = context;
  }
  ~Target() {
    if (from_ != nullptr) std::fclose(from_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      WaitForChild(pid_);
    }
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  DAT_CONN_QUAL qualifier() const { return qualifier_; }
  DAT_RMR_TRIPLET At(size_t offset, size_t length) const {
    DAT_RMR_TRIPLET triplet{};
    triplet.virtual_address = address_ + offset;
    triplet.segment_length = static_cast<DAT_SEG_LENGTH>(length);
    triplet.rmr_context = context_;
    return triplet;
  }
  int Wait() {
    const int status = WaitForChild(pid_);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  std::FILE* from_ = nullptr;
  DAT_CONN_QUAL qualifier_ = 0;
  uint64_t address_ = 0;
  DAT_RMR_CONTEXT context_ = 0;
};

void WriteRounds(size_t bytes, int rounds) {
  Target target(bytes, rounds);
  Ia ia;
  Memory memory(ia, bytes + 64);
  End end(ia);
  ASSERT_DAT_OK(StartConnect(end.ep, ia.address(), target.qualifier()));
  ASSERT_TRUE(Expect(end.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  const size_t answer_at = (bytes + 7) / 8 * 8;
  auto* const answer = reinterpret_cast<uint64_t*>(memory.data() + answer_at);
  uint64_t cookie = 0;
  for (int round = 1; round <= rounds; ++round) {
    std::memset(memory.data(), round, bytes);
    ASSERT_DAT_OK(PostWrite(end.ep, memory.Local(0, bytes), target.At(0, bytes), ++cookie));
    ASSERT_TRUE(ExpectDto(end.request_evd, cookie, bytes));
    // Reads until the target has seen the write, which it answers with a store to its memory.
    ASSERT_TRUE(Eventually([&] {
      EXPECT_DAT_OK(
          PostRead(end.ep, memory.Local(answer_at, 8), target.At(answer_at, 8), ++cookie));
      return !ExpectDto(end.request_evd, cookie, 8) || *answer == static_cast<uint64_t>(round);
    })) << "round "
        << round;
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_DAT_OK(dat_ep_disconnect(end.ep, DAT_CLOSE_GRACEFUL_FLAG));
  EXPECT_TRUE(Expect(end.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
  EXPECT_EQ(target.Wait(), 0);
}

TEST(OtherProcessTest, SmallWrites) { WriteRounds(8, 60); }
TEST(OtherProcessTest, WritesOfManySegments) { WriteRounds(1'000'003, 12); }

// The target is killed in the middle of the writes, and the writer learns of it.
TEST(OtherProcessTest, KilledInTheMiddle) {
  Ia ia;
  Memory memory(ia, 4096);
  End end(ia);
  {
    Target target(4096, 1'000);
    ASSERT_DAT_OK(StartConnect(end.ep, ia.address(), target.qualifier()));
    ASSERT_TRUE(Expect(end.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  }
  DAT_EVENT event{};
  ASSERT_TRUE(Await(end.connect_evd, &event));
  EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(end.state(), DAT_EP_STATE_DISCONNECTED);
}

}  // namespace
}  // namespace softdat::field
