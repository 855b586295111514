// SPDX-License-Identifier: BSD-3-Clause
// A process that has few descriptors left.
#ifndef SOFTDAT_TESTS_FIELD_FEW_DESCRIPTORS_H_
#define SOFTDAT_TESTS_FIELD_FEW_DESCRIPTORS_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

namespace softdat::field {

// While this object lives, the process has `left` descriptors left, below a soft limit that the
// library may raise.
class FewDescriptors {
 public:
  explicit FewDescriptors(int left) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit few = before_;
    few.rlim_cur = kLimit;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (;;) {
      const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (fd < 0) break;
      taken_.push_back(fd);
    }
    Release(left);
  }
  ~FewDescriptors() {
    Release(static_cast<int>(taken_.size()));
    setrlimit(RLIMIT_NOFILE, &before_);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

  void Release(int n) {
    for (; n > 0 && !taken_.empty(); --n) {
      close(taken_.back());
      taken_.pop_back();
    }
  }

  // Lowers the hard limit of this process for good. Nobody can raise it any more.
  static void ForbidMore() {
    const rlimit few = {kLimit, kLimit};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }

 private:
  static constexpr rlim_t kLimit = 256;
  rlimit before_{};
  std::vector<int> taken_;
};

}  // namespace softdat::field

#endif  // SOFTDAT_TESTS_FIELD_FEW_DESCRIPTORS_H_
