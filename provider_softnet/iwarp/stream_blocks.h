// SPDX-License-Identifier: BSD-3-Clause
// What the streams of an adapter share.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_BLOCKS_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_BLOCKS_H_

#include "provider_softnet/iwarp/block_pool.h"

namespace softdat::softnet {

// Memory of the streams of an adapter, while bytes are on their way through it.
struct StreamBlocks {
  StreamBlocks();
  // A stream comes or goes. Join() throws bad_alloc where not even one can move anything.
  void Join(const void* stream);
  void Leave();
  BlockPool receiving;
  BlockPool sending;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_BLOCKS_H_
