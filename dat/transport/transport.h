// SPDX-License-Identifier: BSD-3-Clause
// The back-end contract: everything the engine asks of a transport, near the verbs model.
//
// One Adapter is one open device. The engine owns every object it creates here and destroys it
// before the Adapter. For each operation the comment says: who calls it, from which thread, whether
// it may block, who owns what, and what a failure leaves behind. Read it top to bottom; it is all
// there is.
//
// Rules that hold everywhere
//  * DATA operations (Post*, Poll, Arm) may be called from any thread at any time, never block,
//    allocate nothing in the steady state (memory for the first request of a kind, or for one of
//    many connections that are busy at once, may come with it: kNoMemory), and return a plain Code.
//    Calls on one CompletionQueue's Poll are serialised by the engine.
//  * CONTROL operations (everything else) may be called from any thread, also from inside an
//    upcall. The engine holds no lock of its own that an upcall needs while it makes one.
//  * UPCALLS (the Sink classes) are made with no back-end lock held. Connection, listener and
//    asynchronous upcalls of one Adapter are serialised: never two at once. CompletionSink may be
//    called from any thread, also from inside a Post, but not from inside Poll or Arm: the engine
//    holds a lock there that the sink takes.
//  * Destroying an object waits until no upcall to its sink is running (unless the caller is that
//    upcall) and after it none will come.
//  * Blocking, timeouts of waits, thresholds and fairness between event streams are the engine's.
//    Ordering, retransmission, flow control and the connect timeout are the back end's.
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

// What was asked for. The receive kinds appear in completions only.
enum class Op : uint8_t {
  kSend,
  kSendInvalidate,
  kRdmaWrite,
  kRdmaWriteImmediate,
  kRdmaRead,
  kFetchAdd,
  kCompareSwap,
  kBind,
  kSendDatagram,  // the only one of a queue pair for datagrams
  kReceive,
  kReceiveInvalidate,  // Completion::key is the context that was invalidated
  kReceiveImmediate,   // Completion::key is the immediate value; length the bytes written, if known
  kReceiveDatagram,    // Completion::key is the number of the queue pair that it came from
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
  kSuppress = 1,   // no completion when it succeeds; failure and flush always complete
  kSolicited = 2,  // the matching receive at the peer is a solicited completion
  kQuiet = 4,      // complete, but do not notify (DAT_COMPLETION_UNSIGNALLED_FLAG)
  kFence = 8,      // do not start before all earlier reads and atomics of this queue pair completed
  // A kRdmaWriteImmediate: what goes behind the write is a message of the 4 bytes of `key`, as this
  // processor has them in memory; any receive takes it. Where
  // AdapterAttributes::immediate_as_message. One request, one completion.
  kAsMessage = 0x20,
  kExtended = 0x40,  // nothing to the back end: comes back in the completion
  // An RDMA write, with immediate data or without: complete when the peer's end has confirmed that
  // it has the data (in its memory, or by InfiniBand's acknowledgement). Where
  // AdapterAttributes::confirms_writes.
  kConfirm = 0x80,
};

// What comes back in Completion::flags.
inline constexpr uint8_t kEchoed = kQuiet | kExtended;

// What a queue pair is for.
enum class Service : uint8_t {
  kReliable,  // one connection to one peer
  kDatagram,  // messages that may be lost, to and from many peers; see QueuePair::Resolve
};

// In front of the payload of each datagram that is received, in the memory of the receive: what
// InfiniBand calls the global route header. IPv6: the IPv6 header. IPv4: 20 bytes that mean
// nothing, and the IPv4 header with its checksum. It tells the sender's address; the completion
// tells the number of its queue pair.
inline constexpr uint32_t kDatagramHeader = 40;  // bytes

class AddressHandle;
class MemoryRegion;
class MemoryWindow;
class QueuePair;

// One request for the send queue. The back end copies what it needs before Post returns; the memory
// that `local` describes belongs to the back end until the completion.
struct SendRequest {
  struct Atomic {
    uint64_t compare;  // kCompareSwap
    uint64_t swap_or_add;
  };
  // `window` becomes bound to `local[0]` inside `region`, or unbound when that length is 0. `key`
  // of the request is the context that NextKey() announced.
  struct Bind {
    MemoryWindow* window;
    MemoryRegion* region;
    uint32_t privileges;  // DAT_MEM_PRIV_*
    bool zero_based;
    void* context;  // Completion::context of this request
  };
  // To the queue pair `number` at `to`, which takes what carries its `qkey`. The handle must live
  // until the post returns; it may be of any queue pair of the same protection domain.
  struct Datagram {
    const AddressHandle* to;
    uint32_t number;
    uint32_t qkey;
  };

