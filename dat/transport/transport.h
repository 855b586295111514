// SPDX-License-Identifier: BSD-3-Clause
// The back-end contract: everything that the engine asks of a transport, close to the verbs model.
//
// One Adapter is one open device. The engine owns every object that it creates here, and destroys
// it before the Adapter. For each operation the comment says who calls it, from which thread,
// whether it may block, who owns what, and what a failure leaves behind. This header is the
// complete contract, and is meant to be read from top to bottom.
//
// Rules that hold everywhere
//  * DATA operations (Post*, Poll, Arm) may be called from any thread at any time. They return a
//    plain Code. They never block, and allocate nothing in the steady state. The first request of
//    a kind, or a request of one among many busy connections, may need memory, so it may fail with
//    kNoMemory. The engine never calls two functions of one CompletionQueue at once.
//  * CONTROL operations (everything else) may be called from any thread, also from inside an
//    upcall. While the engine makes such a call, it holds no lock that an upcall needs.
//  * UPCALLS (the Sink classes) are made with no back-end lock held. Connection, listener and
//    asynchronous upcalls of one Adapter are serialised: there are never two at once. A
//    CompletionSink may be called from any thread, also from inside a Post, but not from inside
//    Poll or Arm, because the engine holds a lock there that the sink takes.
//  * Destroying an object waits until no upcall to its sink is running, unless the caller is that
//    upcall. Afterwards no upcall comes.
//  * The engine is responsible for blocking, timeouts of waits, thresholds and fairness between
//    event streams. The back end is responsible for ordering, retransmission, flow control and the
//    connect timeout.
#ifndef SOFTDAT_DAT_TRANSPORT_TRANSPORT_H_
#define SOFTDAT_DAT_TRANSPORT_TRANSPORT_H_

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dat/base/status.h"
#include "dat/transport/waiter.h"
#include "dat2/udat.h"

