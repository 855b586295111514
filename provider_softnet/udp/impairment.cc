// SPDX-License-Identifier: BSD-3-Clause
// ImpairmentSpec and Impairment.
#include "provider_softnet/udp/impairment.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "dat/base/setting_values.h"

namespace softdat::softnet {
namespace {

// "1%", "0.25%": parts in a million.
std::optional<uint32_t> ParsePercent(std::string_view text) {
  if (text.empty() || text.back() != '%') return std::nullopt;
  text.remove_suffix(1);
  double percent = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), percent, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(percent >= 0 && percent <= 100)) return std::nullopt;
  return static_cast<uint32_t>(std::lround(percent * 10'000));
}

bool ParsePart(std::string_view part, ImpairmentSpec* spec) {
  const size_t equals = part.find('=');
  const std::string_view name = equals == std::string_view::npos ? "loss" : part.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? part : part.substr(equals + 1);
  if (name == "delay") {
    const auto us = ParseDurationUs(value);
    if (us) spec->delay = std::chrono::microseconds(*us);
    return us.has_value();
  }
  if (name == "seed") {
    const auto seed = ParseInt(value);
    if (seed) spec->seed = static_cast<uint64_t>(*seed);
    return seed.has_value();
  }
  const std::pair<std::string_view, uint32_t*> shares[] = {{"loss", &spec->loss},
                                                           {"reorder", &spec->reorder},
                                                           {"corrupt", &spec->corrupt},
                                                           {"duplicate", &spec->duplicate}};
  for (const auto& [known, share] : shares) {
    if (name != known) continue;
    const auto parts = ParsePercent(value);
    if (parts) *share = *parts;
    return parts.has_value();
  }
  return false;
}

}  // namespace

Result<ImpairmentSpec> ParseImpairment(std::string_view text) {
  ImpairmentSpec spec;
  while (!text.empty()) {
    const size_t end = text.find(';');
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (ParsePart(part, &spec)) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("\"{}\" in SOFTDAT_UDP_LOSS is not understood; an example is "
                              "1%;reorder=2%;delay=200us;corrupt=1%;duplicate=1%;seed=7",
                              Printable(part)));
  }
  return spec;
}

// The same number of draws for each datagram, whatever becomes of it.
Impairment::Passage Impairment::Offer(Time now, const sockaddr_storage& source,
                                      std::span<const uint8_t> bytes, size_t segment) {
  const bool lost = Draw(spec_.loss);
  const bool held_back = Draw(spec_.reorder);
  const bool corrupted = Draw(spec_.corrupt);
  const bool doubled = Draw(spec_.duplicate);
  const uint64_t where = spec_.corrupt != 0 ? random_() : 0;
  if (lost) return {.times = 0, .impaired = true};
  const uint32_t times = doubled ? 2 : 1;
  const bool impaired = held_back || corrupted || doubled;
  if (!held_back && !corrupted && spec_.delay.count() == 0) {
    return {.times = times, .impaired = impaired};
  }
  HeldDatagram datagram{source, {bytes.begin(), bytes.end()}, segment};
  if (corrupted && !bytes.empty()) {
    datagram.bytes[where / 8 % bytes.size()] ^= static_cast<uint8_t>(1u << where % 8);
  }
  const Time due = now + spec_.delay + (held_back ? kHeldBack : std::chrono::microseconds(0));
  if (doubled) held_.emplace(due, datagram);
  held_.emplace(due, std::move(datagram));
  return {.times = 0, .impaired = impaired, .held = true};
}

std::vector<HeldDatagram> Impairment::TakeDue(Time now) {
  std::vector<HeldDatagram> due;
  const auto end = held_.upper_bound(now);
  for (auto it = held_.begin(); it != end; ++it) due.push_back(std::move(it->second));
  held_.erase(held_.begin(), end);
  return due;
}

std::optional<Impairment::Time> Impairment::next_due() const {
  if (held_.empty()) return std::nullopt;
  return held_.begin()->first;
}

}  // namespace softdat::softnet
