// SPDX-License-Identifier: BSD-3-Clause
// Runs every cell of the table (function x return code), return_codes.inc, through the public
// calls. Checks that the table is complete: no function of the ABI without rows, no cell without an
// expectation, no action without a cell.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/conformance/return_cells.h"

namespace softdat::conformance {
namespace {

struct Row {
  ReturnCell cell;
  const char* name;
  const char* never;  // why no program gets it, or null
};

const std::vector<Row>& Table() {
#define CELL(function, type, subtype) \
  {{#function, DAT_##type, DAT_##subtype}, #function "_" #type "_" #subtype, nullptr},
#define NEVER(function, type, subtype, reason) \
  {{#function, DAT_##type, DAT_##subtype}, #function "_" #type "_" #subtype, reason},
  static const std::vector<Row> table = {
#include "tests/conformance/return_codes.inc"
  };
#undef CELL
#undef NEVER
  return table;
}

const ReturnAction* ActionOf(const ReturnCell& cell) {
  for (const ReturnAction& action : AllReturnActions()) {
    if (action.cell == cell) return &action;
  }
  return nullptr;
}

struct Driven {
  const Row* row;
  int family;
};

std::vector<Driven> DrivenCells() {
  std::vector<Driven> all;
  for (const Variant& variant : FamilyVariants()) {
    for (const Row& row : Table()) {
      if (row.never == nullptr) all.push_back({&row, variant.family});
    }
  }
  return all;
}

// For the names of failed tests.
void PrintTo(const Driven& cell, std::ostream* out) { *out << cell.row->name; }

class ReturnTableTest : public World, public testing::WithParamInterface<Driven> {
 protected:
  Variant variant() const override { return {GetParam().family, EventMode::kWait}; }
};

TEST_P(ReturnTableTest, Cell) {
  const ReturnCell& cell = GetParam().row->cell;
  const ReturnAction* action = ActionOf(cell);
  ASSERT_NE(action, nullptr) << "a cell without an expectation";
  const DAT_RETURN expected = cell.type == DAT_SUCCESS
                                  ? DAT_RETURN{DAT_SUCCESS}
                                  : Error(static_cast<DAT_RETURN_TYPE>(cell.type),
                                          static_cast<DAT_RETURN_SUBTYPE>(cell.subtype));
  EXPECT_RETURN(action->run(*this), expected);
}

INSTANTIATE_TEST_SUITE_P(, ReturnTableTest, testing::ValuesIn(DrivenCells()), [](const auto& cell) {
  return std::string(cell.param.family == AF_INET ? "Ipv4_" : "Ipv6_") + cell.param.row->name;
});

TEST(ReturnTable, EveryActionHasItsCellOnce) {
  std::set<std::string> names;
  for (const Row& row : Table()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
  for (const ReturnAction& action : AllReturnActions()) {
    const auto of = [&action](const Row& row) {
      return row.cell == action.cell && row.never == nullptr;
    };
    EXPECT_EQ(std::count_if(Table().begin(), Table().end(), of), 1)
        << action.cell.function << " "
        << Name(Error(static_cast<DAT_RETURN_TYPE>(action.cell.type),
                      static_cast<DAT_RETURN_SUBTYPE>(action.cell.subtype)));
  }
}

TEST(ReturnTable, EveryFunctionOfTheAbiSucceedsAndFails) {
  const char* path = std::getenv("CONFORMANCE_ABI");
  ASSERT_NE(path, nullptr);
  std::ifstream abi(path);
  ASSERT_TRUE(abi.is_open()) << path;
  int functions = 0;
  for (std::string line; std::getline(abi, line);) {
    std::istringstream fields(line);
    std::string kind, function;
    std::getline(fields, kind, ',');
    std::getline(fields, function, ',');
    // Two calls of the extension headers turn numbers into text. They are not calls of a provider.
    if (kind != "proto" || !function.starts_with("dat_") ||
        function.starts_with("dat_strerror_ext")) {
      continue;
    }
    ++functions;
    int successes = 0, failures = 0;
    for (const Row& row : Table()) {
      if (row.cell.function != function) continue;
      ++(row.cell.type == DAT_SUCCESS ? successes : failures);
    }
    EXPECT_EQ(successes, 1) << function;
    EXPECT_GE(failures, 1) << function;
  }
  EXPECT_GT(functions, 70);
}

}  // namespace
}  // namespace softdat::conformance
