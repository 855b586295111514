// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite's options and main().
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/conformance/options.h"

namespace softdat::conformance {
namespace {

Options options;

// Whether this host has the IPv6 loopback address.
bool HasIpv6() {
  const int fd = socket(AF_INET6, SOCK_STREAM, 0);
  if (fd < 0) return false;
  sockaddr_in6 any_port{};
  any_port.sin6_family = AF_INET6;
  any_port.sin6_addr = in6addr_loopback;
  sockaddr_storage storage{};
  std::memcpy(&storage, &any_port, sizeof any_port);
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&storage), sizeof any_port) == 0;
  close(fd);
  return bound;
}

bool ParseFamilies(std::string_view text) {
  for (const char c : text) {
    if (c == '4') {
      options.families.push_back(AF_INET);
    } else if (c == '6') {
      options.families.push_back(AF_INET6);
    } else if (c != ',') {
      return false;
    }
  }
  return !options.families.empty();
}

// The value of --NAME VALUE or --NAME=VALUE at argv[*i], or null.
const char* Value(const char* name, char** argv, int argc, int* i) {
  const size_t n = std::strlen(name);
  if (std::strncmp(argv[*i], name, n) != 0) return nullptr;
  if (argv[*i][n] == '=') return argv[*i] + n + 1;
  if (argv[*i][n] == '\0' && *i + 1 < argc) return argv[++*i];
  return nullptr;
}

}  // namespace

const Options& TheOptions() { return options; }

std::vector<Variant> AllVariants() {
  std::vector<Variant> all;
  for (const int family : options.families) {
    for (const EventMode mode : {EventMode::kWait, EventMode::kPoll, EventMode::kCno}) {
      all.push_back({family, mode});
    }
  }
  return all;
}

std::vector<Variant> FamilyVariants() {
  std::vector<Variant> all;
  for (const int family : options.families) all.push_back({family, EventMode::kWait});
  return all;
}

std::string VariantName(const Variant& variant) {
  static constexpr const char* kModes[] = {"Wait", "Poll", "Cno"};
  return std::string(variant.family == AF_INET ? "Ipv4" : "Ipv6") +
         kModes[static_cast<int>(variant.mode)];
}

}  // namespace softdat::conformance

int main(int argc, char** argv) {
  namespace conformance = softdat::conformance;
  if (const char* ia = std::getenv("SOFTDAT_TEST_IA")) conformance::options.ia = ia;
  // This is done before gtest looks at the arguments, because the list of variants depends on them.
  for (int i = 1; i < argc; ++i) {
    if (const char* value = conformance::Value("--ia", argv, argc, &i)) {
      conformance::options.ia = value;
    } else if (const char* passive = conformance::Value("--passive-ia", argv, argc, &i)) {
      conformance::options.passive_ia = passive;
    } else if (const char* families = conformance::Value("--families", argv, argc, &i)) {
      if (!conformance::ParseFamilies(families)) {
        std::fprintf(stderr, "%s: --families is 4, 6 or 4,6\n", argv[0]);
        return 2;
      }
    }
  }
  if (conformance::options.passive_ia.empty()) {
    conformance::options.passive_ia = conformance::options.ia;
  }
  if (conformance::options.families.empty()) {
    conformance::options.families = {AF_INET};
    if (conformance::HasIpv6()) conformance::options.families.push_back(AF_INET6);
  }
  testing::InitGoogleTest(&argc, argv);
  std::printf("IA %s, %zu address families\n", conformance::options.ia.c_str(),
              conformance::options.families.size());
  return RUN_ALL_TESTS();
}
