// SPDX-License-Identifier: BSD-3-Clause
// Garbage after the start-up. Whatever arrives, the stream must stay in bounds and end properly,
// and every posted receive must complete once. The first byte of the input chooses the
// configuration.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "provider_softnet/iwarp/stream_pair.h"

namespace softdat::softnet::testing {
namespace {

void Check(bool ok) {
  if (!ok) std::abort();
}

// Gives parts of the input a meaning, so that they pass the first checks. A key of 0xee000000 | n
// stands for the key of buffer n, and an address of 0xee…n for the beginning of buffer n.
void Translate(Side& side, std::vector<uint8_t>* bytes) {
  for (size_t i = 0; i + 12 <= bytes->size(); ++i) {
    uint8_t* p = bytes->data() + i;
    if (p[0] != 0xee || p[1] != 0xee) continue;
    const size_t n = p[2] % side.buffers.size();
    StoreBe32(p, side.buffers[n].key);
    StoreBe64(p + 4, reinterpret_cast<uintptr_t>(side.data(n)) + p[11] % 64);
    i += 11;
  }
}

void Run(const uint8_t* data, size_t size) {
  if (size == 0) return;
  const uint8_t mode = data[0];
  PairOptions o;
  o.seed = mode;
  o.crc = (mode & 1) != 0;
  o.rtr = (mode & 2) != 0 ? Rtr::kWrite : Rtr::kNone;
  o.share_receives = (mode & 4) != 0;
  o.whole_steps = (mode & 8) != 0;
  o.depth = mode >> 6;
  StreamPair pair(o);
  const int victim = (mode & 16) != 0 ? 0 : 1;
  Side& side = *pair.sides[victim];
  Side& peer = *pair.sides[1 - victim];
  for (int i = 0; i < 3; ++i) {
    side.AddBuffer(4096);
    peer.AddBuffer(4096);
  }
  for (uint64_t i = 0; i < 4; ++i) side.Receive(i, {side.Local(0, i * 100, 100)});
  size_t posted = 0;
  posted += side.Send(1, {side.Local(1, 0, 100)}) == Code::kOk;
  posted += side.Read(2, {side.Local(2, 0, 64)}, peer.Remote(0, 0, 64)) == Code::kOk;
  while (pair.Transmit(victim)) {
  }
  std::vector<uint8_t> bytes(data + 1, data + size);
  Translate(side, &bytes);
  pair.Inject(victim, bytes);
  for (int i = 0; i < 100000; ++i) {
    const bool got = pair.Receive(victim), sent = pair.Transmit(victim);
    if (!got && !sent) break;
    pair.pipes[victim].Clear();
  }
  side.stream->Disconnect(transport::DisconnectMode::kAbrupt);
  Check(side.stream->ended());
  Check(side.Sends().size() == posted);
  const size_t receives = side.Receives().size();
  Check(side.shared == nullptr ? receives == 4 : receives + side.shared->Available() == 4);
  Check(side.GuardsIntact());
  for (const auto& b : side.buffers) Check(side.memory->DeregisterRegion(b.key));
}

}  // namespace
}  // namespace softdat::softnet::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::softnet::testing::Run(data, size);
  return 0;
}
