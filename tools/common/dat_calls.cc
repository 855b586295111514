// SPDX-License-Identifier: BSD-3-Clause
// DAT calls as steps of a tool.
#include "tools/common/dat_calls.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "dat2/dat_ib_extensions.h"

namespace softdat::tools {

Outcome CheckFailure(const client::Result& result, std::string_view detail) {
  if (result.ok()) return {};
  return Outcome::Fail(result.Describe(detail));
}

Outcome OpenIa(const std::string& name, client::Ia* ia) {
  if (name.size() >= DAT_NAME_MAX_LENGTH)
    return Outcome::Fail(kExitUsage, "the IA name is longer than DAT_NAME_MAX_LENGTH");
  const client::Result opened = ia->Open(name);
  const bool is_query = std::string_view(opened.call()) == "dat_ia_query";
  return Check(opened, is_query ? "" : fmt::format("\"{}\"", name));
}

Outcome Allocate(const client::Ia& ia, const client::Pz& pz, size_t bytes, client::Memory* memory) {
  if (!memory->Map(bytes))
    return Outcome::Fail(fmt::format("cannot get {} bytes of memory: {}", bytes, strerror(errno)));
  // Not every adapter with the extension has atomics.
  if (ia.attributes().extension_supported == DAT_EXTENSION_IB &&
      memory->Register(ia, pz, client::kEverythingAndAtomics) == DAT_SUCCESS)
    return {};
  const client::Result registered = memory->Register(ia, pz);
  if (!registered.ok()) memory->Reset();
  return Check(registered);
}

}  // namespace softdat::tools