namespace softdat::transport {

using Clock = std::chrono::steady_clock;
inline constexpr Clock::time_point kForever = Clock::time_point::max();

// ---------------------------------------------------------------------------------------------
// Work requests and completions

// The operation. The receive kinds appear only in completions.
enum class Op : uint8_t {
  kSend,
  kSendInvalidate,
  kRdmaWrite,
  kRdmaWriteImmediate,
  kRdmaRead,
  kFetchAdd,
  kCompareSwap,
  kBind,
  kSendDatagram,  // the only one that a queue pair for datagrams takes
  kReceive,
  kReceiveInvalidate,  // Completion::key is the context that was invalidated
  kReceiveImmediate,   // Completion::key is the immediate value, length the bytes written, if known
  kReceiveDatagram,    // Completion::key is the number of the sender's queue pair
  // A datagram with immediate data. Completion::key is their value, and the sender is told by the
  // header alone.
  kReceiveDatagramImmediate,
};

// How a work request ended. Values are those of DAT_DTO_COMPLETION_STATUS.
enum class WorkStatus : uint8_t {
  kSuccess = 0,
  kFlushed = 1,
  kLocalLength = 2,
  kLocalEp = 3,
  kLocalProtection = 4,
  kBadResponse = 5,
  kRemoteAccess = 6,
  kRemoteResponder = 7,
  kTransport = 8,
  kReceiverNotReady = 9,
  kPartialPacket = 10,
  kBindFailed = 11,
};

// Bits of SendRequest::flags.
enum : uint8_t {
  kSuppress = 1,   // no completion on success; failure and flush always complete
  kSolicited = 2,  // the matching receive at the peer is a solicited completion
  kQuiet = 4,      // completes, but does not notify (DAT_COMPLETION_UNSIGNALLED_FLAG)
  kFence = 8,      // does not start before all earlier reads and atomics of the pair completed
  // For a kRdmaWriteImmediate: a message follows the write instead of immediate data. It holds the
  // 4 bytes of `key`, in the order of this processor's memory, and any receive takes it. The
  // request still has one completion. Only with AdapterAttributes::immediate_as_message.
  kAsMessage = 0x20,
  kExtended = 0x40,  // means nothing to the back end; comes back in the completion
  // For an RDMA write, with immediate data or without: it completes when the peer's end has
  // confirmed that it has the data (in its memory, or by InfiniBand's acknowledgement). Only with
  // AdapterAttributes::confirms_writes.
  kConfirm = 0x80,
};

// The flags that come back in Completion::flags.
inline constexpr uint8_t kEchoed = kQuiet | kExtended;

// The kind of service that a queue pair gives.
enum class Service : uint8_t {
  kReliable,  // one connection to one peer
  kDatagram,  // messages that may be lost, to and from many peers; see QueuePair::Resolve
};

// The size of the header in front of the payload of each received datagram, in the memory of the
// receive. InfiniBand calls it the global route header. IPv6: the IPv6 header. IPv4: 20 bytes
// without a meaning, then the IPv4 header with its checksum. The header tells the sender's address.
// The completion tells the number of the sender's queue pair.
inline constexpr uint32_t kDatagramHeader = 40;  // bytes

class AddressHandle;
class MemoryRegion;
class MemoryWindow;
class QueuePair;

// One request for the send queue. The back end copies what it needs before Post returns. The memory
// that `local` describes belongs to the back end until the completion.
struct SendRequest {
  struct Atomic {
    uint64_t compare;  // kCompareSwap
    uint64_t swap_or_add;
  };
  // Binds `window` to `local[0]` inside `region`, or unbinds it when that length is 0. `key` of the
  // request is the context that NextKey() announced.
  struct Bind {
    MemoryWindow* window;
    MemoryRegion* region;
    uint32_t privileges;  // DAT_MEM_PRIV_*
    bool zero_based;
    void* context;  // Completion::context of this request
  };
  // Sends to the queue pair `number` at `to`, which accepts datagrams with its own `qkey`. The
  // handle must live until the post returns. It may come from any queue pair of the same protection
  // domain.
  struct Datagram {
    const AddressHandle* to;
    uint32_t number;
    uint32_t qkey;
  };

  Op op = Op::kSend;
  uint8_t flags = 0;
  bool sink_is_window = false;   // kRdmaRead: local[0].lmr_context is a window's context
  bool invalidate_sink = false;  // kRdmaRead into a window: unbind it when the data have arrived
  uint32_t key = 0;              // immediate value, or the context to invalidate at the peer
  uint64_t cookie = 0;           // comes back in the completion unchanged
  std::span<const DAT_LMR_TRIPLET> local;  // zero-length segments are legal and ignored
  DAT_RMR_TRIPLET remote{};                // RDMA and atomics: address, length, key at the peer
  // Not initialised for other operations. Most requests are such, and spend nothing on it.
  union {
    Atomic atomic;      // kFetchAdd, kCompareSwap
    Bind bind;          // kBind
    Datagram datagram;  // kSendDatagram
  };
};

struct ReceiveRequest {
  uint64_t cookie = 0;
  std::span<const DAT_LMR_TRIPLET> local;
  uint8_t flags = 0;  // kQuiet, kExtended
};

// One finished work request. The address of a datagram's sender is not here, but in the header that
// was received with the datagram. Nothing else would need the room, and every completion is copied.
struct Completion {
  // QueuePairAttributes::context of the queue pair. For a kBind, successful or not:
  // SendRequest::Bind::context.
  void* context = nullptr;
  uint64_t cookie = 0;
  // The bytes sent, received or read. A received datagram includes kDatagramHeader. Undefined
  // unless kSuccess.
  uint64_t length = 0;
  uint32_t key = 0;  // see Op
  Op op = Op::kSend;
  WorkStatus status = WorkStatus::kSuccess;
  bool solicited = false;  // a receive whose sender set kSolicited, or may have set it
  // The bits of kEchoed that the request was posted with. QueuePairAttributes::solicited_receives
  // may add kQuiet.
  uint8_t flags = 0;

