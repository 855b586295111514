// SPDX-License-Identifier: BSD-3-Clause
// The environment of the conformance suite: --ia NAME (or SOFTDAT_TEST_IA), --passive-ia NAME,
// --families 4,6.
#ifndef SOFTDAT_TESTS_CONFORMANCE_OPTIONS_H_
#define SOFTDAT_TESTS_CONFORMANCE_OPTIONS_H_

#include <string>
#include <vector>

namespace softdat::conformance {

// How a program collects events.
enum class EventMode { kWait, kPoll, kCno };

struct Options {
  std::string ia = "toy-0";
  // The IA of a PairTest's passive side, if it is another one.
  std::string passive_ia;
  std::vector<int> families;  // AF_INET, AF_INET6
};

// Set by main() before any test runs.
const Options& TheOptions();

// A way to run a test: one address family, one event mode.
struct Variant {
  int family;
  EventMode mode;
};

// Every family of the IA with every event mode.
std::vector<Variant> AllVariants();
// Every family, with waiting. For tests that do not depend on the event mode.
std::vector<Variant> FamilyVariants();
std::string VariantName(const Variant& variant);

}  // namespace softdat::conformance

#endif  // SOFTDAT_TESTS_CONFORMANCE_OPTIONS_H_
