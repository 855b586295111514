// SPDX-License-Identifier: BSD-3-Clause
// A reliable connection of an RDMA device to itself, only through librdmacm and libibverbs.
#ifndef SOFTDAT_TOOLS_RAW_VERBS_CONNECTION_H_
#define SOFTDAT_TOOLS_RAW_VERBS_CONNECTION_H_

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "tools/common/outcome.h"
#include "tools/raw/patience.h"

namespace softdat::tools {

// An IPv4 or IPv6 address of the interface on which the device lies.
inline constexpr char kVerbsAddressVariable[] = "SOFTDAT_BENCH_VERBS_ADDRESS";

struct VerbsDevice {
  std::string name;
  bool is_iwarp = false;
  bool has_atomics = false;
  uint32_t max_message = 0;
  uint8_t max_reads = 0;  // reads and atomics under way at once, as we use it
};

// The message of one end to the other.
struct VerbsOffer {
  uint64_t address = 0;  // of its inbox
  uint32_t key = 0;
  uint16_t port = 0;  // the server's
};

class VerbsConnection {
 public:
  // To be called at one end after the other. Finds the device. The server listens there, at a port
  // of its own.
  Outcome Open(bool is_server, VerbsDevice* device);
  // Registers memory for transfers of `bytes`.
  Outcome Register(uint32_t bytes, VerbsOffer* offer);
  // To be called at both ends at once. `depth` sends and `receives` receives are possible. The
  // receives are posted.
  Outcome Connect(const VerbsOffer& peer, uint32_t depth, uint32_t receives);

  // Messages and writes are sent from the outbox. Messages, the peer's writes, and data read from
  // the peer's inbox arrive in the inbox.
  uint8_t* outbox() { return memory_.get(); }
  uint8_t* inbox() { return memory_.get() + box_; }

  // At most `depth` may be outstanding. Only the signalled ones complete, each for all before it
  // too.
  Outcome Post(ibv_wr_opcode opcode, uint32_t bytes, bool signalled);
  // Takes completions. A receive that was used is posted again at once.
  void Poll();
  uint64_t outstanding() const { return posted_ - done_; }
  uint64_t received() const { return received_; }

  // Looks until `done`, without limit, but not longer than the connection lasts. `done` polls
  // itself if it looks for completions.
  template <typename Done>
  Outcome Await(Done done) {
    constexpr uint32_t kLooks = 1024;
    Patience patience(kLooks);
    for (bool is_over = false; !done();) {
      // What came before the end counts, because there was one more look since.
      if (is_over) return std::move(failure_);
      if (patience.Pause()) is_over = HasFailed();
    }
    return {};
  }

 private:
  template <auto kFree>
  struct FreedBy {
    template <typename T>
    void operator()(T* object) const {
      kFree(object);
    }
  };
  static void EndQueues(rdma_cm_id* id);

  Outcome Listen();
  Outcome Resolve(uint16_t port);
  Outcome NextEvent(rdma_cm_event_type wanted, rdma_cm_id** id);
  Outcome MakeQueues(rdma_cm_id* id, uint32_t depth, uint32_t receives);
  Outcome PostReceive();
  void Take(const ibv_wc& completion);
  void Note(Outcome outcome);
  bool HasFailed();

  using OwnedId = std::unique_ptr<rdma_cm_id, FreedBy<rdma_destroy_id>>;

  // Freed from the last to the first.
  bool is_server_ = false;
  sockaddr_storage address_{};
  std::unique_ptr<rdma_event_channel, FreedBy<rdma_destroy_event_channel>> channel_;
  OwnedId bound_;     // finds the device; the server's listens, the client's connects
  OwnedId accepted_;  // the server's end of the connection
  std::unique_ptr<ibv_pd, FreedBy<ibv_dealloc_pd>> domain_;
  std::unique_ptr<uint8_t, FreedBy<std::free>> memory_;
  std::unique_ptr<ibv_mr, FreedBy<ibv_dereg_mr>> region_;
  std::unique_ptr<ibv_cq, FreedBy<ibv_destroy_cq>> completions_;
  std::unique_ptr<rdma_cm_id, FreedBy<EndQueues>> connected_;  // the one with the queue pair

  uint32_t box_ = 0;    // bytes from one box to the next
  uint32_t bytes_ = 0;  // of the largest transfer
  uint32_t inline_ = 0;
  VerbsDevice device_;
  VerbsOffer peer_;
  uint64_t posted_ = 0;
  uint64_t unsignalled_ = 0;  // the last ones of those posted
  uint64_t done_ = 0;
  uint64_t received_ = 0;
  Outcome failure_;  // the first failure
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RAW_VERBS_CONNECTION_H_
