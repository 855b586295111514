// SPDX-License-Identifier: BSD-3-Clause
// The main() of a fuzz target in an ordinary build. It replays the corpus, then inputs that a
// seeded generator derives from it. libFuzzer takes its place under --config=fuzz.
// usage: PROGRAM [--runs=N] [CORPUS FILE]...
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t kMaxInput = 4096;

void Feed(const Bytes& input) {
  // An exact-size heap copy, so that ASan sees a read past the end.
  Bytes exact(input.begin(), input.end());
  exact.shrink_to_fit();
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

// One to eight edits: flip, set to an interesting value, insert, erase, cut, splice.
Bytes Mutate(Bytes input, const std::vector<Bytes>& corpus, std::mt19937_64& random) {
  static constexpr uint8_t kInteresting[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF};
  const uint64_t edits = 1 + random() % 8;
  for (uint64_t i = 0; i < edits; ++i) {
    const size_t at = input.empty() ? 0 : random() % input.size();
    switch (random() % 6) {
      case 0:
        if (!input.empty()) input[at] ^= static_cast<uint8_t>(1u << (random() % 8));
        break;
      case 1:
        if (!input.empty()) input[at] = kInteresting[random() % std::size(kInteresting)];
        break;
      case 2:
        input.insert(input.begin() + static_cast<ptrdiff_t>(at), static_cast<uint8_t>(random()));
        break;
      case 3:
        if (!input.empty()) input.erase(input.begin() + static_cast<ptrdiff_t>(at));
        break;
      case 4:
        input.resize(at);
        break;
      default: {
        const Bytes& other = corpus[random() % corpus.size()];
        const size_t from = other.empty() ? 0 : random() % other.size();
        input.insert(input.end(), other.begin() + static_cast<ptrdiff_t>(from), other.end());
      }
    }
  }
  if (input.size() > kMaxInput) input.resize(kMaxInput);
  return input;
}

uint64_t Seed() {
  const char* text = std::getenv("SOFTDAT_FUZZ_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 0) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 1000;
  std::vector<Bytes> corpus;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--runs=", 7) == 0) {
      runs = std::strtoull(argv[i] + 7, nullptr, 0);
      continue;
    }
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "fuzz_driver: cannot read %s\n", argv[i]);
      return 1;
    }
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  const size_t files = corpus.size();
  corpus.emplace_back();  // The empty input is always one of them.
  for (const Bytes& input : corpus) Feed(input);

  const uint64_t seed = Seed();
  std::printf("fuzz_driver: %zu corpus files, %" PRIu64 " derived inputs, seed %" PRIu64 "\n",
              files, runs, seed);
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < runs; ++i) {
    Feed(Mutate(corpus[random() % corpus.size()], corpus, random));
  }
  return 0;
}