  Op op = Op::kSend;
  uint8_t flags = 0;
  bool sink_is_window = false;   // kRdmaRead: local[0].lmr_context is a window's context
  bool invalidate_sink = false;  // kRdmaRead into a window: unbind it when the data is there
  uint32_t key = 0;              // immediate value, or the context to invalidate at the peer
  uint64_t cookie = 0;           // comes back in the completion, bit for bit
  std::span<const DAT_LMR_TRIPLET> local;  // zero-length segments are legal and are ignored
  DAT_RMR_TRIPLET remote{};                // RDMA and atomics: address, length, key at the peer
  // Undefined for other operations, which are most: nothing is spent on it.
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

// One finished work request. The address of a datagram's sender is not here but in the header that
// it was received with: nothing else would need the room, and every completion is copied.
struct Completion {
  // QueuePairAttributes::context of the queue pair; of a kBind, successful or not:
  // SendRequest::Bind::context.
  void* context = nullptr;
  uint64_t cookie = 0;
  // Bytes sent, received or read; of a datagram received, kDatagramHeader among them. Undefined
  // unless kSuccess.
  uint64_t length = 0;
  uint32_t key = 0;  // see Op
  Op op = Op::kSend;
  WorkStatus status = WorkStatus::kSuccess;
  bool solicited = false;  // a receive whose sender asked for kSolicited, or may have
  // Those of kEchoed that it was posted with; also kQuiet by
  // QueuePairAttributes::solicited_receives.
  uint8_t flags = 0;

  bool quiet() const { return (flags & kQuiet) != 0; }
};
static_assert(sizeof(Completion) == 32);

// ---------------------------------------------------------------------------------------------
// Upcalls

enum class RejectReason : uint8_t {
  kPeer,         // the peer's consumer said no (dat_cr_reject)
  kNonPeer,      // nobody listens, backlog full, or the other end is not what we need
  kUnreachable,  // no route, no such host
  kTimedOut,     // no answer within the connect timeout
  kAborted,      // the passive side's handshake did not finish (ACCEPT_COMPLETION_ERROR)
};

enum class EndReason : uint8_t {
  kDisconnected,  // by either side, or because the peer's process ended
  kBroken,        // error, dead path, protocol violation, refused remote access
};

// One per queue pair. For each successful Connect or Accept: either OnFailed, or OnEstablished
// followed by exactly one OnEnded. All completions that the end of a connection flushes are in
// their completion queues before OnEnded or OnFailed is called. A Disconnect before OnEstablished
// ends in OnEnded(kDisconnected).
class ConnectionSink {
 public:
  virtual ~ConnectionSink() = default;
  // `private_data` is the acceptor's on the active side, empty on the passive one; valid during the
  // call.
  virtual void OnEstablished(std::span<const uint8_t> private_data) = 0;
  // `private_data` of a consumer's reject; `why` is one sentence for log and reason chain.
  virtual void OnFailed(RejectReason reason, std::span<const uint8_t> private_data,
                        const std::string& why) = 0;
  virtual void OnEnded(EndReason reason, const std::string& why) = 0;
  // The queue pair holds more buffers of its SRQ than the soft watermark (SetReceiveWatermarks).
  virtual void OnReceiveWatermark() {}
};

// A way to a peer's address, made by the back end for a queue pair for datagrams when it has met
// that peer. Belongs to the engine, which destroys it before the protection domain, and may do so
// while a datagram to it is on its way: that one completes all the same, and may be lost.
class AddressHandle {
 public:
  virtual ~AddressHandle() = default;
};

// What two queue pairs for datagrams tell each other when they meet: where the other one is.
struct DatagramPeer {
  std::unique_ptr<AddressHandle> handle;
  uint32_t number = 0;  // of its queue pair; 0: the peer did not tell
  uint32_t qkey = 0;
  sockaddr_storage address{};  // of the peer, for people; the port is its own business
};

// One per queue pair for datagrams. For each successful Resolve: exactly one of the two, also after
// its timeout, unless the queue pair is destroyed first.
class DatagramSink {
 public:
  virtual ~DatagramSink() = default;
  // The peer accepted. `token` is Resolve's; `private_data` is the acceptor's and valid during the
  // call; the sink owns `peer`.
  virtual void OnResolved(uint64_t token, DatagramPeer peer,
                          std::span<const uint8_t> private_data) = 0;
  // It did not. `private_data` is that of a consumer's reject; `why` is one sentence for log and
  // reason chain.
  virtual void OnUnresolved(uint64_t token, RejectReason reason,
                            std::span<const uint8_t> private_data, const std::string& why) = 0;
};

class ConnectionRequest;

class ListenerSink {
 public:
  virtual ~ListenerSink() = default;
  // A request arrived. The sink takes ownership by moving from `request`; a request left in place
  // is rejected by the back end as kNonPeer (this is the backlog rule).
  virtual void OnRequest(std::unique_ptr<ConnectionRequest>& request) = 0;
  // Requests wait because the back end has no descriptor or no memory to take them; they come when
  // it has, if their requesters still wait then. Called once, until one came again.
  virtual void OnRequestsHeld(const std::string& why) { static_cast<void>(why); }
};

// "This queue has something": called once after a successful Arm() when a completion that matches
// arrives.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  virtual void OnCompletion() = 0;
  // A completion was lost because the queue was full. Called once per episode.
  virtual void OnOverflow() = 0;
};

