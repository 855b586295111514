// SPDX-License-Identifier: BSD-3-Clause
// Control messages: big-endian words at fixed places.
#include "tools/traffic/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace softdat::tools {
namespace {

// "SDT" and the version of these messages.
constexpr uint32_t kMagic = 0x53445401;

enum MessageKind : uint8_t { kRequest = 1, kReply = 2, kDone = 3 };

constexpr std::string_view kKindNames[] = {"send", "write", "read", "write stream", "read stream"};

// Appends words; the messages are far shorter than kControlBytes.
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

std::string_view JobKindName(JobKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::optional<JobKind> FindJobKind(std::string_view name) {
  for (size_t i = 0; i < std::size(kKindNames); ++i) {
    if (kKindNames[i] == name) return static_cast<JobKind>(i);
  }
  return std::nullopt;
}

std::string JobProblem(const Job& job) {
  if (static_cast<size_t>(job.kind) >= std::size(kKindNames)) return "unknown operation";
  if (job.size > kMaxJobSize)
    return fmt::format("size {} is above {} bytes", job.size, kMaxJobSize);
  if (job.size == 0 && job.kind != JobKind::kSendPingPong)
    return "size 0 is possible for messages only";
  if (job.iterations == 0 || job.iterations > kMaxIterations)
    return fmt::format("iterations must be 1 to {}", kMaxIterations);
  if (job.window == 0 || job.window > kMaxWindow)
    return fmt::format("the window must be 1 to {}", kMaxWindow);
  return "";
}

uint64_t BytesPerIteration(const Job& job) {
  const bool both = job.kind == JobKind::kSendPingPong || job.kind == JobKind::kWritePingPong;
  return uint64_t{job.size} * (both ? 2 : 1);
}

ControlMessage EncodeRequest(const Request& request) {
  const Job& job = request.job;
  Writer writer(kRequest);
  writer.Put(static_cast<uint8_t>(job.kind), 1);
  writer.Put(job.check, 1);
  writer.Put(static_cast<uint8_t>(job.wait), 1);
  writer.Put(job.server_decides_wait, 1);
  writer.Put(static_cast<uint16_t>(job.server_cpu), 2);
  writer.Put(job.size, 4);
  writer.Put(job.window, 4);
  writer.Put(job.iterations, 8);
  PutMemory(request.memory, &writer);
  return writer.message();
}

ControlMessage EncodeReply(const Reply& reply) {
  Writer writer(kReply);
  writer.Put(reply.ok, 1);
  PutMemory(reply.memory, &writer);
  writer.PutText(reply.text);
  return writer.message();
}

ControlMessage EncodeDone() { return Writer(kDone).message(); }

std::optional<Request> DecodeRequest(std::span<const uint8_t> bytes) {
  if (!IsMessage(bytes, kRequest)) return std::nullopt;
  Reader reader = SkipHead(bytes);
  Request request;
  Job& job = request.job;
  const uint64_t kind = reader.Get(1);
  const uint64_t check = reader.Get(1);
  const uint64_t wait = reader.Get(1);
  const uint64_t server_decides_wait = reader.Get(1);
  if (kind >= std::size(kKindNames) || check > 1 || wait > 1 || server_decides_wait > 1)
    return std::nullopt;
  job.kind = static_cast<JobKind>(kind);
  job.check = check == 1;
  job.wait = static_cast<WaitMode>(wait);
  job.server_decides_wait = server_decides_wait == 1;
  job.server_cpu = static_cast<int16_t>(reader.Get(2));
  job.size = static_cast<uint32_t>(reader.Get(4));
  job.window = static_cast<uint32_t>(reader.Get(4));
  job.iterations = reader.Get(8);
  request.memory = GetMemory(&reader);
  if (!JobProblem(job).empty()) return std::nullopt;
  return request;
}

std::optional<Reply> DecodeReply(std::span<const uint8_t> bytes) {
  if (!IsMessage(bytes, kReply)) return std::nullopt;
  Reader reader = SkipHead(bytes);
  Reply reply;
  reply.ok = reader.Get(1) != 0;
  reply.memory = GetMemory(&reader);
  reply.text = reader.GetText();
  return reply;
}

bool IsDone(std::span<const uint8_t> bytes) { return IsMessage(bytes, kDone); }

}  // namespace softdat::tools
