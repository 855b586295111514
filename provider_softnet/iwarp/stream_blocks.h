// SPDX-License-Identifier: BSD-3-Clause
// What the streams of an adapter share.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_BLOCKS_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_BLOCKS_H_

#include "provider_softnet/iwarp/block_pool.h"

namespace softdat::softnet {

// Memory of the streams of an adapter, used while bytes are on their way through it.
struct StreamBlocks {
  StreamBlocks();
  // To be called when a stream is made and when it ends. Join() throws bad_alloc when there is not
  // even memory for one stream to move anything.
  void Join(const void* stream);
  void Leave();
  BlockPool receiving;
  BlockPool sending;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_BLOCKS_H_
