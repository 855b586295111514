// SPDX-License-Identifier: BSD-3-Clause
// The memory of one connection, which two processes share: a ring for each direction.
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_SHARED_AREA_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_SHARED_AREA_H_

#include <cstdint>
#include <memory>

#include "dat/base/status.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/shm/byte_ring.h"

namespace softdat::softnet {

class SharedArea {
 public:
  enum class Side : uint8_t { kRequester, kListener };

  // Makes the memory. It cannot be made smaller any more, because that would kill a process that
  // uses it.
  static Result<UniqueFd> MakeMemory();
  // Maps it. `memory` may come from another process: it is checked. Null, with errno.
  static std::unique_ptr<SharedArea> Map(int memory, Side side);
  ~SharedArea();
  SharedArea(const SharedArea&) = delete;
  SharedArea& operator=(const SharedArea&) = delete;

  RingWriter out;
  RingReader in;

 private:
  SharedArea(uint8_t* memory, Side side);

  uint8_t* const memory_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_SHARED_AREA_H_
