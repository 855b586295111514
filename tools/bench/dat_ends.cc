// SPDX-License-Identifier: BSD-3-Clause
// Links that work at the same time.
#include "tools/bench/dat_ends.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <barrier>
#include <thread>
#include <utility>

#include "tools/common/address.h"
#include "tools/common/dat_calls.h"

namespace softdat::tools {
namespace {

constexpr uint32_t kConnectTimeoutUs = 10'000'000;

}  // namespace

Outcome DatEnds::Open(const DatShape& shape) {
  std::shared_ptr<client::Ia> ia;
  for (uint32_t i = 0; i < shape.threads; ++i) {
    End* end = ends_.emplace_back(std::make_unique<End>()).get();
    if (!ia || shape.ia_for_each) {
      ia = std::make_shared<client::Ia>();
      SOFTDAT_TRY(OpenIa(shape.ia, ia.get()));
    }
    SOFTDAT_TRY(end->link.Open(ia, shape.depths, shape.connections));
    const auto receives = static_cast<uint64_t>(end->link.depths().receives - 1);
    end->session = std::make_unique<Session>(&end->link, receives);
    SOFTDAT_TRY(end->session->Prepare());
  }
  return {};
}

Outcome DatEnds::Listen(std::vector<uint64_t>* ports) {
  for (const auto& end : ends_) {
    SOFTDAT_TRY(end->link.Listen(0));
    ports->push_back(end->link.conn_qual());
  }
  return {};
}

Outcome DatEnds::Serve() {
  return AtOnce(ends_.size(), [](size_t /*index*/, End* end) -> Outcome {
    SOFTDAT_TRY(end->link.Accept());
    SOFTDAT_TRY(end->session->Serve({}));
    return end->link.AwaitDisconnect();
  });
}

Outcome DatEnds::Connect(const std::vector<uint64_t>& ports) {
  if (ports.size() != ends_.size())
    return Outcome::Fail(
        fmt::format("the server listens on {} ports for {} links", ports.size(), ends_.size()));
  for (size_t i = 0; i < ends_.size(); ++i) {
    Link& link = ends_[i]->link;
    sockaddr_storage address{};
    SOFTDAT_TRY(ResolveHost(FormatAddress(link.ia().address()), AF_UNSPEC, &address));
    SOFTDAT_TRY(link.Connect(reinterpret_cast<sockaddr*>(&address), ports[i], kConnectTimeoutUs));
  }
  return {};
}

Outcome DatEnds::Run(const Job& job, JobResult* result) {
  // A job of fewer iterations than links leaves some of them idle.
  const auto count = static_cast<size_t>(std::clamp<uint64_t>(job.iterations, 1, ends_.size()));
  std::barrier<> gate(static_cast<std::ptrdiff_t>(count));
  std::vector<JobResult> results(count);
  SOFTDAT_TRY(AtOnce(count, [&](size_t index, End* end) {
    Job share = job;
    share.iterations = job.iterations / count + (index < job.iterations % count ? 1 : 0);
    Outcome outcome = end->session->Run(share, &results[index], nullptr, &gate);
    if (!outcome.ok()) gate.arrive_and_drop();
    return outcome;
  }));
  *result = {};
  for (const JobResult& one : results) {
    result->bytes += one.bytes;
    // Each link has measured the processor time of the whole process.
    result->seconds = std::max(result->seconds, one.seconds);
    result->client_cpu = std::max(result->client_cpu, one.client_cpu);
    result->server_cpu = std::max(result->server_cpu, one.server_cpu);
  }
  return {};
}

Outcome DatEnds::Disconnect() {
  for (const auto& end : ends_) SOFTDAT_TRY(end->link.Disconnect());
  return {};
}

Outcome DatEnds::AtOnce(size_t count, const std::function<Outcome(size_t, End*)>& work) {
  std::vector<Outcome> outcomes(count);
  const auto run = [&](size_t index) {
    outcomes[index] = work(index, ends_[index].get());
    if (!outcomes[index].ok()) ends_[index].reset();
  };
  std::vector<std::jthread> threads;
  for (size_t i = 1; i < count; ++i) threads.emplace_back(run, i);
  run(0);
  threads.clear();  // joins them
  for (Outcome& outcome : outcomes) {
    if (!outcome.ok()) return std::move(outcome);
  }
  return {};
}

}  // namespace softdat::tools
