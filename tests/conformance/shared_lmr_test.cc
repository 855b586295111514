// SPDX-License-Identifier: BSD-3-Clause
// LMRs over shared memory and over other LMRs (semantics 7.2).
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

constexpr size_t kLength = 8192;

class SharedLmrTest : public ConnectedTest {
 protected:
  void SetUp() override {
    ConnectedTest::SetUp();
    shared_ = mmap(nullptr, kLength, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared_, MAP_FAILED);
    // All bytes count, including zeros in the middle. No two runs use the same cookie.
    std::memset(id_, 0, sizeof id_);
    std::memcpy(id_, "conformance", 11);
    const pid_t pid = getpid();
    std::memcpy(id_ + DAT_LMR_COOKIE_SIZE - sizeof pid, &pid, sizeof pid);
  }
  void TearDown() override {
    munmap(shared_, kLength);
    ConnectedTest::TearDown();
  }
  DAT_RETURN Share(Side& side, void* memory, DAT_LMR_HANDLE* lmr,
                   DAT_LMR_CONTEXT* context = nullptr, DAT_RMR_CONTEXT* remote = nullptr) {
    DAT_REGION_DESCRIPTION region{};
    region.for_shared_memory.virtual_address = memory;
    region.for_shared_memory.shared_memory_id = reinterpret_cast<DAT_LMR_COOKIE>(&id_);
    return CreateLmr(side.ia, DAT_MEM_TYPE_SHARED_VIRTUAL, region, kLength, side.pz,
                     DAT_MEM_PRIV_ALL_FLAG, lmr, context, remote, nullptr, nullptr);
  }
  // The cookie as the table writes it.
  std::string Hex() const {
    std::string text;
    for (const char c : id_) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
      text += two;
    }
    return text;
  }

  void* shared_ = nullptr;
  char id_[DAT_LMR_COOKIE_SIZE];
};
CONFORMANCE_FAMILIES(SharedLmrTest);

// covers: semantics 7.2
TEST_P(SharedLmrTest, TwoRegistrationsOfOneCookieServeTransfers) {
  DAT_LMR_HANDLE near = DAT_HANDLE_NULL, far = DAT_HANDLE_NULL;
  DAT_RMR_CONTEXT remote_context = 0;
  ASSERT_OK(Share(*a_, shared_, &near));
  ASSERT_OK(Share(*b_, shared_, &far, nullptr, &remote_context));
  const auto from = a_->MakeBuffer(64, 0x61);
  DAT_RMR_TRIPLET remote{};
  AddressOf(remote) = reinterpret_cast<uintptr_t>(shared_) + 4096;
  remote.segment_length = 64;
  remote.rmr_context = remote_context;
  ASSERT_OK(PostWrite(a_->ep, {from->local()}, remote, 1));
  ASSERT_OK(PostRead(a_->ep, {from->local()}, remote, 2));  // answered when the write is in place
  a_->ExpectDto(a_->request_evd, a_->ep, 1);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(static_cast<uint8_t*>(shared_)[4096 + 63], 0x61);
  EXPECT_OK(dat_lmr_free(near));
  EXPECT_OK(dat_lmr_free(far));
}

// covers: semantics 7.2
TEST_P(SharedLmrTest, OtherMemoryUnderTheSameCookieIsRefused) {
  DAT_LMR_HANDLE first = DAT_HANDLE_NULL, second = DAT_HANDLE_NULL;
  ASSERT_OK(Share(*a_, shared_, &first));
  void* other = mmap(nullptr, kLength, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(other, MAP_FAILED);
  EXPECT_TYPE(Share(*b_, other, &second), DAT_INVALID_STATE);
  EXPECT_OK(dat_lmr_free(first));
  // The last one of the first cookie is gone, so the cookie may name other memory now.
  ASSERT_OK(Share(*b_, other, &second));
  EXPECT_OK(dat_lmr_free(second));
  munmap(other, kLength);
}

// Another user of the host makes and locks every file that the table of registrations may look for.
TEST_P(SharedLmrTest, AnotherUserDoesNotHoldUpARegistration) {
  if (geteuid() != 0) GTEST_SKIP() << "not root: there is no other user to be";
  int locked[2], done[2];
  ASSERT_EQ(pipe(locked), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(done[1]);
    constexpr uid_t kNobody = 65534;
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(1);
    const std::string folder = "/dev/shm/softdat-lmr";
    std::vector<std::string> made;
    for (const std::string& place : {folder, folder + "-0"}) {
      const bool mine = mkdir(place.c_str(), 01777) == 0 && chmod(place.c_str(), 01777) == 0;
      const std::string path = place + "/" + Hex();
      const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0666);
      if (fd >= 0 && fchmod(fd, 0666) == 0 && flock(fd, LOCK_EX) == 0) made.push_back(path);
      if (mine) made.push_back(place);
    }
    char byte = 0;
    if (write(locked[1], &byte, 1) != 1 || read(done[0], &byte, 1) < 0) _exit(2);
    for (const std::string& path : made) std::remove(path.c_str());
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(locked[0], &byte, 1), 1);
  DAT_LMR_HANDLE first = DAT_HANDLE_NULL, second = DAT_HANDLE_NULL;
  ASSERT_OK(Share(*a_, shared_, &first));
  ASSERT_OK(Share(*b_, shared_, &second));
  close(done[1]);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_OK(dat_lmr_free(first));
  EXPECT_OK(dat_lmr_free(second));
  for (const int fd : {locked[0], locked[1], done[0]}) close(fd);
}

// covers: semantics 7.2
TEST_P(SharedLmrTest, MemoryThatIsNotSharedIsRefused) {
  void* own = mmap(nullptr, kLength, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(own, MAP_FAILED);
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  EXPECT_TYPE(Share(*a_, own, &lmr), DAT_INVALID_STATE);
  EXPECT_EQ(lmr, DAT_HANDLE_NULL);
  munmap(own, kLength);
}

// covers: semantics 3.1, 7.2
TEST_P(SharedLmrTest, AnLmrOnAnLmrHasItsOwnRightsAndOutlivesIt) {
  auto first = a_->MakeBuffer(64, 0x35);
  DAT_REGION_DESCRIPTION region{};
  region.for_lmr_handle = first->lmr();
  DAT_LMR_HANDLE second = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT context = 0;
  DAT_RMR_CONTEXT remote_context = 1;
  DAT_VLEN size = 0;
  ASSERT_OK(CreateLmr(a_->ia, DAT_MEM_TYPE_LMR, region, 0, a_->pz, DAT_MEM_PRIV_LOCAL_READ_FLAG,
                      &second, &context, &remote_context, &size, nullptr));
  EXPECT_EQ(size, 64u) << "the length is that of the other";
  EXPECT_EQ(remote_context, 0u) << "no remote right was asked for";
  ASSERT_OK(first->Free());
  const auto inbox = b_->MakeBuffer(64);
  ASSERT_OK(PostRecv(b_->ep, {inbox->local()}, 1));
  DAT_LMR_TRIPLET part{};
  part.virtual_address = first->address();
  part.segment_length = 64;
  part.lmr_context = context;
  ASSERT_OK(PostSend(a_->ep, {part}, 2));
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(inbox->data()[63], 0x35);
  EXPECT_OK(dat_lmr_free(second));
}

}  // namespace
}  // namespace softdat::conformance
