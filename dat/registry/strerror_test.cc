// SPDX-License-Identifier: BSD-3-Clause
// dat_strerror over every row of the table of the binary interface.
#include <dat2/udat.h>
#include <gtest/gtest.h>
#include <string.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

// Constants of one enum in tests/abi/udapl2_abi.csv: rows "const,NAME,ENUM,0xVALUE".
std::map<DAT_RETURN, std::string> Constants(const std::string& enum_name) {
  std::map<DAT_RETURN, std::string> constants;
  std::ifstream table("tests/abi/udapl2_abi.csv");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string kind, name, type, value;
    std::getline(fields, kind, ',');
    std::getline(fields, name, ',');
    std::getline(fields, type, ',');
    std::getline(fields, value, ',');
    if (kind == "const" && type == enum_name) {
      constants[static_cast<DAT_RETURN>(std::stoul(value, nullptr, 0))] = name;
    }
  }
  return constants;
}

// covers: semantics 1.1
TEST(DatStrerror, KnowsEveryTypeWithAnyClass) {
  const auto types = Constants("DAT_RETURN_TYPE");
  ASSERT_EQ(types.size(), 26u);
  for (const auto& [value, name] : types) {
    for (DAT_RETURN classes :
         {DAT_RETURN{0}, DAT_RETURN{DAT_CLASS_ERROR}, DAT_RETURN{DAT_CLASS_WARNING}}) {
      const char* major = nullptr;
      const char* minor = nullptr;
      EXPECT_EQ(dat_strerror(classes | value, &major, &minor), DAT_SUCCESS) << name;
      EXPECT_EQ(major, name);
      EXPECT_STREQ(minor, "");
    }
  }
}

// covers: semantics 1.1
TEST(DatStrerror, KnowsEverySubtypeWithAnyType) {
  const auto subtypes = Constants("DAT_RETURN_SUBTYPE");
  ASSERT_EQ(subtypes.size(), 104u);
  for (const auto& [value, name] : subtypes) {
    if (value == 0) continue;
    for (DAT_RETURN type : {DAT_RETURN{DAT_INVALID_STATE}, DAT_RETURN{DAT_QUEUE_FULL}}) {
      const char* major = nullptr;
      const char* minor = nullptr;
      EXPECT_EQ(dat_strerror(DAT_CLASS_ERROR | type | value, &major, &minor), DAT_SUCCESS) << name;
      EXPECT_EQ(minor, name);
    }
  }
}

// covers: semantics 1.1
TEST(DatStrerror, UnknownValuesStillSetBothTexts) {
  const char* major = nullptr;
  const char* minor = nullptr;
  constexpr DAT_RETURN kParameter = DAT_INVALID_PARAMETER;
  EXPECT_EQ(DAT_GET_TYPE(dat_strerror(0x01230000u, &major, &minor)), kParameter);
  EXPECT_STREQ(major, "unknown error");
  EXPECT_STREQ(minor, "");
  EXPECT_EQ(
      DAT_GET_TYPE(dat_strerror(DAT_CLASS_ERROR | DAT_INVALID_STATE | 0x1234, &major, &minor)),
      kParameter);
  EXPECT_STREQ(major, "DAT_INVALID_STATE");
  EXPECT_STREQ(minor, "unknown minor error");
  EXPECT_EQ(DAT_GET_TYPE(dat_strerror(0x0123FFFFu, &major, &minor)), kParameter);
  EXPECT_STREQ(major, "unknown error");
  EXPECT_STREQ(minor, "unknown minor error");
}

TEST(DatStrerror, NullAsksForLess) {
  const char* text = nullptr;
  EXPECT_EQ(dat_strerror(DAT_ABORT, &text, nullptr), DAT_SUCCESS);
  EXPECT_STREQ(text, "DAT_ABORT");
  EXPECT_EQ(dat_strerror(DAT_CLASS_ERROR | DAT_ABORT | DAT_SUB_INTERRUPTED, nullptr, &text),
            DAT_SUCCESS);
  EXPECT_STREQ(text, "DAT_SUB_INTERRUPTED");
  EXPECT_EQ(dat_strerror(DAT_ABORT, nullptr, nullptr), DAT_SUCCESS);
}

}  // namespace
