// SPDX-License-Identifier: BSD-3-Clause
// The IAs that libdat2 knows.
#include "tools/info/ia_list.h"

#include <dat2/udat.h>
#include <fmt/format.h>

#include <algorithm>

#include "dat/registry/conf_file.h"
#include "dat/registry/discovery.h"
#include "tools/common/address.h"
#include "tools/common/dat_calls.h"
#include "tools/info/attributes.h"
#include "tools/info/environment.h"
#include "tools/info/quiet_stdout.h"

namespace softdat::tools {
namespace {

// The name as it stands in the registry, and where it comes from, in the order in which libdat2
// looks.
void FindOrigin(const registry::LoadedConf& conf,
                const std::vector<registry::DiscoveredIa>& discovered, IaEntry* entry) {
  for (const auto& line : conf.parsed.entries) {
    if (!line.IsRegistered() || line.ia_name != entry->name) continue;
    if (fmt::format("{}.{}", line.major, line.minor) != entry->api_version) continue;
    if (line.thread_safe != entry->thread_safe) continue;
    entry->library = line.library;
    entry->from = fmt::format("{}:{}", conf.path, line.line);
    return;
  }
  for (const auto& ia : discovered) {
    if (ia.name != entry->name) continue;
    entry->library = ia.library;
    entry->from = "found";
    return;
  }
  entry->from = "registered";
}

}  // namespace

Outcome ListIas(std::vector<IaEntry>* entries) {
  const QuietStdout quiet;
  DAT_COUNT count = 0;
  // A call that asks for no names is an error that returns their number (DAT 2.0, list providers).
  // A list with too few places gives nothing.
  const DAT_RETURN asked = dat_registry_list_providers(0, &count, nullptr);
  if (asked != DAT_SUCCESS && DAT_GET_TYPE(asked) != DAT_INVALID_PARAMETER)
    return Check("dat_registry_list_providers", asked);
  std::vector<DAT_PROVIDER_INFO> infos(static_cast<size_t>(std::max(count, 0)));
  std::vector<DAT_PROVIDER_INFO*> pointers;
  pointers.reserve(infos.size());
  for (auto& info : infos) pointers.push_back(&info);
  if (!infos.empty()) {
    SOFTDAT_TRY(Check("dat_registry_list_providers",
                      dat_registry_list_providers(count, &count, pointers.data())));
    infos.resize(std::min(infos.size(), static_cast<size_t>(std::max(count, 0))));
  }
  const registry::LoadedConf conf = registry::LoadConf(ConfSourceOfProcess());
  const auto discovered = registry::DiscoverIas(ProviderFoldersOfProcess());
  for (const auto& info : infos) {
    IaEntry entry;
    entry.name = info.ia_name;
    entry.api_version = fmt::format("{}.{}", info.dapl_version_major, info.dapl_version_minor);
    entry.thread_safe = info.is_thread_safe == DAT_TRUE;
    FindOrigin(conf, discovered, &entry);
    entries->push_back(std::move(entry));
  }
  return {};
}

IaState ProbeIa(const std::string& name, bool one_of_many) {
  const QuietStdout quiet(one_of_many ? QuietStdout::Fate::kDropped : QuietStdout::Fate::kToStderr);
  IaState state;
  client::Ia ia;
  client::Result result = ia.Open(name);
  DAT_PROVIDER_ATTR provider{};
  if (result == DAT_SUCCESS)
    result = {"dat_ia_query",
              dat_ia_query(ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider)};
  if (result == DAT_SUCCESS) {
    state.ok = true;
    state.address = FormatAddress(ia.address());
    state.ia = IaAttributes(ia.attributes());
    state.provider = ProviderAttributes(provider);
  } else {
    state.error = client::DescribeReturn(result);
    state.reasons = client::ReasonChain();
  }
  return state;
}

}  // namespace softdat::tools
