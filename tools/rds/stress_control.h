// SPDX-License-Identifier: BSD-3-Clause
// The TCP connection between the two ends of rds-softstress: lines of text.
#ifndef SOFTDAT_TOOLS_RDS_STRESS_CONTROL_H_
#define SOFTDAT_TOOLS_RDS_STRESS_CONTROL_H_

#include <sys/socket.h>

#include <optional>
#include <string>

#include "tools/common/outcome.h"
#include "tools/common/unique_fd.h"

namespace softdat::tools {

// Lines out of a stream of bytes. Pure.
class LineBuffer {
 public:
  // A peer that sends a longer line does not speak this protocol.
  static constexpr size_t kMost = 65536;

  void Add(const char* data, size_t size) { text_.append(data, size); }
  // The next line, without its end.
  std::optional<std::string> Next();
  bool TooLong() const { return text_.size() > kMost && text_.find('\n') == std::string::npos; }

 private:
  std::string text_;
};

class StressControl {
 public:
  // Waits for the active end, on one address or with "" on all.
  Outcome Listen(const std::string& address, uint16_t port);
  Outcome Accept();
  // `own`: the address to come from, or "". Tries `retries` times again, once a second.
  Outcome Connect(const std::string& address, uint16_t port, const std::string& own,
                  uint32_t retries);

  // Own addresses of the listener, or of the connection; the peer's. With ports.
  const sockaddr_storage& own() const { return own_; }
  const sockaddr_storage& peer() const { return peer_; }
  int fd() const { return connection_.get(); }
  void Close() { connection_ = UniqueFd(); }

  Outcome Send(const std::string& line);
  // Takes what has come, without waiting. False: the peer has closed the connection.
  bool Fill();
  // A line that was taken before. Fails for one that is too long.
  std::optional<std::string> Line() { return lines_.Next(); }
  // Waits for a line.
  Outcome Await(std::string* line);

 private:
  UniqueFd listener_;
  UniqueFd connection_;
  sockaddr_storage own_{};
  sockaddr_storage peer_{};
  LineBuffer lines_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_STRESS_CONTROL_H_
