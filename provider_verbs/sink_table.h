// SPDX-License-Identifier: BSD-3-Clause
// The sinks of RDMA reads on iWARP adapters that want them open to remote writes (RFC 5040 §4: the
// data of a read come back as tagged messages, as a write's do).
//
// A region that was registered without that right keeps to it. When it becomes the sink of a read
// for the first time, its memory is registered once more, with the right, and the read names that
// registration. So the peer of a read can write to what was read into, which the attributes
// rdma_write_for_rdma_read_req and rdma_read_lmr_rmr_context_exposure say, and to nothing else.
#ifndef SOFTDAT_PROVIDER_VERBS_SINK_TABLE_H_
#define SOFTDAT_PROVIDER_VERBS_SINK_TABLE_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "dat/base/status.h"

namespace softdat::verbs {

class SinkTable {
 public:
  SinkTable() = default;
  SinkTable(const SinkTable&) = delete;
  SinkTable& operator=(const SinkTable&) = delete;

  // A region without remote write right, and the access flags that it has.
  void Add(ibv_mr* mr, bool zero_based, int access);
  // The region goes: so does its second registration. Nothing for other regions.
  void Remove(uint32_t local_key);

  // The key that a read into region `local_key` names: the second registration's, which the first
  // call makes; `local_key` itself for a region that was not added. kOk, or why the device refused.
  Code Open(uint32_t local_key, uint32_t* key);
  // The region behind a key that Open gave; any other key is its own.
  uint32_t RegionOf(uint32_t key);

 private:
  struct Region {
    ibv_mr* mr;
    bool zero_based;
    int access;
    ibv_mr* open;  // null until it was a sink
  };

  std::mutex mutex_;  // protects both; a leaf lock, held for the system call that registers
  std::unordered_map<uint32_t, Region> regions_;      // by local key
  std::unordered_map<uint32_t, uint32_t> region_of_;  // by the key of the second registration
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_SINK_TABLE_H_
