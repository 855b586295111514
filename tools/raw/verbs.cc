// SPDX-License-Identifier: BSD-3-Clause
// Loops over an RDMA device. Both ends poll. One-sided transfers end with a message of the client,
// which the server answers.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "tools/raw/transfer.h"
#include "tools/raw/verbs_connection.h"

namespace softdat::tools {
namespace {

// One completion comes for this number of transfers of a latency. The queue holds twice as many, so
// that the completion is there in time.
constexpr uint64_t kSignalEvery = 16;
constexpr uint32_t kLeastDepth = 2 * kSignalEvery;

ibv_wr_opcode OpcodeOf(Operation operation) {
  switch (operation) {
    case Operation::kWrite:
      return IBV_WR_RDMA_WRITE;
    case Operation::kRead:
      return IBV_WR_RDMA_READ;
    case Operation::kWriteImmediate:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Operation::kFetchAndAdd:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case Operation::kCompareAndSwap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    default:
      return IBV_WR_SEND;
  }
}

class VerbsTransfer : public RawTransfer {
 public:
  VerbsTransfer(const RawJob& job, bool is_server)
      : RawTransfer(job, is_server),
        opcode_(OpcodeOf(job.operation)),
        bytes_(IsAtomic(job.operation) ? kAtomicBytes : job.size),
        is_two_sided_(job.operation == Operation::kSend ||
                      job.operation == Operation::kWriteImmediate),
        // A latency of transfers that have no way back is a stream of one transfer after the other.
        window_(job.shape == Shape::kStream ? job.window : 1),
        receives_(std::max(2 * window_, kLeastDepth)) {}

  Outcome Prepare(RawOffer* offer) override {
    VerbsDevice device;
    SOFTDAT_TRY(connection_.Open(is_server_, &device));
    SOFTDAT_TRY(Check(device));
    VerbsOffer mine;
    SOFTDAT_TRY(connection_.Register(bytes_, &mine));
    static_assert(sizeof mine <= sizeof *offer);
    std::memcpy(offer->data(), &mine, sizeof mine);
    return {};
  }

  Outcome Meet(const RawOffer& offer) override {
    VerbsOffer theirs;
    std::memcpy(&theirs, offer.data(), sizeof theirs);
    return connection_.Connect(theirs, Depth(), receives_);
  }

  Outcome Run() override {
    if (job_.shape == Shape::kLatency && !IsOneSided(job_.operation)) return PingPong();
    return is_server_ ? StreamIn() : StreamOut();
  }

 private:
  Outcome Check(const VerbsDevice& device) const {
    const std::string name = std::string(OperationName(job_.operation));
    if ((IsAtomic(job_.operation) && !device.has_atomics) ||
        (job_.operation == Operation::kWriteImmediate && device.is_iwarp))
      return Outcome::Fail(fmt::format("raw:verbs: {} has no {}", device.name, name));
    if (bytes_ > device.max_message) {
      return Outcome::Fail(fmt::format("raw:verbs: {} has messages of at most {} bytes",
                                       device.name, device.max_message));
    }
    return {};
  }

  // The transfers of a window, and the message at the end.
  uint32_t Depth() const { return std::max(window_ + 1, kLeastDepth); }

  Outcome PingPong() {
    for (uint64_t i = 0; i < job_.iterations; ++i) {
      if (!is_server_) SOFTDAT_TRY(Give(i));
      SOFTDAT_TRY(job_.operation == Operation::kWrite ? AwaitMark(i) : AwaitReceived(i + 1));
      if (is_server_) SOFTDAT_TRY(Give(i));
    }
    return AwaitOutstanding(0);
  }

  // The last byte lands last. The marks of two successive iterations differ, and none is 0.
  static uint8_t MarkOf(uint64_t i) { return i % 2 + 1; }

  Outcome Give(uint64_t i) {
    connection_.outbox()[bytes_ - 1] = MarkOf(i);
    SOFTDAT_TRY(AwaitOutstanding(kLeastDepth - 1));
    const bool signalled = (i + 1) % kSignalEvery == 0 || i + 1 == job_.iterations;
    return connection_.Post(opcode_, bytes_, signalled);
  }

  Outcome AwaitMark(uint64_t i) {
    const std::atomic_ref<uint8_t> last(connection_.inbox()[bytes_ - 1]);
    const uint8_t mark = MarkOf(i);
    return connection_.Await([&] { return last.load(std::memory_order_acquire) == mark; });
  }

  // Messages need receives at the server. It grants more of them by a message for each half that it
  // has taken and posted again. Hence at most two grants and the answer are under way.
  uint32_t Batch() const { return receives_ / 2; }
  uint64_t Grants() const { return is_two_sided_ ? job_.iterations / Batch() : 0; }

  Outcome StreamOut() {
    const uint32_t every = std::max(1u, window_ / 4);
    for (uint64_t i = 0; i < job_.iterations; ++i) {
      SOFTDAT_TRY(AwaitOutstanding(window_ - 1));
      if (is_two_sided_ && i >= receives_)
        SOFTDAT_TRY(AwaitReceived((i - receives_) / Batch() + 1));
      const bool signalled = (i + 1) % every == 0 || i + 1 == job_.iterations;
      SOFTDAT_TRY(connection_.Post(opcode_, bytes_, signalled));
    }
    // Over iWARP a message overtakes the answers to reads, and the server would close before they
    // arrive.
    if (IsOneSided(job_.operation)) SOFTDAT_TRY(AwaitOutstanding(0));
    // The server does not see by itself that these transfers have arrived.
    if (!is_two_sided_) SOFTDAT_TRY(PostNotice());
    SOFTDAT_TRY(AwaitReceived(Grants() + 1));
    return AwaitOutstanding(0);
  }

  Outcome StreamIn() {
    for (uint64_t i = 1; i <= Grants(); ++i) {
      SOFTDAT_TRY(AwaitReceived(i * Batch()));
      SOFTDAT_TRY(AwaitOutstanding(kLeastDepth - 1));
      SOFTDAT_TRY(PostNotice());
    }
    SOFTDAT_TRY(AwaitReceived(is_two_sided_ ? job_.iterations : 1));
    SOFTDAT_TRY(PostNotice());
    // Transfers that are under way would be lost with the connection.
    return AwaitOutstanding(0);
  }

  // The message has one byte, because not every device treats empty messages alike.
  Outcome PostNotice() { return connection_.Post(IBV_WR_SEND, 1, true); }

  Outcome AwaitReceived(uint64_t count) {
    return connection_.Await([&] {
      if (connection_.received() < count) connection_.Poll();
      return connection_.received() >= count;
    });
  }

  Outcome AwaitOutstanding(uint64_t most) {
    return connection_.Await([&] {
      if (connection_.outstanding() > most) connection_.Poll();
      return connection_.outstanding() <= most;
    });
  }

  const ibv_wr_opcode opcode_;
  const uint32_t bytes_;
  const bool is_two_sided_;
  const uint32_t window_;
  const uint32_t receives_;
  VerbsConnection connection_;
};

}  // namespace

std::unique_ptr<RawTransfer> MakeVerbsTransfer(const RawJob& job, bool is_server) {
  return std::make_unique<VerbsTransfer>(job, is_server);
}

}  // namespace softdat::tools
