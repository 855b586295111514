// SPDX-License-Identifier: BSD-3-Clause
// RunSeeds().
#include "tests/sim/seeds.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace softdat::sim {
namespace {

constexpr char kUsage[] =
    "usage: %s [--seeds N] [--first SEED]   runs N seeds (1000) from SEED (1) on\n"
    "       %s --seed SEED                  runs one\n"
    "Exit status: 0 all invariants held, 1 one did not (the seed is printed), 2 bad arguments.\n";

bool Number(const char* text, uint64_t* value) {
  if (text == nullptr || *text < '0' || *text > '9') return false;
  char* end = nullptr;
  *value = std::strtoull(text, &end, 0);
  return *end == '\0';
}

}  // namespace

int RunSeeds(const char* name, int argc, char** argv,
             const std::function<std::string(uint64_t seed)>& run) {
  uint64_t seeds = 1000, first = 1;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    uint64_t value = 0;
    if (!Number(argv[i + 1], &value) ||
        (option != "--seeds" && option != "--first" && option != "--seed")) {
      std::fprintf(option == "--help" ? stdout : stderr, kUsage, name, name);
      return option == "--help" ? 0 : 2;
    }
    if (option == "--seeds") {
      seeds = value;
    } else {
      first = value;
      if (option == "--seed") seeds = 1;
    }
  }
  for (uint64_t k = 0; k < seeds; ++k) {
    const std::string wrong = run(first + k);
    if (!wrong.empty()) {
      std::printf("FAILED %s\nreplay: bazel run //tests/sim:%s -- --seed %" PRIu64 "\n",
                  wrong.c_str(), name, first + k);
      return 1;
    }
    if ((k + 1) % 10000 == 0) std::fprintf(stderr, "%" PRIu64 " seeds\n", k + 1);
  }
  std::printf("%" PRIu64 " seeds from %" PRIu64 " on: all invariants held\n", seeds, first);
  return 0;
}

}  // namespace softdat::sim
