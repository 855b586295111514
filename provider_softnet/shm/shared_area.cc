// SPDX-License-Identifier: BSD-3-Clause
// SharedArea.
#include "provider_softnet/shm/shared_area.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>

#include "provider_softnet/driver/descriptor_limit.h"

namespace softdat::softnet {
namespace {

constexpr size_t kAreaSize = 2 * kRingSize;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

uint8_t* Half(uint8_t* memory, bool second) { return memory + (second ? kRingSize : 0); }

}  // namespace

Result<UniqueFd> SharedArea::MakeMemory() {
  UniqueFd fd;
  do {
    fd = UniqueFd(memfd_create("softdat", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  } while (!fd.valid() && errno == EMFILE && RaiseDescriptorLimit());
  if (!fd.valid() || ftruncate(fd.get(), kAreaSize) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return Status(Code::kNoResources,
                  fmt::format("no memory to share with a peer: {}", strerror(errno)));
  }
  return fd;
}

std::unique_ptr<SharedArea> SharedArea::Map(int memory, Side side) {
  struct stat about {};
  const int seals = fcntl(memory, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(memory, &about) != 0 ||
      about.st_size != static_cast<off_t>(kAreaSize)) {
    errno = EPROTO;
    return nullptr;
  }
  void* const at = mmap(nullptr, kAreaSize, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (at == MAP_FAILED) return nullptr;
  // A forked child has no part in the connection.
  madvise(at, kAreaSize, MADV_DONTFORK);
  std::unique_ptr<SharedArea> area(new (std::nothrow) SharedArea(static_cast<uint8_t*>(at), side));
  if (area == nullptr) {
    munmap(at, kAreaSize);
    errno = ENOMEM;
  }
  return area;
}

SharedArea::SharedArea(uint8_t* memory, Side side)
    : out(Half(memory, side == Side::kListener)),
      in(Half(memory, side == Side::kRequester)),
      memory_(memory) {}

SharedArea::~SharedArea() { munmap(memory_, kAreaSize); }

}  // namespace softdat::softnet
