// SPDX-License-Identifier: BSD-3-Clause
// Runs every program of a few calls, and long random ones, on a real EVD and CNO and on the
// reference model, and compares each answer.
#include "tests/model/evd_model.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>
#include <string>

#include "dat2/udat.h"

namespace softdat::model {
namespace {

enum class Call : uint8_t {
  kPost,
  kDequeue,
  kWaitOne,
  kWaitTwo,
  kDisable,
  kEnable,
  kUnwaitable,
  kWaitable,
  kDetach,
  kAttach,
  kCnoWait,
  kGrow,
  kShrink,
};
constexpr size_t kCalls = 13;
constexpr DAT_COUNT kSmall = 2;
constexpr DAT_COUNT kLarge = 3;

Answer ToAnswer(DAT_RETURN ret) {
  switch (DAT_GET_TYPE(ret)) {
    case DAT_SUCCESS:
      return Answer::kOk;
    case DAT_QUEUE_EMPTY:
      return Answer::kEmpty;
    case DAT_QUEUE_FULL:
      return Answer::kFull;
    case DAT_TIMEOUT_EXPIRED:
      return Answer::kTimeout;
    case DAT_INVALID_STATE:
      return Answer::kInvalidState;
    default:
      ADD_FAILURE() << "unexpected return value 0x" << std::hex << ret;
      return Answer::kInvalidState;
  }
}

// One EVD and CNO beside their model. Apply() makes one call on both and returns how they differ.
class Pair {
 public:
  explicit Pair(DAT_IA_HANDLE ia) : model_(kSmall) {
    EXPECT_EQ(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno_), DAT_SUCCESS);
    EXPECT_EQ(dat_evd_create(ia, kSmall, cno_, DAT_EVD_SOFTWARE_FLAG, &evd_), DAT_SUCCESS);
  }
  ~Pair() {
    EXPECT_EQ(dat_evd_free(evd_), DAT_SUCCESS);
    EXPECT_EQ(dat_cno_free(cno_), DAT_SUCCESS);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  bool Apply(Call call) {
    switch (call) {
      case Call::kPost:
        return Post();
      case Call::kDequeue:
        return Dequeue();
      case Call::kWaitOne:
        return Wait(1);
      case Call::kWaitTwo:
        return Wait(2);
      case Call::kDisable:
        model_.Enable(false);
        return dat_evd_disable(evd_) == DAT_SUCCESS;
      case Call::kEnable:
        model_.Enable(true);
        return dat_evd_enable(evd_) == DAT_SUCCESS;
      case Call::kUnwaitable:
        model_.waitable = false;
        return dat_evd_set_unwaitable(evd_) == DAT_SUCCESS;
      case Call::kWaitable:
        model_.waitable = true;
        return dat_evd_clear_unwaitable(evd_) == DAT_SUCCESS;
      case Call::kDetach:
        model_.Attach(false);
        return dat_evd_modify_cno(evd_, DAT_HANDLE_NULL) == DAT_SUCCESS;
      case Call::kAttach:
        model_.Attach(true);
        return dat_evd_modify_cno(evd_, cno_) == DAT_SUCCESS;
      case Call::kCnoWait:
        return CnoWait();
      case Call::kGrow:
        return Resize(kLarge);
      case Call::kShrink:
        return Resize(kSmall);
    }
    return false;
  }

 private:
  bool Post() {
    DAT_EVENT event{};
    event.event_number = DAT_SOFTWARE_EVENT;
    event.event_data.software_event_data.pointer = reinterpret_cast<void*>(next_id_);
    return ToAnswer(dat_evd_post_se(evd_, &event)) == model_.Post(next_id_++);
  }
  bool SameEvent(const DAT_EVENT& event, uint64_t id) {
    return event.event_number == DAT_SOFTWARE_EVENT && event.evd_handle == evd_ &&
           event.event_data.software_event_data.pointer == reinterpret_cast<void*>(id);
  }
  bool Dequeue() {
    DAT_EVENT event{};
    uint64_t id = 0;
    const Answer expected = model_.Dequeue(&id);
    const Answer real = ToAnswer(dat_evd_dequeue(evd_, &event));
    return real == expected && (real != Answer::kOk || SameEvent(event, id));
  }
  bool Wait(DAT_COUNT threshold) {
    DAT_EVENT event{};
    DAT_COUNT nmore = -1;
    uint64_t id = 0;
    size_t expected_more = 0;
    const Answer expected = model_.Wait(static_cast<size_t>(threshold), &id, &expected_more);
    const Answer real = ToAnswer(dat_evd_wait(evd_, 0, threshold, &event, &nmore));
    if (real != expected) return false;
    if (real == Answer::kInvalidState) return true;
    return static_cast<size_t>(nmore) == expected_more &&
           (real != Answer::kOk || SameEvent(event, id));
  }
  bool CnoWait() {
    DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
    const Answer real = ToAnswer(dat_cno_wait(cno_, 0, &hint));
    if (real == Answer::kOk) {
      const bool fine = model_.MayWake();
      model_.Woken();
      return fine;
    }
    return real == Answer::kEmpty && !model_.MustWake();
  }
  bool Resize(DAT_COUNT entries) {
    return ToAnswer(dat_evd_resize(evd_, entries)) == model_.Resize(static_cast<size_t>(entries));
  }

  EvdModel model_;
  DAT_CNO_HANDLE cno_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE evd_ = DAT_HANDLE_NULL;
  uint64_t next_id_ = 1;
};

class EvdModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "toy-0";
    ASSERT_EQ(dat_ia_open(name, 8, &async_, &ia_), DAT_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(dat_ia_close(ia_, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS); }

  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_ = DAT_HANDLE_NULL;
};

// All 13^4 programs of four calls, after each of a few prefixes that lead into interesting states.
// covers: semantics 5.2, 5.3, 5.4, 5.6, 6
TEST_F(EvdModelTest, EveryShortProgram) {
  const std::vector<std::vector<Call>> prefixes = {
      {}, {Call::kPost, Call::kPost}, {Call::kDisable, Call::kPost}, {Call::kDetach, Call::kPost}};
  for (const auto& prefix : prefixes) {
    std::array<size_t, 4> program{};
    for (;;) {
      Pair pair(ia_);
      std::string text;
      for (const Call call : prefix) ASSERT_TRUE(pair.Apply(call));
      for (const size_t call : program) {
        text += std::to_string(call) + " ";
        ASSERT_TRUE(pair.Apply(static_cast<Call>(call))) << "program of calls: " << text;
      }
      size_t i = 0;
      while (i < program.size() && ++program[i] == kCalls) program[i++] = 0;
      if (i == program.size()) break;
    }
  }
}

// covers: semantics 5.2, 5.3, 5.4, 5.6, 6
TEST_F(EvdModelTest, LongRandomPrograms) {
  const char* given = std::getenv("SOFTDAT_TEST_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    Pair pair(ia_);
    for (int i = 0; i < 500; ++i) {
      const auto call = static_cast<Call>(random() % kCalls);
      ASSERT_TRUE(pair.Apply(call)) << "call " << static_cast<int>(call) << " at step " << i
                                    << " of round " << round << "; SOFTDAT_TEST_SEED=" << seed;
    }
  }
}

}  // namespace
}  // namespace softdat::model
