// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_job.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace softdat::tools {
namespace {

StressJob Unusual() {
  StressJob job;
  job.tasks = 3;
  job.depth = 5;
  job.request_bytes = 100;
  job.ack_bytes = 200;
  job.tos = 9;
  job.one_way = job.verify = true;
  job.monitor = false;
  job.rdma_bytes = 4096;
  job.rdma_vectors = 2;
  job.rdma_mode = RdmaMode::kRead;
  job.rdma_alignment = 7;
  job.use_once = job.get_mr = job.key_meter = job.cancel = true;
  job.fence = false;
  return job;
}

TEST(StressJob, SurvivesTheWayToThePeer) {
  const auto json = JobToJson(Unusual());
  const auto job = JobFromJson(json);
  ASSERT_TRUE(job);
  EXPECT_EQ(JobToJson(*job), json);
  // Each of them differs from what a job has by itself, so that none can be forgotten.
  const auto usual = JobToJson(StressJob());
  for (const auto& [name, value] : json.items()) {
    // This one excludes another.
    if (name == "rdma_cache_mrs") continue;
    EXPECT_NE(usual[name], value) << name;
  }
}

TEST(StressJob, AnythingMissingOrWrongIsRefused) {
  const auto json = JobToJson(Unusual());
  for (const auto& [name, value] : json.items()) {
    auto without = json;
    without.erase(name);
    EXPECT_FALSE(JobFromJson(without)) << name;
    auto text = json;
    text[name] = "1";
    EXPECT_FALSE(JobFromJson(text)) << name;
    auto negative = json;
    negative[name] = -1;
    EXPECT_FALSE(JobFromJson(negative)) << name;
  }
  EXPECT_FALSE(JobFromJson(nullptr));
  EXPECT_FALSE(JobFromJson(nlohmann::ordered_json::array()));
}

TEST(StressJob, WhatCannotBeDoneIsRefused) {
  auto json = JobToJson(Unusual());
  json["tasks"] = uint64_t{1} << 32 | 1;
  EXPECT_FALSE(JobFromJson(json));
  json = JobToJson(Unusual());
  json["tasks"] = 100000;
  EXPECT_FALSE(JobFromJson(json));
  json = JobToJson(Unusual());
  json["rdma_mode"] = 3;
  EXPECT_FALSE(JobFromJson(json));
}

TEST(StressJob, Problems) {
  StressJob job;
  EXPECT_EQ(JobProblem(job), "");
  job.depth = 65536;
  job.tasks = 1024;
  EXPECT_NE(JobProblem(job), "");
  job = Unusual();
  EXPECT_EQ(JobProblem(job), "");
  job.rdma_bytes = kMostBytes / 2;
  EXPECT_EQ(JobProblem(job), "");
  job.rdma_bytes = kMostBytes / 2 + 1;
  EXPECT_NE(JobProblem(job), "");
  job.rdma_vectors = 1;
  EXPECT_EQ(JobProblem(job), "");
  job.rdma_bytes = kMostBytes + 1;
  EXPECT_NE(JobProblem(job), "");
  job.rdma_bytes = ~uint64_t{0};
  job.rdma_vectors = kMostVectors;
  EXPECT_NE(JobProblem(job), "");
  job.rdma_bytes = 8;
  job.rdma_alignment = 4096;
  EXPECT_NE(JobProblem(job), "");
}

TEST(StressJob, BuffersHoldWhatCanBeUnderWay) {
  StressJob job;
  job.tasks = 2;
  job.depth = 3;
  job.request_bytes = 100;
  job.ack_bytes = 50;
  EXPECT_EQ(job.BufferBytes(), 2u * 2 * 3 * 150);
}

}  // namespace
}  // namespace softdat::tools
