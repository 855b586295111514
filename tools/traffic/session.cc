// SPDX-License-Identifier: BSD-3-Clause
// Control messages around the jobs.
#include "tools/traffic/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "tools/common/cpu.h"
#include "tools/traffic/exchange.h"

namespace softdat::tools {
namespace {

constexpr size_t kReceivedOffset = kControlBytes;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool IsStream(JobKind kind) {
  return kind == JobKind::kWriteStream || kind == JobKind::kReadStream;
}

}  // namespace

Outcome Session::Prepare() { return control_.Allocate(link_.ia(), link_.pz(), 2 * kControlBytes); }

Outcome Session::PostControlReceive() {
  return link_.PostReceive(control_.Local(kReceivedOffset, kControlBytes));
}

Outcome Session::SendControl(const ControlMessage& message) {
  std::memcpy(control_.data(), message.data(), message.size());
  SOFTDAT_TRY(link_.PostSend(control_.Local(0, kControlBytes), DAT_COMPLETION_SUPPRESS_FLAG));
  return {};
}

std::span<const uint8_t> Session::Received() const {
  return {control_.data() + kReceivedOffset, std::min<size_t>(received_bytes_, kControlBytes)};
}

RemoteMemory Session::OwnMemory() const {
  return RemoteMemory{data_.address(), static_cast<uint32_t>(data_.size()), data_.rmr_context()};
}

Outcome Session::EnsureMemory(const Job& job) {
  if (data_.size() >= MemoryBytes(job)) return {};
  return data_.Allocate(link_.ia(), link_.pz(), MemoryBytes(job));
}

Outcome Session::NextReply(Reply* reply) {
  SOFTDAT_TRY(link_.NextReceive(WaitMode::kWait, &received_bytes_));
  const auto decoded = DecodeReply(Received());
  if (!decoded) return Outcome::Fail("the server sent something that is no reply");
  *reply = *decoded;
  return {};
}

Outcome Session::Run(const Job& job, JobResult* result) {
  if (const std::string problem = JobProblem(job); !problem.empty())
    return Outcome::Fail(kExitUsage, problem);
  SOFTDAT_TRY(EnsureMemory(job));
  SOFTDAT_TRY(PostControlReceive());
  SOFTDAT_TRY(SendControl(EncodeRequest({job, OwnMemory()})));
  Reply reply;
  SOFTDAT_TRY(NextReply(&reply));
  if (!reply.ok) return Outcome::Fail("the server refused: " + reply.text);
  if (reply.memory.bytes < MemoryBytes(job))
    return Outcome::Fail("the server offers less memory than the job needs");

  Exchange exchange(&link_, &data_, job, job.wait, reply.memory,
                    control_.Local(kReceivedOffset, kControlBytes), receive_depth_);
  SOFTDAT_TRY(exchange.Prepare(false));
  const auto start = Clock::now();
  SOFTDAT_TRY(exchange.RunClient());
  result->seconds = SecondsSince(start);
  result->bytes = BytesPerIteration(job) * job.iterations;
  SOFTDAT_TRY(SendControl(EncodeDone()));
  SOFTDAT_TRY(NextReply(&reply));
  if (IsStream(job.kind)) result->seconds = SecondsSince(start);

  if (const std::string problem = exchange.DataProblem(false); !problem.empty())
    return Outcome::Fail(kExitBadData, "wrong data here: " + problem);
  if (!reply.ok) return Outcome::Fail(kExitBadData, "wrong data at the server: " + reply.text);
  return {};
}

Outcome Session::NextControl(bool* over) {
  const Outcome outcome = link_.NextReceive(WaitMode::kWait, &received_bytes_);
  *over = !outcome.ok();
  return {};
}

Outcome Session::Serve(const Hooks& hooks) {
  SOFTDAT_TRY(PostControlReceive());
  while (true) {
    bool over = false;
    SOFTDAT_TRY(NextControl(&over));
    if (over) return {};
    const auto request = DecodeRequest(Received());
    if (!request) return Outcome::Fail("the client sent something that is no request");
    SOFTDAT_TRY(ServeJob(*request, hooks));
  }
}

Outcome Session::ServeJob(const Request& request, const Hooks& hooks) {
  const Job& job = request.job;
  std::string refusal = hooks.examine ? hooks.examine(job) : "";
  if (refusal.empty() && request.memory.bytes < MemoryBytes(job))
    refusal = "the client offers less memory than the job needs";
  if (refusal.empty() && job.server_cpu >= 0 && !PinProcess(job.server_cpu))
    refusal = fmt::format("cannot run on CPU {}", job.server_cpu);
  if (refusal.empty()) refusal = EnsureMemory(job).message();
  if (!refusal.empty()) {
    SOFTDAT_TRY(PostControlReceive());
    return SendControl(EncodeReply({false, refusal, {}}));
  }

  // A write ping-pong needs the same mode at both ends: see Exchange::WritePingPong().
  const bool own = job.server_decides_wait && job.kind != JobKind::kWritePingPong;
  const WaitMode mode = own ? hooks.wait : job.wait;
  Exchange exchange(&link_, &data_, job, mode, request.memory,
                    control_.Local(kReceivedOffset, kControlBytes), receive_depth_);
  SOFTDAT_TRY(exchange.Prepare(true));
  const auto start = Clock::now();
  SOFTDAT_TRY(SendControl(EncodeReply({true, "", OwnMemory()})));
  SOFTDAT_TRY(exchange.RunServer());
  // Of jobs that it takes no part in the server knows the end only.
  JobResult result{SecondsSince(start), BytesPerIteration(job) * job.iterations};
  SOFTDAT_TRY(link_.NextReceive(mode, &received_bytes_));
  if (!IsDone(Received())) return Outcome::Fail("the client did not end its job as it should");
  if (exchange.IsPassive()) result.seconds = SecondsSince(start);
  const std::string problem = exchange.DataProblem(true);
  SOFTDAT_TRY(PostControlReceive());
  SOFTDAT_TRY(SendControl(EncodeReply({problem.empty(), problem, {}})));
  if (hooks.report) hooks.report(job, result);
  if (!problem.empty()) return Outcome::Fail(kExitBadData, "wrong data here: " + problem);
  return {};
}

}  // namespace softdat::tools