  bool quiet() const { return (flags & kQuiet) != 0; }
};
static_assert(sizeof(Completion) == 32);

// ---------------------------------------------------------------------------------------------
// Upcalls

enum class RejectReason : uint8_t {
  kPeer,         // the peer's consumer refused (dat_cr_reject)
  kNonPeer,      // nobody listens, the backlog is full, or the other end is unsuitable
  kUnreachable,  // no route, no such host
  kTimedOut,     // no answer within the connect timeout
  kAborted,      // the passive side's handshake did not finish (ACCEPT_COMPLETION_ERROR)
};

enum class EndReason : uint8_t {
  kDisconnected,  // by either side, or because the peer's process ended
  kBroken,        // error, dead path, protocol violation, refused remote access
};

// One per queue pair. Each successful Connect or Accept is followed by OnFailed, or by
// OnEstablished and later exactly one OnEnded. All completions that the end of a connection flushes
// are in their completion queues before OnEnded or OnFailed is called. A Disconnect before
// OnEstablished ends in OnEnded(kDisconnected).
class ConnectionSink {
 public:
  virtual ~ConnectionSink() = default;
  // `private_data`: on the active side the acceptor's, on the passive side empty. Valid during the
  // call.
  virtual void OnEstablished(std::span<const uint8_t> private_data) = 0;
  // `private_data`: that of a consumer's reject. `why`: one sentence for log and reason chain.
  virtual void OnFailed(RejectReason reason, std::span<const uint8_t> private_data,
                        const std::string& why) = 0;
  virtual void OnEnded(EndReason reason, const std::string& why) = 0;
  // The queue pair holds more buffers of its SRQ than the soft watermark (SetReceiveWatermarks).
  virtual void OnReceiveWatermark() {}
};

// A way to a peer's address. The back end makes it for a queue pair for datagrams that has met that
// peer. It belongs to the engine, which destroys it before the protection domain. The engine may do
// so while a datagram to that address is on its way. That datagram still completes, and may be
// lost.
class AddressHandle {
 public:
  virtual ~AddressHandle() = default;
};

// What two queue pairs for datagrams tell each other when they meet: where to reach the other one.
struct DatagramPeer {
  std::unique_ptr<AddressHandle> handle;
  uint32_t number = 0;  // of the peer's queue pair; 0: the peer did not tell it
  uint32_t qkey = 0;
  sockaddr_storage address{};  // of the peer, for people; its port has no fixed meaning
};

// One per queue pair for datagrams. Each successful Resolve is followed by exactly one of the two,
// also when its timeout has passed, unless the queue pair is destroyed first.
class DatagramSink {
 public:
  virtual ~DatagramSink() = default;
  // The peer accepted. `token`: the one given to Resolve. `private_data`: the acceptor's, valid
  // during the call. The sink owns `peer`.
  virtual void OnResolved(uint64_t token, DatagramPeer peer,
                          std::span<const uint8_t> private_data) = 0;
  // The peer did not accept. `private_data`: that of a consumer's reject. `why`: one sentence for
  // log and reason chain.
  virtual void OnUnresolved(uint64_t token, RejectReason reason,
                            std::span<const uint8_t> private_data, const std::string& why) = 0;
};

class ConnectionRequest;

class ListenerSink {
 public:
  virtual ~ListenerSink() = default;
  // A request has arrived. The sink takes ownership by moving from `request`. The back end rejects
  // a request that is left in place, as kNonPeer (this is the backlog rule).
  virtual void OnRequest(std::unique_ptr<ConnectionRequest>& request) = 0;
  // Requests wait, because the back end has no descriptor or no memory to take them. They come when
  // it has, if their requesters still wait then. Not called again until a request has come.
  virtual void OnRequestsHeld(const std::string& why) { static_cast<void>(why); }
};

// Called once after a successful Arm(), when a matching completion arrives.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  virtual void OnCompletion() = 0;
  // A completion was lost because the queue was full. Called once for each time that the queue is
  // full.
  virtual void OnOverflow() = 0;
};

