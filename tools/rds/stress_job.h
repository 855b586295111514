// SPDX-License-Identifier: BSD-3-Clause
// What the two ends of rds-softstress do to each other: the active end chooses it, and tells the
// passive end. Pure.
#ifndef SOFTDAT_TOOLS_RDS_STRESS_JOB_H_
#define SOFTDAT_TOOLS_RDS_STRESS_JOB_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace softdat::tools {

// Which way the data of RDMA go, seen from the end that answers a request: it reads from the memory
// of the one that asks, or writes into it. The numbers are those of -M.
enum class RdmaMode : uint8_t { kReadWrite = 0, kRead = 1, kWrite = 2 };

struct StressJob {
  uint32_t tasks = 1;  // of each end
  uint32_t depth = 1;  // requests outstanding, of each task to each task of the peer
  uint32_t request_bytes = 1024;
  uint32_t ack_bytes = 256;
  uint32_t tos = 0;
  bool one_way = false;  // only the active end sends requests
  bool verify = false;
  bool monitor = true;  // RDS_CONG_MONITOR

  uint64_t rdma_bytes = 0;    // of a vector; 0: no RDMA
  uint32_t rdma_vectors = 1;  // of the memory at the end that answers
  RdmaMode rdma_mode = RdmaMode::kReadWrite;
  uint32_t rdma_alignment = 0;  // how far the memory is from the start of a page
  bool use_once = false;
  bool get_mr = false;  // RDS_GET_MR and RDMA_DEST instead of RDMA_MAP
  bool fence = true;
  bool cache_mrs = false;  // each region is made once
  bool key_meter = false;  // counts R_Keys that come again

  bool cancel = false;  // the end comes by RDS_CANCEL_SENT_TO: requests may be missing

  bool HasRdma() const { return rdma_bytes != 0; }
  uint64_t RdmaTotal() const { return rdma_bytes * rdma_vectors; }
  // What SO_SNDBUF and SO_RCVBUF of a task must hold.
  uint64_t BufferBytes() const {
    return uint64_t{2} * tasks * depth * (uint64_t{request_bytes} + ack_bytes);
  }
};

// The most that RDS takes: a message's payload, an RDMA transfer, its vectors.
constexpr uint64_t kMostBytes = 1 << 20;
constexpr uint32_t kMostVectors = 512;
constexpr uint32_t kMostTasks = 1024;
constexpr uint32_t kMostDepth = 65536;

// Why a job cannot be done, or "". Names the options.
std::string JobProblem(const StressJob& job);

nlohmann::ordered_json JobToJson(const StressJob& job);
// What the peer has sent. Nothing if it is no job, or one that cannot be done.
std::optional<StressJob> JobFromJson(const nlohmann::ordered_json& json);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_STRESS_JOB_H_
