// SPDX-License-Identifier: BSD-3-Clause
// Fills an iovec array. Neighbours in memory become one entry.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_IOV_WRITER_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_IOV_WRITER_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace softdat::softnet {

class IovWriter {
 public:
  IovWriter(iovec* iov, size_t max) : iov_(iov), max_(max) {}

  // Returns false when no entry is left.
  bool Add(uint8_t* data, size_t size) {
    if (size == 0) return true;
    if (count_ > 0) {
      iovec& last = iov_[count_ - 1];
      if (static_cast<uint8_t*>(last.iov_base) + last.iov_len == data) {
        last.iov_len += size;
        bytes_ += size;
        return true;
      }
    }
    if (count_ == max_) return false;
    iov_[count_++] = {data, size};
    bytes_ += size;
    return true;
  }

  // A point to which Rollback returns.
  struct Mark {
    size_t count, bytes, last_size;
  };
  Mark mark() const { return {count_, bytes_, count_ == 0 ? 0 : iov_[count_ - 1].iov_len}; }
  void Rollback(const Mark& mark) {
    count_ = mark.count;
    bytes_ = mark.bytes;
    if (count_ > 0) iov_[count_ - 1].iov_len = mark.last_size;
  }

  size_t count() const { return count_; }
  size_t bytes() const { return bytes_; }

 private:
  iovec* iov_;
  size_t max_;
  size_t count_ = 0;
  size_t bytes_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_IOV_WRITER_H_
