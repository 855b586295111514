// SPDX-License-Identifier: BSD-3-Clause
// Build tool: writes the octets of one test vector to stdout, as a seed for a fuzz target.
// usage: vector_octets FILE.json NAME SKIP
//   NAME: the vector's name. SKIP: octets to leave off its front.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s FILE.json NAME SKIP\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[1]);
  const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  const std::string name = argv[2];
  std::string hex;
  if (json.contains("vectors")) {
    for (const auto& v : json.at("vectors")) {
      if (v.at("name") == name) hex = v.at("hex");
    }
  }
  if (hex.empty()) {
    std::fprintf(stderr, "%s: no vector %s in %s\n", argv[0], name.c_str(), argv[1]);
    return 1;
  }
  for (size_t i = 2 * std::strtoul(argv[3], nullptr, 10); i + 1 < hex.size(); i += 2) {
    std::putchar(static_cast<int>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return 0;
}
