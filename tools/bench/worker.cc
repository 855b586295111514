// SPDX-License-Identifier: BSD-3-Clause
// The child processes of a measurement.
#include "tools/bench/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/bench/child.h"
#include "tools/bench/connections.h"
#include "tools/bench/dat_ends.h"
#include "tools/common/cpu.h"
#include "tools/common/exit_codes.h"
#include "tools/raw/link.h"
#include "tools/traffic/link.h"

namespace softdat::tools {
namespace {

using nlohmann::json;

constexpr char kFlag[] = "--worker";

void Say(const json& line) {
  fmt::print("{}\n", line.dump(-1, ' ', false, json::error_handler_t::replace));
  std::fflush(stdout);
}

// This is enough for the credit of a stream of messages to come back while the window is full.
LinkDepths Depths(const WorkerOrders& orders) {
  LinkDepths depths;
  if (orders.task == WorkerTask::kShortQueues) return {.receives = 8, .requests = 8};
  depths.requests = static_cast<int>(std::clamp(orders.window, 32u, kMaxWindow));
  depths.receives = std::max(64, 4 * static_cast<int>(orders.window));
  return depths;
}

Outcome OpenEnds(const WorkerOrders& orders, const UnitSpec& spec, DatEnds* ends) {
  return ends->Open({.ia = spec.ia,
                     .threads = spec.threads,
                     .ia_for_each = spec.ia_for_each,
                     .connections = orders.connections,
                     .depths = Depths(orders)});
}

void SayPorts(const std::vector<uint64_t>& ports) { Say({{"ports", ports}}); }

Outcome ServeRaw() {
  RawLink link;
  uint16_t port = 0;
  SOFTDAT_TRY(link.Listen(&port));
  SayPorts({port});
  SOFTDAT_TRY(link.Accept());
  return link.Serve();
}

Outcome ServeDat(const WorkerOrders& orders, const UnitSpec& spec) {
  DatEnds ends;
  std::vector<uint64_t> ports;
  SOFTDAT_TRY(OpenEnds(orders, spec, &ends));
  SOFTDAT_TRY(ends.Listen(&ports));
  SayPorts(ports);
  return ends.Serve();
}

// Runs jobs as they are told, until standard input ends.
Outcome Drive(const std::function<Outcome(const Job&, JobResult*)>& run) {
  Say({{"ready", true}});
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto job = ParseJobLine(line);
    if (!job) return Outcome::Fail("not a job");
    JobResult result;
    SOFTDAT_TRY(run(*job, &result));
    Say({{"seconds", result.seconds},
         {"client_cpu", result.client_cpu},
         {"server_cpu", result.server_cpu}});
  }
  return {};
}

Outcome DriveRaw(const WorkerOrders& orders, const UnitSpec& spec) {
  RawLink link;
  SOFTDAT_TRY(link.Connect(static_cast<uint16_t>(orders.ports.front())));
  return Drive([&](const Job& job, JobResult* result) -> Outcome {
    if (job.TransfersInARow() > 1) return Outcome::Fail("floors send one message at a time");
    const RawJob raw = FloorOf(spec.raw, job);
    if (const std::string problem = RawJobProblem(raw); !problem.empty())
      return Outcome::Fail(problem);
    return link.Run(raw, result);
  });
}

Outcome DriveDat(const WorkerOrders& orders, const UnitSpec& spec) {
  DatEnds ends;
  SOFTDAT_TRY(OpenEnds(orders, spec, &ends));
  SOFTDAT_TRY(ends.Connect(orders.ports));
  SOFTDAT_TRY(Drive([&](const Job& job, JobResult* result) { return ends.Run(job, result); }));
  return ends.Disconnect();
}

Outcome Connections(const WorkerOrders& orders, const UnitSpec& spec) {
  const uint32_t at_once = orders.task == WorkerTask::kConnectionBursts ? kConnectionBurst : 1;
  const auto work = !spec.IsRaw()                        ? MakeDatConnections(spec.ia, at_once)
                    : spec.raw == RawKind::kTcpHandshake ? MakeHandshakeConnections(at_once)
                                                         : MakeRawConnections(at_once);
  if (orders.role == WorkerRole::kDrive) {
    SOFTDAT_TRY(work->PrepareToConnect(orders.ports.front()));
    return Drive([&](const Job& job, JobResult* result) {
      return TimeConnections(work.get(), job.iterations, at_once, result);
    });
  }
  uint64_t port = 0;
  SOFTDAT_TRY(work->Listen(&port));
  SayPorts({port});
  while (true) SOFTDAT_TRY(work->AcceptTurn());
}

[[noreturn]] void Spin() {
  Say({{"ready", true}});
  while (true) {
    // Uses nothing but processor time.
    asm volatile("" : : : "memory");
  }
}

Outcome Work(const WorkerOrders& orders) {
  if (orders.cpu >= 0 && !PinProcess(orders.cpu))
    return Outcome::Fail(fmt::format("cannot run on CPU {}", orders.cpu));
  if (orders.role == WorkerRole::kSpin) Spin();
  if (orders.role == WorkerRole::kDrive && orders.ports.empty())
    return Outcome::Fail("the server has told no port");
  std::string problem;
  const auto spec = ParseUnitSpec(orders.unit, &problem);
  if (!spec) return Outcome::Fail(problem);
  if (orders.task == WorkerTask::kConnections || orders.task == WorkerTask::kConnectionBursts)
    return Connections(orders, *spec);
  if (orders.role == WorkerRole::kServe)
    return spec->IsRaw() ? ServeRaw() : ServeDat(orders, *spec);
  return spec->IsRaw() ? DriveRaw(orders, *spec) : DriveDat(orders, *spec);
}

template <typename Number>
bool Parse(const std::string& text, Number* value) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, *value);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