// A shared receive queue fell below its limit (one-shot, see SetLimit), or lost its device.
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

// Registered memory. Destruction invalidates both keys at once; work that still uses them fails
// later.
class MemoryRegion {
 public:
  virtual ~MemoryRegion() = default;
  virtual uint32_t local_key() const = 0;
  virtual uint32_t remote_key() const = 0;  // 0 when no remote privilege was asked for
};

// A window (RMR). Bound and unbound by SendRequest kBind. Destruction unbinds it.
class MemoryWindow {
 public:
  virtual ~MemoryWindow() = default;
  // The context that the next bind will have; each call gives a fresh one. Never blocks.
  virtual uint32_t NextKey() = 0;
  // Whether the window is bound under `key` now: that bind has completed, and neither a later bind
  // nor an invalidation undid it. Any thread, never blocks. A back end that cannot tell says true.
  virtual bool IsBound(uint32_t key) const { return key != 0; }
};

class CompletionQueue {
 public:
  virtual ~CompletionQueue() = default;
  // DATA. Moves up to out.size() completions out, oldest first; returns how many.
  virtual size_t Poll(std::span<Completion> out) = 0;
  // DATA. Asks for one OnCompletion at the next arrival: any completion that is not quiet, or
  // failed; with solicited_only, any solicited or failed one. Returns false, and arms nothing, when
  // the queue is not empty.
  virtual bool Arm(bool solicited_only) = 0;
  // CONTROL. Keeps what is queued. Fails with kInvalidState when more than `capacity` are queued.
  virtual Status Resize(uint32_t capacity) = 0;
};

