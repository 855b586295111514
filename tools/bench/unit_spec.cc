// SPDX-License-Identifier: BSD-3-Clause
// The names of the units that are compared.
#include "tools/bench/unit_spec.h"

#include <fmt/format.h>

#include <charconv>

namespace softdat::tools {
namespace {

constexpr std::string_view kRawPrefix = "raw:";
constexpr std::string_view kRdsPrefix = "rds:";

// Cuts off the part before the next comma.
std::string_view NextPart(std::string_view* text) {
  const size_t comma = text->find(',');
  const std::string_view part = text->substr(0, comma);
  *text = comma == std::string_view::npos ? std::string_view() : text->substr(comma + 1);
  return part;
}

// "NAME", "NAME@CONNECTIONS", "NAME@THREADSthreads" or "NAME@THREADSias".
bool ParseAdapter(std::string_view name, UnitSpec* spec) {
  const size_t at = name.find('@');
  spec->ia = name.substr(0, at);
  if (spec->ia.empty()) return false;
  if (at == std::string_view::npos) return true;
  uint32_t count = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + at + 1, end, count);
  if (parsed.ec != std::errc() || count == 0) return false;
  const std::string_view of(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
  if (of.empty()) {
    spec->connections = count;
    return count <= kMaxConnections;
  }
  spec->threads = count;
  spec->ia_for_each = of == "ias";
  return count <= kMaxThreads && (of == "threads" || of == "ias");
}

}  // namespace

std::optional<UnitSpec> ParseUnitSpec(std::string_view text, std::string* problem) {
  UnitSpec spec;
  spec.text = text;
  const std::string_view name = NextPart(&text);
  if (name.starts_with(kRdsPrefix)) {
    if (name == kRdsPrefix) {
      *problem = "rds: is followed by the name of the IA that carries it: rds:softnet-lo";
      return std::nullopt;
    }
    spec.raw = RawKind::kRds;
    spec.environment.push_back("SOFTDAT_RDS_IA=" + std::string(name.substr(kRdsPrefix.size())));
  } else if (name.starts_with(kRawPrefix)) {
    const auto kind = FindRawKind(name.substr(kRawPrefix.size()));
    if (!kind || *kind == RawKind::kRds) {
      *problem = fmt::format(
          "'{}' is no floor: raw:tcp-poll, tcp-epoll, tcp-block, tcp-gather, tcp-confirm, "
          "tcp-thread, tcp-rendezvous, tcp-handshake, udp, udp-gso, udp-gso-crc, shm, memcpy, "
          "process-vm or verbs",
          name);
      return std::nullopt;
    }
    spec.raw = *kind;
  } else if (name.empty()) {
    *problem = "the name of an IA or a floor is missing";
    return std::nullopt;
  } else if (!ParseAdapter(name, &spec)) {
    *problem = fmt::format(
        "'{}' is not NAME of an IA, NAME@END_POINTS (1 to {}), NAME@Nthreads or NAME@Nias (1 to "
        "{})",
        name, kMaxConnections, kMaxThreads);
    return std::nullopt;
  }
  while (!text.empty()) {
    const std::string_view setting = NextPart(&text);
    const size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      *problem = fmt::format("'{}' in '{}' is not NAME=VALUE of an environment variable", setting,
                             spec.text);
      return std::nullopt;
    }
    spec.environment.emplace_back(setting);
  }
  return spec;
}

}  // namespace softdat::tools
