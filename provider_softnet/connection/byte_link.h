// SPDX-License-Identifier: BSD-3-Clause
// A byte link carries the bytes of a connection: two ordered streams without loss, each with an
// end. A TCP connection is one. A tap, a link that is made slow, or a ring in memory can be others.
// The code above a link knows no sockets.
//
// A link has one owner. DATA calls are made under the owner's lock, from any thread, and never
// block. CONTROL calls are made with the driver token. Failures are errno values, like those of the
// system calls of the same names.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_BYTE_LINK_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_BYTE_LINK_H_

#include <sys/socket.h>
#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "wire/bytes.h"

namespace softdat::softnet {

// What is known at one moment about whether the peer's end of a link lives.
struct PathSample {
  bool outstanding = false;  // bytes exist that the peer's end has not acknowledged
  // Something was sent that a living peer answers at once: data, or a probe of a closed window.
  bool asked = false;
  std::chrono::milliseconds since_answer{0};  // since the last acknowledgement
};

class ByteLink {
 public:
  ByteLink() = default;
  ByteLink(const ByteLink&) = delete;
  ByteLink& operator=(const ByteLink&) = delete;
  // Closes the link at once. ConnectionContext has gentler ways to end one.
  virtual ~ByteLink() = default;

  // ---- DATA ----
  // Send and Receive return the number of bytes moved. They return -1 with errno EAGAIN when there
  // is no room or nothing to read, with EINTR, or with the reason why the link has failed. Receive
  // and Peek return 0 after the peer's last byte. Peek checks whether a byte has arrived and leaves
  // it there.
  virtual ssize_t Send(const iovec* iov, size_t count) = 0;
  virtual ssize_t Receive(const iovec* iov, size_t count) = 0;
  // Messages are about to be sent that are so large (128 KiB) that they need not wait in the link
  // as a whole.
  virtual void ExpectBulk() {}
  // The end comes: the last segment is to find room, behind what waits already, as far as possible.
  virtual void MakeRoom() {}
  virtual ssize_t Peek() = 0;
  // A link whose bytes lie in memory may show them there. Lend: the next ones, or none, which says
  // nothing about what Receive would return. The peer may change them at any time, so whoever looks
  // at one of them takes a copy first. TakeBack: the first `size` of them are used. Returns whether
  // there were more, in this piece or behind it.
  bool lends() const { return lends_; }
  virtual ByteSpan Lend() { return {}; }
  virtual bool TakeBack(size_t /*size*/) { return false; }
  // Whether a cheap look says that Receive would return EAGAIN. False when only a call can tell.
  virtual bool Silent() const { return false; }
  // The number of sent bytes that have not reached the peer's end.
  virtual int UnsentBytes() const = 0;
  virtual PathSample SamplePath() const = 0;
  // Returns once why the link has failed. 0: it has not.
  virtual int TakeError() = 0;
  // Whether both directions are over and the peer's system ended them.
  virtual bool PeerHasGone() const = 0;

  // ---- CONTROL ----
  // Starts connecting a new link. Returns 0, EINPROGRESS, or why it failed. The descriptor becomes
  // writable when the link is connected or has failed.
  virtual int Connect(const sockaddr_storage& remote) = 0;
  // After that, once it is connected: makes the link ready for data. If the peer's host vanishes
  // while the link is idle, it is to end after `dead_path`. 0: it need not.
  virtual void Prepare(std::chrono::milliseconds /*dead_path*/) {}
  // For the event loop. WatchFor: the bits of watch_events.h to watch the descriptor for when
  // the owner waits for `events`. Happened: what it means for the owner that `seen` of these bits
  // came. Level-triggered.
  virtual int descriptor() const = 0;
  virtual int WatchFor(int events) { return events; }
  virtual int Happened(int seen) { return seen; }
  // A link may carry bytes past its descriptor, which then only rings when it was asked to.
  // Unheralded: whether what the owner waits for may come without a sign. Look: what of that is
  // there. Herald: asks for a sign from now on; false: something is there already.
  // DescriptorIsOver: nothing will ever show at the descriptor again.
  virtual bool Unheralded() const { return false; }
  virtual int Look() { return 0; }
  virtual bool Herald() { return true; }
  virtual bool DescriptorIsOver() const { return false; }
  // AF_UNSPEC while the link is not connected.
  virtual sockaddr_storage LocalAddress() const = 0;
  virtual sockaddr_storage RemoteAddress() const = 0;
  // The number of bytes that make the best use of one send.
  virtual size_t SegmentSize() const = 0;
  // Payloads of at least this many bytes are worth a call of Receive of their own, straight to
  // where they belong. Shorter ones are read with what is around them and copied once more.
  virtual size_t LeastDirect() const { return size_t{16} << 10; }

 protected:
  enum class Lends : uint8_t { kYes };
  explicit ByteLink(Lends) : lends_(true) {}

 private:
  const bool lends_ = false;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_BYTE_LINK_H_