// A shared receive queue has fallen below its limit (one-shot, see SetLimit), or has lost its
// device.
class SharedReceiveSink {
 public:
  virtual ~SharedReceiveSink() = default;
  virtual void OnLimit() = 0;
};

class AdapterSink {
 public:
  virtual ~AdapterSink() = default;
  virtual void OnCatastrophic(const std::string& why) = 0;
};

// ---------------------------------------------------------------------------------------------
// Objects

class ProtectionDomain {
 public:
  virtual ~ProtectionDomain() = default;
};

// Registered memory. Destruction invalidates both keys at once. Work that still uses them fails
// later.
class MemoryRegion {
 public:
  virtual ~MemoryRegion() = default;
  virtual uint32_t local_key() const = 0;
  virtual uint32_t remote_key() const = 0;  // 0 when no remote privilege was requested
};

// A window (RMR). SendRequest kBind binds and unbinds it. Destruction unbinds it.
class MemoryWindow {
 public:
  virtual ~MemoryWindow() = default;
  // Returns the context that the next bind will have. Each call returns a new one. Never blocks.
  virtual uint32_t NextKey() = 0;
  // Whether the window is bound under `key` now: that bind has completed, and no later bind and no
  // invalidation has undone it. Any thread. Never blocks. A back end that cannot tell returns true.
  virtual bool IsBound(uint32_t key) const { return key != 0; }
};

class CompletionQueue {
 public:
  virtual ~CompletionQueue() = default;
  // DATA. Moves up to out.size() completions out, oldest first. Returns how many.
  virtual size_t Poll(std::span<Completion> out) = 0;
  // DATA. Asks for one OnCompletion at the next arrival of a completion that is not quiet, or has
  // failed. With solicited_only, of a completion that is solicited, or has failed. Returns false
  // and arms nothing when the queue is not empty.
  virtual bool Arm(bool solicited_only) = 0;
  // CONTROL. Keeps the queued completions. Fails with kInvalidState when more than `capacity` are
  // queued.
  virtual Status Resize(uint32_t capacity) = 0;
};

struct QueuePairAttributes {
  // Configure never changes it. kDatagram only with AdapterAttributes::datagrams.
  Service service = Service::kReliable;
  void* context = nullptr;             // returned in completions
  ProtectionDomain* pd = nullptr;      // may be null until Configure, but not when connecting
  CompletionQueue* send_cq = nullptr;  // null: completions of this direction are dropped
  CompletionQueue* recv_cq = nullptr;
  class SharedReceiveQueue* srq = nullptr;
  uint32_t max_send = 0;  // the most requests outstanding
  uint32_t max_recv = 0;
  uint32_t max_send_iov = 0;
  uint32_t max_recv_iov = 0;
  uint32_t max_read_iov = 0;  // of RDMA reads, if less than max_send_iov; 0: the same
  uint32_t max_read_in = 0;   // reads and atomics that the peer may have outstanding here
  uint32_t max_read_out = 0;
  // Receives are quiet unless they are solicited or fail. A back end that cannot recognise a
  // solicited receive ignores this. Then only CompletionQueue::Arm(true) distinguishes them.
  bool solicited_receives = false;
  ConnectionSink* sink = nullptr;         // kReliable
  DatagramSink* datagram_sink = nullptr;  // kDatagram
};

struct ConnectParameters {
  sockaddr_storage remote{};  // port ignored
  uint64_t conn_qual = 0;
  std::chrono::microseconds timeout{0};   // microseconds::max() = no limit
  std::span<const uint8_t> private_data;  // copied
};

// Where a connection leads. Zeroed (AF_UNSPEC) while there is none.
struct ConnectionAddresses {
  sockaddr_storage local{};
  sockaddr_storage remote{};
  uint64_t local_port = 0;
  uint64_t remote_port = 0;
};

