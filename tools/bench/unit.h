// SPDX-License-Identifier: BSD-3-Clause
// What is measured: a loop over some link, with a server process of its own at the other end, that
// can be run for any number of iterations.
#ifndef SOFTDAT_TOOLS_BENCH_UNIT_H_
#define SOFTDAT_TOOLS_BENCH_UNIT_H_

#include <cstdint>
#include <string>

#include "tools/bench/raw_link.h"
#include "tools/common/outcome.h"
#include "tools/traffic/job.h"
#include "tools/traffic/link.h"
#include "tools/traffic/session.h"

namespace softdat::tools {

class Unit {
 public:
  virtual ~Unit() = default;
  // "raw:tcp-poll", "softnet-lo".
  virtual std::string name() const = 0;
  virtual Outcome Run(uint64_t iterations, double* seconds) = 0;
};

// A plain TCP loop.
class RawUnit : public Unit {
 public:
  RawUnit(RawLink* link, const RawJob& job) : link_(*link), job_(job) {}
  std::string name() const override { return "raw:" + std::string(RawKindName(job_.kind)); }
  Outcome Run(uint64_t iterations, double* seconds) override {
    RawJob job = job_;
    job.iterations = iterations;
    return link_.Run(job, seconds);
  }

 private:
  RawLink& link_;
  const RawJob job_;
};

// A job over a DAT connection.
class DatUnit : public Unit {
 public:
  DatUnit(std::string ia, Session* session, const Job& job)
      : ia_(std::move(ia)), session_(*session), job_(job) {}
  std::string name() const override { return ia_; }
  Outcome Run(uint64_t iterations, double* seconds) override {
    Job job = job_;
    job.iterations = iterations;
    JobResult result;
    SOFTDAT_TRY(session_.Run(job, &result));
    *seconds = result.seconds;
    return {};
  }

 private:
  const std::string ia_;
  Session& session_;
  const Job job_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_UNIT_H_
