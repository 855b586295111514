// SPDX-License-Identifier: BSD-3-Clause
// The operations that a model lacks (NOT_IMPLEMENTED, MODEL_NOT_SUPPORTED) are exactly those that
// docs/differences.md names. No other slot of the provider table, call or extended operation is
// refused with these codes.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "dat2/dat_ib_extensions.h"
#include "dat2/dat_registry.h"
#include "tests/conformance/fixture.h"
#include "tests/conformance/returns.h"

namespace softdat::conformance {
namespace {

using Names = std::set<std::string>;

bool IsRefusal(DAT_RETURN ret) {
  return DAT_GET_TYPE(ret) == DAT_NOT_IMPLEMENTED || DAT_GET_TYPE(ret) == DAT_MODEL_NOT_SUPPORTED;
}

std::ifstream Open(const char* variable) {
  const char* path = std::getenv(variable);
  std::ifstream file(path == nullptr ? "" : path);
  EXPECT_TRUE(file.is_open()) << variable << "=" << (path == nullptr ? "" : path);
  return file;
}

struct AbiRow {
  std::string kind, name, member, value;
};

std::vector<AbiRow> Abi() {
  std::ifstream file = Open("CONFORMANCE_ABI");
  std::vector<AbiRow> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    AbiRow row;
    std::getline(fields, row.kind, ',');
    std::getline(fields, row.name, ',');
    std::getline(fields, row.member, ',');
    std::getline(fields, row.value);
    rows.push_back(row);
  }
  return rows;
}

// The names in backquotes in the rows of the document's table that have one of the two codes.
// `dat_x_*` stands for all names that begin with `dat_x_`.
Names InTheDocument() {
  std::ifstream file = Open("CONFORMANCE_DIFFERENCES");
  const std::regex quoted("`(dat_[a-z_]+\\*?)`");
  Names names;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("|") || (line.find("`DAT_MODEL_NOT_SUPPORTED`") == std::string::npos &&
                                   line.find("`DAT_NOT_IMPLEMENTED`") == std::string::npos)) {
      continue;
    }
    const std::string call = line.substr(0, line.find('|', 1));
    for (std::sregex_iterator match(call.begin(), call.end(), quoted), end; match != end; ++match) {
      names.insert((*match)[1]);
    }
  }
  return names;
}

// The calls for which the table (function x return code) has one of the two codes.
Names InTheTable() {
  Names names;
#define CELL(function, type, subtype) \
  if (IsRefusal(DAT_##type)) names.insert(#function);
#define NEVER(function, type, subtype, reason)
#include "tests/conformance/return_codes.inc"
#undef CELL
#undef NEVER
  // The refusals of this call are those of the extended operations, which are compared one by one.
  names.erase("dat_extension_op");
  return names;
}

class RefusalsTest : public PairTest {
 protected:
  Variant variant() const override { return {AF_INET, EventMode::kWait}; }

  // The extended operations in the headers that are refused, by their macro.
  Names RefusedOperations() {
    const std::vector<AbiRow> abi = Abi();
    std::map<std::string, DAT_EXTENDED_OP> numbers;
    for (const AbiRow& row : abi) {
      if (row.kind == "const") {
        numbers[row.name] =
            static_cast<DAT_EXTENDED_OP>(std::strtoul(row.value.c_str(), nullptr, 0));
      }
    }
    Names refused;
    int tried = 0;
    for (const AbiRow& row : abi) {
      if (row.kind != "extop") continue;
      // The table contains the operation that published headers name here by mistake.
      const std::string operation =
          row.name == "dat_ib_collective_set_clock" ? "DAT_IB_COLLECTIVE_SET_CLOCK_OP" : row.member;
      EXPECT_TRUE(numbers.contains(operation)) << operation;
      ++tried;
      // A protection zone is an object of the provider, but no EP. An operation that exists looks
      // at its arguments and finds them wrong. The arguments are all words, and all zero.
      constexpr uint64_t k0 = 0;
      const DAT_RETURN ret =
          dat_extension_op(a_->pz, numbers[operation], k0, k0, k0, k0, k0, k0, k0, k0, k0, k0);
      EXPECT_NE(DAT_GET_TYPE(ret), DAT_INTERNAL_ERROR) << row.name;
      if (IsRefusal(ret)) refused.insert(row.name);
    }
    EXPECT_EQ(tried, 32);
    return refused;
  }
};

// covers: semantics 16
TEST_F(RefusalsTest, NoSlotOfTheProviderTableRefuses) {
  // An object of a provider begins with the address of the provider's table.
  const DAT_PROVIDER* table = DAT_HANDLE_TO_PROVIDER(a_->pz);
  ASSERT_NE(table, nullptr);
  int slots = 0;
  for (const AbiRow& row : Abi()) {
    if (row.kind != "slot" || !row.name.ends_with("_func")) continue;
    // The parameters of all slots are words, pointers and small structures. The slots are called as
    // C code without a prototype would call them, with more zeros than any slot has parameters.
    // Every handle is null then, so an operation that exists refuses the handle or an argument.
    using Word = uintptr_t;
    DAT_RETURN(DAT_API * slot)
    (Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word,
     Word) = nullptr;
    const size_t offset = std::stoul(row.value.substr(row.value.find('@') + 1));
    ASSERT_LE(offset + sizeof slot, sizeof *table) << row.name;
    std::memcpy(&slot, reinterpret_cast<const char*>(table) + offset, sizeof slot);
    ASSERT_NE(slot, nullptr) << row.name;
    ++slots;
    const DAT_RETURN ret = slot(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    EXPECT_FALSE(IsRefusal(ret)) << row.name;
    EXPECT_NE(ret, DAT_RETURN{DAT_SUCCESS}) << row.name;
  }
  EXPECT_EQ(slots, 79);
}

TEST_F(RefusalsTest, TheDocumentNamesEveryCallAndOperationThatRefusesAndNoOther) {
  Names refused = InTheTable();
  EXPECT_FALSE(refused.empty());
  refused.merge(RefusedOperations());
  Names named;
  for (const std::string& name : InTheDocument()) {
    if (!name.ends_with("*")) {
      named.insert(name);
      continue;
    }
    const std::string prefix = name.substr(0, name.size() - 1);
    int matches = 0;
    for (const AbiRow& row : Abi()) {
      if (row.kind != "extop" || !row.name.starts_with(prefix)) continue;
      named.insert(row.name);
      ++matches;
    }
    EXPECT_GT(matches, 0) << name;
  }
  for (const std::string& name : refused) {
    EXPECT_TRUE(named.contains(name))
        << name << " refuses, and docs/differences.md does not say why";
  }
  for (const std::string& name : named) {
    EXPECT_TRUE(refused.contains(name)) << name << " is named in docs/differences.md, and refuses "
                                        << "nothing";
  }
}

}  // namespace
}  // namespace softdat::conformance
