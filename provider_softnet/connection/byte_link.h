// SPDX-License-Identifier: BSD-3-Clause
// What carries the bytes of a connection: two ordered streams without loss, and their ends. TCP is
// one; a tap, a link that is made to be slow, or a ring in memory are others. Nothing above it
// knows a socket.
//
// A link has one owner. DATA calls are made under the owner's lock, from any thread, and never
// block; CONTROL calls with the driver token. Failures are errno values, as with the system calls
// of the same name.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_BYTE_LINK_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_BYTE_LINK_H_

#include <sys/socket.h>
#include <sys/uio.h>

#include <chrono>
#include <cstddef>

namespace softdat::softnet {

// How far the peer's end of a link is known to live, at one moment.
struct PathSample {
  bool outstanding = false;  // bytes that the peer's end has not acknowledged
  // Something was sent that a living peer answers at once: data, or a probe of a closed window.
  bool asked = false;
  std::chrono::milliseconds since_answer{0};  // since the last acknowledgement
};

class ByteLink {
 public:
  // Closes at once. ConnectionContext has better ends.
  virtual ~ByteLink() = default;

  // ---- DATA ----
  // The number of bytes that were taken or given; -1 and errno: EAGAIN when there is no room or
  // nothing to read, EINTR, or why the link has failed. Receive and Peek: 0 behind the peer's last
  // byte. Peek looks whether there is one, and leaves it.
  virtual ssize_t Send(const iovec* iov, size_t count) = 0;
  virtual ssize_t Receive(const iovec* iov, size_t count) = 0;
  virtual ssize_t Peek() = 0;
  // Bytes that were sent and that the peer's end does not have yet.
  virtual int UnsentBytes() const = 0;
  virtual PathSample SamplePath() const = 0;
  // Why the link has failed, once; 0: it has not.
  virtual int TakeError() = 0;
  // Both directions are over, and it was the peer's system that ended them.
  virtual bool PeerHasGone() const = 0;

  // ---- CONTROL ----
  // Begins to connect a new link: 0, EINPROGRESS, or why not. When it is connected or has failed,
  // the descriptor becomes writable.
  virtual int Connect(const sockaddr_storage& remote) = 0;
  // For the loop. WatchFor: the bits (UV_READABLE and so on) to watch it for where the owner waits
  // for `events`. Happened: what that means for the owner when `seen` of them came.
  // Level-triggered.
  virtual int descriptor() const = 0;
  virtual int WatchFor(int events) { return events; }
  virtual int Happened(int seen) { return seen; }
  // AF_UNSPEC while it is not connected.
  virtual sockaddr_storage LocalAddress() const = 0;
  virtual sockaddr_storage RemoteAddress() const = 0;
  // The most bytes that make good use of one send.
  virtual size_t SegmentSize() const = 0;
  // The link fails (ETIMEDOUT) when the peer's end acknowledges nothing for so long; 0: it goes by
  // its own patience.
  virtual void SetUnansweredLimit(std::chrono::milliseconds limit) = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_BYTE_LINK_H_
