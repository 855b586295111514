// SPDX-License-Identifier: BSD-3-Clause
// Arbitrary packets of a peer. Whatever arrives, nothing is written outside of what is registered,
// the answers are packets, and every post completes once. The first byte of the input chooses the
// configuration. Each packet is one byte of length and so many bytes.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "provider_softnet/roce/rc_pair.h"

namespace softdat::softnet::testing {
namespace {

void Check(bool ok) {
  if (!ok) std::abort();
}

// Gives parts of a packet a meaning, so that it passes the first checks: a PSN near what the
// connection expects, and a key and an address of a buffer where the key says 0xee.
void Translate(RcSide& side, uint32_t first_psn, roce::Packet* p) {
  p->bth.psn = (first_psn + p->bth.psn % 16 - 2) & roce::kMask24;
  const auto aim = [&](uint32_t* key, uint64_t* va) {
    if ((*key >> 24) != 0xee) return;
    const size_t n = *key % side.buffers.size();
    *key = side.buffers[n].key;
    *va = reinterpret_cast<uintptr_t>(side.data(n)) + *va % 64;
  };
  aim(&p->headers.reth.rkey, &p->headers.reth.va);
  aim(&p->headers.atomic.rkey, &p->headers.atomic.va);
}

bool IsAnswer(roce::Opcode opcode) {
  const roce::Operation operation = roce::TraitsOf(opcode).operation;
  return operation == roce::Operation::kReadResponse ||
         operation == roce::Operation::kAcknowledge ||
         operation == roce::Operation::kAtomicAcknowledge;
}

void Run(std::span<const uint8_t> input) {
  if (input.empty()) return;
  const uint8_t mode = input[0];
  RcPairOptions o;
  o.seed = mode;
  o.mtu = (mode & 1) != 0 ? 256 : 1024;
  o.share_receives = (mode & 2) != 0;
  o.depth = mode >> 6;
  o.first_psn = (mode & 4) != 0 ? 0xffffff : 0;
  o.ack_timeout = 8;
  RcPair pair(o);
  RcSide &side = pair.b(), &peer = pair.a();
  for (int i = 0; i < 3; ++i) {
    side.AddBuffer(4096);
    peer.AddBuffer(4096);
  }
  for (uint64_t i = 0; i < 4; ++i) side.Receive(i, {side.Local(0, i * 300, 300)});
  size_t posted = 0;
  posted += side.Send(1, {side.Local(1, 0, 100)}) == Code::kOk;
  posted += side.Read(2, {side.Local(2, 0, 2000)}, peer.Remote(0, 0, 2000)) == Code::kOk;
  posted += side.Write(3, {side.Local(1, 0, 3000)}, peer.Remote(0, 0, 3000)) == Code::kOk;
  const uint32_t peer_psn = o.first_psn, own_psn = o.first_psn ^ 0x5a5a5a;
  uint64_t now_us = 1;
  for (size_t at = 1; at < input.size();) {
    const size_t size = std::min<size_t>(input[at], input.size() - at - 1);
    std::vector<uint8_t> bytes(input.begin() + static_cast<ptrdiff_t>(at + 1),
                               input.begin() + static_cast<ptrdiff_t>(at + 1 + size));
    at += 1 + size;
    roce::Packet p;
    if (roce::ParsePacket(bytes, &p) == roce::PacketParse::kOk) {
      // Full packets, which the input is too short for.
      static const std::vector<uint8_t> kFull(4096, 0x55);
      if ((p.bth.ack_request && p.payload.size() > 0)) p.payload = {kFull.data(), o.mtu};
      Translate(side, IsAnswer(p.bth.opcode) ? own_psn : peer_psn, &p);
      side.connection->OnPacket(p, now_us);
    }
    for (int turn = 0; turn < 4; ++turn) {
      PacketBatch batch;
      side.connection->Transmit(&batch, now_us);
      if (batch.empty()) break;
      for (size_t i = 0; i < batch.size(); ++i) Check(batch.at(i).payload_size <= o.mtu);
      if (turn == 3) side.connection->TakeBack(batch, batch.size() / 2);
    }
    side.connection->TakeActions();
    now_us += 500;
    if (side.connection->deadline_us() != 0) side.connection->OnTime(now_us);
  }
  side.connection->Disconnect(transport::DisconnectMode::kAbrupt);
  Check(side.ended());
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
  softdat::softnet::testing::Run({data, size});
  return 0;
}