struct QueuePairAttributes {
  // Never changed by Configure. kDatagram where AdapterAttributes::datagrams.
  Service service = Service::kReliable;
  void* context = nullptr;             // returned in completions
  ProtectionDomain* pd = nullptr;      // may be null until Configure, but not when connecting
  CompletionQueue* send_cq = nullptr;  // null: completions of that direction are dropped
  CompletionQueue* recv_cq = nullptr;
  class SharedReceiveQueue* srq = nullptr;
  uint32_t max_send = 0;  // requests outstanding at most
  uint32_t max_recv = 0;
  uint32_t max_send_iov = 0;
  uint32_t max_recv_iov = 0;
  uint32_t max_read_iov = 0;  // of RDMA reads, if that is less than max_send_iov; 0: as that
  uint32_t max_read_in = 0;   // reads and atomics the peer may have outstanding here
  uint32_t max_read_out = 0;
  // Receives are quiet unless they are solicited or fail. A back end that cannot tell a solicited
  // receive leaves it: then CompletionQueue::Arm(true) is all there is.
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

// Where a connection leads; zeroed (AF_UNSPEC) while there is none.
struct ConnectionAddresses {
  sockaddr_storage local{};
  sockaddr_storage remote{};
  uint64_t local_port = 0;
  uint64_t remote_port = 0;
};

enum class DisconnectMode : uint8_t { kGraceful, kAbrupt };

// A queue pair, of one of two services.
//
// kReliable: connected to one other. States: idle -> (Connect | Accept) -> connecting -> connected
// -> ended -> (Reset) -> idle. Receives may be posted in every state; in `ended` they and sends are
// accepted and flushed at once. Sends in idle or connecting fail with kInvalidState.
//
// kDatagram: no state. From its creation on it receives, if it has a protection domain, whatever
// carries its Q_Key, which the back end chooses. It takes receives, and kSendDatagram alone, of at
// most AdapterAttributes::max_datagram bytes; a send completes when the device has it. A datagram
// is lost without a word to anybody when it finds no receive at its destination, or one that is
// shorter than header and payload (which stays; a receive of an SRQ is over with a failure),
// another Q_Key, or nobody. No failure ends the pair. What one pair sends to another one on the
// same host arrives in order. Connect, Disconnect and Reset are not called.
class QueuePair {
 public:
  virtual ~QueuePair() = default;  // aborts a connection; unreaped completions stay in their queues
  // DATA. kQueueFull when max_send requests have not completed yet (a slot is free as soon as the
  // work completed, reaped or not); kProtection, kPrivileges, kOutOfBounds for local segments where
  // the back end checks at post; kLength for RDMA lengths (semantics 10.1) and too long datagrams;
  // kInvalidArgument for what the service of the pair does not have. A failed post leaves nothing
  // behind.
  virtual Code PostSend(const SendRequest& request) = 0;
  virtual Code PostReceive(const ReceiveRequest& request) = 0;
  // CONTROL. Replaces all attributes; only while idle or ended; of a pair for datagrams, before the
  // first Resolve and AcceptDatagrams. Posted receives survive, also those
  // with more segments than max_recv_iov says now. kInvalidState, also when max_recv is fewer than
  // are posted.
  virtual Status Configure(const QueuePairAttributes& attributes) = 0;
  // CONTROL, asynchronous: what only the wire can tell comes as an upcall. A failure leaves the
  // pair idle.
  virtual Status Connect(const ConnectParameters& parameters) = 0;
  // CONTROL, asynchronous, kDatagram: asks the listener at an address and qualifier for a queue
  // pair to send to, and lets it know of this one. OnResolved or OnUnresolved with `token` follows,
  // which the engine chooses. Any number may be under way at once, also to one peer; each is
  // answered by itself. kInvalidState without a protection domain. A failure leaves nothing behind.
  virtual Status Resolve(const ConnectParameters& parameters, uint64_t token) {
    static_cast<void>(parameters);
    static_cast<void>(token);
    return NoDatagrams();
  }
  // CONTROL, asynchronous, idempotent. Graceful: posted sends complete first, new ones are refused
  // (kInvalidState); abrupt: everything outstanding is flushed. In idle or ended: nothing happens.
  virtual void Disconnect(DisconnectMode mode) = 0;
  // CONTROL. ended -> idle; drops receives that were not flushed yet. In idle: nothing happens.
  virtual Status Reset() = 0;
  virtual ConnectionAddresses Addresses() const = 0;
  // Work posted and not completed yet, for dat_ep_get_status. Any thread.
  virtual uint32_t OutstandingSends() const = 0;
  // With an SRQ: the buffers taken from it for this pair and not completed yet.
  virtual uint32_t OutstandingReceives() const = 0;
  // Of the connection, or the last one: false when its peer does not confirm, so that completions
  // mean less than AdapterAttributes::confirmed_completions says. Any thread.
  virtual bool ConfirmsCompletions() const { return true; }
  // CONTROL, kReliable with an SRQ, if attributes().receive_watermarks. Any state; replaces earlier
  // ones; kNoWatermark switches one off. More than `soft` buffers held: one OnReceiveWatermark, at
  // once if it is so already. More than `hard`: the connection breaks.
  virtual Status SetReceiveWatermarks(uint32_t soft, uint32_t hard) {
    static_cast<void>(soft);
    static_cast<void>(hard);
    return Status(Code::kNotSupported,
                  "this back end does not count the receive buffers of an endpoint");
  }

