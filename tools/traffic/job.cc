// SPDX-License-Identifier: BSD-3-Clause
// Control messages, with big-endian words at fixed places.
#include "tools/traffic/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace softdat::tools {
namespace {

// "SDT" and the version of these messages.
constexpr uint32_t kMagic = 0x53445405;

enum MessageKind : uint8_t { kRequest = 1, kReply = 2, kDone = 3 };

constexpr std::string_view kOperationNames[] = {"send",      "write",          "read",
                                                "write_imm", "fetch_and_add",  "cmp_and_swap",
                                                "message",   "message_by_read"};
constexpr std::string_view kWaitNames[] = {"poll", "wait", "cno", "fd", "memory"};
static_assert(std::size(kWaitNames) == kWaitModes);

template <typename Enum, size_t kCount>
std::optional<Enum> Find(const std::string_view (&names)[kCount], std::string_view name) {
  const auto* at = std::find(std::begin(names), std::end(names), name);
  if (at == std::end(names)) return std::nullopt;
  return static_cast<Enum>(at - std::begin(names));
}

// Appends words. The messages are far shorter than kControlBytes.
class Writer {
 public:
  explicit Writer(MessageKind kind) {
    Put(kMagic, 4);
    Put(kind, 1);
  }
  void Put(uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
      message_[at_++] = static_cast<uint8_t>(value >> shift);
  }
  void PutText(std::string_view text) {
    text = text.substr(0, kMaxReplyText);
    Put(text.size(), 1);
    std::memcpy(&message_[at_], text.data(), text.size());
  }
  const ControlMessage& message() const { return message_; }

