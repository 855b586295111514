// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the codecs share.

#include "wire/test_support.h"

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace softdat::wire_test {
namespace {

uint64_t Seed() {
  const char* text = std::getenv("SOFTDAT_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 0) : 1;
}

}  // namespace

Bytes FromHex(const std::string& hex) {
  Bytes out;
  if (hex.size() % 2 != 0 || hex.find_first_not_of("0123456789abcdef") != std::string::npos) {
    ADD_FAILURE() << "not hex: " << hex;
    return out;
  }
  for (size_t i = 0; i < hex.size(); i += 2) {
    out.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

std::string ToHex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const uint8_t b : bytes) {
    out.push_back(kDigits[b >> 4]);
    out.push_back(kDigits[b & 15]);
  }
  return out;
}

std::string ReadTestFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) ADD_FAILURE() << "cannot read " << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

nlohmann::json ReadJson(const std::string& path) {
  auto json = nlohmann::json::parse(ReadTestFile(path), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) ADD_FAILURE() << path << " is not JSON";
  return json;
}

uint64_t Number(const nlohmann::json& fields, const char* name) {
  if (!fields.contains(name)) {
    ADD_FAILURE() << "the vector has no field " << name;
    return 0;
  }
  const nlohmann::json& value = fields.at(name);
  if (value.is_string()) return std::stoull(value.get<std::string>(), nullptr, 16);
  return value.get<uint64_t>();
}

bool Flag(const nlohmann::json& fields, const char* name) {
  if (!fields.contains(name)) return false;
  const nlohmann::json& value = fields.at(name);
  return value.is_boolean() ? value.get<bool>() : value.get<int>() != 0;
}

TestRandom::TestRandom() : engine_(Seed()) {
  std::printf("random seed %" PRIu64 " (SOFTDAT_TEST_SEED sets it)\n", Seed());
}

uint64_t TestRandom::Edgy64() {
  static constexpr uint64_t kEdges[] = {
      0,          1,           0x7fffffff,         0x80000000,         0xfffffffe,
      0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff};
  if (Below(4) == 0) return kEdges[Below(std::size(kEdges))];
  return Next();
}

Bytes TestRandom::Octets(size_t size) {
  Bytes out(size);
  for (uint8_t& b : out) b = static_cast<uint8_t>(Next());
  return out;
}

}  // namespace softdat::wire_test