enum class DisconnectMode : uint8_t { kGraceful, kAbrupt };

// A queue pair. There are two services.
//
// kReliable: connected to one other pair. States: idle -> (Connect | Accept) -> connecting ->
// connected -> ended -> (Reset) -> idle. Receives may be posted in every state. In `ended`,
// receives and sends are accepted and flushed at once. Sends in idle or connecting fail with
// kInvalidState.
//
// kDatagram: no states. From its creation on, the pair receives every datagram that carries its
// Q_Key, if it has a protection domain. The back end chooses the Q_Key. The pair takes receives,
// and as sends only kSendDatagram, with at most AdapterAttributes::max_datagram bytes. A send
// completes when the device has taken it. A datagram is lost, without a word to anybody, in these
// cases: its destination has no receive; the receive is shorter than header and payload (it stays,
// but a receive of an SRQ completes with a failure); the Q_Key is another one; nobody is there. No
// failure ends the pair. Datagrams from one pair to another one on the same host arrive in order.
// Connect, Disconnect and Reset are not called.
class QueuePair {
 public:
  virtual ~QueuePair() = default;  // aborts a connection; unreaped completions stay in their queues
  // DATA. kQueueFull when max_send requests have not completed yet (a slot is free as soon as its
  // work has completed, reaped or not); kProtection, kPrivileges, kOutOfBounds for local segments
  // if the back end checks them at the post; kLength for RDMA lengths (semantics 10.1) and for
  // datagrams that are too long; kInvalidArgument for operations that the service of the pair does
  // not have. A failed post leaves nothing behind.
  virtual Code PostSend(const SendRequest& request) = 0;
  virtual Code PostReceive(const ReceiveRequest& request) = 0;
  // CONTROL. Replaces all attributes. Allowed only while idle or ended; for a pair for datagrams,
  // before the first Resolve and AcceptDatagrams. Posted receives survive, even those with more
  // segments than the new max_recv_iov. kInvalidState otherwise, and when max_recv is smaller than
  // the number of posted receives.
  virtual Status Configure(const QueuePairAttributes& attributes) = 0;
  // CONTROL, asynchronous: a result that only the wire can tell comes as an upcall. A failure
  // leaves the pair idle.
  virtual Status Connect(const ConnectParameters& parameters) = 0;
  // CONTROL, asynchronous, kDatagram. Asks the listener at an address and qualifier for a queue
  // pair to send to, and tells it about this one. OnResolved or OnUnresolved follows, with the
  // `token` that the engine chose. Any number may be under way at once, even to one peer, and each
  // gets its own answer. kInvalidState without a protection domain. A failure leaves nothing
  // behind.
  virtual Status Resolve(const ConnectParameters& parameters, uint64_t token) {
    static_cast<void>(parameters);
    static_cast<void>(token);
    return NoDatagrams();
  }
  // CONTROL, asynchronous, idempotent. Graceful: posted sends complete first, and new ones are
  // refused (kInvalidState). Abrupt: everything outstanding is flushed. Does nothing in idle or
  // ended.
  virtual void Disconnect(DisconnectMode mode) = 0;
  // CONTROL. ended -> idle. Drops receives that were not flushed yet. Does nothing in idle.
  virtual Status Reset() = 0;
  virtual ConnectionAddresses Addresses() const = 0;
  // The number of posted requests that have not completed, for dat_ep_get_status. Any thread.
  virtual uint32_t OutstandingSends() const = 0;
  // With an SRQ: the buffers that were taken from it for this pair and have not completed.
  virtual uint32_t OutstandingReceives() const = 0;
  // For the present connection, or the last one. False when its peer does not confirm, so that
  // completions mean less than AdapterAttributes::confirmed_completions says. Any thread.
  virtual bool ConfirmsCompletions() const { return true; }
  // CONTROL, kReliable with an SRQ, only with AdapterAttributes::receive_watermarks. Allowed in any
  // state. Replaces earlier watermarks, and kNoWatermark switches one off. When the pair holds more
  // than `soft` buffers, OnReceiveWatermark comes once, at once if it holds them already. When it
  // holds more than `hard`, the connection breaks.
  virtual Status SetReceiveWatermarks(uint32_t soft, uint32_t hard) {
    static_cast<void>(soft);
    static_cast<void>(hard);
    return Status(Code::kNotSupported,
                  "this back end does not count the receive buffers of an endpoint");
  }

