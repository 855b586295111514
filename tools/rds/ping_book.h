// SPDX-License-Identifier: BSD-3-Clause
// Which answer belongs to which ping, and what they took. Pure.
#ifndef SOFTDAT_TOOLS_RDS_PING_BOOK_H_
#define SOFTDAT_TOOLS_RDS_PING_BOOK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace softdat::tools {

// Answers carry nothing but their source. What tells them apart is the socket they come to, so each
// ping leaves from the next one.
class PingBook {
 public:
  explicit PingBook(size_t sockets) : last_(sockets) {}

  // The socket for the next ping.
  size_t next_socket() const { return sent_ % last_.size(); }
  // The number of the next ping, from 1.
  uint64_t next_number() const { return sent_ + 1; }

  // `now` in nanoseconds. A ping that could not be sent has its number and its socket, too.
  void Sent(int64_t now);
  void Failed();

  struct Answer {
    uint64_t ping = 0;
    double usec = 0;
    bool duplicate = false;
  };
  // Nothing if no ping has left from this socket.
  std::optional<Answer> Answered(size_t socket, int64_t now);

  uint64_t sent() const { return sent_ - errors_; }
  uint64_t answered() const { return answered_; }
  uint64_t duplicates() const { return duplicates_; }
  uint64_t errors() const { return errors_; }
  bool AllAnswered() const { return answered_ == sent(); }
  double least_usec() const { return least_; }
  double most_usec() const { return most_; }
  double average_usec() const { return answered_ > 0 ? sum_ / static_cast<double>(answered_) : 0; }

 private:
  struct Last {
    uint64_t ping = 0;  // 0: none
    int64_t sent_at = 0;
    bool answered = false;
  };
  std::vector<Last> last_;  // by socket
  uint64_t sent_ = 0;       // with those that could not be sent
  uint64_t answered_ = 0;   // without duplicates
  uint64_t duplicates_ = 0;
  uint64_t errors_ = 0;
  double least_ = 0, most_ = 0, sum_ = 0;
};

// One line each, with its end. `other`: the source, if it is not the host; else "".
std::string AnswerLine(const PingBook::Answer& answer, const std::string& other);
std::string AnswerJson(const PingBook::Answer& answer, const std::string& from);
std::string ErrorLine(uint64_t ping, int error);
std::string ErrorJson(uint64_t ping, int error);
std::string SummaryLine(const PingBook& book);
std::string SummaryJson(const PingBook& book, const std::string& destination,
                        const std::string& source);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_PING_BOOK_H_
