// SPDX-License-Identifier: BSD-3-Clause
// RdsNodesProgram: memory, and operations on that of others. What was opened is written or read
// once at most, so that it is known what is in it; only words for atomics are used again.
#include <linux/rds.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/sim/rds_nodes_program.h"

namespace softdat::sim {

namespace {

constexpr uint8_t kGuardOctet = 0xa5, kReusedOctet = 0xe7;
constexpr size_t kLargestRegion = 3000;

uint8_t Octet(uint64_t pattern, size_t at) {
  return static_cast<uint8_t>(pattern * 37 + at * 11 + at / 256);
}
uint64_t RegionPattern(size_t region) { return 2 * region; }
uint64_t OperationPattern(size_t operation) { return 2 * operation + 1; }

bool Matches(const uint8_t* octets, size_t bytes, uint64_t pattern, size_t first = 0) {
  for (size_t k = 0; k < bytes; ++k) {
    if (octets[k] != Octet(pattern, first + k)) return false;
  }
  return true;
}

}  // namespace

// ---- memory ----

size_t RdsNodesProgram::NewBuffer(size_t bytes, std::optional<uint64_t> pattern) {
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.octets.assign(bytes + 2 * kGuard, kGuardOctet);
  for (size_t k = 0; k < bytes; ++k) {
    buffer.octets[kGuard + k] = pattern ? Octet(*pattern, k) : uint8_t{0};
  }
  buffers_.push_back(std::move(buffer));
  return buffers_.size() - 1;
}

// A buffer in one to three pieces.
std::vector<rds::Area> RdsNodesProgram::Pieces(size_t buffer) {
  std::vector<rds::Area> out;
  uint64_t at = buffers_[buffer].address(), left = buffers_[buffer].bytes;
  for (uint64_t pieces = Draw(3); pieces > 0 && left > 1; --pieces) {
    const uint64_t bytes = 1 + Draw(left - 1);
    out.push_back({at, bytes});
    at += bytes;
    left -= bytes;
  }
  out.push_back({at, left});
  return out;
}

// The message that is to be sent tells the peer of new memory. Nothing if there is none.
std::optional<size_t> RdsNodesProgram::OfferMemory(size_t socket, rds::SendRequests* requests) {
  Region region;
  region.owner = socket;
  region.atomic = OneIn(3);
  region.buffer = region.atomic
                      ? NewBuffer(sizeof(uint64_t), std::nullopt)
                      : NewBuffer(1 + Draw(kLargestRegion), RegionPattern(regions_.size()));
  rds::RegionRequest request;
  request.area = {buffers_[region.buffer].address(), buffers_[region.buffer].bytes};
  request.use_once = !region.atomic && OneIn(3);
  if (OneIn(2)) {
    requests->map = request;
  } else {
    const int error = NodeOf(socket).OpenMemory(Of(socket), request, &region.cookie);
    if (error != 0) return std::nullopt;
    requests->destination = region.cookie;
  }
  regions_.push_back(region);
  return regions_.size() - 1;
}

void RdsNodesProgram::CloseMemory(size_t socket) {
  if (sockets_[socket].blocked) return;  // its message may speak of the memory
  for (Region& region : regions_) {
    if (region.owner != socket || region.closed || region.cookie == 0 || !OneIn(4)) continue;
    region.closed = true;
    NodeOf(socket).CloseMemory(Of(socket), region.cookie);
    return;
  }
}

// ---- operations ----

void RdsNodesProgram::UseOffer(size_t socket) {
  Socket& s = sockets_[socket];
  if (s.blocked || s.offers.empty()) return;
  const size_t region = s.offers.front();
  s.offers.pop_front();
  const size_t size = buffers_[regions_[region].buffer].bytes;
  Operation operation;
  operation.region = region;
  operation.offset = Draw(size);
  operation.bytes = 1 + Draw(size - operation.offset);
  operation.write = Draw(2) == 0;
  operation.bad = OneIn(12);
  rds::RdmaOperation rdma;
  rdma.cookie = regions_[region].cookie;
  rdma.offset = operation.offset;
  if (operation.bad) {
    if (Draw(2) == 0) {
      rdma.cookie += 1'000'000;
    } else {
      rdma.offset = size - operation.bytes + 1;
    }
  }
  const auto pattern =
      operation.write ? std::optional(OperationPattern(operations_.size())) : std::nullopt;
  operation.buffer = NewBuffer(operation.bytes, pattern);
  rdma.local = Pieces(operation.buffer);
  rdma.bytes = operation.bytes;
  rdma.write = operation.write;
  rdma.fence = true;
  rdma.notify = operation.notify = Draw(2) == 0;
  rdma.silent = OneIn(6);
  rdma.token = operations_.size();
  Blocked send;
  const bool silent = rdma.silent;
  send.requests.rdma = std::move(rdma);
  SendOperation(socket, operation, std::move(send), silent);
}

void RdsNodesProgram::UseCounter(size_t socket) {
  Socket& s = sockets_[socket];
  if (s.blocked || s.counters.empty()) return;
  Operation operation;
  operation.region = s.counters[Draw(s.counters.size())];
  operation.atomic = true;
  operation.bytes = sizeof(uint64_t);
  operation.buffer = NewBuffer(operation.bytes, std::nullopt);
  operation.bad = OneIn(12);
  rds::AtomicOperation atomic;
  atomic.cookie = regions_[operation.region].cookie + (operation.bad ? 1'000'000 : 0);
  atomic.local = buffers_[operation.buffer].address();
  atomic.swap_or_add = 1;
  atomic.notify = operation.notify = Draw(2) == 0;
  atomic.silent = OneIn(6);
  atomic.token = operations_.size();
  Blocked send;
  send.requests.atomic = atomic;
  SendOperation(socket, operation, std::move(send), atomic.silent);
}

// With a message to the owner of the memory, or without.
void RdsNodesProgram::SendOperation(size_t socket, Operation operation, Blocked send, bool silent) {
  const Socket& owner = sockets_[regions_[operation.region].owner];
  operation.socket = socket;
  operation.here = owner.process == sockets_[socket].process;
  ++tally_.operations;
  if (operation.atomic) ++tally_.atomics;
  const size_t size = silent ? 0 : sizeof(uint64_t) + Draw(OneIn(4) ? largest_ : 60);
  send.message = NewMessage(socket, owner.name, size);
  messages_[send.message].operation = operations_.size();
  operation.message = send.message;
  operations_.push_back(operation);
  TrySend(socket, std::move(send));
  // Perhaps while it is under way.
  if (!OneIn(8)) return;
  time_.After(Draw(100), [this, socket] {
    if (sockets_[socket].alive && !calm_) Cancel(socket);
  });
}

// Whether the memory is not there any more, or never was.
bool RdsNodesProgram::OutOfReach(const Operation& operation) const {
  const Region& region = regions_[operation.region];
  return operation.bad || region.closed || !sockets_[region.owner].alive;
}

// ---- what is told ----

void RdsNodesProgram::TakeStatus(size_t socket, const rds::Notification& told) {
  Expect(told.token < operations_.size(), "an operation is told that was not asked for");
  if (told.token >= operations_.size()) return;
  Operation& operation = operations_[told.token];
  const std::string name = "operation " + std::to_string(told.token);
  Expect(operation.socket == socket, name + " is told to another socket");
  Expect(++operation.told == 1, name + " is told twice");
  operation.status = told.status;
  switch (told.status) {
    case RDS_RDMA_SUCCESS:
      ++tally_.told_done;
      Expect(!operation.bad, name + " reaches what was not opened");
      if (operation.write) CheckWritten(told.token, "when it is told");
      if (!operation.write && !operation.atomic) CheckRead(told.token);
      return;
    case RDS_RDMA_REMOTE_ERROR:
      ++tally_.told_refused;
      Expect(OutOfReach(operation), name + " is refused");
      return;
    case RDS_RDMA_CANCELED:
      Expect(messages_[operation.message].cancelled, name + " was not taken back");
      return;
    case RDS_RDMA_DROPPED:
      ++tally_.told_dropped;
      return;
    default:
      Expect(false, name + " has the status " + std::to_string(told.status));
  }
}

void RdsNodesProgram::CheckWritten(size_t operation, const char* when) {
  const Operation& o = operations_[operation];
  const uint8_t* const remote = At(regions_[o.region].buffer) + o.offset;
  Expect(Matches(remote, o.bytes, OperationPattern(operation)),
         "operation " + std::to_string(operation) + " has not written " + when);
}

void RdsNodesProgram::CheckRead(size_t operation) {
  const Operation& o = operations_[operation];
  if (o.reused) return;
  Expect(Matches(At(o.buffer), o.bytes, RegionPattern(o.region), o.offset),
         "operation " + std::to_string(operation) + " has not read");
}

// That of what was taken back, or of a socket that was closed.
void RdsNodesProgram::ReuseMemory(size_t socket) {
  const Socket& s = sockets_[socket];
  for (Operation& o : operations_) {
    const bool waits = s.blocked && s.blocked->message == o.message;
    if (o.socket != socket || o.write || waits) continue;
    if (s.alive && !messages_[o.message].cancelled) continue;
    o.reused = true;
    Buffer& buffer = buffers_[o.buffer];
    std::fill_n(buffer.octets.begin() + kGuard, buffer.bytes, kReusedOctet);
  }
}

// Nothing was written but what operations were to write, whatever became of them.
void RdsNodesProgram::CheckMemory() {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const uint8_t* const octets = buffers_[i].octets.data();
    for (size_t k = 0; k < kGuard; ++k) {
      Expect(octets[k] == kGuardOctet && octets[kGuard + buffers_[i].bytes + k] == kGuardOctet,
             "something is written beside a buffer");
    }
  }
  for (const Operation& o : operations_) {
    const uint8_t* const octets = At(o.buffer);
    Expect(!o.reused || std::all_of(octets, octets + buffers_[o.buffer].bytes,
                                    [](uint8_t octet) { return octet == kReusedOctet; }),
           "what was taken back writes into memory that is used for something else");
  }
  std::vector<uint64_t> done(regions_.size()), tried(regions_.size());
  std::vector<const Operation*> writer(regions_.size());
  for (const Operation& o : operations_) {
    if (o.write) writer[o.region] = &o;
    if (!o.atomic) continue;
    if (o.here) ++tried[o.region];
    if (o.told == 1 && o.status == RDS_RDMA_SUCCESS) ++done[o.region];
  }
  for (size_t i = 0; i < regions_.size(); ++i) {
    const Buffer& buffer = buffers_[regions_[i].buffer];
    if (regions_[i].atomic) {
      uint64_t word = 0;
      std::memcpy(&word, At(regions_[i].buffer), sizeof word);
      Expect(word >= done[i] && word <= tried[i] + network_.atomics_on(buffer.address()),
             "a word is not what atomics make of it");
      continue;
    }
    const Operation* const w = writer[i];
    for (size_t k = 0; k < buffer.bytes; ++k) {
      const bool may_be_written = w != nullptr && k >= w->offset && k < w->offset + w->bytes;
      Expect(may_be_written || At(regions_[i].buffer)[k] == Octet(RegionPattern(i), k),
             "something is written beside what was to be");
    }
  }
}

}  // namespace softdat::sim