  // The answer of the operations for datagrams if a back end has none.
  static Status NoDatagrams() {
    return Status(Code::kNotSupported, "this back end has no unreliable datagrams");
  }
};
inline constexpr uint32_t kNoWatermark = UINT32_MAX;

class SharedReceiveQueue {
 public:
  virtual ~SharedReceiveQueue() = default;
  virtual Code PostReceive(const ReceiveRequest& request) = 0;  // DATA
  virtual Status Resize(uint32_t capacity) = 0;
  // One-shot. OnLimit comes when the free buffers fall below `limit`, at once if they already have.
  // 0 disarms.
  virtual Status SetLimit(uint32_t limit) = 0;
  virtual uint32_t Available() const = 0;  // buffers posted and not yet taken by a message
};

// An incoming request that nobody has answered yet. Destroying it rejects it as kNonPeer.
class ConnectionRequest {
 public:
  virtual ~ConnectionRequest() = default;
  // The requester's private data. They belong to the request, are writable, and do not move until
  // the request dies. They may be passed to Accept or Reject.
  virtual std::span<uint8_t> private_data() = 0;
  virtual const ConnectionAddresses& addresses() const = 0;
  virtual uint64_t conn_qual() const = 0;
  // The service that the requester asks for. Only a queue pair of this service can accept it.
  virtual Service service() const { return Service::kReliable; }
  // Whether it came here by Handoff() instead of from its requester.
  virtual bool handed_on() const { return false; }
  // CONTROL, asynchronous. OnEstablished or OnFailed(kAborted) of `qp` follows. On a failure the
  // request and the queue pair are unchanged. After success the request is spent and may only be
  // destroyed.
  virtual Status Accept(QueuePair& qp, std::span<const uint8_t> private_data) = 0;
  // CONTROL. Accepts a request for datagrams: tells the requester about `qp`, and returns the
  // requester. `qp` may accept any number of requests. No upcall follows, and whether the answer
  // arrives is not reported. On a failure the request is unchanged. After success it is spent and
  // may only be destroyed.
  virtual Result<DatagramPeer> AcceptDatagrams(QueuePair& qp,
                                               std::span<const uint8_t> private_data) {
    static_cast<void>(qp);
    static_cast<void>(private_data);
    return QueuePair::NoDatagrams();
  }
  virtual Status Reject(std::span<const uint8_t> private_data) = 0;
  // CONTROL. Gives the request to the listener of `conn_qual` of another adapter on this host.
  // There it arrives like any other, and the back end rejects it if it is left in place. May block
  // for some seconds when that adapter belongs to another process. After success the request is
  // spent and may only be destroyed. On a failure it is unchanged. kNotFound: nobody listens there.
  // kNoFreeQualifier: somebody listens but does not take it. kNoResources.
  virtual Status Handoff(uint64_t conn_qual) {
    static_cast<void>(conn_qual);
    return Status(Code::kNotFound, "this back end hands requests on within one IA only");
  }
};

// Listens from creation to destruction, for requests of every service that the adapter has.
// Requests that the sink took stay valid after the listener is gone.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual uint64_t conn_qual() const = 0;
};

struct ListenParameters {
  uint64_t conn_qual = 0;                     // ignored with `any`
  bool any = false;                           // the back end chooses a free qualifier
  const sockaddr_storage* address = nullptr;  // null: the adapter's own address and every local one
  ListenerSink* sink = nullptr;
};