  // What an operation for datagrams says where there are none.
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
  // One-shot: OnLimit when the free buffers fall below `limit`; at once if they already are. 0
  // disarms.
  virtual Status SetLimit(uint32_t limit) = 0;
  virtual uint32_t Available() const = 0;  // buffers posted and not taken by a message yet
};

// An incoming request that nobody answered yet. Destroying it rejects as kNonPeer.
class ConnectionRequest {
 public:
  virtual ~ConnectionRequest() = default;
  // The requester's private data. Belongs to the request, writable, stable until the request dies;
  // may be handed to Accept or Reject itself.
  virtual std::span<uint8_t> private_data() = 0;
  virtual const ConnectionAddresses& addresses() const = 0;
  virtual uint64_t conn_qual() const = 0;
  // Which service the requester asks for: that of the queue pair that can accept it.
  virtual Service service() const { return Service::kReliable; }
  // Whether it came here by Handoff() and not from its requester.
  virtual bool handed_on() const { return false; }
  // CONTROL, asynchronous: OnEstablished or OnFailed(kAborted) of `qp` follows. On a failure the
  // request and the queue pair are unchanged; after success the request is spent and may only be
  // destroyed.
  virtual Status Accept(QueuePair& qp, std::span<const uint8_t> private_data) = 0;
  // CONTROL. The same of a request for datagrams: tells the requester of `qp`, which may accept any
  // number, and returns the requester. No upcall follows, and what comes of the answer is not told.
  // On a failure the request is unchanged; after success it is spent and may only be destroyed.
  virtual Result<DatagramPeer> AcceptDatagrams(QueuePair& qp,
                                               std::span<const uint8_t> private_data) {
    static_cast<void>(qp);
    static_cast<void>(private_data);
    return QueuePair::NoDatagrams();
  }
  virtual Status Reject(std::span<const uint8_t> private_data) = 0;
  // CONTROL. Gives the request to the listener of `conn_qual` of another adapter on this host,
  // where it arrives like any other: the back end rejects it if it is left in place there. May
  // block for some seconds when that adapter is another process's. After success the request is
  // spent and may only be destroyed; on a failure it is unchanged. kNotFound: nobody listens there;
  // kNoFreeQualifier: somebody listens who does not take it; kNoResources.
  virtual Status Handoff(uint64_t conn_qual) {
    static_cast<void>(conn_qual);
    return Status(Code::kNotFound, "this back end hands requests on within one IA only");
  }
};

// Listens from creation to destruction, for requests of every service that the adapter has.
// Requests that the sink took stay valid after it.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual uint64_t conn_qual() const = 0;
};

struct ListenParameters {
  uint64_t conn_qual = 0;                     // with `any`: ignored
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

// What the device is and can do. Capabilities are data: an operation whose flag is false is never
// called.
struct AdapterAttributes {
  std::string device_name;  // "lo", "mlx5_0"
  std::string vendor;
  sockaddr_storage address{};
  uint32_t max_qps = 0, max_qp_work = 0, max_iov = 0, max_read_in = 0, max_read_out = 0;
  uint32_t max_cqs = 0, max_cq_depth = 0, max_pds = 0, max_regions = 0, max_windows = 0;
  uint32_t max_srqs = 0, max_srq_depth = 0;
  uint64_t max_message = 0;       // bytes, also of one RDMA operation
  uint32_t max_private_data = 0;  // bytes, each way
  uint32_t mtu = 0;               // bytes, for DAT_IB_TRANSPORT_MTU
  bool windows = false;
  bool zone_windows =
      true;  // a window works over every queue pair of its domain, not its binder's alone
  bool zero_based = false;
  bool immediate = false;
  bool immediate_as_message = false;  // kAsMessage
  bool atomics = false;
  bool invalidate = false;  // send with invalidate, read to a window
  bool srq = false;
  bool datagrams = false;           // Service::kDatagram
  uint32_t max_datagram = 0;        // bytes of payload
  bool receive_watermarks = false;  // QueuePair::SetReceiveWatermarks
  bool confirms_writes = false;     // kConfirm
  // Segments into which the device reads with one request. An EP that asks for more gets them, as
  // far as max_iov, and each takes a place of its send queue. 0: as max_iov.
  uint32_t plain_read_iov = 0;
  // iWARP. The peer of an RDMA read learns the key of its sink, and may write there, whatever
  // privileges the region was registered with.
  bool shows_read_sink = false;
  bool read_sink_remote_write = false;
  // What success of a send or RDMA write means: that it is in the peer's memory (true), or only
  // that the device has taken it, so that it can still be lost or refused.
  bool confirmed_completions = false;
};

enum class ProgressResult : uint8_t {
  kWorked,     // something moved
  kIdle,       // nothing to do (without a waiter), or woken for no reason of one's own
  kSignalled,  // the waiter was signalled
  kTimedOut,
  kInterrupted,  // a signal handler ran in this thread
};

class Adapter {
 public:
  // All objects are gone when the engine calls it. Joins the back end's threads.
  virtual ~Adapter() = default;

  virtual const AdapterAttributes& attributes() const = 0;

