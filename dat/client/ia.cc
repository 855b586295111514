// SPDX-License-Identifier: BSD-3-Clause
// Opens and closes an interface adapter.
#include "dat/client/ia.h"

#include <utility>

namespace softdat::client {

Ia::Ia(Ia&& other) noexcept { *this = std::move(other); }

Ia& Ia::operator=(Ia&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  name_ = std::move(other.name_);
  async_evd_ = other.async_evd_;
  attributes_ = other.attributes_;
  life_ = std::move(other.life_);
  handle_ = other.Release();
  return *this;
}

Result Ia::Open(const std::string& name, DAT_COUNT async_qlen) {
  Reset();
  name_ = name;
  // This is made before the IA is opened, because a failed allocation must not leave an IA open.
  std::shared_ptr<const void> life = std::make_shared<char>();
  async_evd_ = DAT_HANDLE_NULL;
  const Result opened("dat_ia_open", dat_ia_open(name_.data(), async_qlen, &async_evd_, &handle_));
  if (!opened.ok()) {
    handle_ = DAT_HANDLE_NULL;
    return opened;
  }
  const Result queried("dat_ia_query",
                       dat_ia_query(handle_, nullptr, DAT_IA_FIELD_ALL, &attributes_, 0, nullptr));
  if (queried.ok()) {
    life_ = std::move(life);
  } else {
    Reset();
  }
  return queried;
}

Result Ia::Close(DAT_CLOSE_FLAGS flags) {
  if (!is_open()) return {};
  const Result result("dat_ia_close", dat_ia_close(handle_, flags));
  if (result.ok()) Release();
  return result;
}

DAT_IA_HANDLE Ia::Release() {
  life_.reset();
  return std::exchange(handle_, DAT_HANDLE_NULL);
}

void Ia::Reset() {
  static_cast<void>(Close());
  Release();
}

}  // namespace softdat::client