struct RegionParameters {
  void* address = nullptr;
  uint64_t length = 0;
  uint32_t privileges = 0;  // DAT_MEM_PRIV_*; local read is always granted
  bool zero_based = false;  // triplet addresses are offsets into the region
};

// What the device is and can do. Capabilities are data: the engine never calls an operation whose
// flag is false.
struct AdapterAttributes {
  std::string device_name;  // "lo", "mlx5_0"
  std::string vendor;
  sockaddr_storage address{};
  uint32_t max_qps = 0, max_qp_work = 0, max_iov = 0, max_read_in = 0, max_read_out = 0;
  uint32_t max_cqs = 0, max_cq_depth = 0, max_pds = 0, max_regions = 0, max_windows = 0;
  uint32_t max_srqs = 0, max_srq_depth = 0;
  uint64_t max_message = 0;       // bytes, also the limit of one RDMA operation
  uint32_t max_private_data = 0;  // bytes, each way
  uint32_t mtu = 0;               // bytes, for DAT_IB_TRANSPORT_MTU
  bool windows = false;
  bool zone_windows =
      true;  // a window works over every queue pair of its domain, not its binder's alone
  bool zero_based = false;        // wherever the region lies
  bool zero_based_pages = false;  // regions that begin with a page, at least
  bool immediate = false;
  bool immediate_as_message = false;  // kAsMessage
  bool atomics = false;
  bool invalidate = false;  // send with invalidate, read to a window
  bool srq = false;
  bool datagrams = false;           // Service::kDatagram
  uint32_t max_datagram = 0;        // bytes of payload
  bool receive_watermarks = false;  // QueuePair::SetReceiveWatermarks
  bool confirms_writes = false;     // kConfirm
  // How many segments the device reads into with one request. An EP that asks for more gets them,
  // up to max_iov, and each segment takes a place of its send queue. 0: the same as max_iov.
  uint32_t plain_read_iov = 0;
  // iWARP. The peer of an RDMA read learns the key of its sink and may write there, whatever the
  // privileges of the region are.
  bool shows_read_sink = false;
  bool read_sink_remote_write = false;
  // The meaning of a successful send or RDMA write. True: the data are in the peer's memory. False:
  // only the device has taken the data, so they can still be lost or refused.
  bool confirmed_completions = false;
};

enum class ProgressResult : uint8_t {
  kWorked,     // something moved
  kIdle,       // nothing to do (without a waiter), or woken without a reason for this thread
  kSignalled,  // the waiter was signalled
  kTimedOut,
  kInterrupted,  // a signal handler ran in this thread
};

class Adapter {
 public:
  // When the engine calls it, all objects are gone. Joins the back end's threads.
  virtual ~Adapter() = default;

  virtual const AdapterAttributes& attributes() const = 0;

  // DATA. The clock of all deadlines. A simulated back end overrides it with virtual time.
  virtual Clock::time_point Now() const { return Clock::now(); }

  // CONTROL. Each returns an object or the Status that explains its absence.
  virtual Result<std::unique_ptr<ProtectionDomain>> CreateProtectionDomain() = 0;
  virtual Result<std::unique_ptr<MemoryRegion>> RegisterMemory(ProtectionDomain& pd,
                                                               const RegionParameters& p) = 0;
  // `exclusive_to_qp` (scope EP): the window works only over the queue pair that binds it.
  virtual Result<std::unique_ptr<MemoryWindow>> CreateWindow(ProtectionDomain& pd,
                                                             bool exclusive_to_qp) = 0;
  virtual Result<std::unique_ptr<CompletionQueue>> CreateCompletionQueue(uint32_t capacity,
                                                                         CompletionSink* sink) = 0;
  virtual Result<std::unique_ptr<QueuePair>> CreateQueuePair(const QueuePairAttributes& a) = 0;
  virtual Result<std::unique_ptr<SharedReceiveQueue>> CreateSharedReceiveQueue(
      ProtectionDomain& pd, uint32_t capacity, uint32_t max_iov, SharedReceiveSink* sink) = 0;
  // The listener listens when the call returns. kInUse when the qualifier is taken.
  virtual Result<std::unique_ptr<Listener>> Listen(const ListenParameters& p) = 0;
  // Checks that each segment lies inside one region of this adapter (dat_lmr_sync_*).
  virtual Code CheckSegments(std::span<const DAT_LMR_TRIPLET> segments) = 0;

