// SPDX-License-Identifier: BSD-3-Clause
// The control messages around the jobs.
#include "tools/traffic/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "tools/common/cpu.h"
#include "tools/common/dat_calls.h"
#include "tools/traffic/exchange.h"

namespace softdat::tools {
namespace {

constexpr size_t kReceivedOffset = kControlBytes;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

uint64_t Microseconds(double seconds) { return static_cast<uint64_t>(seconds * 1e6); }

}  // namespace

Outcome Session::Prepare() {
  return Allocate(link_.ia(), link_.pz(), 2 * kControlBytes, &control_);
}

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
  return Allocate(link_.ia(), link_.pz(), MemoryBytes(job), &data_);
}

Outcome Session::NextReply(Reply* reply) {
  Completion completion;
  SOFTDAT_TRY(link_.NextReceive(WaitMode::kWait, &completion));
  received_bytes_ = completion.bytes;
  const auto decoded = DecodeReply(Received());
  if (!decoded) return Outcome::Fail("the server sent something that is no reply");
  *reply = *decoded;
  return {};
}

Outcome Session::Run(const Job& job, JobResult* result, LatencyLog* log, std::barrier<>* gate) {
  if (const std::string problem = JobProblem(job); !problem.empty())
    return Outcome::Fail(kExitUsage, problem);
  SOFTDAT_TRY(EnsureMemory(job));
  SOFTDAT_TRY(PostControlReceive());
  SOFTDAT_TRY(
      SendControl(EncodeRequest({job, OwnMemory(), static_cast<uint32_t>(receive_depth_)})));
  Reply reply;
  SOFTDAT_TRY(NextReply(&reply));
  if (!reply.ok) return Outcome::Fail("the server refused: " + reply.text);
  if (reply.memory.bytes < MemoryBytes(job))
    return Outcome::Fail("the server offers less memory than the job needs");

  Exchange::Ends ends = Ends(job.wait, reply.memory, reply.receives);
  ends.log = log;
  Exchange exchange(&link_, &data_, job, ends);
  SOFTDAT_TRY(exchange.Prepare());
  if (gate != nullptr) gate->arrive_and_wait();
  const double cpu = ProcessSeconds();
  const auto start = Clock::now();
  SOFTDAT_TRY(exchange.Run());
  if (gate != nullptr) gate->arrive_and_wait();
  result->seconds = SecondsSince(start);
  result->client_cpu = ProcessSeconds() - cpu;
  result->bytes = BytesPerIteration(job) * job.iterations;
  SOFTDAT_TRY(SendControl(EncodeDone()));
  SOFTDAT_TRY(NextReply(&reply));
  if (job.IsStream()) result->seconds = SecondsSince(start);
  result->server_cpu = static_cast<double>(reply.cpu_us) / 1e6;

  if (const std::string problem = exchange.DataProblem(); !problem.empty())
    return Outcome::Fail(kExitBadData, "wrong data here: " + problem);
  if (!reply.ok) return Outcome::Fail(kExitBadData, "wrong data at the server: " + reply.text);
  return {};
}

Exchange::Ends Session::Ends(WaitMode wait, const RemoteMemory& remote, uint64_t peer_receives) {
  Exchange::Ends ends;
  ends.wait = wait;
  ends.remote = remote;
  ends.control = control_.Local(kReceivedOffset, kControlBytes);
  ends.receives = receive_depth_;
  ends.peer_receives = peer_receives;
  return ends;
}

Outcome Session::NextControl(bool* over) {
  Completion completion;
  const Outcome outcome = link_.NextReceive(WaitMode::kWait, &completion);
  received_bytes_ = completion.bytes;
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
  if (refusal.empty()) refusal = EnsureMemory(job).message();
  if (!refusal.empty()) {
    SOFTDAT_TRY(PostControlReceive());
    return SendControl(EncodeReply({false, refusal, {}, 0, 0}));
  }

  // A write ping-pong needs the same mode at both ends: see Exchange::WritePingPong().
  const bool own = job.server_decides_wait && job.operation != Operation::kWrite;
  Exchange::Ends ends = Ends(own ? hooks.wait : job.wait, request.memory, request.receives);
  ends.is_server = true;
  Exchange exchange(&link_, &data_, job, ends);
  SOFTDAT_TRY(exchange.Prepare());
  const double cpu = ProcessSeconds();
  const auto start = Clock::now();
  SOFTDAT_TRY(
      SendControl(EncodeReply({true, "", OwnMemory(), static_cast<uint32_t>(receive_depth_), 0})));
  SOFTDAT_TRY(exchange.Run());
  // If the server takes no part in a job, it knows only the end.
  JobResult result;
  result.seconds = SecondsSince(start);
  result.bytes = BytesPerIteration(job) * job.iterations;
  // An end that takes no part leaves the processor to the other one.
  const WaitMode wait = exchange.IsPassive() ? WaitMode::kWait : ends.wait;
  Completion completion;
  if (exchange.early_end()) {
    completion = *exchange.early_end();
  } else {
    SOFTDAT_TRY(link_.NextReceive(wait, &completion));
  }
  received_bytes_ = completion.bytes;
  if (!IsDone(Received())) return Outcome::Fail("the client did not end its job as it should");
  if (exchange.IsPassive()) result.seconds = SecondsSince(start);
  const double used = ProcessSeconds() - cpu;
  const std::string problem = exchange.DataProblem();
  SOFTDAT_TRY(PostControlReceive());
  SOFTDAT_TRY(SendControl(EncodeReply({problem.empty(), problem, {}, 0, Microseconds(used)})));
  if (hooks.report) hooks.report(job, result);
  if (!problem.empty()) return Outcome::Fail(kExitBadData, "wrong data here: " + problem);
  return {};
}

}  // namespace softdat::tools
