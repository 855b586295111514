// SPDX-License-Identifier: BSD-3-Clause
// The sinks of RDMA reads on iWARP adapters that require them to be open to remote writes (RFC 5040
// §4: the data of a read come back as tagged messages, like those of a write).
//
// A region that was registered without that right does not get it. When it first becomes the sink
// of a read, its memory is registered once more, with the right, and the read names that
// registration. So the peer of a read can write to the memory that was read into, and to nothing
// else. The attributes rdma_write_for_rdma_read_req and rdma_read_lmr_rmr_context_exposure say so.
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

  // Adds a region without the remote write right. `access`: the flags that it has.
  void Add(ibv_mr* mr, bool zero_based, int access);
  // Removes the region and its second registration. Does nothing for other regions.
  void Remove(uint32_t local_key);

  // Returns in *key the key that a read into region `local_key` names. That is the key of the
  // second registration, which the first call makes. For a region that was not added it is
  // `local_key` itself. Returns kOk, or why the device refused.
  Code Open(uint32_t local_key, uint32_t* key);
  // The region behind a key that Open gave. Any other key is its own region.
  uint32_t RegionOf(uint32_t key);

 private:
  struct Region {
    ibv_mr* mr;
    bool zero_based;
    int access;
    ibv_mr* open;  // null until the region was a sink
  };

  std::mutex mutex_;  // protects both; a leaf lock, held during the registering system call
  std::unordered_map<uint32_t, Region> regions_;      // by local key
  std::unordered_map<uint32_t, uint32_t> region_of_;  // by the key of the second registration
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_SINK_TABLE_H_