  // DATA. The clock that deadlines are in; a simulated back end overrides it with virtual time.
  virtual Clock::time_point Now() const { return Clock::now(); }

  // CONTROL. Each returns an object or the Status that explains its absence.
  virtual Result<std::unique_ptr<ProtectionDomain>> CreateProtectionDomain() = 0;
  virtual Result<std::unique_ptr<MemoryRegion>> RegisterMemory(ProtectionDomain& pd,
                                                               const RegionParameters& p) = 0;
  // `exclusive_to_qp`: scope EP, the window works only over the queue pair that binds it.
  virtual Result<std::unique_ptr<MemoryWindow>> CreateWindow(ProtectionDomain& pd,
                                                             bool exclusive_to_qp) = 0;
  virtual Result<std::unique_ptr<CompletionQueue>> CreateCompletionQueue(uint32_t capacity,
                                                                         CompletionSink* sink) = 0;
  virtual Result<std::unique_ptr<QueuePair>> CreateQueuePair(const QueuePairAttributes& a) = 0;
  virtual Result<std::unique_ptr<SharedReceiveQueue>> CreateSharedReceiveQueue(
      ProtectionDomain& pd, uint32_t capacity, uint32_t max_iov, SharedReceiveSink* sink) = 0;
  // Listening when it returns. kInUse when the qualifier is taken.
  virtual Result<std::unique_ptr<Listener>> Listen(const ListenParameters& p) = 0;
  // Checks that each segment lies inside one region of this adapter (dat_lmr_sync_*).
  virtual Code CheckSegments(std::span<const DAT_LMR_TRIPLET> segments) = 0;

  // Moves data with the calling thread. Without a waiter: one turn that never blocks. With one:
  // does what is ready, else blocks in the back end's own way until the waiter is signalled, the
  // deadline passes, a signal handler ran, or (kWorked, kIdle) there may be something to look at;
  // the caller loops. If several threads wait, one drives the back end and the others park on their
  // waiters. Makes upcalls from this thread. The only call that may block for long, and a
  // cancellation point: a thread cancelled inside leaves the adapter as usable as before.
  virtual ProgressResult Progress(Waiter* waiter, Clock::time_point deadline) = 0;

  // One step of active waiting, for a thread that has armed nothing yet: moves data as Progress()
  // does without a waiter, and where nothing came lets others have the processor. `*until` is the
  // caller's, default-constructed at first; the back end keeps there when this wait has been active
  // for long enough, `deadline` at the latest.
  //   kWorked    something moved; look for it
  //   kIdle      nothing yet; again
  //   kTimedOut  enough, or this back end does not wait actively: arm, and block in Progress()
  virtual ProgressResult Spin(Clock::time_point deadline, Clock::time_point* until) {
    static_cast<void>(deadline);
    static_cast<void>(until);
    return ProgressResult::kTimedOut;
  }

  // CONTROL. A descriptor for the poll() of a program that sleeps in a loop of its own: readable
  // when LookAround() would find something to do, now and then when it would not. The adapter's,
  // and as long-lived. -1: there is none; the back end's own threads find what arrives.
  virtual int ProgressDescriptor() { return -1; }

  // DATA. One turn that never blocks, as Progress() without a waiter, which takes some of what
  // makes ProgressDescriptor() readable, or all of it. What is left keeps it so: the descriptor is
  // level-triggered.
  virtual ProgressResult LookAround() { return Progress(nullptr, {}); }

  // The process ends without having closed this. Tells the peers what has been carried out for them
  // and was not said yet, as an adapter would have done by itself. Waits for nobody: the program
  // may have left from the middle of a call.
  virtual void OnProcessExit() {}

  // In a forked child: forget everything without touching the wire or the parent's descriptors.
  virtual void AbandonAfterFork() = 0;
};

// A back end, as the provider library offers it.
class Backend {
 public:
  struct Device {
    std::string name;         // IA name, "softnet-lo"
    std::string unavailable;  // why it cannot be opened now; empty when it can
  };

  virtual ~Backend() = default;
  // Every IA name that Open may accept on this host now. May do system calls, opens nothing.
  virtual std::vector<Device> Devices() = 0;
  // `name` is the IA name, or what dat.conf's parameter field says instead. The sink outlives the
  // adapter.
  virtual Result<std::unique_ptr<Adapter>> Open(const std::string& name, AdapterSink* sink) = 0;
};

}  // namespace softdat::transport

#endif  // SOFTDAT_DAT_TRANSPORT_TRANSPORT_H_
