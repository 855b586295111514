// SPDX-License-Identifier: BSD-3-Clause
// Results as text and as JSON.
#include "tools/pingpong/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace softdat::tools {
namespace {

// The rates are 0 instead of infinite if the clock did not move.
double Rate(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

}  // namespace

std::string ResultLines(const Job& job, const JobResult& result) {
  return fmt::format(
      "{} bytes in {:.2f} seconds = {:.2f} Mbit/sec\n{} iters in {:.2f} seconds = {:.2f} "
      "usec/iter\n",
      result.bytes, result.seconds,
      Rate(static_cast<double>(result.bytes) * 8 / 1e6, result.seconds), job.iterations,
      result.seconds, result.seconds * 1e6 / static_cast<double>(job.iterations));
}

std::string ResultJson(const std::string& ia, bool is_server, const Job& job,
                       const JobResult& result) {
  nlohmann::ordered_json json;
  json["ia"] = ia;
  json["role"] = is_server ? "server" : "client";
  json["operation"] = OperationName(job.operation);
  json["size_bytes"] = job.size;
  json["iterations"] = job.iterations;
  json["checked"] = job.check;
  json["bytes"] = result.bytes;
  json["seconds"] = result.seconds;
  json["usec_per_iteration"] = result.seconds * 1e6 / static_cast<double>(job.iterations);
  json["mbit_per_second"] = Rate(static_cast<double>(result.bytes) * 8 / 1e6, result.seconds);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string ReadyLine(const std::string& ia, uint64_t conn_qual) {
  return fmt::format("waiting for a client on {}, connection qualifier {}", ia, conn_qual);
}

}  // namespace softdat::tools
