// SPDX-License-Identifier: BSD-3-Clause
// Outcome of an internal operation: a small code for the data path (Code), and a value that also
// carries the facts of a failure for everything else (Status, Result<T>).
#ifndef SOFTDAT_DAT_BASE_STATUS_H_
#define SOFTDAT_DAT_BASE_STATUS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace softdat {

// What kind of failure it is. dat/engine/object/dat_error.cc holds the one table that turns a Code
// into a DAT_RETURN (class, type, subtype); nothing below the engine knows DAT return values.
enum class Code : uint8_t {
  kOk = 0,
  kInvalidArgument,     // a value that can never be right
  kOutOfBounds,         // a segment that leaves its memory region
  kLength,              // lengths that do not fit each other
  kProtection,          // unknown key, or a key of another protection domain
  kPrivileges,          // the key is right, the access right is missing
  kNotMapped,           // an address with no memory behind it
  kInvalidState,        // right call, wrong moment
  kQueueFull,           // no free slot in a work queue
  kNoMemory,            // host memory, locked-memory limit
  kNoResources,         // any other exhausted table, descriptors included
  kInUse,               // connection qualifier or port is taken
  kNoFreeQualifier,     // no port left to choose from, or its listener takes nothing
  kAddressMalformed,    // not a socket address
  kAddressUnsupported,  // a family or scope that this device cannot use
  kUnreachable,         // known synchronously that no route leads there
  kNotFound,            // no such device or name
  kNotSupported,        // the model is not offered by this back end (MODEL_NOT_SUPPORTED)
  kNotImplemented,      // the operation does not exist here (NOT_IMPLEMENTED)
  kForked,              // an object used in a child of the process that made it
  kInternal,            // a bug or a failure of the operating system that has no better name
};

// Name of the code without its prefix, for logs ("OutOfBounds").
std::string_view CodeName(Code code);

// A Code and, unless it is kOk, one sentence of facts ("port 62000 is taken by another listener").
// Success costs no allocation. Movable and cheap to return by value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string reason)
      : code_(code),
        reason_(code == Code::kOk ? nullptr : std::make_unique<std::string>(std::move(reason))) {}

  static Status Ok() { return Status(); }

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  std::string_view reason() const { return reason_ ? std::string_view(*reason_) : ""; }

 private:
  Code code_ = Code::kOk;
  std::unique_ptr<std::string> reason_;
};

// Either a value or the Status that explains its absence.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: conversion is the point
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: conversion is the point

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  Status TakeStatus() { return std::move(status_); }
  T& value() { return value_; }
  T Take() { return std::move(value_); }

 private:
  T value_{};
  Status status_;
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_STATUS_H_
