// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/ping_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

namespace softdat::tools {
namespace {

// Tenths of a microsecond: what is finer is noise.
double Tenths(double usec) { return std::round(usec * 10) / 10; }

}  // namespace

void PingBook::Sent(int64_t now) {
  last_[next_socket()] = {sent_ + 1, now, false};
  ++sent_;
}

void PingBook::Failed() {
  ++sent_;
  ++errors_;
}

std::optional<PingBook::Answer> PingBook::Answered(size_t socket, int64_t now) {
  Last& last = last_.at(socket);
  if (last.ping == 0) return std::nullopt;
  const Answer answer{last.ping, static_cast<double>(now - last.sent_at) / 1e3, last.answered};
  if (last.answered) {
    ++duplicates_;
    return answer;
  }
  last.answered = true;
  least_ = answered_ == 0 ? answer.usec : std::min(least_, answer.usec);
  most_ = std::max(most_, answer.usec);
  sum_ += answer.usec;
  ++answered_;
  return answer;
}

std::string AnswerLine(const PingBook::Answer& answer, const std::string& other) {
  return fmt::format(" {:3}: {:.0f} usec{}{}\n", answer.ping, answer.usec,
                     other.empty() ? "" : " (" + other + ")", answer.duplicate ? " DUP!" : "");
}

std::string AnswerJson(const PingBook::Answer& answer, const std::string& from) {
  return nlohmann::ordered_json{{"ping", answer.ping},
                                {"usec", Tenths(answer.usec)},
                                {"from", from},
                                {"duplicate", answer.duplicate}}
             .dump() +
         "\n";
}

std::string ErrorLine(uint64_t ping, int error) {
  return fmt::format(" {:3}: ERROR: {}\n", ping, strerrordesc_np(error));
}

std::string ErrorJson(uint64_t ping, int error) {
  return nlohmann::ordered_json{{"ping", ping}, {"error", strerrorname_np(error)}}.dump() + "\n";
}

std::string SummaryLine(const PingBook& book) {
  std::string text = fmt::format("{} sent, {} answered", book.sent(), book.answered());
  if (book.duplicates() > 0) text += fmt::format(", {} duplicates", book.duplicates());
  if (book.errors() > 0) text += fmt::format(", {} not sent", book.errors());
  if (book.answered() > 0) {
    text += fmt::format("; min/average/max {:.0f}/{:.0f}/{:.0f} usec", book.least_usec(),
                        book.average_usec(), book.most_usec());
  }
  return text + "\n";
}

std::string SummaryJson(const PingBook& book, const std::string& destination,
                        const std::string& source) {
  nlohmann::ordered_json json = {{"destination", destination},
                                 {"source", source},
                                 {"sent", book.sent()},
                                 {"answered", book.answered()},
                                 {"duplicates", book.duplicates()},
                                 {"errors", book.errors()}};
  if (book.answered() > 0) {
    json["usec"] = {{"min", Tenths(book.least_usec())},
                    {"average", Tenths(book.average_usec())},
                    {"max", Tenths(book.most_usec())}};
  }
  return json.dump() + "\n";
}

}  // namespace softdat::tools
