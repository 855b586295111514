// SPDX-License-Identifier: BSD-3-Clause
// Starts the processes of a unit, and tells them what to do.
#include "tools/bench/unit.h"

#include <nlohmann/json.hpp>

namespace softdat::tools {
namespace {

using nlohmann::json;

// Reads a child's answer. It comes from our own program, but the child may have died in the middle
// of a line.
Outcome Answer(Child* child, const std::string& name, json* answer) {
  std::string line;
  if (const Outcome heard = child->Hear(&line); !heard.ok())
    return Outcome::Fail(name + ": " + heard.message());
  *answer = json::parse(line, nullptr, false);
  if (!answer->is_object()) return Outcome::Fail(name + ": not an answer: " + line);
  if (answer->contains("error"))
    return Outcome::Fail(name + ": " + answer->value("error", "failed"));
  return {};
}

}  // namespace

Outcome Unit::Start(const UnitSpec& spec, const Job& work, uint32_t connections,
                    const Placement& placement, WorkerTask task) {
  name_ = spec.text;
  work_ = work;
  work_.server_decides_wait = false;
  WorkerOrders orders;
  orders.unit = spec.text;
  orders.task = task;
  orders.connections = spec.connections.value_or(connections);
  orders.window = work.window;
  json answer;
  orders.role = WorkerRole::kServe;
  orders.cpu = placement.server_cpu;
  SOFTDAT_TRY(server_.Start(WorkerArguments(orders), spec.environment));
  SOFTDAT_TRY(Answer(&server_, name_, &answer));
  orders.role = WorkerRole::kDrive;
  orders.cpu = placement.client_cpu;
  orders.ports = answer.value("ports", std::vector<uint64_t>());
  SOFTDAT_TRY(driver_.Start(WorkerArguments(orders), spec.environment));
  return Answer(&driver_, name_, &answer);
}

Outcome Unit::Run(uint64_t iterations, JobResult* result) {
  Job job = work_;
  job.iterations = iterations;
  SOFTDAT_TRY(driver_.Tell(JobLine(job)));
  json answer;
  SOFTDAT_TRY(Answer(&driver_, name_, &answer));
  result->seconds = answer.value("seconds", 0.0);
  result->client_cpu = answer.value("client_cpu", 0.0);
  result->server_cpu = answer.value("server_cpu", 0.0);
  result->bytes = BytesPerIteration(job) * iterations;
  return {};
}

Outcome Unit::Measure(Footprint* footprint) const {
  Footprint server;
  SOFTDAT_TRY(ReadFootprint(driver_.pid(), footprint));
  SOFTDAT_TRY(ReadFootprint(server_.pid(), &server));
  footprint->memory_kib += server.memory_kib;
  footprint->descriptors += server.descriptors;
  return {};
}

Outcome Spinner::Start(int cpu) {
  WorkerOrders orders;
  orders.role = WorkerRole::kSpin;
  orders.unit = "spin";
  orders.cpu = cpu;
  SOFTDAT_TRY(child_.Start(WorkerArguments(orders), {}));
  json answer;
  return Answer(&child_, "the busy process", &answer);
}

}  // namespace softdat::tools
