// SPDX-License-Identifier: BSD-3-Clause
// The kernel copies from the other process's memory, and back into it for a latency: one system
// call for each message. The server sleeps until the client has done.
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "tools/raw/socket_io.h"
#include "tools/raw/transfer.h"

namespace softdat::tools {
namespace {

struct ProcessVmOffer {
  pid_t pid = 0;
  uint8_t* buffer = nullptr;
};

class ProcessVmTransfer : public RawTransfer {
 public:
  ProcessVmTransfer(const RawJob& job, bool is_server, int fd)
      : RawTransfer(job, is_server), fd_(fd), buffer_(job.size) {}

  Outcome Prepare(RawOffer* offer) override {
    const ProcessVmOffer mine{getpid(), buffer_.data()};
    static_assert(sizeof mine <= sizeof *offer);
    std::memcpy(offer->data(), &mine, sizeof mine);
    return {};
  }

  Outcome Meet(const RawOffer& offer) override {
    std::memcpy(&other_, offer.data(), sizeof other_);
    return {};
  }

  Outcome Run() override {
    uint8_t done = 1;
    if (is_server_) return ReceiveAll(fd_, &done, sizeof done);
    const iovec own{buffer_.data(), job_.size};
    const iovec theirs{other_.buffer, job_.size};
    for (uint64_t i = 0; i < job_.iterations; ++i) {
      if (process_vm_readv(other_.pid, &own, 1, &theirs, 1, 0) != static_cast<ssize_t>(job_.size))
        return RawErrno("process_vm_readv");
      if (job_.shape == Shape::kLatency &&
          process_vm_writev(other_.pid, &own, 1, &theirs, 1, 0) != static_cast<ssize_t>(job_.size))
        return RawErrno("process_vm_writev");
    }
    return SendAll(fd_, &done, sizeof done);
  }

 private:
  const int fd_;
  std::vector<uint8_t> buffer_;
  ProcessVmOffer other_;
};

}  // namespace

std::unique_ptr<RawTransfer> MakeProcessVmTransfer(const RawJob& job, bool is_server, int fd) {
  return std::make_unique<ProcessVmTransfer>(job, is_server, fd);
}

}  // namespace softdat::tools