  // Moves data with the calling thread. Without a waiter: one turn that never blocks. With a
  // waiter: does what is ready. If nothing is ready, blocks in the back end's own way until the
  // waiter is signalled, the deadline passes, a signal handler runs, or there may be something to
  // look at (kWorked, kIdle). The caller loops. If several threads wait, one drives the back end,
  // and the others park on their waiters. Makes upcalls from this thread. This is the only call
  // that may block for long, and it is a cancellation point. A thread that is cancelled inside
  // leaves the adapter as usable as before.
  virtual ProgressResult Progress(Waiter* waiter, Clock::time_point deadline) = 0;

  // Progress() without a waiter, for a thread that looks for completions of `queue`. The back end
  // may look first where those come from.
  virtual ProgressResult Poll(CompletionQueue& queue) {
    static_cast<void>(queue);
    return Progress(nullptr, {});
  }

  // One step of active waiting for a completion of `queue`, for a thread that has not armed
  // anything yet. Moves data like Poll(), and gives the processor to others when nothing came.
  // `*until` belongs to the caller and is default-constructed at first. The back end stores there
  // when this wait has been active for long enough, which is `deadline` at the latest.
  //   kWorked    something moved; look for it
  //   kIdle      nothing yet; call again
  //   kTimedOut  long enough, or this back end does not wait actively: arm, and block in Progress()
  virtual ProgressResult Spin(CompletionQueue& queue, Clock::time_point deadline,
                              Clock::time_point* until) {
    static_cast<void>(queue);
    static_cast<void>(deadline);
    static_cast<void>(until);
    return ProgressResult::kTimedOut;
  }

  // CONTROL. A descriptor for the poll() of a program that sleeps in its own loop. It is readable
  // when LookAround() would find something to do, and now and then when it would not. It belongs to
  // the adapter and lives as long. -1: there is none, and the back end's own threads find what
  // arrives.
  virtual int ProgressDescriptor() { return -1; }

  // DATA. One turn that never blocks, like Progress() without a waiter. It handles some or all of
  // what makes ProgressDescriptor() readable. The descriptor is level-triggered, so it stays
  // readable if something is left.
  virtual ProgressResult LookAround() { return Progress(nullptr, {}); }

  // The process ends without having closed this adapter. Tells the peers what was carried out for
  // them and is not reported yet, as an adapter would have done by itself. Waits for peers that do
  // not take it at once, all together until `deadline`, and hardly for threads of this process,
  // because the program may have left in the middle of a call.
  virtual void OnProcessExit(Clock::time_point deadline) { (void)deadline; }

  // To be called in a forked child. Forgets everything without touching the wire or the parent's
  // descriptors.
  virtual void AbandonAfterFork() = 0;
};

// A back end, in the form in which the provider library offers it.
class Backend {
 public:
  struct Device {
    std::string name;         // IA name, "softnet-lo"
    std::string unavailable;  // why it cannot be opened now; empty when it can
  };

  virtual ~Backend() = default;
  // Lists every IA name that Open may accept on this host now. May make system calls, but opens
  // nothing.
  virtual std::vector<Device> Devices() = 0;
  // `name`: the IA name, or the replacement for it in dat.conf's parameter field. The sink must
  // outlive the adapter.
  virtual Result<std::unique_ptr<Adapter>> Open(const std::string& name, AdapterSink* sink) = 0;
};

}  // namespace softdat::transport

#endif  // SOFTDAT_DAT_TRANSPORT_TRANSPORT_H_