 private:
  ControlMessage message_{};
  size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint64_t Get(int bytes) {
    uint64_t value = 0;
    for (; bytes > 0; --bytes) value = value << 8 | bytes_[at_++];
    return value;
  }
  std::string GetText() {
    const size_t size = std::min<size_t>(Get(1), kMaxReplyText);
    return {reinterpret_cast<const char*>(&bytes_[at_]), size};
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

bool IsMessage(std::span<const uint8_t> bytes, MessageKind kind) {
  if (bytes.size() != kControlBytes) return false;
  Reader reader(bytes);
  return reader.Get(4) == kMagic && reader.Get(1) == kind;
}

Reader SkipHead(std::span<const uint8_t> bytes) {
  Reader reader(bytes);
  reader.Get(5);
  return reader;
}

void PutMemory(const RemoteMemory& memory, Writer* writer) {
  writer->Put(memory.address, 8);
  writer->Put(memory.bytes, 4);
  writer->Put(memory.context, 4);
}

RemoteMemory GetMemory(Reader* reader) {
  RemoteMemory memory;
  memory.address = reader->Get(8);
  memory.bytes = static_cast<uint32_t>(reader->Get(4));
  memory.context = static_cast<uint32_t>(reader->Get(4));
  return memory;
}

}  // namespace

std::string_view OperationName(Operation operation) {
  return kOperationNames[static_cast<size_t>(operation)];
}

std::optional<Operation> FindOperation(std::string_view name) {
  return Find<Operation>(kOperationNames, name);
}

bool IsAtomic(Operation operation) {
  return operation == Operation::kFetchAndAdd || operation == Operation::kCompareAndSwap;
}

bool IsOneSided(Operation operation) {
  return operation == Operation::kRead || IsAtomic(operation);
}

bool IsLayered(Operation operation) {
  return operation == Operation::kMessage || operation == Operation::kMessageByRead;
}

std::string_view WaitModeName(WaitMode mode) { return kWaitNames[static_cast<size_t>(mode)]; }

std::optional<WaitMode> FindWaitMode(std::string_view name) {
  return Find<WaitMode>(kWaitNames, name);
}

std::string JobProblem(const Job& job) {
  if (job.size > kMaxJobSize)
    return fmt::format("size {} is above {} bytes", job.size, kMaxJobSize);
  if (job.size == 0 && job.operation != Operation::kSend)
    return "size 0 is possible for messages only";
  if (IsAtomic(job.operation) && job.size != kAtomicBytes)
    return fmt::format("atomics have {} bytes", kAtomicBytes);
  if (IsAtomic(job.operation) && job.check) return "the data of atomics cannot be checked";
  if (job.iterations == 0 || job.iterations > kMaxIterations)
    return fmt::format("iterations must be 1 to {}", kMaxIterations);
  if (job.window == 0 || job.window > kMaxWindow)
    return fmt::format("the window must be 1 to {}", kMaxWindow);
  if (job.wait == WaitMode::kMemory &&
      (job.operation != Operation::kWrite || job.shape != Shape::kLatency))
    return "only RDMA writes there and back can be awaited by a look at memory";
  if (job.signal_every == 0 || job.signal_every > job.window)
    return fmt::format("completions must come for every 1 to {} transfers, the window", job.window);
  if (job.messages == 0 || job.messages > kMaxMessages)
    return fmt::format("{} messages in a row are not 1 to {}", job.messages, kMaxMessages);
  const bool is_write = job.operation == Operation::kWrite;
  if (job.messages > 1 &&
      (job.shape != Shape::kLatency || (!is_write && job.operation != Operation::kSend)))
    return "only sends, and a write with its notice, there and back can be several in a row";
  if (is_write && job.messages > 2) return "an RDMA write has one notice: 2 messages in a row";
  if (job.wait == WaitMode::kMemory && job.messages > 1)
    return "a look at memory does not see the message that tells of a write";
  if (IsLayered(job.operation) && job.shape != Shape::kLatency)
    return "messages of a message layer go there and back only, one by one";
  if (job.both_ways && job.shape != Shape::kStream) return "only streams can go both ways at once";
  if (job.both_ways && job.size == 0) return "size 0 is possible in one direction only";
  if (job.both_ways && job.check) return "the data of streams that go both ways cannot be checked";
  return "";
}

uint64_t BytesPerIteration(const Job& job) {
  return uint64_t{job.size} * job.TransfersInARow() * (job.IsPingPong() || job.both_ways ? 2 : 1);
}

ControlMessage EncodeRequest(const Request& request) {
  const Job& job = request.job;
  Writer writer(kRequest);
  writer.Put(static_cast<uint8_t>(job.operation), 1);
  writer.Put(static_cast<uint8_t>(job.shape), 1);
  writer.Put(job.both_ways, 1);
  writer.Put(job.check, 1);
  writer.Put(static_cast<uint8_t>(job.wait), 1);
  writer.Put(job.server_decides_wait, 1);
  writer.Put(job.size, 4);
  writer.Put(job.window, 4);
  writer.Put(job.signal_every, 4);
  writer.Put(job.messages, 4);
  writer.Put(job.iterations, 8);
  PutMemory(request.memory, &writer);
  writer.Put(request.receives, 4);
  return writer.message();
}

ControlMessage EncodeReply(const Reply& reply) {
  Writer writer(kReply);
  writer.Put(reply.ok, 1);
  PutMemory(reply.memory, &writer);
  writer.Put(reply.receives, 4);
  writer.Put(reply.cpu_us, 8);
  writer.PutText(reply.text);
  return writer.message();
}

ControlMessage EncodeDone() { return Writer(kDone).message(); }

std::optional<Request> DecodeRequest(std::span<const uint8_t> bytes) {
  if (!IsMessage(bytes, kRequest)) return std::nullopt;
  Reader reader = SkipHead(bytes);
  Request request;
  Job& job = request.job;
  const uint64_t operation = reader.Get(1);
  const uint64_t shape = reader.Get(1);
  const uint64_t both_ways = reader.Get(1);
  const uint64_t check = reader.Get(1);
  const uint64_t wait = reader.Get(1);
  const uint64_t server_decides_wait = reader.Get(1);
  if (operation >= std::size(kOperationNames) || shape > 1 || both_ways > 1 || check > 1 ||
      wait >= kWaitModes || server_decides_wait > 1)
    return std::nullopt;
  job.operation = static_cast<Operation>(operation);
  job.shape = static_cast<Shape>(shape);
  job.both_ways = both_ways == 1;
  job.check = check == 1;
  job.wait = static_cast<WaitMode>(wait);
  job.server_decides_wait = server_decides_wait == 1;
  job.size = static_cast<uint32_t>(reader.Get(4));
  job.window = static_cast<uint32_t>(reader.Get(4));
  job.signal_every = static_cast<uint32_t>(reader.Get(4));
  job.messages = static_cast<uint32_t>(reader.Get(4));
  job.iterations = reader.Get(8);
  request.memory = GetMemory(&reader);
  request.receives = static_cast<uint32_t>(reader.Get(4));
  if (!JobProblem(job).empty()) return std::nullopt;
  return request;
}

std::optional<Reply> DecodeReply(std::span<const uint8_t> bytes) {
  if (!IsMessage(bytes, kReply)) return std::nullopt;
  Reader reader = SkipHead(bytes);
  Reply reply;
  reply.ok = reader.Get(1) != 0;
  reply.memory = GetMemory(&reader);
  reply.receives = static_cast<uint32_t>(reader.Get(4));
  reply.cpu_us = reader.Get(8);
  reply.text = reader.GetText();
  return reply;
}

bool IsDone(std::span<const uint8_t> bytes) { return IsMessage(bytes, kDone); }

}  // namespace softdat::tools
