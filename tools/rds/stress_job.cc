// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_job.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tools/rds/stress_message.h"

namespace softdat::tools {
namespace {

using nlohmann::ordered_json;

// Takes the number `name` out of the object, if it is one and fits.
template <typename T>
bool Take(const ordered_json& json, const char* name, T* out) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_unsigned()) return false;
  const auto value = found->template get<uint64_t>();
  if (value > std::numeric_limits<T>::max()) return false;
  *out = static_cast<T>(value);
  return true;
}

bool Take(const ordered_json& json, const char* name, bool* out) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_boolean()) return false;
  *out = found->get<bool>();
  return true;
}

}  // namespace

std::string JobProblem(const StressJob& job) {
  for (const auto& [what, bytes] : {std::pair{"-q", job.request_bytes}, {"-a", job.ack_bytes}}) {
    if (bytes < kMessageHeader || bytes > kMostBytes)
      return fmt::format("{} {}: a message has {} to {} bytes", what, bytes, kMessageHeader,
                         kMostBytes);
  }
  if (job.tasks < 1 || job.tasks > kMostTasks)
    return fmt::format("-t {}: there can be 1 to {} tasks", job.tasks, kMostTasks);
  if (job.depth < 1 || job.depth > kMostDepth)
    return fmt::format("-d {}: the depth is 1 to {}", job.depth, kMostDepth);
  if (job.BufferBytes() > std::numeric_limits<int32_t>::max() / 2)
    return fmt::format(
        "-t {} -d {} -q {} -a {}: {} bytes can be under way to a task, more than a socket's "
        "buffers "
        "can have",
        job.tasks, job.depth, job.request_bytes, job.ack_bytes, job.BufferBytes());
  if (job.tos > 255) return fmt::format("-Q {}: a type of service is 0 to 255", job.tos);
  if (!job.HasRdma()) {
    if (job.rdma_vectors != 1 || job.rdma_mode != RdmaMode::kReadWrite || job.use_once ||
        job.get_mr || job.cache_mrs || job.key_meter || job.rdma_alignment != 0 || !job.fence)
      return "-I, -M and --rdma-... are about RDMA: say with -D how many bytes";
    return "";
  }
  if (job.rdma_vectors < 1 || job.rdma_vectors > kMostVectors)
    return fmt::format("-I {}: there can be 1 to {} vectors", job.rdma_vectors, kMostVectors);
  if (job.rdma_bytes > kMostBytes || job.RdmaTotal() > kMostBytes)
    return fmt::format(
        "-D {} -I {}: an RDMA transfer has {} bytes at most, of all vectors together",
        job.rdma_bytes, job.rdma_vectors, kMostBytes);
  if (job.rdma_alignment >= 4096)
    return fmt::format("--rdma-alignment {}: it is less than 4096", job.rdma_alignment);
  if (job.cache_mrs && job.use_once)
    return "--rdma-cache-mrs uses a region again and again, and --rdma-use-once allows one use";
  if (job.RdmaTotal() * job.tasks * job.depth > uint64_t{1} << 34)
    return fmt::format("-D {} -I {} -t {} -d {}: the buffers of a task would take more than 16 GiB",
                       job.rdma_bytes, job.rdma_vectors, job.tasks, job.depth);
  return "";
}

ordered_json JobToJson(const StressJob& job) {
  return {{"tasks", job.tasks},
          {"depth", job.depth},
          {"request_bytes", job.request_bytes},
          {"ack_bytes", job.ack_bytes},
          {"tos", job.tos},
          {"one_way", job.one_way},
          {"verify", job.verify},
          {"congestion_monitor", job.monitor},
          {"rdma_bytes", job.rdma_bytes},
          {"rdma_vectors", job.rdma_vectors},
          {"rdma_mode", static_cast<uint32_t>(job.rdma_mode)},
          {"rdma_alignment", job.rdma_alignment},
          {"rdma_use_once", job.use_once},
          {"rdma_use_get_mr", job.get_mr},
          {"rdma_use_fence", job.fence},
          {"rdma_cache_mrs", job.cache_mrs},
          {"rdma_key_o_meter", job.key_meter},
          {"cancel_sent_to", job.cancel}};
}

std::optional<StressJob> JobFromJson(const ordered_json& json) {
  StressJob job;
  uint8_t mode = 0;
  if (!json.is_object() || !Take(json, "tasks", &job.tasks) || !Take(json, "depth", &job.depth) ||
      !Take(json, "request_bytes", &job.request_bytes) ||
      !Take(json, "ack_bytes", &job.ack_bytes) || !Take(json, "tos", &job.tos) ||
      !Take(json, "one_way", &job.one_way) || !Take(json, "verify", &job.verify) ||
      !Take(json, "congestion_monitor", &job.monitor) ||
      !Take(json, "rdma_bytes", &job.rdma_bytes) ||
      !Take(json, "rdma_vectors", &job.rdma_vectors) || !Take(json, "rdma_mode", &mode) ||
      !Take(json, "rdma_alignment", &job.rdma_alignment) ||
      !Take(json, "rdma_use_once", &job.use_once) || !Take(json, "rdma_use_get_mr", &job.get_mr) ||
      !Take(json, "rdma_use_fence", &job.fence) || !Take(json, "rdma_cache_mrs", &job.cache_mrs) ||
      !Take(json, "rdma_key_o_meter", &job.key_meter) ||
      !Take(json, "cancel_sent_to", &job.cancel) || mode > 2)
    return std::nullopt;
  job.rdma_mode = static_cast<RdmaMode>(mode);
  if (!JobProblem(job).empty()) return std::nullopt;
  return job;
}

}  // namespace softdat::tools