// Numbers with commas between them; "" is none.
bool ParseList(std::string_view text, std::vector<uint64_t>* values) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (!Parse(std::string(text.substr(0, comma)), &values->emplace_back())) return false;
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return true;
}

}  // namespace

std::vector<std::string> WorkerArguments(const WorkerOrders& orders) {
  return {kFlag,
          std::to_string(static_cast<int>(orders.role)),
          std::to_string(static_cast<int>(orders.task)),
          orders.unit,
          std::to_string(orders.cpu),
          std::to_string(orders.connections),
          std::to_string(orders.window),
          fmt::format("{}", fmt::join(orders.ports, ","))};
}

std::optional<WorkerOrders> ParseWorkerArguments(const std::vector<std::string>& arguments) {
  if (arguments.size() != 8 || arguments[0] != kFlag) return std::nullopt;
  WorkerOrders orders;
  int role = 0;
  int task = 0;
  orders.unit = arguments[3];
  const bool parsed = Parse(arguments[1], &role) && Parse(arguments[2], &task) &&
                      Parse(arguments[4], &orders.cpu) &&
                      Parse(arguments[5], &orders.connections) &&
                      Parse(arguments[6], &orders.window) && ParseList(arguments[7], &orders.ports);
  if (!parsed || role < 0 || role > static_cast<int>(WorkerRole::kSpin) || task < 0 ||
      task > static_cast<int>(WorkerTask::kConnectionBursts)) {
    return std::nullopt;
  }
  orders.role = static_cast<WorkerRole>(role);
  orders.task = static_cast<WorkerTask>(task);
  return orders;
}

int RunWorker(const WorkerOrders& orders) {
  EndWithParent();
  const Outcome outcome = Work(orders);
  if (!outcome.ok()) Say({{"error", outcome.message()}});
  return outcome.exit_code();
}

// The message that the ends of a DAT connection exchange, in hexadecimal digits.
std::string JobLine(const Job& job) {
  std::string line;
  for (const uint8_t byte : EncodeRequest({job, {}, 0})) line += fmt::format("{:02x}", byte);
  return line;
}

std::optional<Job> ParseJobLine(const std::string& line) {
  ControlMessage message{};
  if (line.size() != 2 * message.size()) return std::nullopt;
  for (size_t i = 0; i < message.size(); ++i) {
    const char* at = line.data() + 2 * i;
    if (std::from_chars(at, at + 2, message[i], 16).ptr != at + 2) return std::nullopt;
  }
  const auto request = DecodeRequest(message);
  if (!request) return std::nullopt;
  return request->job;
}

}  // namespace softdat::tools
