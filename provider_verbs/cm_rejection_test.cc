// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/cm_rejection.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <vector>

#include "wire/rdmacm/private_data.h"

namespace softdat::verbs {
namespace {

using By = CmRejection::By;
constexpr int kInvalidServiceId = 8, kConsumerDefined = 28, kStale = 10;
constexpr bool kIwarp = true, kInfiniband = false;

std::vector<uint8_t> BytesOf(const rdmacm::FieldWriter& field) {
  return {field.data(), field.data() + field.size()};
}

TEST(CmRejectionTest, NobodyListens) {
  EXPECT_EQ(ReadRejection(kInvalidServiceId, {}, kInfiniband).by, By::kNobodyListens);
  EXPECT_EQ(ReadRejection(-ECONNREFUSED, {}, kIwarp).by, By::kNobodyListens);
}

TEST(CmRejectionTest, TheConsumerWithItsData) {
  const std::vector<uint8_t> data = {1, 2, 3};
  const std::vector<uint8_t> field =
      BytesOf(rdmacm::FieldWriter(rdmacm::CmField::kReject, /*padded=*/true, std::nullopt, data));
  const CmRejection rejection = ReadRejection(kConsumerDefined, field, kInfiniband);
  EXPECT_EQ(rejection.by, By::kConsumer);
  EXPECT_EQ(std::vector<uint8_t>(rejection.data.begin(), rejection.data.end()), data);
  const CmRejection iwarp = ReadRejection(-ECONNRESET, data, kIwarp);
  EXPECT_EQ(iwarp.by, By::kConsumer);
  EXPECT_EQ(iwarp.data.size(), data.size());
}

// A kernel that rejects for a program that gave no data leaves the field empty. A consumer may do
// so, too, but ours writes a trailer.
TEST(CmRejectionTest, AnEmptyFieldIsTheConsumersOnlyWithATrailer) {
  const std::vector<uint8_t> zeros(148, 0);
  EXPECT_EQ(ReadRejection(kConsumerDefined, zeros, kInfiniband).by, By::kOther);
  const std::vector<uint8_t> empty =
      BytesOf(rdmacm::FieldWriter(rdmacm::CmField::kReject, /*padded=*/true, std::nullopt, {}));
  EXPECT_EQ(ReadRejection(kConsumerDefined, empty, kInfiniband).by, By::kConsumer);
}

TEST(CmRejectionTest, TheBackEndAndTheNetworkAreNotTheConsumer) {
  for (const bool iwarp : {kIwarp, kInfiniband}) {
    const std::vector<uint8_t> refusal = BytesOf(rdmacm::FieldWriter::Refusal(!iwarp));
    const CmRejection rejection =
        ReadRejection(iwarp ? -ECONNRESET : kConsumerDefined, refusal, iwarp);
    EXPECT_EQ(rejection.by, By::kOther);
    EXPECT_TRUE(rejection.data.empty());
  }
  const std::vector<uint8_t> data = {1};
  EXPECT_EQ(ReadRejection(kStale, data, kInfiniband).by, By::kOther);
  EXPECT_EQ(ReadRejection(-ETIMEDOUT, data, kIwarp).by, By::kOther);
}

}  // namespace
}  // namespace softdat::verbs
